//! Dealings of the committee's key, as the chain sees them (decision 142).
//!
//! Members deal shares of the key to the next members, and the chain carries their messages. It does not read them: it keeps who spoke and a
//! running hash of each phase, so that every member can prove to itself that it saw all, and checks what the dealing came to.

use crate::curve::PointG2;
use commonware_codec::Encode as _;
use cowboy_types::wire::Fixed;
use cowboy_types::{Blob, Hash, List, keccak256, record, variants};

/// The fewest members of a committee.
pub const MIN_MEMBERS: usize = 4;

/// The most members of a committee.
pub const MAX_MEMBERS: usize = 16;

/// How many of `members` have to answer, or to confirm: all but the faults that the dealing tolerates, fewer than a third.
pub const fn threshold(members: usize) -> usize {
    members.saturating_sub(members.saturating_sub(1) / 3)
}

variants! {
    /// A phase of a dealing.
    #[derive(Copy)]
    pub enum Phase {
        /// Players give the keys to which their shares are encrypted.
        0 Join,
        /// Dealers commit to a polynomial and deal shares of it.
        1 Deal,
        /// Players acknowledge the shares that they received.
        2 Ack,
        /// Dealers publish the acknowledgements, and the shares that were not acknowledged.
        3 Log,
        /// Players confirm what the dealing came to.
        4 Confirm,
    }
}

/// The running hash of a phase's messages after one more: keccak256("cowboy-dealing-phase:" ‖ the hash before ‖ place ‖ keccak256(message)), the
/// place in two bytes, big-endian. It begins with zeros.
pub fn phase_hash(before: &Hash, place: u16, message: &[u8]) -> Hash {
    keccak256(&[b"cowboy-dealing-phase:", &before.0, &place.to_be_bytes(), &keccak256(&[message]).0])
}

/// The longest commitment.
const COMMITMENT_BYTES: usize = 2_048;

record! {
    /// A share of 32 bytes, encrypted to one player.
    pub struct SealedShare {
        /// The encapsulated key.
        pub key: Fixed<32>,
        /// The ciphertext with its tag.
        pub ciphertext: Fixed<48>,
    }
}

record! {
    /// What a dealer says: a commitment to its polynomial, and a share for each player in the order of their keys.
    pub struct Deal {
        /// The commitment, as the library encodes it.
        pub commitment: Blob<COMMITMENT_BYTES>,
        /// The shares.
        pub shares: List<SealedShare, MAX_MEMBERS>,
    }
}

record! {
    /// A dealing that a player acknowledges.
    pub struct Acknowledged {
        /// The index of the dealer.
        pub dealer: u16,
        /// The player's signature.
        pub signature: Fixed<64>,
    }
}

record! {
    /// What a player says of the dealings.
    pub struct Acks {
        /// Those that hold.
        pub acknowledged: List<Acknowledged, MAX_MEMBERS>,
    }
}

impl Acks {
    /// The signature that acknowledges a dealer's share.
    pub fn of(&self, dealer: u16) -> Option<Fixed<64>> {
        self.acknowledged.iter().find(|acknowledged| acknowledged.dealer == dealer).map(|acknowledged| acknowledged.signature)
    }
}

record! {
    /// What a dealing came to. The members whose shares lie on the polynomial are the players of the dealing, in the order of their keys.
    pub struct Outcome {
        /// The hash of all that the dealing depends on: key, round, members, and the outcome before it.
        pub summary: Hash,
        /// The public polynomial, the constant first. The constant is the public key.
        pub polynomial: List<PointG2, MAX_MEMBERS>,
        /// The keys of the dealers whose dealings count, ascending.
        pub dealers: List<Fixed<32>, MAX_MEMBERS>,
        /// The places of the members whose share is public, ascending.
        pub revealed: List<u16, MAX_MEMBERS>,
    }
}

/// Why an outcome is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutcomeError {
    /// Another number of members would have to answer.
    #[error("the polynomial has {found} coefficients, and {needed} members have to answer")]
    Degree {
        /// Its coefficients.
        found: usize,
        /// How many it must have.
        needed: usize,
    },
    /// What was sealed would not open.
    #[error("the constant is not the standing key")]
    Key,
    /// A list has another order, an entry twice, or a place that nobody has.
    #[error("`{0}` must be in ascending order without duplicates, and name members")]
    Order(&'static str),
}

impl Outcome {
    /// The hash that members confirm: keccak256("cowboy-dealing-outcome:" ‖ encoding).
    pub fn digest(&self) -> Hash {
        keccak256(&[b"cowboy-dealing-outcome:", &self.encode()])
    }

    /// The public key.
    ///
    /// # Panics
    ///
    /// If the polynomial has no coefficient, which [`Outcome::check`] refuses.
    pub fn master(&self) -> &PointG2 {
        self.polynomial.first().expect("a checked polynomial has a constant")
    }

    /// Refuses an outcome that a dealing to this many members cannot have. The decoder has refused coefficients outside the group and the
    /// identity element. A polynomial of a lower degree would let fewer members open what is sealed; how many they must be is known to the
    /// caller, and never read from the message.
    ///
    /// # Errors
    ///
    /// The first rule that does not hold: degree, the standing key, the order of the lists.
    pub fn check(&self, members: usize, standing: Option<&PointG2>) -> Result<(), OutcomeError> {
        let (found, needed) = (self.polynomial.len(), threshold(members));
        if found != needed || found == 0 {
            return Err(OutcomeError::Degree { found, needed });
        }
        if standing.is_some_and(|standing| standing != self.master()) {
            return Err(OutcomeError::Key);
        }
        if !self.dealers.is_sorted_by(|before, after| before < after) {
            return Err(OutcomeError::Order("dealers"));
        }
        let are_places = self.revealed.iter().all(|place| usize::from(*place) < members);
        if are_places && self.revealed.is_sorted_by(|before, after| before < after) { Ok(()) } else { Err(OutcomeError::Order("revealed")) }
    }
}
