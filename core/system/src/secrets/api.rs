//! The methods and events of 0x04.

use super::NUMBER;
use super::forms::{
    DescribedKey, DescribedProxy, DescribedRelease, DescribedRound, DescribedSecret, DescribedVault, DescribedVersion, Moved, Named, Seat,
};
use crate::actor::methods;
use crate::schema::events;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List, Text};

methods! {
    /// What 0x04 is asked.
    pub(super) METHODS by NUMBER;

    /// Registers the sender as a proxy, with the stake as value.
    "register_proxy" RegisterProxy [payable, priced] {
        /// Where it is reached: a host name or an IPv6 address.
        endpoint: String,
        /// The port of its server.
        port: u64,
        /// The SHA-256 hash of the public key of its TLS certificate.
        certificate: Hash,
        /// Its Ed25519 key.
        key: Fixed<32>,
        /// The key's signature over "cowboy-proxy-key-v1:" ‖ genesis hash ‖ sender ‖ key.
        proof: Fixed<64>,
    } -> DescribedProxy [verify_ed25519];

    /// Says where the sender is reached.
    "update_proxy" UpdateProxy [priced] {
        /// A host name or an IPv6 address.
        endpoint: String,
        /// The port of its server.
        port: u64,
        /// The SHA-256 hash of the public key of its TLS certificate.
        certificate: Hash,
    } -> ();

    /// Says that the sender is up.
    "heartbeat" Heartbeat [duty] {} -> ();

    /// Stakes the value, too.
    "add_stake" AddStake [payable] {} -> ();

    /// Leaves: the sender is not drawn any more. It keeps the seats that it has until the next dealing.
    "leave" Leave [] {} -> ();

    /// Pays the sender's stake, `secrets.unbonding` blocks after it left and has no seat any more.
    "withdraw" Withdraw [] {} -> Amount;

    /// Gives the key to which the sender's shares of this dealing are encrypted.
    "join" Join [duty] {
        /// The number of the key.
        key_id: u64,
        /// The number of the dealing.
        round: u64,
        /// An X25519 key made for this dealing alone.
        key: Fixed<32>,
    } -> ();

    /// Deals: a commitment, and an encrypted share for each player.
    "deal" Deal [duty, priced] {
        /// The number of the key.
        key_id: u64,
        /// The number of the dealing.
        round: u64,
        /// The message, which only the members of the dealing read.
        message: Vec<u8>,
    } -> ();

    /// Acknowledges shares.
    "ack" Ack [duty, priced] {
        /// The number of the key.
        key_id: u64,
        /// The number of the dealing.
        round: u64,
        /// The message, which only the members of the dealing read.
        message: Vec<u8>,
    } -> ();

    /// Publishes the log of a dealer.
    "log" Log [duty, priced] {
        /// The number of the key.
        key_id: u64,
        /// The number of the dealing.
        round: u64,
        /// The message, which only the members of the dealing read.
        message: Vec<u8>,
    } -> ();

    /// Confirms what the dealing came to. With enough equal confirmations at the end of the phase, or once every player has confirmed, the players
    /// become the committee; only those that confirmed have to answer.
    "confirm" Confirm [duty, priced] {
        /// The number of the key.
        key_id: u64,
        /// The number of the dealing.
        round: u64,
        /// The hash of the outcome.
        digest: Hash,
        /// The outcome, encoded, where no player has given it yet.
        outcome: Option<Vec<u8>>,
    } -> ();

    /// Makes a new key, to which secrets are sealed from its first dealing on. The present one opens what was sealed to it for
    /// `secrets.sunset` blocks.
    "rekey" Rekey [governed] {} -> Count;

    /// Stores a version of a secret of the sender, and takes the deposit for it out of the sender's balance.
    "put_secret" PutSecret [priced] {
        /// To whom it may be released, encoded.
        policy: Vec<u8>,
        /// The sealed bytes. Their identity names this chain, the current key, the sender, the hash of the name, the next version and the hash of the policy.
        sealed: Vec<u8>,
    } -> Named;

    /// Stops or resumes releases of a secret of the sender. Those that are open end, and stay so.
    "pause_secret" PauseSecret [] {
        /// The hash of its name.
        name_hash: Hash,
        /// Whether it stops.
        paused: bool,
    } -> ();

    /// Deletes a version of a secret of the sender, and returns the deposit. Whoever kept the bytes and was released the version can still open it.
    "delete_version" DeleteVersion [] {
        /// The hash of its name.
        name_hash: Hash,
        /// The version.
        version: u64,
    } -> Amount;

    /// Deletes a secret of the sender with all versions, and returns the deposits.
    "delete_secret" DeleteSecret [] {
        /// The hash of its name.
        name_hash: Hash,
    } -> Amount;

    /// Has a version of a secret of the sender released to the sender, for `secrets.release_fee`.
    "release_to_owner" ReleaseToOwner [] {
        /// The hash of its name.
        name_hash: Hash,
        /// The version; the newest where it is absent.
        version: Option<u64>,
        /// The key to which answers are encrypted: a point of G1.
        transport: Fixed<48>,
        /// The proof that the sender has its secret: a point of G2.
        proof: Fixed<96>,
    } -> Hash [verify_bls];

    /// Has a secret of a job released to the sender, who was drawn for it, for `secrets.release_fee` of the account that keeps it.
    "release_to_runner" ReleaseToRunner [] {
        /// The job.
        job: Hash,
        /// The place of the secret among those that the job names.
        index: u64,
        /// The key to which answers are encrypted: a point of G1.
        transport: Fixed<48>,
        /// The proof that the sender has its secret: a point of G2.
        proof: Fixed<96>,
    } -> Hash [verify_bls];

    /// Has the key of a partition released to the sender, for `secrets.release_fee` of the sender: the owner of the volume, or who holds a capability
    /// for the partition. For a runner that holds one for a job, the owner pays, once for a version. The committee makes the key; it stands nowhere.
    "release_partition" ReleasePartition [] {
        /// The volume.
        volume: Hash,
        /// The hash of the partition's name.
        partition: Hash,
        /// The capability, where the sender does not own the volume.
        capability: Option<Fixed<16>>,
        /// The version of the key: of the standing root, where it is left out. The owner may name the next one, to rewrite the partition, and the one
        /// before, while `revert` can bring it back.
        key_version: Option<u64>,
        /// The key to which answers are encrypted: a point of G1.
        transport: Fixed<48>,
        /// The proof that the sender has its secret: a point of G2.
        proof: Fixed<96>,
    } -> Hash [verify_bls];

    /// Says who answered a release to the sender, and pays them.
    "close_release" CloseRelease [] {
        /// The release.
        release_id: Hash,
        /// The number of the committee that answered.
        epoch: u64,
        /// Who answered: the bit of each place.
        served: u16,
    } -> ();

    /// Asks as many members as are missing to the threshold to answer on the chain, for the bond as value.
    "demand" Demand [payable] {
        /// The release.
        release_id: Hash,
        /// Who answered: the bit of each place.
        served: u16,
    } -> ();

    /// Answers a demand. Only a member that has to.
    "serve" Serve [duty] {
        /// The release.
        release_id: Hash,
        /// The answer: 192 bytes.
        answer: Fixed<192>,
    } -> () [verify_bls];

    /// Shows an answer that a member signed and that is false. Anybody may.
    "accuse" Accuse [] {
        /// The release.
        release_id: Hash,
        /// The number of the committee.
        epoch: u64,
        /// The member's place.
        index: u16,
        /// The answer: 192 bytes.
        answer: Fixed<192>,
        /// The member's signature.
        signature: Fixed<64>,
    } -> Moved [verify_bls];

    /// Returns a proxy; null where none is registered.
    "get_proxy" GetProxy [view] {
        /// Its address.
        address: Address,
    } -> Option<DescribedProxy>;

    /// Returns a key and its committee; null where there is none.
    "get_key" GetKey [view] {
        /// Its number; the current one where it is absent.
        key_id: Option<u64>,
    } -> Option<DescribedKey>;

    /// Returns the dealing of a key that is under way; null where none is.
    "get_round" GetRound [view] {
        /// The number of the key; the current one where it is absent.
        key_id: Option<u64>,
    } -> Option<DescribedRound>;

    /// Returns a secret; null where there is none.
    "get_secret" GetSecret [view] {
        /// The owner.
        account: Address,
        /// The hash of its name.
        name_hash: Hash,
    } -> Option<DescribedSecret>;

    /// Returns what an account keeps.
    "get_vault" GetVault [view] {
        /// The account.
        account: Address,
    } -> DescribedVault;

    /// Returns the hashes of the names of an account's secrets, ascending, at most 256.
    "list_secrets" ListSecrets [view] {
        /// The owner.
        account: Address,
        /// The first hash that is returned; all where it is absent.
        first: Option<Hash>,
    } -> List<Hash, 256>;

    /// Returns a version of a secret; null where there is none.
    "get_version" GetVersion [view] {
        /// The owner.
        account: Address,
        /// The hash of its name.
        name_hash: Hash,
        /// The version; the newest where it is absent.
        version: Option<u64>,
    } -> Option<DescribedVersion>;

    /// Returns a release; null where there is none, or its record was deleted.
    "get_release" GetRelease [view] {
        /// The release.
        release_id: Hash,
    } -> Option<DescribedRelease>;
}

