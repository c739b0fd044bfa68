//! Permissions of the Entitlement Registry 0x07 (002 §7.1): what a record is about, what it allows, and under which conditions.
//!
//! A record covers one [`Scope`] and one [`Action`], within [`Constraints`]. All three have one encoding, which ids are hashed from,
//! and one text, which people write.

use crate::address::Address;
use crate::hash::{Hash, keccak256};
use crate::units::{Amount, Count, Height};
use crate::wire::Blob;
use commonware_codec::Encode as _;
use std::fmt;
use std::str::FromStr;

/// A name of a pool, a namespace or an action of one's own.
pub type Name = Blob<64>;

crate::variants! {
    /// The resource that a permission is about.
    pub enum Scope {
        /// The whole chain.
        0 Global,
        /// An actor.
        1 Actor {
            /// The actor's address.
            actor: Address,
        },
        /// A token.
        2 Token {
            /// The token's id.
            token: Hash,
        },
        /// A runner.
        3 Runner {
            /// The runner's address.
            runner: Address,
        },
        /// A pool of runners.
        4 RunnerPool {
            /// The pool's name.
            pool: Name,
        },
        /// A name of one's own.
        5 Namespace {
            /// The name.
            name: Name,
        },
    }
}

crate::variants! {
    /// What a permission allows.
    pub enum Action {
        /// Everything.
        0 All,
        /// Move tokens.
        1 TokenTransfer,
        /// Make tokens.
        2 TokenMint,
        /// Destroy tokens.
        3 TokenBurn,
        /// Freeze accounts of a token.
        4 TokenFreeze,
        /// Change a token's hook.
        5 TokenSetHook,
        /// Hand a token on.
        6 TokenTransferOwnership,
        /// Deploy actors.
        7 ActorDeploy,
        /// Send messages.
        8 ActorSendMessage,
        /// Run a handler.
        9 ActorExecuteHandler {
            /// The handler's name.
            handler: Blob<256>,
        },
        /// Register a runner.
        10 RunnerRegister {
            /// The stake that is enough, where it is not the usual.
            min_stake_override: Option<u128>,
        },
        /// Submit jobs.
        11 RunnerSubmitJob,
        /// Submit results.
        12 RunnerSubmitResult,
        /// Be chosen for the jobs of a pool.
        13 RunnerJoinPool {
            /// The pool's name.
            pool: Name,
        },
        /// Move CBY of the protocol.
        14 SystemTransfer,
        /// Create accounts.
        15 SystemCreateAccount,
        /// Upgrade system actors.
        16 SystemUpgrade,
        /// An action of one's own.
        17 Custom {
            /// The name.
            name: Name,
        },
    }
}

crate::record! {
    /// A number of uses in a number of blocks.
    pub struct RateLimit {
        /// Uses of a window.
        pub uses: Count,
        /// Blocks of a window, which begins with its first use.
        pub blocks: Count,
    }
}

crate::record! {
    /// The conditions under which a permission holds (002 §7.1).
    pub struct Constraints {
        /// The first height at which it holds.
        pub valid_from: Option<Height>,
        /// The last height at which it holds.
        pub valid_until: Option<Height>,
        /// How often it may be used; zero means without end.
        pub max_uses: Count,
        /// How often it was used.
        pub used_count: Count,
        /// The most that one use may move.
        pub max_amount_per_use: Option<Amount>,
        /// The most that all uses may move together.
        pub max_total_amount: Option<Amount>,
        /// What all uses moved.
        pub total_amount_used: Amount,
        /// How fast it may be used.
        pub rate_limit: Option<RateLimit>,
        /// Whether the grantee may pass it on.
        pub delegatable: bool,
        /// How many times in a row it may be passed on.
        pub delegation_depth_max: u8,
        /// Whether it may be taken back.
        pub revocable: bool,
    }
}

impl Default for Constraints {
    /// Without bounds, not to be passed on, to be taken back at any time.
    fn default() -> Self {
        Self {
            valid_from: None,
            valid_until: None,
            max_uses: Count::ZERO,
            used_count: Count::ZERO,
            max_amount_per_use: None,
            max_total_amount: None,
            total_amount_used: Amount::ZERO,
            rate_limit: None,
            delegatable: false,
            delegation_depth_max: 0,
            revocable: true,
        }
    }
}

/// Whether a bound is at least as tight as another; no bound is the loosest.
fn at_most<T: PartialOrd>(inner: Option<T>, outer: Option<T>) -> bool {
    match (inner, outer) {
        (_, None) => true,
        (Some(inner), Some(outer)) => inner <= outer,
        (None, Some(_)) => false,
    }
}

impl Constraints {
    /// Whether a height lies within the span.
    pub fn is_in_span(&self, height: Height) -> bool {
        self.valid_from.is_none_or(|from| from <= height) && !self.is_expired(height)
    }

