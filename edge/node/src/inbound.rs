//! Which messages of the mesh are decoded at all
//! ([decision 397](../../../docs/decisions/0397-inbound-filters.md)).
//!
//! Whoever stakes the least is connected to every validator. To decode a dealing or a block takes far longer than to send one, so a
//! message that its sender has no reason to send is dropped before anybody decodes it.

use crate::{
    chain::Chain,
    committees::{Committees, Term},
    epoch::MAX_MEMBERS,
    seeds::Scheme,
};
use commonware_codec::{DecodeExt as _, ReadExt as _};
use commonware_cryptography::{
    blake3::Digest,
    bls12381::primitives::variant::MinSig,
    ed25519::{self, PublicKey},
};
use commonware_glue::dkg::{orchestrator, types::Message};
use commonware_p2p::{self as p2p, Receiver, utils::mux};
use commonware_runtime::IoBuf;
use commonware_utils::{N3f1, ordered::Quorum as _};
use cowboy_types::{Address, Hash, block::Header, keccak256, signing::address_of_public_key};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    num::{NonZeroU32, NonZeroUsize},
    sync::Arc,
};

/// The first byte of a dealing, and of an acknowledgement, in the library's encoding.
const DEALING: u8 = 0;
const ACKNOWLEDGEMENT: u8 = 1;

/// A receiver that drops what its filter does not pass.
pub(crate) struct Filtered<R, F> {
    receiver: R,
    passes: F,
}

impl<R, F> Filtered<R, F> {
    /// Drops messages for which `passes`, given the sender and the bytes, is false.
    pub(crate) fn new(receiver: R, passes: F) -> Self {
        Self { receiver, passes }
    }
}

impl<R: fmt::Debug, F> fmt::Debug for Filtered<R, F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Filtered").field("receiver", &self.receiver).finish_non_exhaustive()
    }
}

impl<R, F> Receiver for Filtered<R, F>
where
    R: Receiver<PublicKey = PublicKey>,
    F: FnMut(&PublicKey, &IoBuf) -> bool + Send + 'static,
{
    type Error = R::Error;
    type PublicKey = PublicKey;

    async fn recv(&mut self) -> Result<p2p::Message<PublicKey>, R::Error> {
        loop {
            let (from, message) = self.receiver.recv().await?;
            if (self.passes)(&from, &message) {
                return Ok((from, message));
            }
        }
    }

    fn capacity(&self) -> NonZeroUsize {
        self.receiver.capacity()
    }
}

/// A channel of votes or certificates, of which none is longer than the longest of them. The network lets through messages as long as blocks on every channel,
/// and those of later epochs wait here while one epoch ends and the next begins.
pub(crate) fn of_consensus<S, R>((sender, receiver): (S, R)) -> (S, impl Receiver<PublicKey = PublicKey>)
where
    R: Receiver<PublicKey = PublicKey>,
{
    let most = orchestrator::max_payload_size::<Scheme, Digest>(MAX_MEMBERS.get());
    (sender, Filtered::new(receiver, move |_: &PublicKey, message: &IoBuf| message.len() <= most))
}

/// A channel of dealings and acknowledgements, each of which is new.
pub(crate) fn of_dealings<S, R>(chain: Arc<Chain>, (sender, receiver): (S, R)) -> (S, impl Receiver<PublicKey = PublicKey>)
where
    R: Receiver<PublicKey = PublicKey>,
{
    (sender, Filtered::new(receiver, dealings(chain)))
}

