//! A job as it was asked for (002 §1, §2, §9).

use crate::address::Address;
use crate::hash::Hash;
use crate::instruction::HandlerName;
use crate::units::{Amount, Cells, Count, Cycles, Price};
use crate::wire::{Blob, List, Text};

/// The most checks of a job.
pub const MAX_CHECKS: usize = 16;

/// The most bytes of a job's request: of the job as it was submitted.
pub const REQUEST_BYTES: usize = 131_072;

/// The most bytes of a JSON schema that a result is held to.
pub const SCHEMA_BYTES: usize = 8_192;

/// The name of a part of a JSON result: `a.b.0`, empty for the whole.
pub type Path = Text<256>;

crate::variants! {
    /// What kind of work a job is (002 §2; numbers of CIP-11 §9.4).
    pub enum JobKind {
        /// A language model's answer.
        1 Llm,
        /// What a web address answers.
        2 Http,
        /// What an MCP tool answers.
        3 Mcp,
        /// A registered tool.
        5 Custom,
        /// A container.
        6 Container,
    }
}

impl JobKind {
    /// The kind's bit among a runner's capabilities.
    pub fn bit(&self) -> u8 {
        1 << self.number()
    }

    /// The kind of a name in any case, as clients write it.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Llm, Self::Http, Self::Mcp, Self::Custom, Self::Container].into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }
}

crate::record! {
    /// What a job may use at its runner.
    pub struct Bounds {
        /// Tokens that go into a model.
        pub input_tokens: Count,
        /// Tokens that come out of it.
        pub output_tokens: Count,
        /// Milliseconds.
        pub wall_ms: Count,
        /// Mebibytes of memory.
        pub memory_mb: Count,
    }
}

crate::record! {
    /// What a container may use (decision 162).
    pub struct Resources {
        /// Thousandths of a processor.
        pub cpu_millicores: Count,
        /// Mebibytes of memory.
        pub memory_mib: Count,
        /// Mebibytes of files that it writes.
        pub scratch_mib: Count,
        /// Seconds from its start to its end.
        pub seconds: Count,
    }
}

crate::record! {
    /// What a result must be (002 §1).
    pub struct ResultSchema {
        /// The most bytes of it.
        pub max_return_bytes: Count,
        /// Milliseconds that the work should take: what usage is compared with.
        pub expected_execution_ms: Count,
        /// Nothing, `text`, `json`, `cbor`, `binary`, or a JSON schema.
        pub data_format: Text<SCHEMA_BYTES>,
    }
}

crate::variants! {
    /// How results are verified (002 §9, 003 LLM Result Verification).
    pub enum Mode {
        /// One runner, believed.
        0 None,
        /// One runner, whose stake stands for it.
        1 EconomicBond,
        /// At least three runners; the most frequent value of a field wins.
        2 MajorityVote,
        /// At least two runners; results must pass a pipeline of checks.
        3 StructuredMatch,
        /// At least two runners in trusted environments; results are the same bytes.
        4 Deterministic,
        /// At least three runners; the largest group of similar answers wins.
        5 SemanticSimilarity,
    }
}

impl Mode {
    /// The modes by the names that clients write, the published SDK's names included (decision 47).
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("none", Self::None),
        ("economic_bond", Self::EconomicBond),
        ("optimistic", Self::EconomicBond),
        ("majority_vote", Self::MajorityVote),
        ("consensus", Self::MajorityVote),
        ("structured_match", Self::StructuredMatch),
        ("deterministic", Self::Deterministic),
        ("tee", Self::Deterministic),
        ("semantic_similarity", Self::SemanticSimilarity),
    ];

    /// The mode of one of [`Self::NAMES`]; `none` for no name.
    pub fn from_name(name: &str) -> Option<Self> {
        if name.is_empty() {
            return Some(Self::None);
        }
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, mode)| mode.clone())
    }

    /// The mode's name on the wire (003).
    pub fn slug(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::EconomicBond => "economic_bond",
            Self::MajorityVote => "majority_vote",
            Self::StructuredMatch => "structured_match",
            Self::Deterministic => "deterministic",
            Self::SemanticSimilarity => "semantic_similarity",
        }
    }

    /// The fewest runners that the mode makes sense with.
    pub fn least_runners(&self) -> u64 {
        match self {
            Self::None | Self::EconomicBond => 1,
            Self::StructuredMatch | Self::Deterministic => 2,
            Self::MajorityVote | Self::SemanticSimilarity => 3,
        }
    }

    /// Whether one runner does the job alone.
    pub fn is_single(&self) -> bool {
        self.least_runners() == 1
    }
}

crate::variants! {
    /// Which of several good results is handed on (003 External Data).
    pub enum Snapshot {
        /// The one that the mode elects.
        0 Elected,
        /// The one that was committed first.
        1 FirstValid,
        /// The one whose number is the median.
        2 Median,
        /// The one that most runners gave.
        3 Majority,
        /// The one with the latest time.
        4 Latest,
    }
}

