//! Submits a transaction, so that its request becomes final at most once, whatever pools say (decision 625).

use crate::{
    refusal::Refusal,
    requests::Sent,
    signing::{MAX_UNTAKEN, Offer, Signing},
    source::NotTaken,
};
use cowboy_types::{Address, Hash, Transaction, units::Nonce};
use hyper::StatusCode;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, MutexGuard};

/// How often a pool may refuse a nonce before a command is refused.
const ATTEMPTS: usize = 4;

/// For how long one command sends what was signed before it. The next one continues there.
const CATCHING_UP: Duration = Duration::from_secs(5);

/// The code of what no block takes as it stands.
const REFUSED: &str = "COMMAND_REFUSED";

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

    /// The time, for waits.
    fn now(&self) -> Instant;

    /// Ends when a command has waited long enough for those that are sent before it.
    async fn patience(&self);

    /// An unsigned transfer of nothing to the sender, with the limits that it takes.
    async fn empty_transfer(&self) -> Result<Transaction, Refusal>;

    /// Signs a transaction.
    fn sign(&self, unsigned: Transaction) -> Transaction;

    /// Submits a transaction.
    async fn submit(&self, transaction: &Transaction) -> Result<Hash, NotTaken>;

    /// Takes a command that the pool took.
    fn note_taken(&self, hash: Hash, command: Sent);

    /// Takes commands whose nonces were used, though no pool said that it took them.
    fn note_used(&self, commands: Vec<(Transaction, Sent)>) -> Result<(), Refusal>;
}

/// Submits a transaction when it is its turn: see [`submit_once`]. One is sent at a time, as each takes the nonce after the last. Where the node takes its time for each, not
/// all wait for ever.
pub(crate) async fn submit_in_turn(
    submitter: &impl Submitter,
    signing: &Mutex<Signing>,
    wanted: &Transaction,
    command: Option<Sent>,
) -> Result<Option<Accepted>, Refusal> {
    let late = || Refusal::busy("BUSY", "The commands of others are sent first.").retry(2);
    let mut signing = turn(signing, submitter.patience()).await.ok_or_else(late)?;
    submit_once(submitter, &mut signing, wanted, command).await
}

/// Takes the lock, unless `patience` ends first.
pub(crate) async fn turn<T>(lock: &Mutex<T>, patience: impl Future<Output = ()>) -> Option<MutexGuard<'_, T>> {
    tokio::select! {
        biased;
        held = lock.lock() => Some(held),
        () = patience => None,
    }
}

/// Signs the transaction with the next free nonce, and sends it after what was signed before and is in no pool any more. A nonce that was signed for one
/// request is never signed for another, and a request is signed for another nonce only once something else that is final has used its own. A command counts as
/// soon as somebody may have seen the transaction. Answers nothing where the request was delivered already.
async fn submit_once(
    submitter: &impl Submitter,
    signing: &mut Signing,
    wanted: &Transaction,
    mut command: Option<Sent>,
) -> Result<Option<Accepted>, Refusal> {
    let request = command.as_ref().map(|command| command.id.clone());
    let request = request.as_deref();
    let mut standing = look(submitter, signing, request).await?;
    if standing.is_done {
        return Ok(None);
    }
    agree_on_nonces(submitter, signing, standing.nonce, wanted).await?;
    // What the pool has by now, as far as it said so: each turn goes beyond it.
    let (mut after, mut refused, mut sent) = (None, 0, Nonce(0));
    while refused < ATTEMPTS {
        let next = submitter.next_nonce(after.unwrap_or_else(|| signing.after(standing.nonce))).await?;
        let nonce = signing.place(wanted, next.max(sent));
        let (offer, answer) = offer(submitter, signing, nonce, wanted, &mut command).await?;
        match answer {
            Ok(hash) if !offer.is_former => return Ok(Some(Accepted { hash, transaction: offer.transaction })),
            Ok(_) => {
                sent = following(nonce);
                after = Some(sent);
            }
            Err(NotTaken::Nonce) => {
                refused += 1;
                // The pool has the former one; or it lacks one before this, and all that are open are sent again.
                after = Some(if offer.is_former { following(nonce) } else { standing.nonce });
                sent = if offer.is_former { sent } else { Nonce(0) };
            }
            // Its nonce is an empty transfer's by now, and is no longer in the way.
            Err(NotTaken::Never(_)) if offer.is_former && !offer.is_withdrawal() => {
                refused += 1;
                sent = following(nonce);
                after = Some(sent);
            }
            Err(NotTaken::Never(why)) if !offer.is_former => return Err(refused_for_good(why)),
            Err(why) => return Err(refusal_of(why, submitter.sender())),
        }
        standing = look(submitter, signing, request).await?;
        if standing.is_done {
            return Ok(None);
        }
    }
    Err(out_of_step(signing.disagree(standing.nonce, submitter.now()), submitter.sender()))
}

/// Reads what the newest final state says, and forgets what is final.
async fn look(submitter: &impl Submitter, signing: &mut Signing, request: Option<&str>) -> Result<Standing, Refusal> {
    let standing = submitter.standing(request).await?;
    submitter.note_used(signing.forget_below(standing.nonce))?;
    Ok(standing)
}

