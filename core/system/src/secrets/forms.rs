//! What the methods and events of 0x04 return and name.

use crate::endpoint::ENDPOINT_BYTES;
use crate::schema::form;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List, Text};

form! {
    /// A proxy.
    pub(crate) struct DescribedProxy {
        /// Its address.
        address: Address,
        /// The SHA-256 hash of the public key of its TLS certificate.
        certificate: Hash,
        /// Demands that it has to answer, and has not.
        demands: Count,
        /// Where it is reached: a host name or an address.
        endpoint: Text<ENDPOINT_BYTES>,
        /// The last height at which it is drawn only where too few others can be; 0 where it was never excluded.
        excluded_until: Height,
        /// Whether it can hold a share: it waited, is up, stays, and has the stake.
        is_able: bool,
        /// Its Ed25519 key.
        key: Fixed<32>,
        /// The height of its newest heartbeat.
        last_heartbeat: Height,
        /// The height at which it left; null while it has not.
        left_at: Option<Height>,
        /// The port of its server.
        port: u16,
        /// The height at which it registered.
        registered_at: Height,
        /// Demands that it did not serve lately.
        silences: Count,
        /// Base units of CBY that it staked.
        stake: Amount,
    }
}

form! {
    /// A seat of a committee.
    pub(crate) struct Seat {
        /// The proxy.
        address: Address,
        /// Its Ed25519 key.
        key: Fixed<32>,
    }
}

form! {
    /// A key, and the committee that holds it.
    pub(crate) struct DescribedKey {
        /// The number of the committee.
        epoch: Count,
        /// The number of the key.
        key_id: u64,
        /// The public key; null until the first dealing succeeded.
        master: Option<Fixed<96>>,
        /// The members, in the order of their keys.
        members: List<Seat, 16>,
        /// The height from which another committee is to be drawn.
        next_draw: Height,
        /// What the dealing came to, encoded; null until the first succeeded.
        outcome: Option<Vec<u8>>,
        /// The height from which the committee answers.
        since: Height,
        /// The last height at which the key opens something; null while it is in use.
        sunset: Option<Height>,
        /// How many members have to answer.
        threshold: u64,
    }
}

form! {
    /// Who receives a share of a dealing.
    pub(crate) struct Receiver {
        /// The proxy.
        address: Address,
        /// The X25519 key to which its shares are encrypted; null until it joined.
        joined: Option<Fixed<32>>,
        /// Its Ed25519 key.
        key: Fixed<32>,
    }
}

form! {
    /// A dealing that is under way.
    pub(crate) struct DescribedRound {
        /// The height at which its members were drawn.
        begun_at: Height,
        /// Who deals, in the order of their keys.
        dealers: List<Seat, 16>,
        /// The last height of the phase.
        ends_at: Height,
        /// The running hash of the messages of each phase that began.
        hashes: List<Hash, 5>,
        /// The number of the key.
        key_id: u64,
        /// join, deal, ack, log or confirm.
        phase: Text<16>,
        /// Who receives shares, in the order of their keys.
        players: List<Receiver, 16>,
        /// The number of the dealing.
        round: Count,
        /// Who spoke in the phase: the bit of each place.
        spoke: u16,
    }
}

form! {
    /// What an account keeps.
    pub(crate) struct DescribedVault {
        /// Base units of CBY that are held for its secrets.
        deposit: Amount,
        /// The number of the first version of a secret that it has not yet.
        first_version: Count,
        /// How many secrets it has.
        secrets: Count,
    }
}

form! {
    /// A secret.
    pub(crate) struct DescribedSecret {
        /// Whether nothing of it is released for the moment.
        is_paused: bool,
        /// The number of its newest version.
        latest: Count,
        /// The hash of its name.
        name_hash: Hash,
        /// The versions that are kept.
        versions: List<Count, 32>,
    }
}

form! {
    /// A version of a secret.
    pub(crate) struct DescribedVersion {
        /// Base units of CBY that are held for it.
        deposit: Amount,
        /// The number of the key that it is sealed to.
        key_id: u64,
        /// To whom it may be released, encoded.
        policy: Vec<u8>,
        /// How often it was released.
        released: Count,
        /// The sealed bytes.
        sealed: Vec<u8>,
        /// The height at which it was stored.
        stored_at: Height,
        /// Its number.
        version: Count,
    }
}

form! {
    /// A release.
    pub(crate) struct DescribedRelease {
        /// The last height at which it is answered.
        deadline: Height,
        /// Who has to answer on the chain, and has not: the bit of each place; 0 without a demand.
        due: u16,
        /// The number of the committee that holds the key.
        epoch: Count,
        /// The identity that is released, encoded.
        identity: Vec<u8>,
        /// The height at which it was opened.
        opened: Height,
        /// Who receives it.
        recipient: Address,
        /// Who answered: the bit of each place; null until the recipient says so.
        served: Option<u16>,
        /// The job, or the delivery in which the owner asked.
        subject: Hash,
        /// The key to which answers are encrypted.
        transport: Fixed<48>,
    }
}

form! {
    /// A proxy, and an amount.
    pub(crate) struct Moved {
        /// Base units of CBY.
        amount: Amount,
        /// The proxy.
        proxy: Address,
    }
}

form! {
    /// A version of a secret, by name.
    pub(crate) struct Named {
        /// The owner.
        account: Address,
        /// The hash of the secret's name.
        name_hash: Hash,
        /// The version.
        version: Count,
    }
}