/// Passes blocks above the newest final one, and of a later round, that a leader of their epoch has signed, from those who sign in the newest epoch that this node
/// knows, or in the next. Only the header is read for that: a body of five megabytes is decoded for nobody who made it up.
pub(crate) fn proposers(chain: Arc<Chain>) -> impl FnMut(&PublicKey, &IoBuf) -> bool + Send + 'static {
    let mut passed = Headers::default();
    move |from, message| {
        let newest = chain.committees.newest();
        if !is_member(&newest, from) {
            return false;
        }
        let Ok(header) = Header::read(&mut message.clone()) else { return false };
        let (number, round, head) = (header.number.0, &header.context, *chain.head.borrow());
        // A final block is of no use any more. Anyone has its header, and could send it with any body; and its epoch would be read from the disk each time.
        if number <= head.number || chain.committees.epoch_of(number) != round.epoch.0 {
            return false;
        }
        // Views ascend along the chain. Whoever led a view that is over could sign a block of it as long as the epoch lasts.
        if round.epoch.0 == head.epoch && round.view.0 <= head.view {
            return false;
        }
        let signer = signer_of_leader(&chain.committees, &newest, &header);
        signer.is_some() && header.signer() == signer && passed.is_new(from, header.digest(), head.number)
    }
}

/// Whether a node signs in an epoch, or is dealt a share for the next.
pub(crate) fn is_member(term: &Term, key: &PublicKey) -> bool {
    term.info.output.players().position(key).is_some() || term.info.players.position(key).is_some()
}

/// The address whose key signs the headers of the leader that a header names; none where it leads nothing in its epoch.
fn signer_of_leader(committees: &Committees, newest: &Term, header: &Header) -> Option<Address> {
    let (epoch, leader) = (header.context.epoch.0, &header.context.leader.0);
    if epoch <= newest.info.epoch.get() {
        return Some(committees.term(epoch)?.committee.member(leader)?.signer);
    }
    // The committee of the next epoch is known once the last block of this one is final, and its first proposal may be here before. It is of the players, or
    // of those who sign now where no shares were dealt.
    let leader = PublicKey::decode(leader.to_vec()).ok().filter(|leader| is_member(newest, leader))?;
    let is_next = newest.info.epoch.get().checked_add(1) == Some(epoch);
    let member = newest.info.directory.get(&leader).filter(|_| is_next)?;
    address_of_public_key(&member.signing_key)
}

/// The headers that were passed since the newest final block, by sender.
#[derive(Debug, Default)]
struct Headers {
    number: u64,
    passed: BTreeMap<PublicKey, BTreeSet<Hash>>,
}

/// Headers of one sender that are remembered.
const MAX_HEADERS: usize = 64;

impl Headers {
    /// Whether a sender's block is decoded, when the block of this number is the newest final one: each once between two blocks, because the last block of
    /// an epoch is proposed again.
    fn is_new(&mut self, from: &PublicKey, digest: Hash, number: u64) -> bool {
        if self.number != number {
            *self = Self { number, passed: BTreeMap::new() };
        }
        let of_sender = self.passed.entry(from.clone()).or_default();
        if of_sender.len() >= MAX_HEADERS {
            of_sender.clear();
        }
        of_sender.insert(digest)
    }
}

/// Passes what dealers and players of the newest epoch have to say to each other.
fn dealings(chain: Arc<Chain>) -> impl FnMut(&PublicKey, &IoBuf) -> bool + Send + 'static {
    let mut passed = Passed::default();
    move |from, message| {
        let number = chain.head.borrow().number;
        passed.passes(&chain.committees.newest(), number, from, message)
    }
}

/// What was passed of the dealings of one epoch.
#[derive(Debug, Default)]
struct Passed {
    epoch: u64,
    /// By dealer: the digest of its dealing, and the newest final block when it was passed last.
    dealings: BTreeMap<PublicKey, (Hash, u64)>,
    /// By player: the newest final block when an acknowledgement of it was passed last.
    acknowledgements: BTreeMap<PublicKey, u64>,
}