events! {
    /// What 0x04 emits.
    pub(super) EVENTS by NUMBER;

    /// A proxy registered; the amount is its stake.
    "proxy.registered" Registered(Moved)

    /// A proxy is reached elsewhere; the amount is its stake.
    "proxy.updated" Updated(Moved)

    /// A proxy staked more; the amount is its stake.
    "proxy.staked" Staked(Moved)

    /// A proxy leaves; the amount is its stake.
    "proxy.leaving" Leaving(Moved)

    /// A proxy was paid its stake.
    "proxy.left" Left(Moved)

    /// A proxy was punished; the amount was burned.
    "proxy.slashed" Slashed(Moved)

    /// A proxy was paid for a release.
    "proxy.paid" Paid(Moved)

    /// A dealing begins.
    "dealing.begun" Begun {
        /// The last height of its first phase.
        ends_at: Height,
        /// The number of the key.
        key_id: u64,
        /// Who receives shares, in the order of their keys.
        players: List<Seat, 16>,
        /// The number of the dealing.
        round: Count,
    }

    /// The next phase of a dealing begins.
    "dealing.phase" PhaseBegun {
        /// The last height of the phase.
        ends_at: Height,
        /// The number of the key.
        key_id: u64,
        /// deal, ack, log or confirm.
        phase: Text<16>,
        /// The number of the dealing.
        round: Count,
    }

    /// A member of a dealing spoke. The message stands in a record until the dealing is over.
    "dealing.message" Spoken {
        /// The member's place among those who speak in the phase.
        index: u64,
        /// The number of the key.
        key_id: u64,
        /// join, deal, ack, log or confirm.
        phase: Text<16>,
        /// The number of the dealing.
        round: Count,
    }

    /// A dealing failed. The shares that stood before are in use.
    "dealing.failed" Failed {
        /// The number of the key.
        key_id: u64,
        /// The phase in which too few spoke.
        phase: Text<16>,
        /// The number of the dealing.
        round: Count,
    }

    /// A committee holds a key.
    "committee.seated" Seated {
        /// The number of the committee.
        epoch: Count,
        /// The number of the key.
        key_id: u64,
        /// The members, in the order of their keys.
        members: List<Seat, 16>,
    }

    /// A new key is being made.
    "key.begun" KeyBegun {
        /// The number of the key.
        key_id: u64,
    }

    /// A version of a secret was stored.
    "secret.stored" Stored(Named)

    /// A secret was paused or resumed.
    "secret.paused" Paused {
        /// The owner.
        account: Address,
        /// Whether it is paused.
        is_paused: bool,
        /// The hash of its name.
        name_hash: Hash,
    }

    /// A version of a secret was deleted.
    "secret.deleted" Deleted(Named)

    /// A version of a secret may be released.
    "release.opened" Opened {
        /// The owner.
        account: Address,
        /// The last height at which it is answered.
        deadline: Height,
        /// The hash of the secret's name.
        name_hash: Hash,
        /// Who receives it.
        recipient: Address,
        /// The release.
        release_id: Hash,
        /// The job, or the delivery in which the owner asked.
        subject: Hash,
        /// The version.
        version: Count,
    }

    /// The recipient said who answered: the receipt of a release. It has neither answers nor sealed bytes.
    "release.closed" Closed {
        /// The number of the committee.
        epoch: Count,
        /// The hash of the secret's name.
        name_hash: Hash,
        /// The recipient.
        recipient: Address,
        /// The release.
        release_id: Hash,
        /// Who answered: the bit of each place.
        served: u16,
        /// The job, or the delivery in which the owner asked.
        subject: Hash,
        /// The version.
        version: Count,
    }

    /// The deadline of a release passed, and nobody said who answered. The fee was burned.
    "release.lapsed" Lapsed {
        /// Base units of CBY.
        amount: Amount,
        /// The release.
        release_id: Hash,
    }

    /// Members have to answer on the chain.
    "release.demanded" Demanded {
        /// Who has to: the bit of each place.
        due: u16,
        /// The release.
        release_id: Hash,
        /// The last height at which an answer counts.
        until: Height,
    }

    /// A member answered on the chain.
    "release.served" Served {
        /// The answer: 192 bytes.
        answer: Fixed<192>,
        /// The member's place.
        index: u64,
        /// The release.
        release_id: Hash,
    }

    /// A demand is over. The bond goes back where somebody was silent, and is burned where nobody was or the release ended before.
    "release.demand_over" DemandOver {
        /// Base units of CBY.
        bond: Amount,
        /// The release.
        release_id: Hash,
        /// Who was silent: the bit of each place.
        silent: u16,
    }
}
