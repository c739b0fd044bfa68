//! How the shares of the group key pass from one set of validators to the next, epoch by epoch (decision 367).
//!
//! In the first half of epoch E, the signers of E deal new shares to the players of E, in private. From its middle on, each
//! dealer puts its signed log into a block that it proposes. The last block of E carries the description of epoch E + 1
//! ([`crate::epoch::Info`]): the outcome, who signs, who is dealt to next and after that, and a [`Roll`] with everything that others
//! must know of them. So a block of the chain says who signs after it, and the group key never changes.
//!
//! - [`participants`]: who is dealt to, as the staking state says. [`secrets`]: shares and dealings on the disk.
//! - [`schemes`]: the scheme of each epoch. [`tap`]: what the engine of each epoch reports. [`logs`]: how a dealer's log gets into a block
//!   of another proposer. `dealing` starts it all.

mod dealing;
pub(crate) mod logs;
pub mod participants;
pub mod schemes;
pub mod secrets;
pub mod tap;

pub(crate) use dealing::Dealing;

use crate::{epoch::roll::Roll, seeds::Scheme};
use commonware_cryptography::{blake3::Digest, bls12381::primitives::variant::MinSig};
use commonware_glue::dkg::state_sync::Plan;

/// No state is taken over from peers: a validator that is behind executes every block.
pub(crate) type NoPlan = Plan<Scheme, Digest, MinSig, Roll>;
