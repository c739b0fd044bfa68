//! What a light client verifies: certificates, and proofs that hang on them.

mod answer;
mod certificate;
mod formats;
