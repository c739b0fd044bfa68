//! Submits a transaction, so that its request becomes final at most once, whatever pools say (decision 625).

use crate::{refusal::Refusal, requests::Sent, signing::Signing, source::NotTaken};
use cowboy_types::{Address, Hash, Transaction, units::Nonce};
use hyper::StatusCode;

/// How often a pool may refuse a nonce before a command is refused.
const ATTEMPTS: usize = 4;

/// A transaction on its way.
#[derive(Clone, Debug)]
pub(crate) struct Accepted {
    pub(crate) hash: Hash,
    pub(crate) transaction: Transaction,
}

/// What the newest final state says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// The account's nonce.
    pub(crate) nonce: Nonce,
    /// Whether the request was delivered.
    pub(crate) is_done: bool,
}

/// Where transactions are submitted, and what says whether they are final.
#[async_trait::async_trait]
pub(crate) trait Submitter: Sync {
    /// Who signs.
    fn sender(&self) -> Address;

    /// Whether nobody else has seen what the pool refuses.
    fn is_own(&self) -> bool;

    /// What the newest final state says of the account, and of a command's request.
    async fn standing(&self, request: Option<&str>) -> Result<Standing, Refusal>;

    /// The nonce that the pool takes next: see [`crate::Upstream::next_nonce`].
    async fn next_nonce(&self, after: Nonce) -> Result<Nonce, Refusal>;

    /// Signs a transaction.
    fn sign(&self, unsigned: Transaction) -> Transaction;

    /// Submits a transaction.
    async fn submit(&self, transaction: &Transaction) -> Result<Hash, NotTaken>;

    /// Takes a command that the pool took.
    fn note_taken(&self, hash: Hash, command: Sent);

    /// Takes commands whose nonces were used, though no pool said that it took them.
    fn note_used(&self, commands: Vec<(Transaction, Sent)>) -> Result<(), Refusal>;
}

/// Signs the transaction with the next free nonce, and sends it after what was signed before and is in no pool any more. A nonce that was signed for one
/// request is never signed for another, and a request is signed for another nonce only once something else that is final has used its own. A command counts as
/// soon as somebody may have seen the transaction. Answers nothing where the request was delivered already.
pub(crate) async fn submit_once(
    submitter: &impl Submitter,
    signing: &mut Signing,
    wanted: &Transaction,
    mut command: Option<Sent>,
) -> Result<Option<Accepted>, Refusal> {
    let request = command.as_ref().map(|command| command.id.clone());
    // What the pool has by now, as far as it said so: each turn goes beyond it.
    let (mut after, mut refused, mut sent) = (None, 0, Nonce(0));
    while refused < ATTEMPTS {
        let standing = submitter.standing(request.as_deref()).await?;
        submitter.note_used(signing.forget_below(standing.nonce).map_err(Refusal::unavailable)?)?;
        if standing.is_done {
            return Ok(None);
        }
        let next = submitter.next_nonce(after.unwrap_or_else(|| signing.after(standing.nonce))).await?;
        let nonce = signing.place(wanted, next.max(sent));
        let offer = signing.offer(nonce, wanted, &mut command, |unsigned| submitter.sign(unsigned)).map_err(Refusal::unavailable)?;
        match submitter.submit(&offer.transaction).await {
            Ok(hash) => {
                if let Some(command) = signing.taken(&offer) {
                    submitter.note_taken(hash, command);
                }
                if !offer.is_former {
                    return Ok(Some(Accepted { hash, transaction: offer.transaction }));
                }
                sent = following(nonce);
                after = Some(sent);
            }
            Err(why) => {
                // What nobody has seen may be signed for another nonce.
                command = signing.refused(&offer, &why, submitter.is_own()).or(command);
                if why != NotTaken::Nonce {
                    return Err(refusal_of(why, submitter.sender()));
                }
                refused += 1;
                // The pool has the former one; or it lacks one before this, and all that are open are sent again.
                after = Some(if offer.is_former { following(nonce) } else { standing.nonce });
                sent = if offer.is_former { sent } else { Nonce(0) };
            }
        }
    }
    let what = "The gateway's transactions are out of step with the pool that takes them.";
    Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", what, "Send the same request again.").retry(2))
}

fn following(nonce: Nonce) -> Nonce {
    Nonce(nonce.0.saturating_add(1))
}

