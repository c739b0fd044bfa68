//! What a transaction asks for: a category, a number within it, and operands (003 §2.1, §2.5).
//!
//! On the wire: category, number, fields. Numbers are explicit and never reused.

use crate::address::Address;
use crate::hash::Hash;
use crate::units::{Amount, Cells, Count, Cycles, Height};
use crate::wire::{Blob, Text};
use bytes::BufMut;
use commonware_codec::{Buf, EncodeSize, Error, Read, ReadExt as _, Write};

/// The largest transaction, in bytes (003 §12.1).
pub const MAX_TRANSACTION_BYTES: usize = 128 * 1024;

/// An actor's source, or a payload: never longer than the transaction that carries it.
pub type Payload = Blob<MAX_TRANSACTION_BYTES>;

/// The most bytes of a handler's name.
pub const HANDLER_BYTES: usize = 256;

/// The most bytes of the salt of an actor's address.
pub const SALT_BYTES: usize = 32;

/// A handler's name, of at least one byte.
pub type HandlerName = Text<HANDLER_BYTES>;

crate::variants! {
    /// Category 0: operations of the protocol itself.
    pub enum System {
        /// Moves CBY from the sender to an account.
        1 Transfer {
            /// The recipient's address.
            to: Address,
            /// The amount in base units.
            amount: Amount,
        },
        /// Hands the ownership record of an actor to another account. Only the owner may.
        2 TransferActorOwnership {
            /// The actor whose owner changes.
            actor: Address,
            /// The new owner.
            owner: Address,
        },
        /// Gives an address one action in one scope (002 §7.2).
        30 EntitlementGrant {
            /// The recipient's address.
            grantee: Address,
            /// An encoded [`crate::permission::Scope`].
            scope: Blob<1_024>,
            /// An encoded [`crate::permission::Action`].
            action: Blob<1_024>,
            /// Encoded [`crate::permission::Constraints`].
            constraints: Blob<1_024>,
        },
        /// Takes a permission back.
        31 EntitlementRevoke {
            /// The entitlement's id.
            entitlement_id: Hash,
        },
        /// Passes a permission on, narrower.
        32 EntitlementDelegate {
            /// The entitlement's id.
            entitlement_id: Hash,
            /// The recipient's address.
            delegatee: Address,
            /// Encoded [`crate::permission::Constraints`], a strict subset of the parent's.
            constraints: Blob<1_024>,
        },
        /// Makes a named set of permissions.
        33 EntitlementCreateRole {
            /// Its name.
            name: Blob<64>,
            /// An encoded list of scopes.
            scopes: Blob<16_384>,
            /// An encoded list of actions.
            actions: Blob<16_384>,
            /// Encoded [`crate::permission::Constraints`].
            constraints: Blob<1_024>,
        },
        /// Gives an address a role.
        34 EntitlementAssignRole {
            /// The role's id.
            role_id: Hash,
            /// The recipient's address.
            assignee: Address,
        },
        /// Takes a role from an address.
        35 EntitlementRevokeRole {
            /// The role's id.
            role_id: Hash,
            /// The account that loses it.
            assignee: Address,
        },
        /// Removes a timer. Who scheduled it may, and a system deployer any (003 §5.1a).
        48 CancelTimer {
            /// The timer to remove; removing one that is gone changes nothing.
            timer: Hash,
        },
        /// Replaces the timer limits. Only a system deployer may.
        49 UpdateTimerConfig {
            /// How far ahead a timer's expiry may lie.
            ttl_blocks: Count,
            /// Cycles one fire may use.
            cycles_per_fire: Cycles,
            /// Cells one fire may use.
            cells_per_fire: Cells,
            /// Live timers of one actor.
            timers_per_actor: Count,
            /// Budget of the cleanup lane.
            cleanup_cycles: Cycles,
        },
        /// Moves a timer's expiry. Who scheduled it may, and a system deployer any.
        50 ExtendTimer {
            /// The timer that lives longer.
            timer: Hash,
            /// Its new last height.
            expires_at: Height,
        },
        /// Schedules one call of an actor's handler by the sender, who pays for it when it runs (003 §17.2).
        51 TimerSchedule {
            /// The actor whose handler runs.
            actor: Address,
            /// The height at which it runs.
            height: Height,
            /// The handler.
            handler: HandlerName,
            /// Its argument: JSON or canonical CBOR, as the handler reads it.
            payload: Payload,
            /// Cycles of the call; the most where absent.
            cycles_limit: Option<Cycles>,
            /// Cells of the call; the most where absent.
            cells_limit: Option<Cells>,
            /// The last height at which it may run; as late as allowed where absent.
            expires_at: Option<Height>,
        },
    }
}

