//! What becomes final of what is submitted, where pools refuse, disagree and withhold.

use super::*;
use crate::{
    arriving::accepted,
    attempts::or_accepted,
    journal::Journal,
    limits::Limits,
    metrics::SigningGauges,
    pooled::dispatched,
    requests::Requests,
    testing::{GENESIS, command, dispatch, limits, room, transaction},
};
use cowboy_types::{Cells, Cycles, Instruction, Price};
use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::{LazyLock, Mutex, MutexGuard},
};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// A chain that is reached by two pools: the one that the gateway submits to, and another one that gets every one of them, too.
#[derive(Default)]
struct Chain {
    nonce: Mutex<u64>,
    final_ones: Mutex<Vec<Transaction>>,
    /// What the first pool answers, the next one last; it takes the transaction where nothing is left.
    answers: Mutex<Vec<NotTaken>>,
    /// What the first pool answers always.
    always: Mutex<Option<NotTaken>>,
    /// Whether the first pool is the gateway's own. Then the other one gets what it takes.
    is_own: bool,
    /// Whether the other pool never takes a transaction for another one.
    is_stubborn: bool,
    /// What the other pool has. It keeps the first transaction of each nonce, or the one with the highest price, whatever the first pool answers.
    kept: Mutex<BTreeMap<Nonce, Transaction>>,
    /// All that was submitted.
    seen: Mutex<Vec<Transaction>>,
    waited: Mutex<Duration>,
    /// The time that the first pool takes for each answer.
    takes: Duration,
    /// While somebody holds it, the first pool does not answer.
    silence: tokio::sync::Mutex<()>,
    taken: Mutex<Vec<Sent>>,
    used: Mutex<Vec<Sent>>,
}

fn held<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().expect("nothing panics while it holds the lock")
}

impl Chain {
    fn nonce(&self) -> Nonce {
        Nonce(*held(&self.nonce))
    }

    /// The first pool refuses the next transactions for their nonces.
    fn refuses(&self, times: usize) {
        held(&self.answers).extend(vec![NotTaken::Nonce; times]);
    }

    /// More time than any wait passes.
    fn pass(&self) {
        *held(&self.waited) += Duration::from_secs(3_600);
    }

    /// How many requests the gateway signed for the nonce for which it signed the most: two are evidence against it.
    fn max_of_a_nonce(&self) -> usize {
        let mut requests: BTreeMap<Nonce, BTreeSet<String>> = BTreeMap::new();
        for seen in held(&self.seen).iter() {
            requests.entry(seen.nonce).or_default().extend(dispatched(seen).map(|(id, _)| id));
        }
        requests.values().map(BTreeSet::len).max().unwrap_or(0)
    }

    /// A block with everything that the other pool has, in the order of nonces.
    fn produce(&self) {
        let mut kept = held(&self.kept);
        while let Some(transaction) = kept.remove(&self.nonce()) {
            *held(&self.nonce) += 1;
            held(&self.final_ones).push(transaction);
        }
    }

    /// How often a request is final.
    fn count(&self, request: &Transaction) -> usize {
        held(&self.final_ones).iter().filter(|done| done.instruction == request.instruction).count()
    }

    async fn submit_once(&self, signing: &mut Signing, wanted: &Transaction, command: Option<Sent>) -> Result<Option<Nonce>, &'static str> {
        let accepted = submit_once(self, signing, wanted, command).await.map_err(|refusal| refusal.code)?;
        Ok(accepted.map(|accepted| accepted.transaction.nonce))
    }
}

#[async_trait::async_trait]
impl Submitter for Chain {
    fn sender(&self) -> Address {
        transaction(0, 0, 0).from
    }

    fn is_own(&self) -> bool {
        self.is_own
    }

    async fn standing(&self, request: Option<&str>) -> Result<Standing, Refusal> {
        // The id of a transfer is its amount.
        let id_of = |done: &Transaction| match &done.instruction {
            Instruction::System(cowboy_types::System::Transfer { amount, .. }) => amount.0.to_string(),
            _ => dispatched(done).map(|(id, _)| id).unwrap_or_default(),
        };
        let is_done = request.is_some_and(|request| held(&self.final_ones).iter().any(|done| id_of(done) == request));
        Ok(Standing { nonce: self.nonce(), is_done })
    }

