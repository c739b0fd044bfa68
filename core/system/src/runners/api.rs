//! The methods and events of 0x01.

use super::NUMBER;
use super::capacity::ContainerCapacity;
use super::environments::ENVIRONMENTS;
use crate::actor::methods;
use crate::schema::{Form, Refused, Shape, events, form};
use cowboy_types::cbor::Value;
use cowboy_types::job::{JobKind, runner::ModelStatus};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Blob, Hash, List, Text};

/// The names of some kinds of work or environments, where `row` has the name of each.
macro_rules! names {
    ($rows:expr, $index:ident, $name:expr) => {{
        let mut names = [""; $rows.len()];
        let mut $index = 0;
        while $index < names.len() {
            names[$index] = $name;
            $index += 1;
        }
        names
    }};
}

const KINDS: [&str; JobKind::VARIANTS.len()] = names!(JobKind::VARIANTS, row, JobKind::VARIANTS[row].1);

const ENVIRONMENT_NAMES: [&str; ENVIRONMENTS.len()] = names!(ENVIRONMENTS, row, ENVIRONMENTS[row].0);

impl Form for JobKind {
    const SHAPE: Shape = Shape::Word(&KINDS);

    fn read(value: &Value) -> Result<Self, Refused> {
        value.as_text().and_then(Self::from_name).ok_or(Refused::WHOLE)
    }

    fn write(&self) -> Value {
        Value::text(self.name())
    }
}

/// A trusted environment that a runner says it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Environment(&'static (&'static str, u8));

impl Environment {
    /// Its bit in a runner's record.
    pub(super) fn bit(self) -> u8 {
        self.0.1
    }
}

impl Form for Environment {
    const SHAPE: Shape = Shape::Word(&ENVIRONMENT_NAMES);

    fn read(value: &Value) -> Result<Self, Refused> {
        let name = value.as_text().ok_or(Refused::WHOLE)?;
        ENVIRONMENTS.iter().find(|(known, _)| *known == name).map(Self).ok_or(Refused::WHOLE)
    }

    fn write(&self) -> Value {
        Value::text(self.0.0)
    }
}

impl Form for ModelStatus {
    const SHAPE: Shape = Shape::Number;

    fn read(value: &Value) -> Result<Self, Refused> {
        match value.as_u64() {
            Some(0) => Ok(Self::Listed),
            Some(1) => Ok(Self::Flagged),
            Some(2) => Ok(Self::Banned),
            _ => Err(Refused::WHOLE),
        }
    }

    fn write(&self) -> Value {
        Value::uint(u64::from(self.number()))
    }
}

form! {
    /// What a runner asks for its work, in base units.
    #[derive(Default)]
    pub(crate) struct Rates {
        /// For a token into a model.
        llm_input_token: Amount = Amount::ZERO,
        /// For a token out of a model.
        llm_output_token: Amount = Amount::ZERO,
        /// For a web request or a tool's call.
        http_request_base: Amount = Amount::ZERO,
        /// For a second of work.
        compute_second: Amount = Amount::ZERO,
        /// For a mebibyte of memory, for a job.
        memory_mb: Amount = Amount::ZERO,
        /// The smallest job that it takes.
        min_job_value: Amount = Amount::ZERO,
        /// The largest job that it takes, by which its stake is measured.
        max_job_value: Amount = Amount::ZERO,
    }
}

form! {
    /// What a runner says of itself.
    pub(crate) struct Declared {
        /// The Ed25519 public key that signs its results.
        result_key: Fixed<32>,
        /// The kinds of work that it does; at least one.
        kinds: List<JobKind, 16> = List::default(),
        /// What it asks for its work.
        rates: Rates = Rates::default(),
        /// How many jobs it does at a time; at least one.
        max_concurrent: Count,
        /// The trusted environments that it has.
        tee: List<Environment, 16> = List::default(),
        /// Where other runners send results to an aggregator.
        endpoint: Text<256> = Text::default(),
        /// The regions where it runs.
        regions: List<Text<16>, 16> = List::default(),
        /// Web domains that it reaches; none means all.
        domains: List<Text<253>, 64> = List::default(),
        /// Models that it has.
        models: List<Hash, 64> = List::default(),
        /// What it provides: a manifest, in CBOR.
        provides: Blob<16384> = Blob::default(),
        /// What it gives to one container; it must be there exactly where it does containers.
        containers: Option<ContainerCapacity> = None,
    }
}

