//! The records of proxies, committees, secrets and releases.

use crate::endpoint::ENDPOINT_BYTES;
use crate::standstill::{Standstill, answered};
use cowboy_params::Params;
use cowboy_secrets::dealing::{MAX_MEMBERS, Phase};
use cowboy_secrets::{Identity, Policy};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Blob, Hash, List, Text, record};

/// The longest message of a dealing.
pub const MESSAGE_BYTES: usize = 3_968;

/// Demands that a proxy has to answer at once, at most, whatever governance says.
pub const MAX_DEMANDS: usize = 64;

record! {
    /// A proxy: an operator that can be drawn into a committee.
    pub struct Proxy {
        /// Where it is reached: a host name or an address.
        pub endpoint: Text<ENDPOINT_BYTES>,
        /// The port of its server.
        pub port: u16,
        /// The SHA-256 hash of the public key of its TLS certificate.
        pub certificate: Hash,
        /// The Ed25519 key that signs its answers and its part of a dealing.
        pub key: Fixed<32>,
        /// CBY that it staked.
        pub stake: Amount,
        /// The height at which it registered.
        pub registered_at: Height,
        /// The height of its newest heartbeat.
        pub last_heartbeat: Height,
        /// The height at which it left, where it did: it is not drawn any more.
        pub left_at: Option<Height>,
        /// The height at which it last gave up a seat.
        pub seated_until: Height,
        /// The height up to which it is not drawn.
        pub excluded_until: Height,
        /// Demands that it did not serve since `silent_since`.
        pub silences: Count,
        /// The height of the first of them.
        pub silent_since: Height,
        /// The releases of which it has to answer a demand, and has not.
        pub demands: List<Hash, MAX_DEMANDS>,
    }
}

record! {
    /// A seat of a committee.
    pub struct Member {
        /// The proxy.
        pub address: Address,
        /// Its Ed25519 key. Members are in the order of their keys.
        pub key: Fixed<32>,
    }
}

/// The members of a committee, in the order of their keys.
pub type Members = List<Member, MAX_MEMBERS>;

/// An encoded outcome of a dealing.
pub type OutcomeBytes = Blob<MESSAGE_BYTES>;

/// A member's bit for each place.
pub type Indices = u16;

record! {
    /// A key to which secrets are sealed.
    pub struct ReleaseKey {
        /// The public key; none until the first dealing succeeded.
        pub master: Option<Fixed<96>>,
        /// How many dealings succeeded: the number of the committee that holds it.
        pub epoch: Count,
        /// The height from which another committee is to be drawn.
        pub draw_at: Height,
        /// The height at which 0x04 looks at the key next: its place in the agenda.
        pub next_look: Height,
        /// The number of the last dealing.
        pub rounds: Count,
        /// The last height at which it opens something, once a newer key is in use. As long as volumes have their keys from it, it stays.
        pub sunset: Option<Height>,
        /// Volumes whose keys it makes.
        pub volumes: Count,
    }
}

record! {
    /// Who holds the shares of a key.
    pub struct Committee {
        /// Its members.
        pub members: Members,
        /// What the dealing came to, encoded: decoding it checks every point again.
        pub outcome: OutcomeBytes,
        /// The height from which it answers.
        pub since: Height,
        /// The last height at which it answers; none while it holds the key.
        pub until: Option<Height>,
        /// Who confirmed the outcome, and so has a share: nobody else has to answer or to deal.
        pub confirmed: Indices,
    }
}

record! {
    /// A player of a dealing: who receives a share.
    pub struct Player {
        /// The seat that it will have.
        pub member: Member,
        /// The X25519 key to which its shares are encrypted in this round alone; none until it joined.
        pub key: Option<Fixed<32>>,
    }
}

record! {
    /// What the new members confirmed.
    pub struct Confirmation {
        /// The hash of the outcome.
        pub digest: Hash,
        /// Who confirmed it.
        pub members: Indices,
        /// The outcome, once one of them said what it is.
        pub outcome: Option<OutcomeBytes>,
    }
}

record! {
    /// A dealing that is under way.
    pub struct Round {
        /// Its number.
        pub number: Count,
        /// The height at which its members were drawn.
        pub begun_at: Height,
        /// The phase.
        pub phase: Phase,
        /// The last height of the phase.
        pub ends_at: Height,
        /// Who deals: the members of the committee that holds the key, or the players where none does.
        pub dealers: Members,
        /// Who receives shares.
        pub players: List<Player, MAX_MEMBERS>,
        /// Who spoke in the phase.
        pub spoke: Indices,
        /// Who spoke in each phase that is over.
        pub heard: List<Indices, 4>,
        /// The running hash of the messages of each phase that began, in order.
        pub hashes: List<Hash, 5>,
        /// What was confirmed.
        pub confirmations: List<Confirmation, MAX_MEMBERS>,
    }
}

record! {
    /// What an account keeps at 0x04.
    pub struct Vault {
        /// How many secrets it has.
        pub secrets: Count,
        /// What it has deposited for them.
        pub deposit: Amount,
        /// The highest number of a version of a secret that it deleted. Whoever was released such a version could open another one with the same
        /// identity, so versions of new secrets have higher numbers.
        pub floor: Count,
    }
}

record! {
    /// A secret. Its name does not stand on the chain.
    pub struct Secret {
        /// The number of its newest version.
        pub latest: Count,
        /// The versions that are kept, ascending.
        pub versions: List<Count, 32>,
        /// Whether nothing of it is released for the moment.
        pub is_paused: bool,
        /// How often it was paused. A pause ends the releases that were opened before.
        pub pauses: Count,
    }
}