    async fn next_nonce(&self, after: Nonce) -> Result<Nonce, Refusal> {
        Ok(after.max(self.nonce()))
    }

    fn now(&self) -> Instant {
        *START + *held(&self.waited)
    }

    /// Who does not get the lock at once is late.
    async fn patience(&self) {}

    async fn empty_transfer(&self) -> Result<Transaction, Refusal> {
        Ok(transaction(0, 0, 0))
    }

    fn sign(&self, unsigned: Transaction) -> Transaction {
        unsigned
    }

    async fn submit(&self, transaction: &Transaction) -> Result<Hash, NotTaken> {
        held(&self.seen).push(transaction.clone());
        *held(&self.waited) += self.takes;
        let _answers = self.silence.lock().await;
        let refused = held(&self.always).clone().or_else(|| held(&self.answers).pop());
        if !self.is_own || refused.is_none() {
            let mut kept = held(&self.kept);
            let other = kept.entry(transaction.nonce).or_insert_with(|| transaction.clone());
            if !self.is_stubborn && other.max_fee_per_cycle < transaction.max_fee_per_cycle {
                *other = transaction.clone();
            }
        }
        refused.map_or(Ok(transaction.digest()), Err)
    }

    fn note_taken(&self, _: Hash, command: Sent) {
        held(&self.taken).push(command);
    }

    fn note_used(&self, commands: Vec<(Transaction, Sent)>) -> Result<(), Refusal> {
        held(&self.used).extend(commands.into_iter().map(|(_, command)| command));
        Ok(())
    }
}

fn started() -> (tempfile::TempDir, Signing, Limits, Chain) {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = Journal::open(Some(&folder.path().join("commands"))).expect("it begins");
    (folder, Signing::new(journal, SigningGauges::default()), limits(2), Chain::default())
}

/// A command at a price of 5, and the id of its request.
fn request(salt: u8) -> (Transaction, String) {
    let wanted = Transaction { max_fee_per_cycle: Price(5), ..dispatch(salt, "one") };
    let (id, _) = dispatched(&wanted).expect("it is a dispatch");
    (wanted, id)
}

/// One pool refuses a command for its nonce, and another keeps it. However often the command comes again and whatever is sent beside it, it is signed
/// for one nonce, is final once, and counts once.
#[tokio::test]
async fn a_command_that_pools_disagree_on_is_final_once() {
    let (_folder, mut signing, limits, chain) = started();
    let (one, two) = (transaction(0, 1, 5), transaction(0, 2, 5));
    *held(&chain.always) = Some(NotTaken::Nonce);
    for attempt in 0..3 {
        assert_eq!(chain.submit_once(&mut signing, &one, command(&limits, "1")).await, Err("NONCES_DISPUTED"));
        assert_eq!((held(&chain.kept).len(), room(&limits)), (1, 1), "attempt {attempt}");
        chain.pass();
    }
    // What comes later takes the next nonce. The one before it is sent again.
    *held(&chain.always) = None;
    assert_eq!(chain.submit_once(&mut signing, &two, command(&limits, "2")).await, Ok(Some(Nonce(1))));
    assert_eq!((held(&chain.taken).len(), room(&limits)), (2, 0), "both count");
    // Its pool lacks those before it.
    chain.refuses(1);
    assert_eq!(chain.submit_once(&mut signing, &transaction(0, 3, 5), None).await, Ok(Some(Nonce(2))));
    assert_eq!(chain.submit_once(&mut signing, &one, None).await, Ok(Some(Nonce(0))), "the same bytes");
    chain.produce();
    assert_eq!((chain.count(&one), chain.count(&two)), (1, 1));
    mem::take(&mut *held(&chain.taken)).into_iter().for_each(|command| command.agreed.settle((Cycles(0), Cells(0))));
    // It is delivered, and nothing is signed any more.
    assert_eq!(chain.submit_once(&mut signing, &one, command(&limits, "1")).await, Ok(None));
    chain.produce();
    assert_eq!((chain.count(&one), chain.nonce().0, room(&limits)), (1, 3, 2));
}