crate::variants! {
    /// A step of the pipeline of checks.
    pub enum Check {
        /// The result is JSON that a schema admits.
        0 JsonSchema {
            /// The schema, in the subset that `docs/jobs.md` lists.
            schema: Text<SCHEMA_BYTES>,
        },
        /// A field is the same in all results.
        1 Field {
            /// The path of the value.
            path: Path,
        },
        /// A field is a number at most this far from the median of all results: absolute, in 10^-18.
        2 Tolerance {
            /// The path of the value.
            path: Path,
            /// How far.
            absolute: u128,
        },
        /// A field is a number at most this share of the median away from it.
        3 RelativeTolerance {
            /// The path of the value.
            path: Path,
            /// Hundredths of a percent.
            share: Count,
        },
        /// A field is a number within bounds, in 10^-18.
        4 Range {
            /// The path of the value.
            path: Path,
            /// The least.
            least: i128,
            /// The greatest.
            greatest: i128,
        },
        /// A field has the value that most results have.
        5 FieldMajority {
            /// The path of the value.
            path: Path,
        },
        /// The result has a length within bounds, in bytes.
        6 Length {
            /// The least.
            least: Count,
            /// The greatest.
            greatest: Count,
        },
        /// The result's bytes vary at least this much, in thousandths of a bit a byte.
        7 Entropy {
            /// The least.
            least: Count,
        },
        /// None of these texts stands in the result: they mark a system prompt.
        8 NoLeak {
            /// The markers.
            markers: List<Text<256>, 16>,
        },
        /// Every one of these texts stands in the result.
        9 ContainsAll {
            /// The texts.
            texts: List<Text<256>, 16>,
        },
        /// None of these texts stands in the result.
        10 ContainsNone {
            /// The texts.
            texts: List<Text<256>, 16>,
        },
        /// A field is a time, in seconds, at most this old (003 Freshness).
        11 Freshness {
            /// The path of the value.
            path: Path,
            /// The time to compare with, in seconds; zero means the block of the submission.
            reference: Count,
            /// Seconds.
            max_age: Count,
        },
    }
}

crate::record! {
    /// How results are verified, and by how many.
    pub struct Verification {
        /// The rule.
        pub mode: Mode,
        /// Runners; zero means as many as the epoch's committee has.
        pub runners: Count,
        /// Runners that must agree; zero means two thirds, rounded up.
        pub threshold: Count,
        /// The field that is voted on; empty means the whole result.
        pub vote_field: Path,
        /// The pipeline, in order.
        pub checks: List<Check, MAX_CHECKS>,
        /// Which good result is handed on.
        pub snapshot: Snapshot,
        /// The field that the snapshot looks at.
        pub snapshot_field: Path,
        /// Cosine similarity of a group's answers, in hundredths of a percent.
        pub similarity: Count,
        /// Whether results must come with an attestation.
        pub is_tee_required: bool,
        /// The environment that the attestation must be of, by its name; empty for any that the chain trusts.
        pub tee_type: Text<8>,
        /// Blocks for disputes; zero means the parameter.
        pub dispute_window: Count,
    }
}

crate::record! {
    /// Where the answer goes.
    pub struct Callback {
        /// The recipient's address.
        pub actor: Address,
        /// The handler that runs.
        pub handler: HandlerName,
        /// What names the request, as its sender writes it.
        pub correlation: Text<128>,
        /// Bytes that come back with the answer.
        pub context: Blob<16384>,
        /// Cycles of the callback.
        pub cycles: Cycles,
        /// Cells of the callback.
        pub cells: Cells,
        /// The most paid for a cycle.
        pub max_fee_per_cycle: Price,
        /// The most paid for a cell.
        pub max_fee_per_cell: Price,
    }
}

crate::record! {
    /// A job as it was asked for. Never changes.
    pub struct JobSpec {
        /// The kind of work.
        pub kind: JobKind,
        /// The submission, canonical CBOR, as it came: what the runner reads.
        pub request: Blob<REQUEST_BYTES>,
        /// Patterns of the hosts that a runner may ask for it: what the submitting actor's manifest grants. Absent where an account
        /// submits, which has no manifest (000 §9.3).
        pub hosts: Option<List<Text<255>, 2048>>,
        /// The limits of the work.
        pub bounds: Bounds,
        /// What its container may use, where it is one.
        pub resources: Option<Resources>,
        /// What a result must be.
        pub schema: ResultSchema,
        /// How results are verified.
        pub verification: Verification,
        /// The most it may cost, for all runners together.
        pub max_price: Amount,
        /// For the runners, beside the price.
        pub tip: Amount,
        /// Blocks until a commitment is due.
        pub timeout_blocks: Count,
        /// Whether a committee of one is drawn like a larger one, by a seed that nobody knows at the submission.
        pub is_delayed: bool,
        /// The callback that receives the result.
        pub callback: Option<Callback>,
        /// The pool whose members alone may run it (002 §7.3).
        pub required_runner_pool: Option<Blob<64>>,
        /// What a runner must provide, a manifest (000 §6); empty for nothing.
        pub requires: Blob<16384>,
        /// The model it names; zero for none.
        pub model: Hash,
        /// The tools that make the result reproducible; zero where nothing is pinned (003 §5.4, decision 82).
        pub toolchain_digest: Hash,
        /// The seed that makes the result reproducible.
        pub seed: Count,
    }
}