impl Passed {
    /// Whether a message is read, when the block of this number is the newest final one.
    ///
    /// A dealer sends each player one dealing, again after every block until it is acknowledged, and a player acknowledges each copy. So
    /// one of each is read between two blocks, and no second dealing of a dealer.
    fn passes(&mut self, term: &Term, number: u64, from: &PublicKey, message: &IoBuf) -> bool {
        let info = &term.info;
        // The library's channel of an epoch has the epoch's number.
        let Ok((epoch, rest)) = mux::parse(message.clone()) else { return false };
        if epoch != info.epoch.get() {
            return false;
        }
        let rest: &[u8] = rest.as_ref();
        if self.epoch != info.epoch.get() {
            *self = Self { epoch: info.epoch.get(), ..Self::default() };
        }
        if rest.len() > max_bytes(term) {
            return false;
        }
        match rest.first() {
            Some(&DEALING) if info.output.players().position(from).is_some() => self.dealing(number, from, rest),
            Some(&ACKNOWLEDGEMENT) if info.players.position(from).is_some() => {
                self.acknowledgements.insert(from.clone(), number) != Some(number)
            }
            _ => false,
        }
    }

    fn dealing(&mut self, number: u64, from: &PublicKey, bytes: &[u8]) -> bool {
        match self.dealings.get_mut(from) {
            Some((_, last)) if *last == number => false,
            Some((digest, last)) => {
                *last = number;
                *digest == keccak256(&[bytes])
            }
            None => {
                self.dealings.insert(from.clone(), (keccak256(&[bytes]), number));
                true
            }
        }
    }
}