/// Only where something else that is final has used its nonce, a command is signed for another one.
#[tokio::test]
async fn a_command_whose_nonce_is_used_is_signed_anew() {
    let (_folder, mut signing, limits, chain) = started();
    let (one, foreign) = (transaction(0, 1, 5), transaction(0, 9, 5));
    // Another program with the same key was first.
    held(&chain.kept).insert(Nonce(0), foreign.clone());
    chain.refuses(ATTEMPTS);
    assert_eq!(chain.submit_once(&mut signing, &one, command(&limits, "1")).await, Err("NONCES_DISPUTED"));
    assert_eq!((chain.count(&foreign), signing.place(&one, Nonce(7))), (0, Nonce(0)), "it may still be final");
    chain.produce();
    assert_eq!((chain.count(&foreign), chain.count(&one)), (1, 0));
    assert_eq!(chain.submit_once(&mut signing, &one, command(&limits, "1")).await, Ok(Some(Nonce(1))));
    assert_eq!(held(&chain.used).len(), 1, "what the first one counted as is looked up");
    chain.produce();
    assert_eq!(chain.count(&one), 1);
}

/// Decision 635: a node that refuses every nonce gets one transaction, however many commands come, and none while the gateway waits. Commands that are not signed count
/// nowhere. Once the node takes what it has, all continues.
#[tokio::test]
async fn a_node_that_disputes_nonces_is_signed_nothing_more_for() {
    let (_folder, mut signing, limits, chain) = started();
    *held(&chain.always) = Some(NotTaken::Nonce);
    for number in 1..=20 {
        let (wanted, id) = request(number);
        assert_eq!(chain.submit_once(&mut signing, &wanted, command(&limits, &id)).await, Err("NONCES_DISPUTED"));
        let sent = held(&chain.seen).len();
        assert_eq!(chain.submit_once(&mut signing, &wanted, None).await, Err("NONCES_DISPUTED"), "it waits");
        assert_eq!((held(&chain.seen).len(), held(&chain.kept).len(), room(&limits)), (sent, 1, 1), "command {number}");
        chain.pass();
    }
    assert_eq!((signing.untaken(), held(&chain.seen).len()), (vec![Nonce(0)], ATTEMPTS + 19));
    *held(&chain.always) = None;
    let (wanted, id) = request(21);
    assert_eq!(chain.submit_once(&mut signing, &wanted, command(&limits, &id)).await, Ok(Some(Nonce(1))));
    assert!(signing.untaken().is_empty() && !signing.is_held_up());
}

/// Decision 636: what a node refuses for good is withdrawn by an empty transfer, so that others continue, and counts until its nonce is used. Only then it is signed again when it comes
/// again, whether the transfer or the command was included, so that it is final once. No nonce is signed for two requests.
#[tokio::test]
async fn what_a_node_refuses_for_good_is_withdrawn() {
    for is_stubborn in [false, true] {
        let (_folder, mut signing, limits, chain) = started();
        let chain = Chain { is_stubborn, ..chain };
        let ((one, id), (two, other)) = (request(1), request(2));
        held(&chain.answers).push(NotTaken::Never("it is too long".into()));
        for attempt in 0..2 {
            assert_eq!(chain.submit_once(&mut signing, &one, command(&limits, &id)).await, Err("COMMAND_REFUSED"), "attempt {attempt}");
            assert_eq!((held(&chain.kept).len(), room(&limits)), (1, 1), "attempt {attempt}");
        }
        assert_eq!(chain.submit_once(&mut signing, &two, command(&limits, &other)).await, Ok(Some(Nonce(1))));
        assert!(signing.untaken().is_empty());
        chain.produce();
        assert_eq!((chain.count(&one), chain.count(&two), chain.nonce()), (usize::from(is_stubborn), 1, Nonce(2)));
        mem::take(&mut *held(&chain.taken)).into_iter().for_each(|command| command.agreed.settle((Cycles(0), Cells(0))));
        let again = chain.submit_once(&mut signing, &one, command(&limits, &id)).await;
        assert_eq!(again, Ok((!is_stubborn).then_some(Nonce(2))));
        assert_eq!(held(&chain.used).len(), 1, "what it counted as is looked up");
        chain.produce();
        assert_eq!((chain.count(&one), chain.max_of_a_nonce()), (1, 1));
    }
}