/// Refuses to sign for another nonce while the node disagrees about nonces, while too much is signed that no pool took, and what was withdrawn. What no pool took is sent
/// again first, but not before its time: a pool takes what comes behind a nonce that it lacks, and nothing of that is ever included.
async fn agree_on_nonces(submitter: &impl Submitter, signing: &mut Signing, nonce: Nonce, wanted: &Transaction) -> Result<(), Refusal> {
    if let Some(wait) = signing.wait(submitter.now()) {
        return Err(out_of_step_for(wait));
    }
    let (mut refused, began) = (0, submitter.now());
    for untaken in signing.untaken() {
        // After a start all that is open is untaken, and others wait for this.
        if submitter.now().duration_since(began) >= CATCHING_UP {
            return Err(Refusal::busy("BUSY", "What was signed before is sent first.").retry(2));
        }
        let (_, answer) = offer(submitter, signing, untaken, wanted, &mut None).await?;
        refused += usize::from(answer.is_err());
        // What keeps the pool from taking this one is no matter of nonces, and keeps it from taking the others.
        if let Err(why @ (NotTaken::Full | NotTaken::Funds | NotTaken::Other(_))) = answer {
            return Err(refusal_of(why, submitter.sender()));
        }
        if refused >= MAX_UNTAKEN {
            break;
        }
    }
    if signing.is_held_up() {
        return Err(out_of_step(signing.disagree(nonce, submitter.now()), submitter.sender()));
    }
    if signing.is_full_for(wanted) {
        return Err(refusal_of(NotTaken::Full, submitter.sender()));
    }
    if let Some(withdrawn) = signing.withdrawn(wanted) {
        let _ = offer(submitter, signing, withdrawn, wanted, &mut None).await?;
        return Err(refused_for_good("it is being withdrawn, and its nonce is not used yet").retry(2));
    }
    Ok(())
}

/// Offers what is signed for a nonce, and notes what the pool says. What a pool refuses for good, and others may have, is withdrawn: the transaction could become final later, when its
/// sender is told that it did not, so that its nonce is signed for an empty transfer (decision 636). `command` comes back where nobody has seen the transaction.
async fn offer(
    submitter: &impl Submitter,
    signing: &mut Signing,
    nonce: Nonce,
    wanted: &Transaction,
    command: &mut Option<Sent>,
) -> Result<(Offer, Result<Hash, NotTaken>), Refusal> {
    let offer = signing.offer(nonce, wanted, command, |unsigned| submitter.sign(unsigned)).map_err(Refusal::unavailable)?;
    let answer = submitter.submit(&offer.transaction).await;
    note(submitter, signing, &offer, &answer, command);
    if matches!(answer, Err(NotTaken::Never(_))) {
        let empty = submitter.empty_transfer().await?;
        let withdrawal = signing.withdraw(nonce, empty, |unsigned| submitter.sign(unsigned)).map_err(Refusal::unavailable)?;
        if let Some(withdrawal) = withdrawal {
            tracing::warn!(%nonce, "the node refuses a transaction for good: an empty transfer takes its nonce");
            let answer = submitter.submit(&withdrawal.transaction).await;
            note(submitter, signing, &withdrawal, &answer, command);
        }
    }
    Ok((offer, answer))
}

/// Notes what a pool says about what was offered.
fn note(submitter: &impl Submitter, signing: &mut Signing, offer: &Offer, answer: &Result<Hash, NotTaken>, command: &mut Option<Sent>) {
    match answer {
        Ok(hash) => {
            if let Some(taken) = signing.taken(offer) {
                submitter.note_taken(*hash, taken);
            }
        }
        Err(why) => {
            // What nobody has seen may be signed for another nonce.
            if let Some(back) = signing.refused(offer, why, submitter.is_own()) {
                *command = Some(back);
            }
        }
    }
}

/// The node disagrees about nonces: the operator is told, and the visitor when to come again.
fn out_of_step(wait: Duration, address: Address) -> Refusal {
    tracing::error!(
        %address, seconds = wait.as_secs(),
        "the node refuses the nonces that the final state says are next: nothing is signed until it takes what was signed, or the account's nonce moves on"
    );
    out_of_step_for(wait)
}

fn out_of_step_for(wait: Duration) -> Refusal {
    let what = "The gateway's node refuses the nonces of its transactions.";
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "NONCES_DISPUTED", what, "Send the same request again later.")
        .retry(wait.as_secs().max(1))
}

/// Nobody is known to take the command as it stands. A node that refuses it may include it nevertheless.
pub(crate) fn refused_for_good(why: impl std::fmt::Display) -> Refusal {
    let what = format!("The command is refused as it stands: {why}.");
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, REFUSED, what, "Change the request, or tell the operator of the gateway.")
}

/// Whether it was refused for good, so that the gateway may have paid for an empty transfer in its place.
pub(crate) fn is_refused_for_good(refusal: &Refusal) -> bool {
    refusal.code == REFUSED
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
        NotTaken::Never(why) | NotTaken::Other(why) => Refusal::unavailable(why),
    }
}

#[cfg(test)]
mod tests;
