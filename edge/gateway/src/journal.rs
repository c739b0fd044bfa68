//! Transactions that the gateway signed and that are not final, so that no nonce is ever signed for two requests: whoever holds both could
//! have the stake slashed (docs/gateways.md).

use crate::{
    attempts::{Attempt, Attempts},
    pooled::dispatched,
};
use bytes::{Buf as _, BufMut as _};
use cowboy_types::{Address, Transaction, units::Nonce};
use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The size from which the file is written anew, with only what is open; at least twice the size that it had then.
const COMPACT_BYTES: u64 = 4 * 1024 * 1024;

/// A transaction that is not final, and the command that it dispatches, where it does.
#[derive(Debug)]
struct Open {
    transaction: Transaction,
    command: Option<(String, Address)>,
    /// The dispatch of this command, where the transaction withdraws it: the command is signed for no other nonce before this one is used.
    withdrawn: Option<Transaction>,
    /// The length of both in the file.
    bytes: usize,
    /// The command may run until the nonce is used.
    _attempt: Option<Attempt>,
}

impl Open {
    /// What stands for a nonce once this transaction is signed for it, after `former`.
    fn after(former: Option<Self>, transaction: Transaction, attempts: &Attempts) -> Self {
        let count = |command: &(String, Address)| attempts.begin(command.0.clone());
        // Its command counts at every moment.
        let _former = former.as_ref().and_then(|former| former.command.as_ref()).map(count);
        let command = dispatched(&transaction);
        let withdrawn = former
            .filter(|_| command.is_none())
            .and_then(|former| former.withdrawn.or(former.command.is_some().then_some(former.transaction)));
        let command = command.or_else(|| withdrawn.as_ref().and_then(dispatched));
        let attempt = command.as_ref().map(count);
        let mut open = Self { command, transaction, withdrawn, bytes: 0, _attempt: attempt };
        open.bytes = open.entries().len();
        open
    }

    /// What is written of it: a reader takes the later one for what is sent.
    fn entries(&self) -> Vec<u8> {
        self.withdrawn.iter().chain([&self.transaction]).flat_map(entry).collect()
    }

    /// Whether it is for this request: for the same command, whatever headers its client sent this time, or for the same call.
    fn is_for(&self, wanted: &Transaction, command: Option<&(String, Address)>) -> bool {
        match (&self.command, command) {
            (Some(own), Some(command)) => own == command,
            (None, None) => self.transaction.instruction == wanted.instruction,
            _ => false,
        }
    }
}

/// The open transactions of one sender, on disk before they are sent.
#[derive(Debug)]
pub(crate) struct Journal {
    open: BTreeMap<Nonce, Open>,
    file: Option<(PathBuf, File, u64)>,
    /// The size from which the file is written anew.
    compact_at: u64,
    /// Whether a write failed: half an entry may stand at the end, and would hide all that follow it from the next start; or the next start may read an
    /// older file.
    is_torn: bool,
    /// Where the commands among them are counted.
    attempts: Attempts,
}

