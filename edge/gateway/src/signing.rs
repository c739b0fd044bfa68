//! What the gateway signed for its next nonces, and what of it counts in budgets (decision 590).

use crate::{attempts::Attempts, disagreement::Disagreement, journal::Journal, metrics::SigningGauges, requests::Sent, source::NotTaken};
use cowboy_types::{
    Instruction, System, Transaction,
    units::{Amount, Nonce, Price},
};
use std::{
    collections::BTreeMap,
    io, mem,
    time::{Duration, Instant},
};

/// Transactions that others may have and no pool is known to have, beyond which nothing is signed for another nonce (decision 635). No more of them are
/// sent again in a row that a pool refuses.
pub(crate) const MAX_UNTAKEN: usize = 8;

/// Transactions that are not final, beyond which nothing is signed for another nonce: as many as a pool takes of one sender.
const MAX_OPEN: usize = 8_192;

/// The bytes of those, beyond which the same holds: they are in memory and in the file.
const MAX_OPEN_BYTES: usize = 64 * 1024 * 1024;

/// A transaction that is sent to a pool.
pub(crate) struct Offer {
    pub(crate) transaction: Transaction,
    /// Whether this nonce was signed for another request before, which is sent again.
    pub(crate) is_former: bool,
    /// Whether nobody has seen a transaction of this nonce yet.
    is_new: bool,
}

impl Offer {
    /// Whether it only uses the nonce of something that was signed before.
    pub(crate) fn is_withdrawal(&self) -> bool {
        is_empty_transfer(&self.transaction)
    }
}

/// The open transactions of a gateway, and the commands among them.
pub(crate) struct Signing {
    journal: Journal,
    /// Commands that were signed, by their nonces. None where a pool took the transaction: its command counts elsewhere.
    commands: BTreeMap<Nonce, Option<Sent>>,
    /// Those of the journal that others may have and no pool is known to have, and whether a pool refused one for anything but its nonce: that one is sent
    /// again before anything else is signed.
    untaken: BTreeMap<Nonce, bool>,
    disagreement: Disagreement,
    gauges: SigningGauges,
}

impl Signing {
    /// What pools have of the journal is not known after a start.
    pub(crate) fn new(journal: Journal, gauges: SigningGauges) -> Self {
        let untaken = journal.nonces().map(|nonce| (nonce, false)).collect();
        let signing = Self { journal, commands: BTreeMap::new(), untaken, disagreement: Disagreement::default(), gauges };
        signing.publish();
        signing
    }

    /// Through what commands may run.
    pub(crate) fn attempts(&self) -> Attempts {
        self.journal.attempts()
    }

    fn publish(&self) {
        cowboy_serve::metrics::set(&self.gauges.untaken, self.untaken.len());
        self.gauges.disagrees.set(i64::from(self.disagreement.is_on()));
    }

    /// Forgets what is final: everything below the account's nonce. Returns the commands that no pool is known to have taken, with their transactions.
    pub(crate) fn forget_below(&mut self, nonce: Nonce) -> Vec<(Transaction, Sent)> {
        let open = self.commands.split_off(&nonce);
        let gone = mem::replace(&mut self.commands, open);
        let with_transaction = |(nonce, command): (Nonce, Option<Sent>)| Some((self.journal.get(nonce)?.clone(), command?));
        let forgotten = gone.into_iter().filter_map(with_transaction).collect();
        self.untaken = self.untaken.split_off(&nonce);
        self.disagreement.look(nonce);
        self.publish();
        self.journal.forget_below(nonce);
        forgotten
    }

    /// The nonces of what others may have and no pool is known to have, ascending.
    pub(crate) fn untaken(&self) -> Vec<Nonce> {
        self.untaken.keys().copied().collect()
    }

    /// Whether nothing is signed for another nonce before some of what is untaken is taken.
    pub(crate) fn is_held_up(&self) -> bool {
        self.untaken.len() >= MAX_UNTAKEN || (self.disagreement.is_on() && !self.untaken.is_empty())
    }

    /// Whether no more is signed for another nonce than this transaction may already have.
    pub(crate) fn is_full_for(&self, wanted: &Transaction) -> bool {
        is_full(self.journal.count(), self.journal.bytes()) && !self.is_signed(wanted)
    }

