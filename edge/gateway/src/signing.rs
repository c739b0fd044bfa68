//! What the gateway signed for its next nonces, and what of it counts in budgets (decision 590).

use crate::{journal::Journal, requests::Sent, source::NotTaken};
use cowboy_types::{
    Transaction,
    units::{Nonce, Price},
};
use std::{collections::BTreeMap, io, mem};

/// A transaction that is sent to a pool.
pub(crate) struct Offer {
    pub(crate) transaction: Transaction,
    /// Whether this nonce was signed for another request before, which is sent again.
    pub(crate) is_former: bool,
    /// Whether nobody has seen a transaction of this nonce yet.
    is_new: bool,
}

/// The open transactions of a gateway, and the commands among them.
pub(crate) struct Signing {
    journal: Journal,
    /// Commands that were signed, by their nonces. None where a pool took the transaction: its command counts elsewhere.
    commands: BTreeMap<Nonce, Option<Sent>>,
}

impl Signing {
    pub(crate) fn new(journal: Journal) -> Self {
        Self { journal, commands: BTreeMap::new() }
    }

    /// Forgets what is final: everything below the account's nonce. Returns the commands that no pool is known to have taken, with their transactions.
    pub(crate) fn forget_below(&mut self, nonce: Nonce) -> io::Result<Vec<(Transaction, Sent)>> {
        let open = self.commands.split_off(&nonce);
        let gone = mem::replace(&mut self.commands, open);
        let with_transaction = |(nonce, command): (Nonce, Option<Sent>)| Some((self.journal.get(nonce)?.clone(), command?));
        let forgotten = gone.into_iter().filter_map(with_transaction).collect();
        self.journal.forget_below(nonce)?;
        Ok(forgotten)
    }

    /// The nonce to use next: see [`Journal::after`].
    pub(crate) fn after(&self) -> Nonce {
        self.journal.after()
    }

    /// What is sent for a nonce: the wanted transaction, or what was signed for this nonce before. `command` is taken where it is the wanted one. It
    /// counts from now on, once: where the same request was signed for this nonce before, that one counts, and the new one comes back.
    pub(crate) fn offer(
        &mut self,
        nonce: Nonce,
        wanted: &Transaction,
        command: &mut Option<Sent>,
        sign: impl Fn(Transaction) -> Transaction,
    ) -> io::Result<Offer> {
        let is_new = self.journal.get(nonce).is_none();
        let former = self.journal.get(nonce).filter(|former| former.instruction != wanted.instruction);
        let is_former = former.is_some();
        let transaction = match former {
            Some(former) if are_enough(former, wanted) => former.clone(),
            Some(former) => sign(Transaction {
                max_fee_per_cycle: former.max_fee_per_cycle.max(wanted.max_fee_per_cycle),
                max_fee_per_cell: former.max_fee_per_cell.max(wanted.max_fee_per_cell),
                ..former.clone()
            }),
            None => sign(Transaction { nonce, ..wanted.clone() }),
        };
        if self.journal.get(nonce) != Some(&transaction) {
            self.journal.add(&transaction)?;
        }
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
        self.journal.note(offer.transaction.nonce, false);
        self.commands.get_mut(&offer.transaction.nonce)?.take()
    }

    /// A pool did not take what was offered. What only the own pool has seen is forgotten, and its command counts no more: it comes back. What another
    /// node has seen counts until it is final, whatever that node says.
    pub(crate) fn refused(&mut self, offer: &Offer, why: &NotTaken, is_own_pool: bool) -> Option<Sent> {
        let nonce = offer.transaction.nonce;
        if is_own_pool && offer.is_new {
            self.journal.take_back(nonce);
            let mut command = self.commands.remove(&nonce)??;
            command.agreed.release();
            return Some(command);
        }
        self.journal.note(nonce, *why != NotTaken::Nonce);
        None
    }

    /// The command that was signed for a nonce which another pool refused, to sign it for the next one.
    pub(crate) fn resume(&mut self, nonce: Nonce) -> Option<Sent> {
        self.commands.remove(&nonce)?
    }
}