impl Journal {
    /// Reads the file, or begins it. Without one, nothing is kept.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read or written, or is damaged before its end. An entry that was cut off at the end was never sent.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        let attempts = Attempts::default();
        let of = |open| Self { open, file: None, compact_at: COMPACT_BYTES, is_torn: false, attempts: attempts.clone() };
        let Some(path) = path else { return Ok(of(BTreeMap::new())) };
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let mut journal = of(read(&bytes, &attempts)?);
        journal.rewrite(path)?;
        Ok(journal)
    }

    /// Keeps a transaction, on disk before this returns.
    pub(crate) fn add(&mut self, transaction: &Transaction) -> io::Result<()> {
        if self.is_torn
            && let Some((path, ..)) = &self.file
        {
            let path = path.clone();
            self.rewrite(&path)?;
        }
        let Some((_, file, size)) = &mut self.file else { return Ok(()) };
        let entry = entry(transaction);
        self.is_torn = true;
        file.write_all(&entry)?;
        file.sync_data()?;
        self.is_torn = false;
        *size += u64::try_from(entry.len()).unwrap_or(u64::MAX);
        let former = self.open.remove(&transaction.nonce);
        self.open.insert(transaction.nonce, Open::after(former, transaction.clone(), &self.attempts));
        Ok(())
    }

    /// Forgets what is final: everything below the account's nonce. A file that has become long is written anew. Where that fails, as on a full disk, the
    /// old one still says what is open, and is tried again once it has grown: nothing waits for it.
    pub(crate) fn forget_below(&mut self, nonce: Nonce) {
        self.open = self.open.split_off(&nonce);
        let Some((path, _, size)) = self.file.as_ref().filter(|(_, _, size)| *size > self.compact_at) else { return };
        let (path, size) = (path.clone(), *size);
        if let Err(error) = self.rewrite(&path) {
            tracing::warn!(file = %path.display(), %error, "the journal of commands keeps what is final for now: free some of the disk");
            self.compact_at = compact_at(size);
        }
    }

    /// Forgets a transaction that nobody has seen. It may be known again after a restart.
    pub(crate) fn take_back(&mut self, nonce: Nonce) {
        self.open.remove(&nonce);
    }

    /// Through what commands may run.
    pub(crate) fn attempts(&self) -> Attempts {
        self.attempts.clone()
    }

    /// What was signed with this nonce.
    pub(crate) fn get(&self, nonce: Nonce) -> Option<&Transaction> {
        self.open.get(&nonce).map(|open| &open.transaction)
    }

    /// The first nonce for which nothing is signed, where the account's is `floor`.
    pub(crate) fn first_free(&self, floor: Nonce) -> Nonce {
        let mut free = floor;
        for nonce in self.open.range(floor..).map(|(nonce, _)| *nonce) {
            if nonce != free {
                break;
            }
            free = Nonce(free.0.saturating_add(1));
        }
        free
    }

    /// The nonce that was signed for the request of this transaction, where one for it is open.
    pub(crate) fn nonce_of(&self, wanted: &Transaction) -> Option<Nonce> {
        let command = dispatched(wanted);
        self.open.iter().find(|(_, open)| open.is_for(wanted, command.as_ref())).map(|(nonce, _)| *nonce)
    }

    /// Whether what was signed with this nonce is for another request than this transaction.
    pub(crate) fn is_former(&self, nonce: Nonce, wanted: &Transaction) -> bool {
        let command = dispatched(wanted);
        self.open.get(&nonce).is_some_and(|open| open.withdrawn.is_some() || !open.is_for(wanted, command.as_ref()))
    }

    /// Whether what was signed with this nonce withdraws a command.
    pub(crate) fn is_withdrawn(&self, nonce: Nonce) -> bool {
        self.open.get(&nonce).is_some_and(|open| open.withdrawn.is_some())
    }

    /// The nonces of all that is open, ascending.
    pub(crate) fn nonces(&self) -> impl Iterator<Item = Nonce> + '_ {
        self.open.keys().copied()
    }

    /// How much is open.
    pub(crate) fn count(&self) -> usize {
        self.open.len()
    }

    /// The bytes of all that is open.
    pub(crate) fn bytes(&self) -> usize {
        self.open.values().map(|open| open.bytes).sum()
    }

    /// The first open transaction from this nonce on.
    pub(crate) fn first_from(&self, nonce: Nonce) -> Option<Nonce> {
        self.open.range(nonce..).next().map(|(nonce, _)| *nonce)
    }

    /// Writes what is open to a new file that takes the place of the old one. Where that fails, the old one stays, or is torn.
    fn rewrite(&mut self, path: &Path) -> io::Result<()> {
        let new = path.with_extension("new");
        let bytes: Vec<u8> = self.open.values().flat_map(Open::entries).collect();
        let written = write_whole(&new, &bytes).and_then(|file| fs::rename(&new, path).map(|()| file));
        let file = written.inspect_err(|_| {
            // It takes room that is missing. The next one takes its place in any case.
            let _ = fs::remove_file(&new);
        })?;
        // The old file has no name any more. Until the new name is on the disk, a start may read the old one.
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.file = Some((path.to_owned(), file, size));
        (self.compact_at, self.is_torn) = (compact_at(size), true);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()?;
        self.is_torn = false;
        Ok(())
    }
}

/// A new file with these bytes, on disk before this returns.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(file)
}

/// The size from which a file is written anew that has this size now.
fn compact_at(size: u64) -> u64 {
    size.saturating_mul(2).max(COMPACT_BYTES)
}

/// The length as 4 bytes big-endian, then the transaction.
fn entry(transaction: &Transaction) -> Vec<u8> {
    let bytes = transaction.to_bytes();
    let mut entry = Vec::with_capacity(bytes.len() + 4);
    entry.put_u32(u32::try_from(bytes.len()).expect("a transaction has a few hundred kilobytes at most"));
    entry.extend_from_slice(&bytes);
    entry
}