    /// The node refuses what follows from this nonce of the account. Returns the time for which nothing is sent.
    pub(crate) fn disagree(&mut self, nonce: Nonce, now: Instant) -> Duration {
        let wait = self.disagreement.note(nonce, now);
        self.publish();
        wait
    }

    /// How long nothing is sent.
    pub(crate) fn wait(&self, now: Instant) -> Option<Duration> {
        self.disagreement.left(now)
    }

    /// Whether others may have a transaction for the request of this one that is not final.
    pub(crate) fn is_signed(&self, wanted: &Transaction) -> bool {
        self.journal.nonce_of(wanted).is_some()
    }

    /// The nonce of the request of this transaction, where it was withdrawn and something may still become final for it.
    pub(crate) fn withdrawn(&self, wanted: &Transaction) -> Option<Nonce> {
        self.journal.nonce_of(wanted).filter(|nonce| self.journal.is_withdrawn(*nonce))
    }

    /// Gives the nonce of a transaction that a pool refuses for good to an empty transfer, whose prices are higher than those of what it takes the place of. Nothing
    /// where nobody has seen the transaction, or it is an empty transfer itself whose limits still are what one takes: parameters change them.
    pub(crate) fn withdraw(
        &mut self,
        nonce: Nonce,
        empty: Transaction,
        sign: impl Fn(Transaction) -> Transaction,
    ) -> io::Result<Option<Offer>> {
        let is_enough = |former: &Transaction| former.cycles_limit >= empty.cycles_limit && former.cells_limit >= empty.cells_limit;
        let is_to_go = |former: &&Transaction| !is_empty_transfer(former) || !is_enough(former);
        let Some(former) = self.journal.get(nonce).filter(is_to_go) else { return Ok(None) };
        let transaction = sign(Transaction {
            nonce,
            max_fee_per_cycle: raised(former.max_fee_per_cycle, empty.max_fee_per_cycle),
            max_fee_per_cell: raised(former.max_fee_per_cell, empty.max_fee_per_cell),
            ..empty
        });
        self.journal.add(&transaction)?;
        self.note_offered(nonce);
        Ok(Some(Offer { transaction, is_former: true, is_new: false }))
    }

    /// From now on others may have what is signed for this nonce, whether a pool answers or not. A chain without a journal keeps nothing.
    fn note_offered(&mut self, nonce: Nonce) {
        if self.journal.get(nonce).is_some() {
            self.untaken.entry(nonce).or_insert(false);
            self.publish();
        }
    }

    /// The nonce to use next, where the account's is `floor`: the first for which nothing is signed, or that of an earlier transaction that a pool refused for
    /// anything but its nonce.
    pub(crate) fn after(&self, floor: Nonce) -> Nonce {
        let free = self.journal.first_free(floor);
        let refused = self.untaken.iter().find(|(_, is_refused)| **is_refused).map(|(nonce, _)| *nonce);
        refused.map_or(free, |refused| refused.min(free))
    }

    /// The nonce to send now on the way to the request of this transaction, where a pool takes `next`. A request that was signed before keeps its nonce for as long as that
    /// one can become final (decision 625); what was signed for the nonces before it is sent first.
    pub(crate) fn place(&self, wanted: &Transaction, next: Nonce) -> Nonce {
        match self.journal.nonce_of(wanted) {
            Some(own) => self.journal.first_from(next).map_or(own, |first| first.min(own)),
            None => next,
        }
    }

    /// What is sent for a nonce: the wanted transaction, or what was signed for this nonce before. The same bytes are sent again while their prices
    /// suffice. `command` is taken where it is the wanted one. It counts from now on, once: where the same request was signed for this nonce before,
    /// that one counts, and the new one gives back what it counted as.
    pub(crate) fn offer(
        &mut self,
        nonce: Nonce,
        wanted: &Transaction,
        command: &mut Option<Sent>,
        sign: impl Fn(Transaction) -> Transaction,
    ) -> io::Result<Offer> {
        let former = self.journal.get(nonce);
        let is_new = former.is_none();
        let is_former = self.journal.is_former(nonce, wanted);
        let transaction = match former {
            Some(former) if are_enough(former, wanted) => former.clone(),
            Some(former) => sign(Transaction {
                max_fee_per_cycle: raised(former.max_fee_per_cycle, wanted.max_fee_per_cycle),
                max_fee_per_cell: raised(former.max_fee_per_cell, wanted.max_fee_per_cell),
                ..former.clone()
            }),
            None => sign(Transaction { nonce, ..wanted.clone() }),
        };
        if self.journal.get(nonce) != Some(&transaction) {
            self.journal.add(&transaction)?;
        }
        self.note_offered(nonce);
        if !is_former && let Some(mut command) = command.take() {
            self.commands.entry(nonce).or_insert_with(|| {
                command.agreed.keep();
                Some(command)
            });
        }
        Ok(Offer { transaction, is_former, is_new })
    }

