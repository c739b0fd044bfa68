//! What the actor of a method is told of the proposals that would call it.

use cowboy_types::units::{Count, Height};

/// A call that a proposal would make.
#[derive(Clone, Copy, Debug)]
pub struct ProposedCall<'a> {
    /// The proposal's number.
    pub proposal: Count,
    /// The method.
    pub method: &'a str,
    /// Its argument.
    pub argument: &'a [u8],
}

/// What became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It was made, and takes effect by the height if it is accepted.
    Made(Height),
    /// It is over: executed, failed, rejected or cancelled.
    Over,
}