/// The newest transaction of each nonce, and the command that it withdraws. What follows the last whole entry is half of one, or zeros that a file has after a crash.
fn read(mut bytes: &[u8], attempts: &Attempts) -> io::Result<BTreeMap<Nonce, Open>> {
    let mut open = BTreeMap::new();
    while bytes.len() >= 4 && bytes.iter().any(|byte| *byte != 0) {
        let Ok(length) = usize::try_from(bytes.get_u32()) else { break };
        let Some((entry, rest)) = bytes.split_at_checked(length) else { break };
        let damaged =
            |_| io::Error::new(io::ErrorKind::InvalidData, "an entry of the journal of commands is damaged; see docs/gateways.md");
        let transaction = Transaction::from_bytes(entry).map_err(damaged)?;
        let nonce = transaction.nonce;
        let former = open.remove(&nonce);
        open.insert(nonce, Open::after(former, transaction, attempts));
        bytes = rest;
    }
    Ok(open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{refusal::Refusal, testing};

    fn transaction(nonce: u64, fee: u64) -> Transaction {
        testing::transaction(nonce, 1, fee)
    }

    /// Decision 635: a command that was withdrawn is known by its nonce until that is used, also after restarts, and is not sent any more.
    #[test]
    fn what_was_withdrawn_survives_restarts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("commands");
        let command = Transaction { nonce: Nonce(3), ..testing::dispatch(1, "one") };
        let mut journal = Journal::open(Some(&path)).expect("it begins");
        journal.add(&command).expect("it is written");
        assert!(!journal.is_withdrawn(Nonce(3)) && !journal.is_former(Nonce(3), &command));
        for fee in [1, 2] {
            journal.add(&testing::transaction(3, 0, fee)).expect("it is written");
        }
        for restart in 0..3 {
            assert!(journal.is_withdrawn(Nonce(3)) && journal.is_former(Nonce(3), &command), "restart {restart}");
            assert_eq!(journal.nonce_of(&testing::dispatch(1, "two")), Some(Nonce(3)), "restart {restart}");
            assert_eq!(journal.get(Nonce(3)), Some(&testing::transaction(3, 0, 2)), "restart {restart}");
            journal = Journal::open(Some(&path)).expect("it is read");
        }
        journal.forget_below(Nonce(4));
        assert_eq!((journal.nonce_of(&command), journal.count()), (None, 0));
    }

    /// Decision 702: a command may run while a transaction for it is open, also after a restart and where it was withdrawn. What nobody has seen does not run.
    #[tokio::test]
    async fn open_commands_may_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("commands");
        let of = |salt: u8, nonce: u64| Transaction { nonce: Nonce(nonce), ..testing::dispatch(salt, "one") };
        let mut journal = Journal::open(Some(&path)).expect("it begins");
        for (salt, nonce) in [(1, 3), (2, 4), (3, 5)] {
            journal.add(&of(salt, nonce)).expect("it is written");
        }
        journal.add(&testing::transaction(4, 0, 1)).expect("it is written");
        for restart in 0..2 {
            for salt in 1..=4 {
                let (id, _) = dispatched(&of(salt, 0)).expect("it is a dispatch");
                let refused = async { Err::<(), _>(Refusal::unavailable("no answer")) };
                let refusal = journal.attempts().run(&id, refused).await.expect_err("it is refused");
                assert_eq!(refusal.what.contains("may still run"), salt <= 3, "command {salt}, restart {restart}");
            }
            journal = Journal::open(Some(&path)).expect("it is read");
        }
        journal.forget_below(Nonce(4));
        journal.take_back(Nonce(5));
        let counted = [1, 2, 3].map(|salt| {
            let (id, _) = dispatched(&of(salt, 0)).expect("it is a dispatch");
            journal.attempts().count(&id)
        });
        assert_eq!(counted, [0, 1, 0]);
    }

    /// What was signed is known after a restart, the newest under each nonce, without what is final and what was cut off.
    #[test]
    fn what_was_signed_survives_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("commands");
        let mut journal = Journal::open(Some(&path)).expect("it begins");
        for transaction in [transaction(3, 1), transaction(4, 1), transaction(4, 9)] {
            journal.add(&transaction).expect("it is written");
        }
        drop(journal);
        OpenOptions::new().append(true).open(&path).expect("it is there").write_all(&[0, 0, 1, 0, 7]).expect("a half entry");
        let mut journal = Journal::open(Some(&path)).expect("it is read");
        assert_eq!((journal.first_free(Nonce(3)), journal.get(Nonce(4))), (Nonce(5), Some(&transaction(4, 9))));
        journal.forget_below(Nonce(4));
        assert_eq!(journal.get(Nonce(3)), None);
        journal.add(&transaction(5, 1)).expect("it is written");
        assert_eq!(Journal::open(Some(&path)).expect("it is read").first_free(Nonce(4)), Nonce(6));
        assert_eq!(journal.first_free(Nonce(1)), Nonce(1), "a gap is filled first");
    }

    /// Decision 664: the file is written anew where half of it is gone, and not for each command while much is open.
    #[test]
    fn what_is_open_is_not_written_again_and_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("commands");
        let mut journal = Journal::open(Some(&path)).expect("it begins");
        // All of them are larger together than a file that is written anew.
        journal.compact_at = 1_000;
        let of = |nonce: u64| testing::transaction(nonce, 1, 1);
        (0..20).for_each(|nonce| journal.add(&of(nonce)).expect("it is written"));
        let size = |journal: &Journal| journal.file.as_ref().map(|(_, _, size)| *size).expect("it has a file");
        let (before, entry) = (size(&journal), u64::try_from(entry(&of(0)).len()).expect("it is short"));
        assert!(before > journal.compact_at);
        journal.forget_below(Nonce(1));
        assert_eq!((size(&journal), journal.compact_at), (before - entry, COMPACT_BYTES));
        assert_eq!(u64::try_from(journal.bytes()).ok(), Some(size(&journal)));
        assert_eq!((compact_at(1_000), compact_at(10 * COMPACT_BYTES)), (COMPACT_BYTES, 20 * COMPACT_BYTES));
    }

    /// A disk that is full for a moment loses nothing that is written later.
    #[test]
    fn a_failed_write_hides_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("commands");
        let mut journal = Journal::open(Some(&path)).expect("it begins");
        journal.add(&transaction(3, 1)).expect("it is written");
        // Half of an entry is written, and then no more.
        OpenOptions::new().append(true).open(&path).expect("it is there").write_all(&[0, 0, 1, 0, 7]).expect("a half entry");
        let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        journal.file = journal.file.take().map(|(path, _, size)| (path, full, size));
        assert!(journal.add(&transaction(4, 1)).is_err());
        journal.add(&transaction(5, 1)).expect("there is room again");
        drop(journal);
        let journal = Journal::open(Some(&path)).expect("it is read");
        assert_eq!((journal.get(Nonce(3)).is_some(), journal.get(Nonce(4)), journal.first_free(Nonce(5))), (true, None, Nonce(6)));
    }

    /// A file that cannot be written anew keeps nothing from being forgotten or kept, and is not tried again for each command.
    #[test]
    fn a_full_disk_keeps_nothing_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("commands");
        let mut journal = Journal::open(Some(&path)).expect("it begins");
        for nonce in [3, 4] {
            journal.add(&transaction(nonce, 1)).expect("it is written");
        }
        // Nothing can be written there.
        let new = path.with_extension("new");
        fs::create_dir(&new).expect("it is made");
        journal.compact_at = 0;
        journal.forget_below(Nonce(4));
        assert_eq!((journal.get(Nonce(3)), journal.get(Nonce(4)).is_some()), (None, true));
        assert_eq!(journal.compact_at, COMPACT_BYTES);
        journal.add(&transaction(5, 1)).expect("the old file is there");
        fs::remove_dir(&new).expect("nothing is in it");
        let long = fs::metadata(&path).expect("it is there").len();
        let mut journal = Journal::open(Some(&path)).expect("it is read");
        assert_eq!((journal.get(Nonce(3)).is_some(), journal.first_free(Nonce(4))), (true, Nonce(6)), "the old file says all that is open");
        journal.compact_at = 0;
        journal.forget_below(Nonce(5));
        assert!(fs::metadata(&path).expect("it is there").len() < long, "there is room again");
        assert_eq!(Journal::open(Some(&path)).expect("it is read").first_free(Nonce(5)), Nonce(6));
    }

    /// Damage in the middle is not taken for the end: nonces that were used would be used again.
    #[test]
    fn damage_before_the_end_is_refused() {
        let read = |bytes: &[u8]| read(bytes, &Attempts::default());
        let [one, mut two] = [transaction(3, 1), transaction(4, 1)].map(|transaction| entry(&transaction));
        two.extend(&one);
        two[4..12].fill(255);
        assert_eq!(read(&two).err().map(|error| error.kind()), Some(io::ErrorKind::InvalidData));
        assert_eq!(read(&[one.clone(), vec![0; 4_096]].concat()).expect("zeros are an end").len(), 1);
        assert_eq!(read(&[one.clone(), one[..9].to_vec()].concat()).expect("half of one is an end").len(), 1);
    }
}