/// The most bytes of a dealing to the players of an epoch: a coefficient for each whose share is needed to sign.
fn max_bytes(term: &Term) -> usize {
    let coefficients = NonZeroU32::new(term.info.players.quorum::<N3f1>()).unwrap_or(NonZeroU32::MIN);
    Message::<MinSig, ed25519::PublicKey>::max_encode_size(coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        committee::{Committee, ValidatorKeys, first_epoch},
        execute::tests::chain,
    };
    use commonware_codec::{Encode as _, Write as _, varint::UInt};
    use commonware_consensus::types::Epoch;
    use commonware_cryptography::Signer as _;
    use commonware_utils::ordered::Set;
    use cowboy_types::{Amount, wire::Fixed};

    /// Messages that came.
    #[derive(Debug)]
    struct Given(std::collections::VecDeque<p2p::Message<PublicKey>>);

    impl Receiver for Given {
        type Error = commonware_p2p::utils::mux::Error;
        type PublicKey = PublicKey;

        async fn recv(&mut self) -> Result<p2p::Message<PublicKey>, Self::Error> {
            self.0.pop_front().ok_or(mux::Error::Closed)
        }

        fn capacity(&self) -> NonZeroUsize {
            NonZeroUsize::MIN
        }
    }

    /// A message as long as a block is no vote, and is not kept until somebody reads it.
    #[test]
    fn messages_of_consensus_are_short() {
        let (_, keys) = four();
        let lengths = [10, 1_000_000, 100, 5_000_000];
        let messages = lengths.map(|length| (keys[0].clone(), IoBuf::from(vec![1; length])));
        let ((), mut receiver) = of_consensus(((), Given(messages.into())));
        let passed = futures::executor::block_on(async {
            let mut passed = Vec::new();
            while let Ok((_, message)) = receiver.recv().await {
                passed.push(message.len());
            }
            passed
        });
        assert_eq!(passed, [10, 100]);
    }

    fn four() -> (Term, Vec<PublicKey>) {
        let (validators, sharing, keys) = Committee::derive(b"mesh", 4, Amount(1));
        let info = first_epoch(&validators, &sharing).expect("an epoch");
        let committee = Committee::of(&info).expect("a committee");
        (Term { info, committee }, keys.iter().map(|keys| keys.network.public_key()).collect())
    }

    /// A message of an epoch: the epoch, what it is, and `bytes` bytes.
    fn message(epoch: u64, kind: u8, bytes: usize, content: u8) -> IoBuf {
        let mut message = Vec::new();
        UInt(epoch).write(&mut message);
        message.push(kind);
        message.resize(message.len() + bytes, content);
        message.into()
    }

    /// A dealing is read once between two blocks, and no other one of the same dealer; strangers, other epochs and messages that are
    /// longer than a dealing to these players are not read at all.
    #[test]
    fn repeated_dealings_are_not_decoded() {
        let (term, keys) = four();
        let stranger = ValidatorKeys::derive(b"stranger").network.public_key();
        let mut passed = Passed::default();
        let dealing = message(0, DEALING, 300, 1);
        assert!(passed.passes(&term, 7, &keys[0], &dealing));
        assert!(!passed.passes(&term, 7, &keys[0], &dealing), "again before the next block");
        assert!(passed.passes(&term, 7, &keys[1], &dealing), "another dealer's");
        assert!(passed.passes(&term, 8, &keys[0], &dealing), "its acknowledgement may be lost");
        assert!(!passed.passes(&term, 9, &keys[0], &message(0, DEALING, 300, 2)), "a second one");
        assert!(!passed.passes(&term, 9, &stranger, &dealing));
        assert!(!passed.passes(&term, 9, &keys[2], &message(1, DEALING, 300, 1)), "another epoch");
        assert!(!passed.passes(&term, 9, &keys[2], &message(0, DEALING, 96 * 4 + 40, 1)), "a coefficient too many");
        assert!(passed.passes(&term, 9, &keys[2], &message(0, DEALING, 96 * 3 + 33, 1)), "as long as one to four players");
        assert!(passed.passes(&term, 9, &keys[2], &message(0, ACKNOWLEDGEMENT, 64, 1)));
        assert!(!passed.passes(&term, 9, &keys[2], &message(0, ACKNOWLEDGEMENT, 64, 1)));
        assert!(!passed.passes(&term, 10, &stranger, &message(0, ACKNOWLEDGEMENT, 64, 1)));
        assert!(!passed.passes(&term, 10, &keys[3], &message(0, 2, 64, 1)) && !passed.passes(&term, 10, &keys[3], &IoBuf::default()));
        let next = Term { info: crate::epoch::Info { epoch: Epoch::new(1), ..term.info }, committee: term.committee };
        assert!(passed.passes(&next, 10, &keys[0], &message(1, DEALING, 300, 2)), "the next epoch has other dealings");
        assert!(!passed.passes(&next, 11, &keys[0], &dealing), "and none of the one before");
    }

    /// The library's messages begin with the bytes that are looked at here.
    #[test]
    fn dealings_are_recognised() {
        use commonware_cryptography::bls12381::dkg::feldman_desmedt::{Dealer, Info, Reveal};
        use commonware_utils::TestRng;
        let (term, keys) = four();
        let (_, _, secrets) = Committee::derive(b"mesh", 4, Amount(1));
        let players = term.info.players.clone();
        let (mode, reveal) = (commonware_cryptography::bls12381::primitives::sharing::Mode::NonZeroCounter, Reveal::V1);
        let previous = Some(term.info.output.clone());
        let round = Info::new::<N3f1>(b"mesh", 0, previous, mode, reveal, players.clone(), players).expect("a round");
        let (signer, share) = (secrets[0].network.clone(), secrets[0].share.clone());
        let (_, public, private) = Dealer::start::<N3f1>(TestRng::new(1), round, signer, share).expect("a dealer");
        let (_, private) = private.into_iter().next().expect("one for each player");
        let bytes = Message::<MinSig, PublicKey>::Dealer(public, private).encode();
        let whole = [UInt(0u64).encode().to_vec(), bytes.to_vec()].concat();
        assert!(bytes.len() <= max_bytes(&term));
        assert!(Passed::default().passes(&term, 7, &keys[0], &whole.into()));
    }

    /// A block is decoded only where a member sends it and its header is signed by a leader of its epoch, and once between two blocks.
    #[test]
    fn blocks_that_no_leader_signed_are_not_decoded() {
        let chain = chain(None);
        let keys = chain.keys.as_ref().expect("a validator");
        let (own, signer) = (keys.network.public_key(), keys.signer.clone());
        let stranger = ValidatorKeys::derive(b"stranger");
        let (genesis, _) = crate::genesis::dev(crate::genesis::DevGenesis::default()).expect("a genesis");
        let mut header = genesis.block.header().clone();
        header.context.leader = Fixed(own.as_ref().try_into().expect("32 bytes"));
        header.number.0 = chain.head.borrow().number + 1;
        header.context.view.0 = chain.head.borrow().view + 1;
        let message = |header: &Header| IoBuf::from([header.encode().as_ref(), &[0; 64]].concat());
        let signed = |mut header: Header, signer: &cowboy_types::signing::PrivateKey| {
            header.signature = signer.sign(&header.signing_digest());
            header
        };
        let mut passes = proposers(chain.clone());
        let good = signed(header.clone(), &signer);
        assert!(!passes(&stranger.network.public_key(), &message(&good)), "a stranger hands it on");
        assert!(!passes(&own, &IoBuf::default()) && !passes(&own, &message(&signed(header.clone(), &stranger.signer))), "nobody's");
        let with = |change: fn(&mut Header)| {
            let mut other = header.clone();
            change(&mut other);
            message(&signed(other, &signer))
        };
        assert!(!passes(&own, &with(|header| header.number.0 -= 1)), "a final block, whose body may be another");
        assert!(!passes(&own, &with(|header| header.context.epoch.0 += 1)), "an epoch that the number is not of");
        assert!(!passes(&own, &with(|header| header.context.view.0 -= 1)), "a round that is over, of whatever block");
        assert!(passes(&own, &message(&good)));
        assert!(!passes(&own, &message(&good)), "again before the next block");
        header.timestamp_ms.0 += 1;
        assert!(passes(&own, &message(&signed(header.clone(), &signer))), "a second one is evidence");
        header.context.leader = Fixed(stranger.network.public_key().as_ref().try_into().expect("32 bytes"));
        assert!(!passes(&own, &message(&signed(header, &stranger.signer))), "no leader of the epoch");
    }

    /// The first proposal of an epoch may come before its committee is known: who is dealt to leads in it, or who signs now.
    #[test]
    fn the_next_epoch_has_leaders_that_are_known() {
        let (mut term, keys) = four();
        let committees = chain(None).committees.clone();
        let (genesis, _) = crate::genesis::dev(crate::genesis::DevGenesis::default()).expect("a genesis");
        let mut header = genesis.block.header().clone();
        header.context.epoch.0 = 1;
        term.info.players = Set::from_iter_dedup(keys[..3].iter().cloned());
        for key in &keys {
            header.context.leader = Fixed(key.as_ref().try_into().expect("32 bytes"));
            assert!(signer_of_leader(&committees, &term, &header).is_some(), "it signs now");
        }
        header.context.epoch.0 = 2;
        assert_eq!(signer_of_leader(&committees, &term, &header), None, "the epoch after the next");
        header.context.epoch.0 = 1;
        let stranger = ValidatorKeys::derive(b"stranger").network.public_key();
        header.context.leader = Fixed(stranger.as_ref().try_into().expect("32 bytes"));
        assert_eq!(signer_of_leader(&committees, &term, &header), None);
    }

    /// However many headers a sender signs, few are remembered, and none of before the newest final block.
    #[test]
    fn a_sender_that_signs_many_headers_fills_no_memory() {
        let (_, keys) = four();
        let mut passed = Headers::default();
        for number in 0..1_000_u64 {
            assert!(passed.is_new(&keys[0], keccak256(&[&number.to_be_bytes()]), 7));
            assert!(passed.passed[&keys[0]].len() <= MAX_HEADERS);
        }
        let digest = keccak256(&[b"one"]);
        assert!(passed.is_new(&keys[1], digest, 7) && !passed.is_new(&keys[1], digest, 7) && passed.is_new(&keys[1], digest, 8));
        assert_eq!(passed.passed.len(), 1, "the other sender was before");
    }
}