/// Decision 663: whatever a node says to a command, it has it and may include it, which the visitor is told with the id of the command. What only the own pool has seen does not run.
#[tokio::test]
async fn refusals_say_whether_a_command_may_run() {
    let answers = [
        (NotTaken::Never("it is too long".into()), "COMMAND_REFUSED"),
        (NotTaken::Nonce, "NONCES_DISPUTED"),
        (NotTaken::Full, "POOL_FULL"),
        (NotTaken::Funds, "GATEWAY_FUNDS"),
        (NotTaken::Other("no answer".into()), "UNAVAILABLE"),
    ];
    for (answer, code) in answers {
        for is_own in [false, true] {
            let (_folder, mut signing, limits, chain) = started();
            let chain = Chain { is_own, ..chain };
            *held(&chain.always) = Some(answer.clone());
            let (wanted, id) = request(1);
            let attempts = signing.attempts();
            let submitted = submit_once(&chain, &mut signing, &wanted, command(&limits, &id));
            let refusal = attempts.run(&id, submitted).await.expect_err("it is refused");
            assert_eq!((refusal.code, held(&chain.kept).contains_key(&Nonce(0))), (code, !is_own));
            let says = |words: &str| refusal.what.contains(words);
            let said = (says("may still run"), refusal.fix.contains(&id), says("was not sent"), refusal.request.as_deref());
            assert_eq!(said, (!is_own, !is_own, is_own, (!is_own).then_some(id.as_str())), "{code}: {refusal:?}");
            let response = refusal.response(&Default::default());
            assert_eq!(response.headers().contains_key("x-cowboy-request-id"), !is_own);
        }
    }
}

/// Decision 702: while the node does not answer to a command, its client sends it again, and others send theirs. They are told at once that they are late: the client that its
/// command may still run, and the others that theirs were not sent.
#[tokio::test]
async fn a_repetition_learns_of_the_first_request() {
    let (_folder, signing, limits, chain) = started();
    let (attempts, signing) = (signing.attempts(), tokio::sync::Mutex::new(signing));
    let ((wanted, id), (other, other_id)) = (request(1), request(2));
    let send = |wanted: Transaction, id: String, command: Option<Sent>| {
        let (attempts, chain, signing) = (&attempts, &chain, &signing);
        async move { attempts.run(&id, submit_in_turn(chain, signing, &wanted, command)).await.map(|sent| sent.is_some()) }
    };
    let silence = chain.silence.lock().await;
    let first = send(wanted.clone(), id.clone(), command(&limits, &id));
    let others = async {
        while held(&chain.seen).is_empty() {
            tokio::task::yield_now().await;
        }
        let again = send(wanted.clone(), id.clone(), None).await.expect_err("the first one holds the lock");
        let other = send(other, other_id, None).await.expect_err("the first one holds the lock");
        drop(silence);
        [again, other].map(|refusal| (refusal.code, refusal.what.contains("was not sent"), refusal.request))
    };
    let (first, refused) = tokio::join!(first, others);
    assert_eq!(first, Ok(true));
    assert_eq!(refused, [("BUSY", false, Some(id.clone().into_boxed_str())), ("BUSY", true, None)]);
    chain.produce();
    assert_eq!(chain.count(&wanted), 1);
}