crate::variants! {
    /// Category 1: operations on actors.
    pub enum Actor {
        /// Creates an actor from Python source and runs its init handler, both or neither.
        1 Deploy {
            /// Python source; canonicalised before it is hashed and stored (003 §1.2).
            code: Payload,
            /// Up to 32 bytes, zero-padded on the right, that make the address (003 §1.2).
            salt: Blob<SALT_BYTES>,
            /// The handler to run in the same transaction, with its payload.
            init: Option<Init>,
            /// The entitlements asked for, as canonical CBOR; absent means none (000 §3).
            manifest: Option<Payload>,
            /// CBY that the new actor starts with.
            endowment: Amount,
        },
        /// Runs a handler of an actor, or a method of a system actor.
        2 Execute {
            /// The actor to run.
            target: Address,
            /// The handler's name.
            handler: HandlerName,
            /// Its argument: JSON or canonical CBOR, as the handler reads it.
            payload: Payload,
            /// CBY that go with the call.
            value: Amount,
        },
    }
}

crate::record! {
    /// The handler that a deployment runs.
    pub struct Init {
        /// The handler's name.
        pub handler: HandlerName,
        /// Its argument.
        pub payload: Payload,
    }
}

crate::variants! {
    /// Category 2: operations of this kind of chain only. On a chain whose genesis is not `dev` all are refused.
    pub enum Custom {
        /// Sets an account's balance; the difference counts as minted or burned.
        1 SetBalance {
            /// The account's address.
            account: Address,
            /// The new balance.
            balance: Amount,
        },
        /// Runs an instruction as if another account had signed it.
        2 Impersonate {
            /// The account that appears as the sender.
            sender: Address,
            /// What it does.
            instruction: Ordinary,
        },
    }
}

/// An instruction that is valid on every chain: what [`Custom::Impersonate`] may carry, so that nothing nests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Ordinary {
    /// Category 0.
    System(System),
    /// Category 1.
    Actor(Actor),
}

/// What a transaction asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Instruction {
    /// Category 0: the protocol itself.
    System(System),
    /// Category 1: actors.
    Actor(Actor),
    /// Category 2: this kind of chain only.
    Custom(Custom),
}

impl Instruction {
    /// Category numbers on the wire (003 §2.1). Library has no instruction yet.
    pub const CATEGORIES: [(u8, &'static str); 4] = [(0, "System"), (1, "Actor"), (2, "Custom"), (3, "Library")];

    /// The instruction's name, for people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::System(system) => system.name(),
            Self::Actor(actor) => actor.name(),
            Self::Custom(custom) => custom.name(),
        }
    }
}

impl From<Ordinary> for Instruction {
    fn from(ordinary: Ordinary) -> Self {
        match ordinary {
            Ordinary::System(system) => Self::System(system),
            Ordinary::Actor(actor) => Self::Actor(actor),
        }
    }
}

macro_rules! category_codec {
    ($Type:ident { $($number:literal $Variant:ident($Body:ty)),+ }) => {
        impl Write for $Type {
            fn write(&self, buf: &mut impl BufMut) {
                match self { $( Self::$Variant(body) => { buf.put_u8($number); body.write(buf); } )+ }
            }
        }

        impl EncodeSize for $Type {
            fn encode_size(&self) -> usize {
                match self { $( Self::$Variant(body) => body.encode_size().saturating_add(1), )+ }
            }
        }

        impl Read for $Type {
            type Cfg = ();
            fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
                match u8::read(buf)? {
                    $( $number => Ok(Self::$Variant(<$Body>::read(buf)?)), )+
                    other => Err(Error::InvalidEnum(other)),
                }
            }
        }
    };
}

category_codec!(Instruction { 0 System(System), 1 Actor(Actor), 2 Custom(Custom) });
category_codec!(Ordinary { 0 System(System), 1 Actor(Actor) });
