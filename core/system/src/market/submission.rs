//! The fields of a submission, of which [`super::request`] refuses every other one, and which the tables of 0x02 show.
//!
//! A job also has the fields of its kind of work, and what it needs of a runner; they stand in several places, so no table has them.

use crate::schema::{Field, Form, Record, Refused, Shape};
use cowboy_types::cbor::Value;

const fn required(name: &'static str, doc: &'static str, shape: Shape) -> Field {
    Field { name, doc, shape, default: None }
}

const fn optional(name: &'static str, doc: &'static str, shape: &'static Shape) -> Field {
    Field { name, doc, shape: Shape::Optional(shape), default: None }
}

const NUMBER: &Shape = &Shape::Number;
const TEXT: &Shape = &Shape::Text(0);
const BYTES: &Shape = &Shape::Bytes(0);
const FLAG: &Shape = &Shape::Bool;

const BOUNDS: &[Field] = &[
    optional("max_wall_time_ms", "Milliseconds of work.", NUMBER),
    optional("max_wall_time_seconds", "The same in seconds.", NUMBER),
    optional("max_input_tokens", "Tokens into a model.", NUMBER),
    optional("max_output_tokens", "Tokens out of it.", NUMBER),
    optional("max_memory_mb", "Mebibytes of memory.", NUMBER),
];

const RESULT_SCHEMA: &[Field] = &[
    required("max_return_bytes", "Bytes of the result, at most 65,536.", Shape::Number),
    required("expected_execution_ms", "Milliseconds that the work is expected to take.", Shape::Number),
    required("data_format", "Empty, text, json, cbor, binary, or a JSON schema.", Shape::Text(0)),
];

const VERIFICATION: &[Field] = &[
    optional("mode", "none, economic_bond, majority_vote, structured_match, deterministic, semantic_similarity or tee.", TEXT),
    optional("runners", "Runners of the committee.", NUMBER),
    optional("threshold", "Runners that must agree.", NUMBER),
    optional("vote_field", "The field of the result that is voted on.", TEXT),
    optional("checks", "A list of checks of the result.", &Shape::Any),
    optional("snapshot", "first_valid, median, majority or latest.", TEXT),
    optional("snapshot_field", "The field of the result that decides the snapshot.", TEXT),
    optional("similarity_bps", "How similar results must be, in basis points.", NUMBER),
    optional("tee_required", "Whether results must come from a trusted environment.", FLAG),
    optional("dispute_window_blocks", "Blocks in which the result may be challenged.", NUMBER),
];

const CALLBACK: &[Field] = &[
    required("actor", "The submitter, or an actor that it owns.", Shape::Address),
    optional("handler", "The handler that receives the result.", TEXT),
    optional("correlation_id", "What identifies the result: a text or bytes.", &Shape::Any),
    optional("context", "Bytes that come back with the result.", BYTES),
    optional("cycles", "Cycles of the callback.", NUMBER),
    optional("cells", "Cells of the callback.", NUMBER),
    optional("max_fee_per_cycle", "The maximum price of a cycle, in base units.", NUMBER),
    optional("max_fee_per_cell", "The maximum price of a cell, in base units.", NUMBER),
];

/// The fields of a job of the specification's form, beside the runner's.
pub(super) const JOB: &[Field] = &[
    required("job_type", "The kind of work, or a map of `type` and the fields for the runner.", Shape::Any),
    optional("payload", "The fields for the runner, where they are not in `job_type`.", &Shape::Any),
    optional("bounds", "What the work may take.", &Shape::Map(BOUNDS)),
    required("result_schema", "What the result is like.", Shape::Map(RESULT_SCHEMA)),
    optional("verification", "How results are verified.", &Shape::Map(VERIFICATION)),
    required("max_price", "What all runners together are paid at most, in base units.", Shape::Number),
    optional("tip", "What they are paid beside it, in base units.", NUMBER),
    required("timeout_blocks", "Blocks until commitments are due.", Shape::Number),
    optional("draw", "How a committee of one is drawn: immediate or delayed.", TEXT),
    optional("callback", "Who receives the result.", &Shape::Map(CALLBACK)),
    optional("required_runner_pool", "The pool of which runners are drawn.", BYTES),
    optional("requires", "Entitlements that a runner must provide: a manifest, encoded.", BYTES),
    optional("toolchain_digest", "What makes the work the same everywhere.", &Shape::Hash),
    optional("seed", "The seed of a model.", NUMBER),
];

/// The fields of the message beside its arguments.
pub(super) const ENVELOPE: &[Field] = &[
    required("kind", "runner_job.", Shape::Text(0)),
    required("job_type", "The kind of work, or agent.", Shape::Text(0)),
    optional("payload", "`args`, a list of arguments by place, and `kwargs`, a map of those by name and of the job's terms.", &Shape::Any),
    required("cid", "What identifies the result: a text or bytes.", Shape::Any),
    optional("reply_handler", "The handler that receives the result.", TEXT),
    optional("task_index", "Not read.", &Shape::Any),
    optional("total_tasks", "Not read.", &Shape::Any),
];

/// Whether a table has a field of this name.
pub(super) fn has(table: &[Field], name: &str) -> bool {
    table.iter().any(|field| field.name == name)
}

/// The fields of a job that have fields of their own, with these.
pub(super) fn parts() -> impl Iterator<Item = (&'static str, &'static [Field])> {
    JOB.iter().map(|field| (field.name, field.shape.fields())).filter(|(_, fields)| !fields.is_empty())
}

/// Declares an argument that [`super::request`] reads, of which a table has some fields.
macro_rules! submission {
    ($(#[doc = $doc:literal])+ $Name:ident $FIELDS:ident) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) struct $Name(pub Value);

        impl Record for $Name {
            const FIELDS: &'static [Field] = $FIELDS;
        }

        impl Form for $Name {
            const SHAPE: Shape = Shape::Map($FIELDS);

            fn read(value: &Value) -> Result<Self, Refused> {
                Ok(Self(value.clone()))
            }

            fn write(&self) -> Value {
                self.0.clone()
            }
        }
    };
}

submission! {
    /// A job as the specification has it.
    Job JOB
}

submission! {
    /// The message of the published SDK.
    Message ENVELOPE
}