/// Decision 702: where a pool takes the first request while its repetition is refused, the repetition is answered with 202 and the command's id. Where no pool has it, the refusal stands.
#[tokio::test]
async fn a_repetition_whose_first_request_is_taken_meanwhile_is_accepted() {
    let (_folder, signing, limits, chain) = started();
    let (attempts, signing, requests) = (signing.attempts(), tokio::sync::Mutex::new(signing), Requests::new(GENESIS));
    let (wanted, id) = request(1);
    let silence = chain.silence.lock().await;
    let first = attempts.run(&id, submit_in_turn(&chain, &signing, &wanted, command(&limits, &id)));
    let again = async {
        while held(&chain.seen).is_empty() {
            tokio::task::yield_now().await;
        }
        let refused = attempts.run(&id, submit_in_turn(&chain, &signing, &wanted, None)).await.expect_err("the first one holds the lock");
        let unsent = or_accepted(Err(refused.clone()), async { requests.is_under_way(&id) }, || accepted(&id, None)).await;
        assert_eq!(unsent.expect_err("no pool has it"), refused);
        let is_sent = async {
            drop(silence);
            while held(&chain.taken).is_empty() {
                tokio::task::yield_now().await;
            }
            held(&chain.taken).drain(..).for_each(|sent| requests.add(wanted.digest(), sent));
            requests.is_under_way(&id)
        };
        or_accepted(Err(refused), is_sent, || accepted(&id, None)).await.expect("the first one is taken")
    };
    let (first, again) = tokio::join!(first, again);
    assert!(first.is_ok_and(|sent| sent.is_some()));
    let header = |name: &str| again.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let expected = (StatusCode::ACCEPTED, Some(id.clone()), Some(format!("/_cowboy/requests/{id}")));
    assert_eq!((again.status(), header("x-cowboy-request-id"), header("location")), expected);
}

/// Decision 702: a client that leaves while the node has its transaction, and comes again while another command waits for the node, is told that its command may still run.
#[tokio::test]
async fn a_client_that_left_learns_of_its_command() {
    let (_folder, mut signing, _, chain) = started();
    let attempts = signing.attempts();
    let (wanted, id) = request(1);
    signing.offer(Nonce(0), &wanted, &mut None, |unsigned| unsigned).expect("it is written");
    let signing = tokio::sync::Mutex::new(signing);
    let busy = signing.lock().await;
    let again = attempts.run(&id, submit_in_turn(&chain, &signing, &wanted, None)).await.expect_err("another one holds the lock");
    assert_eq!((again.code, again.what.contains("may still run"), again.request), ("BUSY", true, Some(id.into_boxed_str())));
    drop(busy);
}

