//! Boxes with real programs in them. They need root, namespaces and control groups; where those are missing, each test says that it is left out.

mod egress;
mod escapes;
mod files;
mod fixture;
mod life;
mod limits;
mod plans;