    /// Whether the span is over.
    pub fn is_expired(&self, height: Height) -> bool {
        self.valid_until.is_some_and(|until| until < height)
    }

    /// Whether every use is made.
    pub fn is_exhausted(&self) -> bool {
        self.max_uses > Count::ZERO && self.used_count >= self.max_uses
    }

    /// How often more it may be passed on.
    pub fn delegations_left(&self) -> u8 {
        if self.delegatable { self.delegation_depth_max } else { 0 }
    }

    /// Whether these are well formed and unused, as in a new grant.
    pub fn are_new(&self) -> bool {
        let is_span = self.valid_from.is_none_or(|from| self.valid_until.is_none_or(|until| from <= until));
        let is_rate = self.rate_limit.as_ref().is_none_or(|rate| rate.uses > Count::ZERO && rate.blocks > Count::ZERO);
        let is_depth = self.delegatable || self.delegation_depth_max == 0;
        is_span && is_rate && is_depth && self.used_count == Count::ZERO && self.total_amount_used == Amount::ZERO
    }

    /// Whether these are a strict subset of others, as a delegation's must be (002 §7.2, §7.5): nowhere wider, and passed on less often.
    pub fn are_within(&self, outer: &Self) -> bool {
        let uses = |constraints: &Self| (constraints.max_uses > Count::ZERO).then_some(constraints.max_uses);
        let rate_fits = match (&self.rate_limit, &outer.rate_limit) {
            (_, None) => true,
            (Some(inner), Some(outer)) => inner.uses <= outer.uses && inner.blocks >= outer.blocks,
            (None, Some(_)) => false,
        };
        let begins_later = match (self.valid_from, outer.valid_from) {
            (_, None) => true,
            (Some(inner), Some(outer)) => inner >= outer,
            (None, Some(_)) => false,
        };
        begins_later
            && at_most(self.valid_until, outer.valid_until)
            && at_most(uses(self), uses(outer))
            && at_most(self.max_amount_per_use, outer.max_amount_per_use)
            && at_most(self.max_total_amount, outer.max_total_amount)
            && rate_fits
            && self.delegations_left() < outer.delegations_left()
            && (self.revocable || !outer.revocable)
    }
}

/// A record's id: keccak256(grantee ‖ scope ‖ action ‖ parent, where there is one) (002 §7.1; decision 100).
pub fn record_id(grantee: &Address, scope: &Scope, action: &Action, parent: Option<&Hash>) -> Hash {
    let parent = parent.map_or(&[][..], |parent| &parent.0[..]);
    keccak256(&[&grantee.0, &scope.encode(), &action.encode(), parent])
}

/// A role's id: keccak256("cowboy-role:" ‖ creator ‖ name).
pub fn role_id(creator: &Address, name: &Name) -> Hash {
    keccak256(&[b"cowboy-role:", &creator.0, name])
}

/// Why a text is no scope or action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no {what}; write {fix}")]
pub struct ParsePermissionError {
    text: String,
    what: &'static str,
    fix: &'static str,
}

const SCOPES: &str = "global, actor:ADDRESS, token:ID, runner:ADDRESS, pool:NAME or namespace:NAME";
const ACTIONS: &str = "all, a name like token_mint, handler:NAME, register or register:STAKE, join_pool:NAME or custom:NAME";

/// Actions without operands, and how they are written.
const PLAIN: &[(&str, Action)] = &[
    ("all", Action::All),
    ("token_transfer", Action::TokenTransfer),
    ("token_mint", Action::TokenMint),
    ("token_burn", Action::TokenBurn),
    ("token_freeze", Action::TokenFreeze),
    ("token_set_hook", Action::TokenSetHook),
    ("token_transfer_ownership", Action::TokenTransferOwnership),
    ("actor_deploy", Action::ActorDeploy),
    ("actor_send_message", Action::ActorSendMessage),
    ("submit_job", Action::RunnerSubmitJob),
    ("submit_result", Action::RunnerSubmitResult),
    ("system_transfer", Action::SystemTransfer),
    ("system_create_account", Action::SystemCreateAccount),
    ("system_upgrade", Action::SystemUpgrade),
];

/// Bytes as people write them: a word as it is, anything else as hex.
fn shown(bytes: &[u8]) -> String {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./".contains(byte);
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && bytes.iter().all(is_word) && !text.starts_with("0x") => text.to_string(),
        _ => format!("0x{}", hex::encode(bytes)),
    }
}