/// After a start all that is open is sent again before anything else, but one command waits for no more of it than five seconds. The next one continues there.
#[tokio::test]
async fn catching_up_has_an_end() {
    let (folder, mut signing, limits, chain) = started();
    for nonce in 0..6 {
        signing.offer(Nonce(nonce), &transaction(0, nonce + 1, 5), &mut None, |unsigned| unsigned).expect("it is written");
    }
    let journal = Journal::open(Some(&folder.path().join("commands"))).expect("it is read");
    let mut signing = Signing::new(journal, SigningGauges::default());
    let chain = Chain { takes: Duration::from_secs(2), ..chain };
    let (wanted, id) = request(1);
    assert_eq!(chain.submit_once(&mut signing, &wanted, command(&limits, &id)).await, Err("BUSY"));
    assert_eq!((held(&chain.seen).len(), signing.untaken().len(), room(&limits)), (3, 3, 2), "what is begun within five seconds");
    assert_eq!(chain.submit_once(&mut signing, &wanted, command(&limits, &id)).await, Ok(Some(Nonce(6))));
    assert_eq!(held(&chain.seen).iter().map(|seen| seen.nonce.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
}

/// What the own pool refuses for good is gone: its nonce is the next one's, and it counts nowhere.
#[tokio::test]
async fn what_the_own_pool_refuses_for_good_is_gone() {
    let (_folder, mut signing, limits, chain) = started();
    let chain = Chain { is_own: true, ..chain };
    let ((one, id), (two, other)) = (request(1), request(2));
    held(&chain.answers).push(NotTaken::Never("it is too long".into()));
    assert_eq!(chain.submit_once(&mut signing, &one, command(&limits, &id)).await, Err("COMMAND_REFUSED"));
    assert_eq!((room(&limits), signing.untaken()), (2, Vec::new()));
    assert_eq!(chain.submit_once(&mut signing, &two, command(&limits, &other)).await, Ok(Some(Nonce(0))));
}

/// A node that refuses everything for good, also empty transfers, has one nonce signed for it.
#[tokio::test]
async fn a_node_that_refuses_everything_for_good_holds_one_nonce() {
    let (_folder, mut signing, limits, chain) = started();
    *held(&chain.always) = Some(NotTaken::Never("another chain".into()));
    for number in 1..=10 {
        let (wanted, id) = request(number);
        let expected = if number == 1 { "COMMAND_REFUSED" } else { "UNAVAILABLE" };
        assert_eq!(chain.submit_once(&mut signing, &wanted, command(&limits, &id)).await, Err(expected), "command {number}");
        assert_eq!((held(&chain.kept).len(), room(&limits)), (1, 1), "command {number}");
    }
}

/// After a start all that is open is sent again, but a node that refuses one after the other gets few of them at once.
#[tokio::test]
async fn a_node_that_refuses_all_that_is_open_gets_few_at_once() {
    let (folder, mut signing, _, chain) = started();
    for nonce in 0..20 {
        signing.offer(Nonce(nonce), &transaction(0, nonce + 1, 5), &mut None, |unsigned| unsigned).expect("it is written");
    }
    let journal = Journal::open(Some(&folder.path().join("commands"))).expect("it is read");
    let mut signing = Signing::new(journal, SigningGauges::default());
    let (wanted, _) = request(1);
    *held(&chain.always) = Some(NotTaken::Nonce);
    assert_eq!(chain.submit_once(&mut signing, &wanted, None).await, Err("NONCES_DISPUTED"));
    assert_eq!((held(&chain.seen).len(), signing.untaken().len()), (MAX_UNTAKEN, 20));
    chain.pass();
    *held(&chain.always) = None;
    assert_eq!(chain.submit_once(&mut signing, &wanted, None).await, Ok(Some(Nonce(20))));
}

/// A pool that is full, or a node that does not answer, disputes no nonces: nothing waits for it. What may be anywhere is sent again before another nonce is signed for.
#[tokio::test]
async fn a_full_pool_disputes_no_nonces() {
    let (_folder, mut signing, limits, chain) = started();
    for number in 1..=8 {
        // The client leaves before the pool answers.
        let wanted = transaction(0, number, 5);
        let nonce = signing.after(Nonce(0));
        signing.offer(nonce, &wanted, &mut None, |unsigned| unsigned).expect("it is written");
    }
    let (wanted, id) = request(9);
    for (answer, expected) in [(NotTaken::Full, "POOL_FULL"), (NotTaken::Other("no answer".into()), "UNAVAILABLE")] {
        *held(&chain.always) = Some(answer);
        assert_eq!(chain.submit_once(&mut signing, &wanted, command(&limits, &id)).await, Err(expected));
        assert_eq!((signing.untaken().len(), room(&limits)), (8, 2), "nothing is signed");
    }
    *held(&chain.always) = None;
    assert_eq!(chain.submit_once(&mut signing, &wanted, command(&limits, &id)).await, Ok(Some(Nonce(8))));
    assert!(signing.untaken().is_empty());
}

/// A client that leaves before its command is sent, or a crash then, leaves a nonce that no pool has. It is sent before any other command: what comes behind it would
/// wait for it.
#[tokio::test]
async fn no_command_waits_behind_one_that_was_never_sent() {
    let (folder, mut signing, _, chain) = started();
    let (left, _) = request(1);
    signing.offer(Nonce(0), &left, &mut None, |unsigned| unsigned).expect("it is written");
    for number in [2, 3] {
        assert_eq!(chain.submit_once(&mut signing, &request(number).0, None).await, Ok(Some(Nonce(u64::from(number) - 1))));
    }
    assert_eq!(held(&chain.seen).iter().map(|seen| seen.nonce.0).collect::<Vec<_>>(), [0, 1, 2]);
    signing.offer(Nonce(3), &request(4).0, &mut None, |unsigned| unsigned).expect("it is written");
    let journal = Journal::open(Some(&folder.path().join("commands"))).expect("it is read");
    let mut signing = Signing::new(journal, SigningGauges::default());
    assert_eq!(chain.submit_once(&mut signing, &request(5).0, None).await, Ok(Some(Nonce(4))));
    chain.produce();
    assert_eq!((chain.nonce(), chain.count(&left)), (Nonce(5), 1));
}
