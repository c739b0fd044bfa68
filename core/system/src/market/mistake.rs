//! Why a submission is refused: the error, and the field that is wrong.

use super::refusal::{Refusal, Wrong};
use crate::actor::Context;
use cowboy_types::{Abort, error};

/// The most characters of an explanation: it may repeat a name that the submitter chose.
const LONGEST: usize = 400;

/// Why a submission is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The row of the error table.
    pub abort: Abort,
    /// The field, and what it has to be.
    pub explanation: String,
}

impl Mistake {
    pub(crate) fn new(abort: Abort, explanation: impl Into<String>) -> Self {
        let mut explanation = explanation.into();
        if let Some((end, _)) = explanation.char_indices().nth(LONGEST) {
            explanation.truncate(end);
        }
        Self { abort, explanation }
    }

    /// A rule of a job that does not hold.
    pub(crate) fn invalid(explanation: impl Into<String>) -> Self {
        Self::new(error::JOB_INVALID, explanation)
    }

    /// Leaves the explanation in the context, for the trace and the caller, and returns the error.
    pub(crate) fn explain(self, context: &mut Context<'_>) -> Abort {
        context.explanation = Some(self.explanation);
        self.abort
    }
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.explanation)
    }
}

impl std::error::Error for Mistake {}

impl From<Mistake> for Abort {
    fn from(mistake: Mistake) -> Self {
        mistake.abort
    }
}

impl From<Refusal> for Mistake {
    fn from(refusal: Refusal) -> Self {
        let explanation = refusal.to_string();
        Self::new(refusal.into(), explanation)
    }
}

impl From<Wrong> for Mistake {
    fn from(wrong: Wrong) -> Self {
        Self::new(error::CONTAINER_INVALID, wrong.to_string())
    }
}
