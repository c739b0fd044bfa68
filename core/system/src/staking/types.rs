//! The records of validators.

use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, List, record, variants};

/// The most validators there can be: all CBY, divided by what each must stake, and then some.
pub const MAX_VALIDATORS: usize = 65_536;

/// The most validators that sign in one epoch: a header's bitmap of voters has a bit for each.
pub const MAX_PLAYERS: usize = 1_024;

variants! {
    /// Where a validator is in its life.
    pub enum Status {
        /// It stakes, and does not sign in the running epoch.
        0 Waiting,
        /// It signs in the running epoch.
        1 Active,
        /// It gave notice: no later set is fixed with it, and its stake is bound until the height.
        2 Leaving {
            /// The height from which it withdraws.
            until: Height,
        },
        /// A fault of its was proven: it earns nothing, and no later set is fixed with it, until it asks to be let out.
        3 Jailed {
            /// The height from which it may ask.
            until: Height,
        },
    }
}

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Two headers for one round.
    Equivocation,
    /// Two votes for one round.
    DoubleVote,
    /// A block that no validator accepts.
    InvalidProposal,
    /// More than the allowed share of rounds missed.
    Downtime,
}

impl Fault {
    /// Every kind with its number and name, which stand in records and arguments.
    pub const ALL: [(Self, u8, &'static str); 4] = [
        (Self::Equivocation, 0, "equivocation"),
        (Self::DoubleVote, 1, "double_vote"),
        (Self::InvalidProposal, 2, "invalid_proposal"),
        (Self::Downtime, 3, "downtime"),
    ];

    /// Its number in records.
    pub fn number(self) -> u8 {
        self.row().0
    }

    fn row(self) -> (u8, &'static str) {
        let row = Self::ALL.into_iter().find(|(fault, ..)| *fault == self);
        row.map(|(_, number, name)| (number, name)).expect("every kind has a row")
    }

    /// Its name in arguments and events.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Whether it costs stake beside jail.
    pub(super) fn is_slashed(self) -> bool {
        matches!(self, Self::Equivocation | Self::DoubleVote)
    }
}

/// Where a validator listens for others: 16 bytes of an IPv6 address (an IPv4 address is mapped into one), then the port in
/// big-endian. All zero where it names nothing.
pub type Endpoint = Fixed<18>;

/// The endpoint of a validator that names none.
pub const NO_ENDPOINT: Endpoint = Fixed([0; 18]);

record! {
    /// A validator.
    pub struct Validator {
        /// secp256k1 public key, compressed: signs headers.
        pub signing_key: Fixed<33>,
        /// Ed25519 public key: speaks on the network and votes.
        pub network_key: Fixed<32>,
        /// BLS12-381 public key: the proposer's VRF.
        pub vrf_key: Fixed<96>,
        /// Where it listens for other validators.
        pub endpoint: Endpoint,
        /// CBY staked by itself.
        pub stake: Amount,
        /// Where it is in its life.
        pub status: Status,
        /// How often it was jailed.
        pub jailings: Count,
    }
}

record! {
    /// The newest punishment of a validator. It is one for all that the validator did until it is let out of jail (decision 593).
    pub struct Punishment {
        /// The height at which the validator was let out. None before, and for one that gave notice, which is let out no more.
        pub ended_at: Option<Height>,
        /// Whether it cost stake.
        pub is_slashed: bool,
    }
}

/// What a proven fault costs beside the newest punishment (decision 593).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing: that was for it, too.
    Nothing,
    /// Stake alone: that took none.
    Stake,
    /// A punishment of its own.
    All,
}

record! {
    /// A member of a set.
    pub struct Member {
        /// Who it is, and who is paid.
        pub address: Address,
        /// secp256k1 public key, compressed.
        pub signing_key: Fixed<33>,
        /// Ed25519 public key.
        pub network_key: Fixed<32>,
        /// BLS12-381 public key.
        pub vrf_key: Fixed<96>,
        /// Where it listened for other validators when the set was fixed.
        pub endpoint: Endpoint,
        /// CBY staked when the set was fixed: its weight among leaders.
        pub stake: Amount,
    }
}

record! {
    /// The validators that sign in an epoch, or that are dealt shares in it.
    pub struct ValidatorSet {
        /// That epoch.
        pub epoch: Count,
        /// Ascending by network key.
        pub members: List<Member, MAX_VALIDATORS>,
    }
}

record! {
    /// Who signs in the running epoch, in two numbers that every block reads.
    pub struct StakeTotal {
        /// That epoch.
        pub epoch: Count,
        /// How many its members are.
        pub members: Count,
        /// What they stake together.
        pub stake: Amount,
    }
}

record! {
    /// How shares were dealt to those who sign in the running epoch.
    pub struct Dealing {
        /// That epoch.
        pub epoch: Count,
        /// Whether the dealing of the epoch before succeeded. If not, its signers continue with the shares that they have.
        pub is_dealt: bool,
        /// The signers whose share is public, because they could not be reached when it was dealt; ascending.
        pub revealed: List<Address, MAX_PLAYERS>,
        /// Those who were to receive a share beside the signers when the dealing failed; ascending. One of them may have been the reason.
        pub refused: List<Address, MAX_PLAYERS>,
    }
}

impl Dealing {
    /// Whether a validator is left out when the next players are fixed.
    pub fn leaves_out(&self, address: &Address) -> bool {
        self.revealed.binary_search(address).is_ok() || self.refused.binary_search(address).is_ok()
    }
}

record! {
    /// Who attested a fault.
    pub struct Attestations {
        /// Ascending.
        pub witnesses: List<Address, MAX_VALIDATORS>,
        /// Whether it was punished.
        pub is_done: bool,
    }
}

record! {
    /// The inflation of the running block, and the rates of the year before it.
    pub struct Inflation {
        /// Basis points a year.
        pub rate: Count,
        /// Other rates, each once.
        pub past: List<PastRate, 1_024>,
    }
}

record! {
    /// A rate of the last year.
    pub struct PastRate {
        /// Basis points a year.
        pub rate: Count,
        /// The last height at which it was in effect.
        pub until: Height,
    }
}