/// Whether a transaction that was signed before still has limits and prices like those that one of today is given: twice the base fees.
fn are_enough(former: &Transaction, today: &Transaction) -> bool {
    let is_enough = |former: Price, today: Price| former.0 >= today.0 / 2;
    is_enough(former.max_fee_per_cycle, today.max_fee_per_cycle) && is_enough(former.max_fee_per_cell, today.max_fee_per_cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        budgets::{Agreed, Payers},
        config,
        limits::Limits,
    };
    use cowboy_params::Params;
    use cowboy_types::{
        Address, Cells, Cycles, Instruction, System,
        signing::PrivateKey,
        units::{Amount, ChainId},
    };
    use std::net::IpAddr;

    const MILLION: u64 = 1_000_000;

    fn limits() -> Limits {
        let settings = config::Limits { client_cycles_per_hour: 2 * MILLION, ..config::Limits::default() };
        Limits::new(&settings, &Params::GENESIS)
    }

    fn agree(limits: &Limits) -> Option<Agreed> {
        let payers = Payers::new(IpAddr::from([10, 0, 1, 1]), "a", Address([1; 20]));
        limits.agree(&Params::GENESIS, payers, (Cycles(MILLION), Cells(0))).ok()
    }

    /// How many commands of a client its budget has room for.
    fn room(limits: &Limits) -> usize {
        let all: Vec<Agreed> = std::iter::from_fn(|| agree(limits)).collect();
        all.len()
    }

    fn command(limits: &Limits) -> Option<Sent> {
        let agreed = agree(limits).expect("the budget has room");
        Some(Sent { id: "one".into(), target: Address([1; 20]), at: 1, agreed })
    }

    fn transaction(amount: u64) -> Transaction {
        let key = PrivateKey::from_bytes([7; 32]).expect("a key");
        Transaction {
            chain_id: ChainId(1),
            nonce: Nonce(0),
            instruction: Instruction::System(System::Transfer { to: key.address(), amount: Amount(amount) }),
            cycles_limit: Cycles(0),
            cells_limit: Cells(0),
            max_fee_per_cycle: Price(0),
            max_fee_per_cell: Price(0),
            max_priority_fee_per_cycle: Price(0),
            max_priority_fee_per_cell: Price(0),
            from: key.address(),
            metadata: Default::default(),
            origin_tx_hash: None,
            origin_remaining_cycles: None,
            origin_remaining_cells: None,
            signature: Default::default(),
            additional_signers: Default::default(),
        }
    }

    fn signing(folder: &tempfile::TempDir) -> Signing {
        Signing::new(Journal::open(Some(&folder.path().join("commands"))).expect("it begins"))
    }

    fn offer(signing: &mut Signing, nonce: u64, amount: u64, mut command: Option<Sent>) -> Offer {
        signing.offer(Nonce(nonce), &transaction(amount), &mut command, |transaction| transaction).expect("it is written")
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
            assert_eq!((signing.after(), room(&limits)), (Nonce(3), 1), "attempt {attempt}");
        }
        let other = offer(&mut signing, 3, 2, command(&limits));
        assert!(other.is_former && other.transaction.instruction == transaction(1).instruction, "it goes first");
        assert_eq!(room(&limits), 1, "the other one is not signed");
        let taken = signing.taken(&other).expect("its command");
        let again = offer(&mut signing, 3, 1, command(&limits));
        assert!(signing.taken(&again).is_none(), "it counts elsewhere");
        assert_eq!((signing.after(), room(&limits)), (Nonce(4), 1));
        taken.agreed.settle((Cycles(0), Cells(0)));
        assert_eq!(room(&limits), 2);
    }

    /// What only the own pool has seen counts nowhere, also where it is out of step. What was sent from there before has been seen.
    #[test]
    fn what_the_own_pool_refuses_counts_nowhere() {
        let (folder, limits) = (tempfile::tempdir().expect("a folder"), limits());
        let mut signing = signing(&folder);
        for why in [NotTaken::Nonce, NotTaken::Full, NotTaken::Funds, NotTaken::Other("a reason".into())] {
            let sent = offer(&mut signing, 3, 1, command(&limits));
            drop(signing.refused(&sent, &why, true).expect("it comes back"));
            assert_eq!((signing.after(), room(&limits)), (Nonce(0), 2), "{why:?}");
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
        assert!(signing.refused(&refused, &NotTaken::Nonce, false).is_none() && signing.resume(Nonce(5)).is_none());
        let mut forgotten = signing.forget_below(Nonce(5)).expect("it is written");
        let (transaction, command) = forgotten.pop().expect("the first");
        assert!(forgotten.is_empty() && taken.is_some() && transaction.nonce == Nonce(3));
        assert_eq!(room(&limits), 0);
        command.agreed.settle((Cycles(0), Cells(0)));
        assert_eq!(room(&limits), 1);
    }
}