methods! {
    /// The methods with which a runner declares what it does.
    pub(super) DECLARATIONS by NUMBER;

    /// Makes the sender a runner. The value is its stake.
    "register" Register(Declared) [payable, duty, priced] -> ();

    /// Replaces what the sender said of itself. A larger `max_job_value` needs the stake for it.
    "update" Update(Declared) [duty, priced] -> ();
}

form! {
    /// Stake on its way out.
    pub(crate) struct Released {
        /// The height at which it may be withdrawn.
        release: Height,
    }
}

form! {
    /// What was paid out.
    pub(crate) struct Withdrawn {
        /// In base units.
        amount: Amount,
    }
}

form! {
    /// Delegated stake on its way out.
    pub(crate) struct Leaving {
        /// In base units.
        amount: Amount,
        /// The height at which it may be withdrawn.
        release: Height,
    }
}

form! {
    /// What a delegator has behind a runner.
    pub(crate) struct DelegationState {
        /// What counts, in base units.
        amount: Amount,
        /// What was asked back.
        leaving: List<Leaving, 16>,
        /// The height of the runner's registration.
        registered_at: Height,
    }
}

form! {
    /// What selections see of a runner.
    pub(crate) struct RunnerState {
        /// Its own stake.
        stake: Amount,
        /// What others delegated to it.
        delegated: Amount,
        /// In points, from 0 to 200.
        reputation: u64,
        /// The jobs that it has under way.
        active_jobs: Count,
        /// How many it does at a time.
        max_concurrent: Count,
        /// The height of its last heartbeat.
        last_heartbeat: Height,
        /// Whether a committee may be drawn from it.
        is_selectable: bool,
        /// healthy, or why no committee is: leaving, probation, low (its reputation), silent (no heartbeat) or stake.
        health: Text<16>,
        /// Whether somebody should look at it.
        is_flagged: bool,
    }
}

form! {
    /// A model's id.
    pub(crate) struct ModelId {
        /// The hash of its four parts.
        model_id: Hash,
    }
}

form! {
    /// A published model.
    pub(crate) struct ModelState {
        /// Who published it; zeros where nobody publishes it now.
        publisher: Address,
        /// Its name, for people.
        name: Text<128>,
        /// 0 listed, 1 flagged, 2 banned.
        status: ModelStatus,
        /// The deposit, in base units.
        deposit: Amount,
    }
}

methods! {
    /// What 0x01 is asked beside declarations.
    pub(super) METHODS by NUMBER;

    /// Adds the value to the sender's stake.
    "stake" AddStake [payable] {} -> ();

    /// Asks stake back. It can be slashed until it is released.
    "unstake" Unstake [] {
        /// In base units.
        amount: Amount,
    } -> Released;

    /// Pays out stake whose time is over.
    "withdraw" Withdraw [] {} -> Withdrawn;

    /// Ends being selected, and asks all stake back.
    "leave" Leave [] {} -> Released;

    /// Puts the value behind a runner. It counts for its draws, and is slashed with its own stake.
    "delegate" Delegate [payable] {
        /// The runner.
        runner: Address,
    } -> ();

    /// Asks delegated stake back. It can be slashed until it is released.
    "undelegate" Undelegate [] {
        /// The runner.
        runner: Address,
        /// In base units; null for all of it.
        amount: Option<Amount>,
    } -> Leaving;

    /// Pays out delegated stake whose time is over; all of it where the runner is gone.
    "withdraw_delegation" WithdrawDelegation [] {
        /// The runner.
        runner: Address,
        /// The height of its registration; null for the one that lasts.
        registered_at: Option<Height>,
    } -> Withdrawn;

    /// Returns what somebody has behind a runner.
    "get_delegation" GetDelegation [view] {
        /// The runner.
        runner: Address,
        /// Who delegated.
        delegator: Address,
        /// The height of its registration; null for the one that lasts.
        registered_at: Option<Height>,
    } -> DelegationState;

    /// Shows that the sender is there. Ends a probation whose time is over.
    "heartbeat" Heartbeat [duty] {} -> ();

    /// Returns what selections see of a runner.
    "get_runner" GetRunner [view] {
        /// The runner.
        runner: Address,
    } -> RunnerState;

    /// Says what the sender provides, in the place of what it said last.
    "attest" Attest [priced] {
        /// What it provides, signed, in canonical CBOR (000 appendix A).
        attestation: Vec<u8>,
    } -> ();

    /// Returns a runner's attestation as it was signed.
    "get_attestation" GetAttestation [view] {
        /// The runner.
        runner: Address,
    } -> Vec<u8>;

    /// Publishes a model. The value is its deposit.
    "publish_model" PublishModel [payable, kept] {
        /// The digest of its weights.
        weights: Hash,
        /// The digest of its architecture.
        arch: Hash,
        /// The digest of its tokenizer.
        tokenizer: Hash,
        /// The digest of its license.
        license: Hash,
        /// Its name, for people.
        name: Text<128> = Text::default(),
    } -> ModelId;

    /// Withdraws the sender's model, and pays the deposit back.
    "retire_model" RetireModel [] {
        /// The hash of its four parts.
        model_id: Hash,
    } -> ();

    /// Flags or bans a model, whether somebody publishes it now or not, or lists it again.
    "set_model_status" SetModelStatus [routine, governed] {
        /// The hash of its four parts.
        model_id: Hash,
        /// 0 listed, 1 flagged, 2 banned.
        status: ModelStatus,
    } -> ();

    /// Returns a model that somebody publishes, or of which governance decided something.
    "get_model" GetModel [view] {
        /// The hash of its four parts.
        model_id: Hash,
    } -> ModelState;
}