    /// A pool took what was offered. Returns its command, unless it was taken before.
    pub(crate) fn taken(&mut self, offer: &Offer) -> Option<Sent> {
        let nonce = offer.transaction.nonce;
        self.untaken.remove(&nonce);
        self.disagreement.end();
        self.publish();
        // What a withdrawn command counts as is looked up when its nonce is used.
        if offer.is_withdrawal() { None } else { self.commands.get_mut(&nonce)?.take() }
    }

    /// A pool did not take what was offered. What only the own pool has seen is forgotten, and its command counts no more: it comes back. What another
    /// node has seen counts until it is final, whatever that node says.
    pub(crate) fn refused(&mut self, offer: &Offer, why: &NotTaken, is_own_pool: bool) -> Option<Sent> {
        let nonce = offer.transaction.nonce;
        if is_own_pool && offer.is_new {
            self.journal.take_back(nonce);
            self.untaken.remove(&nonce);
            self.publish();
            let mut command = self.commands.remove(&nonce)??;
            command.agreed.release();
            return Some(command);
        }
        if let Some(is_refused) = self.untaken.get_mut(&nonce) {
            *is_refused = *why != NotTaken::Nonce;
        }
        None
    }
}

/// Whether nothing is signed beside `count` transactions of `bytes` together that are not final.
fn is_full(count: usize, bytes: usize) -> bool {
    count >= MAX_OPEN || bytes >= MAX_OPEN_BYTES
}

/// Whether a transaction only uses its nonce.
fn is_empty_transfer(transaction: &Transaction) -> bool {
    matches!(&transaction.instruction, Instruction::System(System::Transfer { to, amount }) if *to == transaction.from && *amount == Amount::ZERO)
}

/// Whether a transaction that was signed before still has limits and prices like those that one of today is given: twice the base fees.
fn are_enough(former: &Transaction, today: &Transaction) -> bool {
    let is_enough = |former: Price, today: Price| former.0 >= today.0 / 2;
    is_enough(former.max_fee_per_cycle, today.max_fee_per_cycle) && is_enough(former.max_fee_per_cell, today.max_fee_per_cell)
}

