//! To whom a secret may be released (decision 143).

use commonware_codec::Encode as _;
use cowboy_types::entitlement::domain;
use cowboy_types::environment::{Environment, Measurement};
use cowboy_types::job::JobKind;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, List, Text, keccak256, record, variants};

/// The most runners of one job that may get a secret.
pub const MAX_COPIES: u8 = 9;

/// The bits of all kinds of jobs.
fn all_jobs() -> u8 {
    [JobKind::Llm, JobKind::Http, JobKind::Mcp, JobKind::Custom, JobKind::Container].iter().fold(0, |bits, kind| bits | kind.bit())
}

variants! {
    /// The actors whose jobs may use a secret.
    pub enum Actors {
        /// Every actor, and accounts themselves. The policy must then name accounts or code.
        0 Any,
        /// Those that the secret's account deployed and never handed on, and itself.
        1 Owned,
        /// These.
        2 Listed {
            /// Ascending.
            addresses: List<Address, 64>,
        },
    }
}

variants! {
    /// The runners that may get a secret.
    pub enum Runners {
        /// Every runner that is drawn.
        0 Any,
        /// These.
        1 Listed {
            /// Ascending.
            addresses: List<Address, 32>,
        },
        /// The members of a pool of the Entitlement Registry.
        2 Pool {
            /// The pool's id.
            id: Hash,
        },
    }
}

variants! {
    /// What a runner must have attested to 0x05.
    pub enum Attestation {
        /// Nothing.
        0 NotRequired,
        /// A trusted execution environment.
        1 Required {
            /// The kinds that are accepted, ascending.
            environments: List<Environment, 4>,
            /// The measurements that are accepted, ascending; every one that governance accepts if there are none.
            measurements: List<Measurement, 8>,
        },
    }
}

record! {
    /// To whom a secret may be released. All conditions must hold. Its hash is a part of the secret's identity, so that it cannot change for
    /// what is sealed.
    pub struct Policy {
        /// The actors whose jobs may use the secret.
        pub actors: Actors,
        /// The accounts whose jobs may use it, and those of actors that they own, ascending; every account if there are none. An actor that is not listed
        /// counts only for the account that deployed it, too.
        pub accounts: List<Address, 16>,
        /// The hashes of the code that may use it, ascending; all code if there are none.
        pub code_hashes: List<Hash, 16>,
        /// The bits of the kinds of jobs; at least one.
        pub jobs: u8,
        /// Patterns of the hosts to which a job may send it, ascending. It goes to no host if there are none.
        pub hosts: List<Text<255>, 32>,
        /// The runners that may get it.
        pub runners: Runners,
        /// The minimum stake of a runner.
        pub min_stake: Amount,
        /// The minimum reputation of a runner.
        pub min_reputation: Count,
        /// What a runner must have attested.
        pub attestation: Attestation,
        /// The most runners of one job that may get it.
        pub copies: u8,
        /// The first height of a release.
        pub from: Height,
        /// The last height of a release; no limit if it is zero.
        pub until: Height,
        /// The most releases; no limit if it is zero.
        pub max_releases: Count,
    }
}

/// Why a policy is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A list has another order, or an entry twice.
    #[error("`{0}` must be in ascending order without duplicates")]
    Order(&'static str),
    /// Nobody is named.
    #[error("the policy names no actor, account or code, so that everybody could use the secret: name at least one")]
    Everybody,
    /// A list that must have entries has none.
    #[error("`{0}` names nothing, so that nobody could use the secret")]
    Nobody(&'static str),
    /// A bit stands for no kind of job.
    #[error("`jobs` has bits that stand for no kind of job")]
    Jobs,
    /// No canonical pattern of hosts.
    #[error("a host must be `*`, a name in lower case, `*.` and such a name, or an IPv4 address")]
    Host,
    /// Too many or too few copies.
    #[error("`copies` is {0}, and must be from 1 to {MAX_COPIES}")]
    Copies(u8),
    /// It ends before it begins.
    #[error("`until` is lower than `from`")]
    Times,
}

impl Policy {
    /// The hash that identities contain: keccak256("cowboy-secret-policy:" ‖ encoding).
    pub fn hash(&self) -> Hash {
        keccak256(&[b"cowboy-secret-policy:", &self.encode()])
    }

    /// Refuses a policy that is not in its one form, and one that nobody or everybody satisfies.
    ///
    /// # Errors
    ///
    /// The first rule that does not hold, in the order of the fields.
    pub fn check(&self) -> Result<(), PolicyError> {
        if let Actors::Listed { addresses } = &self.actors {
            listed("actors", addresses)?;
        }
        ascending("accounts", &self.accounts)?;
        ascending("code_hashes", &self.code_hashes)?;
        if self.actors == Actors::Any && self.accounts.is_empty() && self.code_hashes.is_empty() {
            return Err(PolicyError::Everybody);
        }
        match self.jobs {
            0 => return Err(PolicyError::Nobody("jobs")),
            jobs if jobs & !all_jobs() != 0 => return Err(PolicyError::Jobs),
            _ => {}
        }
        ascending("hosts", &self.hosts)?;
        if !self.hosts.iter().all(|host| domain::is_canonical_pattern(host)) {
            return Err(PolicyError::Host);
        }
        if let Runners::Listed { addresses } = &self.runners {
            listed("runners", addresses)?;
        }
        if let Attestation::Required { environments, measurements } = &self.attestation {
            listed("environments", environments)?;
            ascending("measurements", measurements)?;
        }
        if !(1..=MAX_COPIES).contains(&self.copies) {
            return Err(PolicyError::Copies(self.copies));
        }
        if self.until != Height::ZERO && self.until < self.from { Err(PolicyError::Times) } else { Ok(()) }
    }

    /// Whether a job may send the secret to a host.
    pub fn reaches(&self, host: &str) -> bool {
        self.hosts.iter().any(|pattern| domain::covers(pattern, host))
    }
}

fn ascending<T: Ord>(name: &'static str, items: &[T]) -> Result<(), PolicyError> {
    if items.is_sorted_by(|before, after| before < after) { Ok(()) } else { Err(PolicyError::Order(name)) }
}

fn listed<T: Ord>(name: &'static str, items: &[T]) -> Result<(), PolicyError> {
    if items.is_empty() { Err(PolicyError::Nobody(name)) } else { ascending(name, items) }
}