fn read<const MAX: usize>(text: &str) -> Option<Blob<MAX>> {
    match text.strip_prefix("0x") {
        Some(digits) => Blob::new(hex::decode(digits).ok()?),
        None => Blob::new(text.as_bytes().to_vec()),
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.write_str("global"),
            Self::Actor { actor } => write!(f, "actor:{actor}"),
            Self::Token { token } => write!(f, "token:{token}"),
            Self::Runner { runner } => write!(f, "runner:{runner}"),
            Self::RunnerPool { pool } => write!(f, "pool:{}", shown(pool)),
            Self::Namespace { name } => write!(f, "namespace:{}", shown(name)),
        }
    }
}

impl FromStr for Scope {
    type Err = ParsePermissionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = match text.split_once(':') {
            None if text == "global" => Some(Self::Global),
            Some(("actor", rest)) => rest.parse().ok().map(|actor| Self::Actor { actor }),
            Some(("token", rest)) => rest.parse().ok().map(|token| Self::Token { token }),
            Some(("runner", rest)) => rest.parse().ok().map(|runner| Self::Runner { runner }),
            Some(("pool", rest)) => read(rest).map(|pool| Self::RunnerPool { pool }),
            Some(("namespace", rest)) => read(rest).map(|name| Self::Namespace { name }),
            _ => None,
        };
        parsed.ok_or_else(|| ParsePermissionError { text: text.to_string(), what: "scope", fix: SCOPES })
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ActorExecuteHandler { handler } => write!(f, "handler:{}", shown(handler)),
            Self::RunnerRegister { min_stake_override: None } => f.write_str("register"),
            Self::RunnerRegister { min_stake_override: Some(stake) } => write!(f, "register:{stake}"),
            Self::RunnerJoinPool { pool } => write!(f, "join_pool:{}", shown(pool)),
            Self::Custom { name } => write!(f, "custom:{}", shown(name)),
            plain => {
                let row = PLAIN.iter().find(|(_, action)| action == plain);
                f.write_str(row.expect("every action without operands has a row").0)
            }
        }
    }
}