events! {
    /// What 0x01 emits.
    pub(super) EVENTS by NUMBER;

    /// An account is a runner now.
    "RunnerRegistered" Registered {
        /// The runner.
        runner: Address,
        /// Its stake.
        stake: Amount,
    }

    /// A runner replaced what it said of itself.
    "RunnerUpdated" Updated {
        /// The runner.
        runner: Address,
    }

    /// A runner added stake.
    "RunnerStaked" Staked {
        /// The runner.
        runner: Address,
        /// What was added.
        amount: Amount,
    }

    /// A runner asked stake back.
    "RunnerUnstaked" Unstaked {
        /// The runner.
        runner: Address,
        /// What was asked back.
        amount: Amount,
        /// The height at which it may be withdrawn.
        release: Height,
    }

    /// A runner was paid stake out.
    "RunnerWithdrew" Withdrew {
        /// The runner.
        runner: Address,
        /// What was paid out.
        amount: Amount,
    }

    /// A slash left a runner with less than the smallest job asks for.
    "RunnerBelowStake" BelowStake {
        /// The runner.
        runner: Address,
        /// What counts for it: its own, and what others delegated up to a multiple of its own.
        stake: Amount,
        /// What the smallest job asks for.
        required: Amount,
    }

    /// A runner said what it provides.
    "RunnerAttested" Attested {
        /// The runner.
        runner: Address,
        /// The first height at which it counts.
        valid_from: Height,
        /// The last height at which it counts.
        valid_until: Height,
    }

    /// Somebody put stake behind a runner.
    "StakeDelegated" Delegated {
        /// The runner.
        runner: Address,
        /// Who did.
        delegator: Address,
        /// In base units.
        amount: Amount,
    }

    /// A delegator asked stake back.
    "StakeUndelegated" Undelegated {
        /// The runner.
        runner: Address,
        /// Who did.
        delegator: Address,
        /// In base units.
        amount: Amount,
    }

    /// A delegator was paid stake out.
    "DelegationWithdrawn" DelegationWithdrawn {
        /// The runner.
        runner: Address,
        /// Who was.
        delegator: Address,
        /// In base units.
        amount: Amount,
    }

    /// A model was published.
    "ModelPublished" ModelPublished {
        /// The hash of its four parts.
        model_id: Hash,
        /// Who published it.
        publisher: Address,
        /// 0 listed, 1 flagged, 2 banned.
        status: ModelStatus,
    }

    /// A model was withdrawn.
    "ModelRetired" ModelRetired {
        /// The hash of its four parts.
        model_id: Hash,
        /// Who published it.
        publisher: Address,
        /// 0 listed, 1 flagged, 2 banned.
        status: ModelStatus,
    }

    /// Governance decided about a model.
    "ModelStatusSet" ModelStatusSet {
        /// The hash of its four parts.
        model_id: Hash,
        /// Who published it.
        publisher: Address,
        /// 0 listed, 1 flagged, 2 banned.
        status: ModelStatus,
    }
}