record! {
    /// A version of a secret. The sealed bytes stand in a record of their own.
    pub struct Version {
        /// The number of the key that it is sealed to.
        pub key_id: u32,
        /// To whom it may be released.
        pub policy: Policy,
        /// The length of the sealed bytes.
        pub sealed_bytes: Count,
        /// The deposit for it.
        pub deposit: Amount,
        /// How often it was released.
        pub released: Count,
        /// The height at which it was stored.
        pub stored_at: Height,
    }
}

record! {
    /// The right to the answers of a committee. Nothing else gives one.
    pub struct Release {
        /// What is released.
        pub identity: Identity,
        /// Who receives it.
        pub recipient: Address,
        /// The key to which answers are encrypted.
        pub transport: Fixed<48>,
        /// The job, or the delivery in which the owner asked.
        pub subject: Hash,
        /// The number of the committee that holds the key; where answers were demanded, of the one that has to give them.
        pub epoch: Count,
        /// How often the secret had been paused when it was opened.
        pub pauses: Count,
        /// The height at which it was opened.
        pub opened: Height,
        /// The last height at which it is answered, where nothing was paused since it was opened.
        pub deadline: Height,
        /// What is held for those who answer.
        pub fee: Amount,
        /// Who answered, once the recipient said so.
        pub served: Option<Indices>,
        /// Whose false answers were shown.
        pub accused: Indices,
        /// The demand that was made, where one was.
        pub demand: Option<Demand>,
        /// The height at which 0x04 looks at it next: its place in the agenda.
        pub next_look: Height,
    }
}

record! {
    /// Members are asked to answer on the chain.
    pub struct Demand {
        /// What the recipient put down.
        pub bond: Amount,
        /// The height at which it was made.
        pub made_at: Height,
        /// The last height at which an answer counts, where nothing was paused since.
        pub until: Height,
        /// Who has to answer, and has not.
        pub due: Indices,
        /// The members of the committee: whoever is due counts the demand even where the committee is gone.
        pub members: List<Address, MAX_MEMBERS>,
        /// Whether anybody was silent, once it is over.
        pub is_over: bool,
    }
}

impl ReleaseKey {
    /// The numbers of the committees that may answer: of the one that holds it, and of the one before, which answers a while longer.
    pub fn committees(&self) -> impl Iterator<Item = Count> + use<> {
        [Some(self.epoch), self.epoch.checked_sub(Count(1))].into_iter().flatten()
    }

    /// Whether it opens nothing any more: its sunset has passed, and no volume has its keys from it.
    pub fn is_over(&self, params: &Params, still: &Standstill, height: Height) -> bool {
        self.volumes == Count::ZERO && self.opens_until(params, still).is_some_and(|last| height > last)
    }

    /// The last height at which it opens something, once a newer key is in use.
    pub fn opens_until(&self, params: &Params, still: &Standstill) -> Option<Height> {
        self.sunset.map(|sunset| still.ending(sunset, params.secrets.sunset))
    }
}

impl Committee {
    /// The last height at which it answers; none while it holds the key.
    pub fn answers_until(&self, params: &Params, still: &Standstill) -> Option<Height> {
        self.until.map(|until| still.ending(until, params.secrets.handover))
    }

    /// Whether it answers at a height.
    pub fn does_answer(&self, params: &Params, still: &Standstill, height: Height) -> bool {
        self.answers_until(params, still).is_none_or(|until| height <= until)
    }
}

impl Round {
    /// The last height of its phase.
    pub fn phase_end(&self, params: &Params, still: &Standstill) -> Height {
        still.ending(self.ends_at, params.secrets.phase)
    }
}

answered! {
    Release: opened, deadline;
    Demand: made_at, until;
}

impl Proxy {
    /// Whether it was heard of lately.
    pub fn is_alive(&self, params: &Params, still: &Standstill, height: Height) -> bool {
        still.ran(self.last_heartbeat, height) <= params.secrets.alive
    }

    /// The height up to which it is not drawn, because it missed a dealing or lost its seat.
    pub fn drawn_after(&self, params: &Params, still: &Standstill) -> Height {
        still.ending(self.excluded_until, params.secrets.exclusion)
    }

    /// The height from which its stake answers for nothing any more: the unbonding time after it left and gave up its seat. One that is not heard of
    /// counts from when it was absent, and not excluded any more.
    pub fn free_at(&self, params: &Params, still: &Standstill) -> Height {
        let absent_at = still.after(self.last_heartbeat, params.secrets.alive);
        let gone_at = self.left_at.unwrap_or(absent_at.max(self.drawn_after(params, still))).max(self.seated_until);
        still.after(gone_at, params.secrets.unbonding)
    }

    /// Whether a heartbeat is due: one that costs nothing. `alive` is the parameter of the blocks after which a proxy counts as absent.
    pub fn is_heartbeat_due(&self, alive: u64, height: u64) -> bool {
        crate::heartbeat::is_due(self.last_heartbeat, alive, height)
    }

    /// Whether it can hold a share: it waited, is up, stays, and has the stake.
    pub fn is_able(&self, params: &Params, still: &Standstill, height: Height) -> bool {
        let rows = &params.secrets;
        let waited = self.registered_at.0.saturating_add(rows.proxy_wait) <= height.0;
        waited && self.is_alive(params, still, height) && self.left_at.is_none() && self.stake.0 >= rows.proxy_stake
    }
}

/// The bit of a place.
pub fn bit(place: usize) -> Indices {
    1u16.checked_shl(u32::try_from(place).unwrap_or(u32::MAX)).unwrap_or(0)
}

/// The bits of the first places.
pub fn first(count: usize) -> Indices {
    (0..count).fold(0, |bits, place| bits | bit(place))
}

/// The places whose bits are set, ascending.
pub fn indices(bits: Indices) -> impl Iterator<Item = usize> {
    (0..MAX_MEMBERS).filter(move |place| bits & bit(*place) != 0)
}
