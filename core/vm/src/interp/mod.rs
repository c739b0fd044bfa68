//! The interpreter: frames, inline caches and the loop that runs instructions until the host is needed.
//!
//! No Python call uses the native stack: a call pushes a [`Frame`] and the loop goes on there. What has to happen with a result is
//! written in the frame as [`OnReturn`]. A native function that would need to run Python code gives up with
//! [`Throw::Fallback`] before it has changed anything, and its helper, written in Python, does the same work in frames; or it
//! ends with [`Throw::Call`], whose result becomes its own.

mod aside;
pub(crate) mod attribute;
mod attribute_caches;
mod attribute_set;
mod attributes_by_type;
mod binding;
mod binding_library;
mod binding_native;
mod builtin_attributes;
pub(crate) mod call;
mod call_native;
pub(crate) mod classes;
pub(crate) mod compare;
mod compare_methods;
mod drain;
mod function;
pub(crate) mod generator;
pub(crate) mod hashing;
pub(crate) mod import;
mod instances;
mod integers;
pub(crate) mod iterate;
pub(crate) mod known;
pub(crate) mod load;
mod loops;
mod makers;
mod matching;
mod membership;
mod methods;
mod names;
mod operator_methods;
pub(crate) mod operators;
mod outcome;
mod pairs;
mod quick;
#[cfg(test)]
mod reference;
mod registers;
mod report;
mod results;
mod run;
mod shortcuts;
mod slices;
mod step;
mod step_flow;
mod step_objects;
pub(crate) mod subscript;
pub(crate) mod text;
pub(crate) mod trace;
mod unpack;
pub(crate) mod unwind;

use crate::caches::{Cache, CacheKind, NO_CACHE};
use crate::frame::{Alternative, CompareOp, Expect, Frame, OnReturn, Pending, Then};
use crate::runtime::{EntryKind, Vm};