/// The price of a transaction that takes the place of one that was signed before. A pool that has the former one takes another one only if both its prices
/// are higher by `fees.replacement_bump`, which is never more than as much again. What is paid is the base fee all the same.
fn raised(former: Price, today: Price) -> Price {
    today.max(Price(former.0.saturating_mul(2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        limits::Limits,
        testing::{self, dispatch, room, transaction},
    };
    use cowboy_types::{Cells, Cycles};

    /// A client with a budget for two commands.
    fn limits() -> Limits {
        testing::limits(2)
    }

    fn command(limits: &Limits) -> Option<Sent> {
        testing::command(limits, "one")
    }

    fn signing(folder: &tempfile::TempDir) -> Signing {
        Signing::new(Journal::open(Some(&folder.path().join("commands"))).expect("it begins"), SigningGauges::default())
    }

    fn offer(signing: &mut Signing, nonce: u64, amount: u64, mut command: Option<Sent>) -> Offer {
        signing.offer(Nonce(nonce), &transaction(0, amount, 0), &mut command, |transaction| transaction).expect("it is written")
    }

    /// A command that another node's full pool refuses counts once, however often its client sends it again, and gives back what it did not use when
    /// it is final.
    #[test]
    fn what_another_pool_refuses_counts_once() {
        let (folder, limits) = (tempfile::tempdir().expect("a folder"), limits());
        let mut signing = signing(&folder);
        for attempt in 0..3 {
            let sent = offer(&mut signing, 3, 1, command(&limits));
            assert!(!sent.is_former && signing.refused(&sent, &NotTaken::Full, false).is_none());
            assert_eq!((signing.after(Nonce(3)), room(&limits)), (Nonce(3), 1), "attempt {attempt}");
        }
        let other = offer(&mut signing, 3, 2, command(&limits));
        assert!(other.is_former && other.transaction.instruction == transaction(0, 1, 0).instruction, "it goes first");
        assert_eq!(room(&limits), 1, "the other one is not signed");
        let taken = signing.taken(&other).expect("its command");
        let again = offer(&mut signing, 3, 1, command(&limits));
        assert!(signing.taken(&again).is_none(), "it counts elsewhere");
        assert_eq!((signing.after(Nonce(3)), room(&limits)), (Nonce(4), 1));
        taken.agreed.settle((Cycles(0), Cells(0)));
        assert_eq!(room(&limits), 2);
    }

    /// Decision 625: a command that comes again is the same one, also where its client sends other headers.
    #[test]
    fn a_command_with_other_headers_keeps_its_nonce() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut signing = signing(&folder);
        let mut offer = |wanted: &Transaction, nonce: u64| {
            let nonce = signing.place(wanted, Nonce(nonce));
            signing.offer(nonce, wanted, &mut None, |transaction| transaction).expect("it is written")
        };
        let (first, again, other) = (dispatch(1, "one"), dispatch(1, "two"), dispatch(2, "one"));
        let sent = offer(&first, 3);
        assert_ne!(first.instruction, again.instruction);
        assert_eq!((offer(&again, 4).transaction, offer(&again, 4).is_former), (sent.transaction, false), "the same bytes");
        assert_eq!(
            (offer(&other, 4).transaction.nonce, offer(&other, 3).transaction.nonce),
            (Nonce(4), Nonce(3)),
            "what is before it goes first"
        );
    }

    /// Where one price does not suffice any more, both are raised by as much as a pool asks for that has the former transaction. Then it stays as it is.
    #[test]
    fn both_prices_are_raised() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut signing = signing(&folder);
        let prices = |cell: u64| {
            let wanted = Transaction { max_fee_per_cell: Price(cell), ..transaction(0, 1, 100) };
            let offer = signing.offer(Nonce(3), &wanted, &mut None, |transaction| transaction).expect("it is written");
            (offer.transaction.max_fee_per_cycle.0, offer.transaction.max_fee_per_cell.0)
        };
        assert_eq!([10, 20, 22, 50, 84].map(prices), [(100, 10), (100, 10), (200, 22), (400, 50), (400, 50)]);
    }

    /// What only the own pool has seen counts nowhere, also where it is out of step. What was sent from there before has been seen.
    #[test]
    fn what_the_own_pool_refuses_counts_nowhere() {
        let (folder, limits) = (tempfile::tempdir().expect("a folder"), limits());
        let mut signing = signing(&folder);
        for why in [NotTaken::Nonce, NotTaken::Full, NotTaken::Funds, NotTaken::Other("a reason".into())] {
            let sent = offer(&mut signing, 3, 1, command(&limits));
            drop(signing.refused(&sent, &why, true).expect("it comes back"));
            assert_eq!((signing.after(Nonce(3)), room(&limits)), (Nonce(3), 2), "{why:?}");
        }
        let sent = offer(&mut signing, 3, 1, command(&limits));
        let taken = signing.taken(&sent).expect("its command");
        let again = offer(&mut signing, 3, 1, command(&limits));
        assert!(signing.refused(&again, &NotTaken::Full, true).is_none());
        let other = offer(&mut signing, 3, 2, None);
        assert!(other.is_former, "the nonce is not signed for two requests");
        drop(taken);
        assert_eq!(room(&limits), 1);
    }

    /// What is final, though no pool said that it took it, comes out with its command, to be looked up.
    #[test]
    fn what_is_final_is_looked_up() {
        let (folder, limits) = (tempfile::tempdir().expect("a folder"), limits());
        let mut signing = signing(&folder);
        let unanswered = offer(&mut signing, 3, 1, command(&limits));
        assert!(signing.refused(&unanswered, &NotTaken::Other("no answer".into()), false).is_none());
        let sent = offer(&mut signing, 4, 2, command(&limits));
        let taken = signing.taken(&sent);
        let refused = offer(&mut signing, 5, 3, None);
        assert!(signing.refused(&refused, &NotTaken::Nonce, false).is_none());
        assert_eq!(signing.place(&refused.transaction, Nonce(7)), Nonce(5), "it keeps its nonce");
        let mut forgotten = signing.forget_below(Nonce(5));
        let (transaction, command) = forgotten.pop().expect("the first");
        assert!(forgotten.is_empty() && taken.is_some() && transaction.nonce == Nonce(3));
        assert_eq!(room(&limits), 0);
        command.agreed.settle((Cycles(0), Cells(0)));
        assert_eq!(room(&limits), 1);
    }

    /// Decision 655: an empty transfer whose limits have become too low for one is signed anew, and one that a node refuses for anything else is not.
    #[test]
    fn a_transfer_has_the_limits_of_today() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut signing = signing(&folder);
        offer(&mut signing, 0, 1, None);
        let empty = |limit: u64| Transaction { cycles_limit: Cycles(limit), cells_limit: Cells(0), ..transaction(0, 0, 0) };
        for (limit, is_signed) in [(5, true), (5, false), (4, false), (6, true), (6, false)] {
            let withdrawal = signing.withdraw(Nonce(0), empty(limit), |unsigned| unsigned).expect("it is written");
            assert_eq!(withdrawal.map(|offer| offer.transaction.cycles_limit), is_signed.then_some(Cycles(limit)), "{limit}");
        }
    }

    /// Decision 590: what a pool refused for anything but its nonce is sent again before another nonce is used, until a pool takes it or its nonce is used.
    #[test]
    fn what_no_pool_took_is_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut signing = signing(&folder);
        let offers = [3, 4].map(|nonce| offer(&mut signing, nonce, nonce, None));
        assert_eq!((signing.after(Nonce(3)), signing.after(Nonce(1))), (Nonce(5), Nonce(1)), "a gap is filled first");
        for (why, next) in [(NotTaken::Full, 4), (NotTaken::Nonce, 5), (NotTaken::Funds, 4)] {
            assert!(signing.refused(&offers[1], &why, false).is_none());
            assert_eq!(signing.after(Nonce(3)), Nonce(next), "{why:?}");
        }
        assert!(signing.refused(&offers[0], &NotTaken::Full, false).is_none());
        assert_eq!(signing.after(Nonce(3)), Nonce(3), "the first of them");
        assert!(signing.taken(&offers[0]).is_none());
        assert_eq!((signing.after(Nonce(3)), signing.untaken()), (Nonce(4), vec![Nonce(4)]));
        signing.forget_below(Nonce(5));
        assert!(signing.refused(&offers[1], &NotTaken::Full, false).is_none());
        assert_eq!((signing.after(Nonce(5)), signing.untaken()), (Nonce(5), Vec::new()), "nothing is open");
    }

    /// Decisions 635 and 664: what is not final has a bound of its number and its bytes.
    #[test]
    fn what_is_open_is_bounded() {
        let rows = [(0, 0, false), (8_191, 1_000, false), (8_192, 1_000, true), (600, 64 << 20, true), (600, (64 << 20) - 1, false)];
        for (count, bytes, expected) in rows {
            assert_eq!(is_full(count, bytes), expected, "{count} of {bytes} bytes");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let mut signing = signing(&folder);
        offer(&mut signing, 3, 1, None);
        let one = signing.journal.bytes();
        offer(&mut signing, 4, 1, None);
        assert_eq!((one > 0, signing.journal.bytes()), (true, 2 * one));
        signing.forget_below(Nonce(4));
        assert_eq!(signing.journal.bytes(), one);
    }

    /// Decision 635: what no pool answered about is bounded, also where clients leave before it answers, and after a start. Gauges say it.
    #[test]
    fn what_no_pool_took_is_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut first = signing(&folder);
        for nonce in 0..8 {
            assert!(!first.is_held_up(), "nonce {nonce}");
            offer(&mut first, nonce, nonce + 1, None);
        }
        assert!(first.is_held_up());
        let gauges = SigningGauges::default();
        let mut signing = Signing::new(Journal::open(Some(&folder.path().join("commands"))).expect("it is read"), gauges.clone());
        assert!(signing.is_held_up() && gauges.untaken.get() == 8);
        let former = offer(&mut signing, 0, 1, None);
        assert!(signing.taken(&former).is_none() && !signing.is_held_up());
        signing.disagree(Nonce(0), Instant::now());
        assert!(signing.is_held_up() && gauges.disagrees.get() == 1);
        signing.forget_below(Nonce(8));
        assert_eq!((signing.is_held_up(), gauges.untaken.get(), gauges.disagrees.get()), (false, 0, 0));
    }
}
