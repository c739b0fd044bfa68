//! What each fuzz target does with its bytes. `edge/cli/tests/e2e/fuzz.rs` runs every one of them on bytes from seeds, so that they hold
//! in ordinary tests too; each file is also a module of its target. Those of S3 need what only `edge/access` depends on, and run in its tests.

mod block;
mod cbor;
mod execution;
mod follow;
mod image;
mod job;
mod keystore;
mod language;
mod manifest;
mod permission;
mod proof;
mod receipt;
mod record;
mod secret;
mod source;
mod transaction;
mod volume;
mod witness;

/// The targets that `edge/access/src/s3/probe/tests.rs` runs.
pub(crate) const APART: &[&str] = &["s3_chunks", "s3_head", "s3_list", "s3_xml"];

/// The others by name.
pub(crate) const ALL: &[(&str, fn(&[u8]))] = &[
    ("block", block::body),
    ("cbor", cbor::body),
    ("execution", execution::body),
    ("follow", follow::body),
    ("image", image::body),
    ("job", job::body),
    ("keystore", keystore::body),
    ("language", language::body),
    ("manifest", manifest::body),
    ("permission", permission::body),
    ("proof", proof::body),
    ("receipt", receipt::body),
    ("record", record::body),
    ("secret", secret::body),
    ("source", source::body),
    ("transaction", transaction::body),
    ("volume", volume::body),
    ("witness", witness::body),
];