fn refusal_of(refused: NotTaken, address: Address) -> Refusal {
    match refused {
        NotTaken::Nonce => Refusal::unavailable("the nonce is not the next one"),
        NotTaken::Full => Refusal::busy("POOL_FULL", "The pool of transactions is full.").retry(2),
        NotTaken::Funds => {
            tracing::error!(%address, "the gateway's account cannot pay for commands: fund it, or draw on its stake");
            Refusal::busy("GATEWAY_FUNDS", "The gateway cannot pay for commands now.").retry(60)
        }
        NotTaken::Other(why) => Refusal::unavailable(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        journal::Journal,
        limits::Limits,
        testing::{command, limits, room, transaction},
    };
    use cowboy_types::{Cells, Cycles, Instruction};
    use std::{
        collections::BTreeMap,
        mem,
        sync::{Mutex, MutexGuard},
    };

    /// A chain that is reached by two pools: the one that the gateway submits to, and another one that gets every one of them, too.
    #[derive(Default)]
    struct Chain {
        nonce: Mutex<u64>,
        final_ones: Mutex<Vec<Transaction>>,
        /// What the first pool answers, the next one last; it takes the transaction where nothing is left.
        answers: Mutex<Vec<NotTaken>>,
        /// What the other pool has. It keeps the first transaction of each nonce, whatever the first pool answers.
        kept: Mutex<BTreeMap<Nonce, Transaction>>,
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

        async fn submit_once(
            &self,
            signing: &mut Signing,
            wanted: &Transaction,
            command: Option<Sent>,
        ) -> Result<Option<Nonce>, &'static str> {
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
            false
        }

        async fn standing(&self, request: Option<&str>) -> Result<Standing, Refusal> {
            // The id of a request is its amount.
            let id_of = |done: &Transaction| match &done.instruction {
                Instruction::System(cowboy_types::System::Transfer { amount, .. }) => amount.0.to_string(),
                _ => String::new(),
            };
            let is_done = request.is_some_and(|request| held(&self.final_ones).iter().any(|done| id_of(done) == request));
            Ok(Standing { nonce: self.nonce(), is_done })
        }

        async fn next_nonce(&self, after: Nonce) -> Result<Nonce, Refusal> {
            Ok(after.max(self.nonce()))
        }

        fn sign(&self, unsigned: Transaction) -> Transaction {
            unsigned
        }

        async fn submit(&self, transaction: &Transaction) -> Result<Hash, NotTaken> {
            held(&self.kept).entry(transaction.nonce).or_insert_with(|| transaction.clone());
            held(&self.answers).pop().map_or(Ok(transaction.digest()), Err)
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
        (folder, Signing::new(journal), limits(2), Chain::default())
    }

    /// One pool refuses a command for its nonce, and another keeps it. However often the command comes again and whatever is sent beside it, it is signed
    /// for one nonce, is final once, and counts once.
    #[tokio::test]
    async fn a_command_that_pools_disagree_on_is_final_once() {
        let (_folder, mut signing, limits, chain) = started();
        let (one, two) = (transaction(0, 1, 5), transaction(0, 2, 5));
        for attempt in 0..3 {
            chain.refuses(ATTEMPTS);
            assert_eq!(chain.submit_once(&mut signing, &one, command(&limits, "1")).await, Err("UNAVAILABLE"));
            assert_eq!((held(&chain.kept).len(), room(&limits)), (1, 1), "attempt {attempt}");
        }
        // What comes later takes the next nonce. Its pool lacks the one before it, which is sent again.
        chain.refuses(1);
        assert_eq!(chain.submit_once(&mut signing, &two, command(&limits, "2")).await, Ok(Some(Nonce(1))));
        assert_eq!((held(&chain.taken).len(), room(&limits)), (2, 0), "both count");
        assert_eq!(chain.submit_once(&mut signing, &one, None).await, Ok(Some(Nonce(0))), "the same bytes");
        chain.produce();
        assert_eq!((chain.count(&one), chain.count(&two)), (1, 1));
        mem::take(&mut *held(&chain.taken)).into_iter().for_each(|command| command.agreed.settle((Cycles(0), Cells(0))));
        // It is delivered, and nothing is signed any more.
        assert_eq!(chain.submit_once(&mut signing, &one, command(&limits, "1")).await, Ok(None));
        chain.produce();
        assert_eq!((chain.count(&one), chain.nonce().0, room(&limits)), (1, 2, 2));
    }

    /// Only where something else that is final has used its nonce, a command is signed for another one.
    #[tokio::test]
    async fn a_command_whose_nonce_is_used_is_signed_anew() {
        let (_folder, mut signing, limits, chain) = started();
        let (one, foreign) = (transaction(0, 1, 5), transaction(0, 9, 5));
        // Another program with the same key was first.
        held(&chain.kept).insert(Nonce(0), foreign.clone());
        chain.refuses(ATTEMPTS);
        assert_eq!(chain.submit_once(&mut signing, &one, command(&limits, "1")).await, Err("UNAVAILABLE"));
        assert_eq!((chain.count(&foreign), signing.place(&one, Nonce(7))), (0, Nonce(0)), "it may still be final");
        chain.produce();
        assert_eq!((chain.count(&foreign), chain.count(&one)), (1, 0));
        assert_eq!(chain.submit_once(&mut signing, &one, command(&limits, "1")).await, Ok(Some(Nonce(1))));
        assert_eq!(held(&chain.used).len(), 1, "what the first one counted as is looked up");
        chain.produce();
        assert_eq!(chain.count(&one), 1);
    }
}