impl FromStr for Action {
    type Err = ParsePermissionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = match text.split_once(':') {
            None if text == "register" => Some(Self::RunnerRegister { min_stake_override: None }),
            None => PLAIN.iter().find(|(word, _)| *word == text).map(|(_, action)| action.clone()),
            Some(("handler", rest)) => read(rest).map(|handler| Self::ActorExecuteHandler { handler }),
            Some(("register", rest)) => rest.parse().ok().map(|stake| Self::RunnerRegister { min_stake_override: Some(stake) }),
            Some(("join_pool", rest)) => read(rest).map(|pool| Self::RunnerJoinPool { pool }),
            Some(("custom", rest)) => read(rest).map(|name| Self::Custom { name }),
            _ => None,
        };
        parsed.ok_or_else(|| ParsePermissionError { text: text.to_string(), what: "action", fix: ACTIONS })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text.as_bytes().to_vec()).expect("a name")
    }

    /// each scope and action has a number, a text and one encoding.
    #[test]
    fn scopes_and_actions_have_texts() {
        let address = Address([7; 20]);
        let scopes = [
            (Scope::Global, "global".to_string(), 0),
            (Scope::Actor { actor: address }, format!("actor:{address}"), 1),
            (Scope::Token { token: Hash([3; 32]) }, format!("token:{}", Hash([3; 32])), 2),
            (Scope::Runner { runner: address }, format!("runner:{address}"), 3),
            (Scope::RunnerPool { pool: name("eu_tee") }, "pool:eu_tee".to_string(), 4),
            (Scope::RunnerPool { pool: name(&format!("{}/eu", "07".repeat(20))) }, format!("pool:{}/eu", "07".repeat(20)), 4),
            (Scope::Namespace { name: name("shop/orders") }, "namespace:shop/orders".to_string(), 5),
            (Scope::Namespace { name: Name::new(vec![1, 2]).expect("a name") }, "namespace:0x0102".to_string(), 5),
        ];
        for (scope, text, number) in scopes {
            assert_eq!((scope.to_string(), text.parse(), scope.encode()[0]), (text.clone(), Ok(scope.clone()), number));
        }
        let mut actions: Vec<(Action, String)> = PLAIN.iter().map(|(word, action)| (action.clone(), (*word).to_string())).collect();
        actions.extend([
            (Action::ActorExecuteHandler { handler: Blob::new(b"ask".to_vec()).expect("fits") }, "handler:ask".to_string()),
            (Action::RunnerRegister { min_stake_override: None }, "register".to_string()),
            (Action::RunnerRegister { min_stake_override: Some(u128::MAX) }, format!("register:{}", u128::MAX)),
            (Action::RunnerJoinPool { pool: name("a") }, "join_pool:a".to_string()),
            (Action::Custom { name: name("paint") }, "custom:paint".to_string()),
        ]);
        let mut numbers: Vec<u8> = actions.iter().map(|(action, _)| action.number()).collect();
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers, (0..18).collect::<Vec<u8>>(), "every action has a text");
        for (action, text) in actions {
            assert_eq!((action.to_string(), text.parse()), (text, Ok(action)));
        }
        for text in ["", "globe", "actor:", "actor:0x00", "pool", "join_pool", "handler", "register:x"] {
            assert!(text.parse::<Scope>().is_err() && text.parse::<Action>().is_err(), "{text:?}");
        }
    }

    /// ids are hashed from the encodings, and the parent is part of them.
    #[test]
    fn ids_name_grantee_scope_action_and_parent() {
        let (one, two) = (Address([1; 20]), Address([2; 20]));
        let (scope, action) = (Scope::RunnerPool { pool: name("p") }, Action::RunnerJoinPool { pool: name("p") });
        let id = record_id(&one, &scope, &action, None);
        assert_eq!(id, keccak256(&[&[1; 20], &[4, 1, b'p'], &[13, 1, b'p']]));
        let others = [
            record_id(&two, &scope, &action, None),
            record_id(&one, &Scope::Global, &action, None),
            record_id(&one, &scope, &Action::All, None),
            record_id(&one, &scope, &action, Some(&Hash::ZERO)),
        ];
        assert!(others.iter().all(|other| *other != id));
        assert_ne!(role_id(&one, &name("a")), role_id(&two, &name("a")));
    }

    /// row by row, what a delegation may ask for.
    #[test]
    fn delegations_are_strict_subsets() {
        let outer = Constraints {
            valid_from: Some(Height(10)),
            valid_until: Some(Height(20)),
            max_uses: Count(5),
            max_amount_per_use: Some(Amount(100)),
            max_total_amount: Some(Amount(1_000)),
            rate_limit: Some(RateLimit { uses: Count(2), blocks: Count(10) }),
            delegatable: true,
            delegation_depth_max: 2,
            ..Constraints::default()
        };
        let inner = Constraints { delegation_depth_max: 1, ..outer.clone() };
        let changes: [(&str, fn(&mut Constraints), bool); 22] = [
            ("less deep", |_| {}, true),
            ("not to be passed on", |c| (c.delegatable, c.delegation_depth_max) = (false, 0), true),
            ("as deep", |c| c.delegation_depth_max = 2, false),
            ("later", |c| c.valid_from = Some(Height(11)), true),
            ("earlier", |c| c.valid_from = Some(Height(9)), false),
            ("from always", |c| c.valid_from = None, false),
            ("shorter", |c| c.valid_until = Some(Height(19)), true),
            ("longer", |c| c.valid_until = Some(Height(21)), false),
            ("for ever", |c| c.valid_until = None, false),
            ("fewer uses", |c| c.max_uses = Count(4), true),
            ("more uses", |c| c.max_uses = Count(6), false),
            ("uses without end", |c| c.max_uses = Count(0), false),
            ("less a use", |c| c.max_amount_per_use = Some(Amount(99)), true),
            ("more a use", |c| c.max_amount_per_use = Some(Amount(101)), false),
            ("any amount a use", |c| c.max_amount_per_use = None, false),
            ("less together", |c| c.max_total_amount = Some(Amount(999)), true),
            ("more together", |c| c.max_total_amount = Some(Amount(1_001)), false),
            ("any amount together", |c| c.max_total_amount = None, false),
            ("slower", |c| c.rate_limit = Some(RateLimit { uses: Count(1), blocks: Count(11) }), true),
            ("faster", |c| c.rate_limit = Some(RateLimit { uses: Count(2), blocks: Count(9) }), false),
            ("as fast as one likes", |c| c.rate_limit = None, false),
            ("not to be taken back", |c| c.revocable = false, false),
        ];
        for (case, change, expected) in changes {
            let mut changed = inner.clone();
            change(&mut changed);
            assert_eq!(changed.are_within(&outer), expected, "{case}");
        }
        assert!(!Constraints::default().are_within(&Constraints::default()), "what may not be passed on has no subset");
    }

    /// what a new grant's conditions may be.
    #[test]
    fn new_constraints_are_well_formed() {
        let changes: [(&str, fn(&mut Constraints), bool); 7] = [
            ("the default", |_| {}, true),
            ("used", |c| c.used_count = Count(1), false),
            ("moved", |c| c.total_amount_used = Amount(1), false),
            ("backwards", |c| (c.valid_from, c.valid_until) = (Some(Height(2)), Some(Height(1))), false),
            ("one block", |c| (c.valid_from, c.valid_until) = (Some(Height(2)), Some(Height(2))), true),
            ("no rate", |c| c.rate_limit = Some(RateLimit { uses: Count(0), blocks: Count(1) }), false),
            ("deep but not to be passed on", |c| c.delegation_depth_max = 1, false),
        ];
        for (case, change, expected) in changes {
            let mut changed = Constraints::default();
            change(&mut changed);
            assert_eq!(changed.are_new(), expected, "{case}");
        }
    }
}
