//! The records of decisions.

pub use crate::council::Council;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Blob, List, Text, record, variants};

variants! {
    /// What a decision does when it takes effect.
    pub enum Action {
        /// Moves a parameter.
        0 SetParameter {
            /// The row's number.
            row: u16,
            /// What it becomes.
            value: u64,
        },
        /// Pays CBY out of a genesis bucket that decisions release, the treasury's included.
        1 Disburse {
            /// The bucket's name.
            bucket: Text<64>,
            /// Who receives.
            to: Address,
            /// The amount in base units.
            amount: Amount,
        },
        /// Names the members of the security council.
        2 SetCouncil {
            /// Ascending.
            members: List<Address, 64>,
        },
        /// Calls a method of a system actor as 0x09.
        3 Call {
            /// The actor's number.
            actor: u8,
            /// The method.
            method: Text<64>,
            /// Its argument, canonical CBOR.
            argument: Blob<65_536>,
        },
        /// Pauses a system actor until a decision resumes it.
        4 CircuitBreak {
            /// The actor's number.
            actor: u8,
        },
        /// Ends a pause.
        5 Resume {
            /// The actor's number.
            actor: u8,
        },
        /// Schedules a version of the protocol.
        6 Upgrade {
            /// The version.
            version: u8,
            /// The first height at which it applies.
            height: Height,
        },
        /// Removes a version from the schedule.
        7 CancelUpgrade {
            /// The version.
            version: u8,
        },
    }
}

variants! {
    /// Where a proposal is.
    pub enum Stage {
        /// It is voted on until the height.
        0 Voting {
            /// The first height at which it can be counted.
            until: Height,
        },
        /// It was accepted and waits.
        1 Queued {
            /// The first height at which it can take effect.
            from: Height,
        },
        /// It took effect.
        2 Executed,
        /// It was accepted and could not take effect.
        3 Failed,
        /// It was not accepted.
        4 Rejected,
        /// The council stopped it.
        5 Cancelled,
    }
}

record! {
    /// A proposal.
    pub struct Proposal {
        /// Who made it.
        pub proposer: Address,
        /// Its tier: 0 or 3 (003 §13.1).
        pub tier: u8,
        /// What it does: all of it or nothing.
        pub actions: List<Action, 16>,
        /// CBY put down; back to the proposer unless too few voted.
        pub deposit: Amount,
        /// Where it is.
        pub stage: Stage,
        /// Whether the council shortened its way.
        pub is_fast: bool,
        /// Whether it is the vote on a pause that the council began.
        pub is_ratification: bool,
        /// The epoch whose set votes.
        pub epoch: Count,
        /// Ballots.
        pub ballots: List<Ballot, 65_536>,
    }
}

variants! {
    /// What a ballot says.
    pub enum Choice {
        /// For it.
        0 Yes,
        /// Against it.
        1 No,
        /// Present, no more.
        2 Abstain,
    }
}

record! {
    /// A member's vote.
    pub struct Ballot {
        /// The voter's address.
        pub voter: Address,
        /// What it says.
        pub choice: Choice,
    }
}

record! {
    /// Who of the council agrees with something.
    pub struct Agreement {
        /// Ascending.
        pub members: List<Address, 64>,
    }
}

record! {
    /// What a member of the council wanted, and since when.
    pub struct Wish {
        /// The member.
        pub member: Address,
        /// The height at which the member last said so.
        pub at: Height,
    }
}

record! {
    /// Who of the council wants a system actor paused. Wishes that are too old may still stand here.
    pub struct Wishes {
        /// Ascending by member.
        pub wishes: List<Wish, 64>,
    }
}

record! {
    /// What a parameter was, change by change.
    pub struct History {
        /// The newest last; the oldest go first.
        pub entries: List<Change, 256>,
    }
}

record! {
    /// One change of a parameter.
    pub struct Change {
        /// The block height.
        pub height: Height,
        /// What it became.
        pub value: u64,
        /// The proposal that did it.
        pub proposal: Count,
    }
}

variants! {
    /// How a pause ends.
    pub enum PauseEnd {
        /// When a decision resumes the actor.
        0 Resumed,
        /// When its ratification fails, or at a height where it was not ratified by then.
        1 Unratified {
            /// The first height at which it no longer holds.
            until: Height,
            /// The proposal that ratifies it.
            proposal: Count,
        },
    }
}

record! {
    /// A paused system actor.
    pub struct Pause {
        /// The actor's number.
        pub actor: u8,
        /// How the pause ends.
        pub end: PauseEnd,
    }
}

record! {
    /// The paused system actors. Pauses whose time is over may still stand here.
    pub struct Pauses {
        /// Ascending by actor.
        pub pauses: List<Pause, 64>,
    }
}

record! {
    /// A version of the protocol and when it begins.
    pub struct Upgrade {
        /// The version.
        pub version: u8,
        /// The first height at which it applies.
        pub height: Height,
    }
}

record! {
    /// The versions that were scheduled and not cancelled: those that apply already, and those to come.
    pub struct Upgrades {
        /// Ascending by version and by height.
        pub scheduled: List<Upgrade, 255>,
        /// The highest version that was ever scheduled.
        pub highest: u8,
    }
}
