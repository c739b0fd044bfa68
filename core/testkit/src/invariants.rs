//! What holds after every block, whatever happened in it.

use crate::records::Records;
use bytes::Bytes;
use cowboy_state::records::{Actor, Mailbox, Message, Origin, Supply, Timer, keys};
use cowboy_state::{Directory, Key, Kind};
use cowboy_system::storage::{self as rents, types::RentAccount};
use cowboy_system::tokens::state::{Allowed, Token, Units};
use cowboy_system::{dispatcher, runners, verifier};
use cowboy_types::job::{Job, JobStatus, Model, Runner};
use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, Hash, actors};
use std::collections::BTreeMap;

/// Asserts all of it.
pub(crate) fn check(records: Records<'_>, height: Height) {
    for (key, stored) in records.0 {
        let (named, _) = Key::open(stored).expect("every record is sealed");
        assert_eq!(named.digest(), *key, "every record stands under the digest of the key it names (A-88)");
    }
    supply(records, height);
    mailboxes(records);
    timers(records);
    storage(records);
    market(records);
    tokens(records);
    let opened: Vec<(Key, Bytes)> = records.opened().collect();
    cowboy_system::entitlements::invariants::check(opened.iter().map(|(key, body)| (key, body)));
    rent(records);
}

/// genesis + minted − burned = what all records hold.
fn supply(records: Records<'_>, height: Height) {
    let held: u128 = records
        .0
        .values()
        .map(|stored| {
            let (key, body) = Key::open(stored).expect("every record is sealed");
            u128::from(cowboy_chain::supply::held(key.kind, &body))
        })
        .sum();
    let supply: Supply = records.record(&keys::supply()).expect("genesis wrote the supply");
    let expected = u128::from(supply.genesis.0) + u128::from(supply.minted.0) - u128::from(supply.burned.0);
    assert_eq!(held, expected, "supply is conserved at height {}", height.0);
}

/// Mailboxes count what waits, and every origin counts what it waits for.
fn mailboxes(records: Records<'_>) {
    let messages: Vec<(Key, Message)> = records.all(Kind::Message);
    let mut waiting: BTreeMap<Address, Mailbox> = BTreeMap::new();
    let mut outstanding: BTreeMap<Hash, u64> = BTreeMap::new();
    for (_, message) in &messages {
        let mailbox = waiting.entry(message.target).or_insert(Mailbox { count: Count(0), bytes: Count(0) });
        mailbox.count.0 += 1;
        mailbox.bytes.0 += u64::try_from(message.payload.len() + message.handler.len()).expect("fits");
        *outstanding.entry(message.origin).or_default() += 1;
    }
    let stored: BTreeMap<Address, Mailbox> =
        records.all::<Mailbox>(Kind::Mailbox).into_iter().map(|(key, mailbox)| (key.address, mailbox)).collect();
    assert_eq!(stored, waiting, "a mailbox counts what waits for it");
    for receiver in waiting.keys() {
        let places = records.names(Directory::mailbox(*receiver)).len();
        assert_eq!(Count(u64::try_from(places).expect("fits")), waiting[receiver].count, "a mailbox lists what waits for it");
    }
    let origins: BTreeMap<Hash, u64> = records
        .all::<Origin>(Kind::Origin)
        .into_iter()
        .map(|(key, origin)| (Hash(key.name[..].try_into().expect("a hash")), origin.outstanding.0))
        .collect();
    assert_eq!(origins, outstanding, "an origin lives while messages of it are under way");
}

/// Timers, their directories and the actors' counts agree.
fn timers(records: Records<'_>) {
    let timers: Vec<(Key, Timer)> = records.all(Kind::Timer);
    assert_eq!(records.names(Directory::timers()).len(), timers.len(), "every timer is listed once by height");
    let mut live: BTreeMap<Address, u64> = BTreeMap::new();
    for (_, timer) in &timers {
        *live.entry(timer.fee_payer).or_default() += 1;
    }
    for (key, actor) in records.all::<Actor>(Kind::Actor) {
        let count = live.get(&key.address).copied().unwrap_or(0);
        assert_eq!(actor.timers_live.0, count, "an actor counts its live timers");
        assert_eq!(
            u64::try_from(records.names(Directory::timers_of(key.address)).len()).expect("fits"),
            count,
            "an actor lists its live timers"
        );
    }
}

/// Storage, its directory and the actors' byte counts agree.
fn storage(records: Records<'_>) {
    let mut bytes: BTreeMap<Address, (u64, u64)> = BTreeMap::new();
    for stored in records.0.values() {
        let (key, body) = Key::open(stored).expect("every record is sealed");
        if key.kind == Kind::Storage {
            let entry = bytes.entry(key.address).or_default();
            entry.0 += u64::try_from(key.name.len() + body.len()).expect("fits");
            entry.1 += 1;
        }
    }
    for (key, actor) in records.all::<Actor>(Kind::Actor) {
        let (size, count) = bytes.get(&key.address).copied().unwrap_or_default();
        assert_eq!(actor.storage_bytes.0, size, "an actor counts the bytes it keeps");
        assert_eq!(
            u64::try_from(records.names(Directory::storage(key.address)).len()).expect("fits"),
            count,
            "an actor lists the keys it keeps"
        );
    }
}

/// What delegators asked back, and what they left with runners that are gone.
fn delegations_of(records: Records<'_>) -> u64 {
    let pools = records.of::<runners::delegations::Pool>(runners::NUMBER, b"delegations:");
    pools.iter().map(|(_, pool)| pool.leaving.0 + pool.active.0).sum()
}

fn market(records: Records<'_>) {
    let (runners, jobs) = (
        records
            .of::<Runner>(runners::NUMBER, b"runner:")
            .into_iter()
            .map(|(name, runner)| (Address(name.try_into().expect("an address")), runner))
            .collect(),
        records
            .of::<Job>(dispatcher::NUMBER, b"job:")
            .into_iter()
            .map(|(name, job)| (Hash(name.try_into().expect("an id")), job))
            .collect(),
    );
    check_money(records, &runners, &jobs);
    check_lists(records, &runners, &jobs);
}

/// Each actor of the market has what it holds for others, to the base unit.
fn check_money(records: Records<'_>, runners: &BTreeMap<Address, Runner>, jobs: &BTreeMap<Hash, Job>) {
    let staked = runners.values().map(|runner| {
        let leaving: u64 = runner.unbonding.iter().map(|tranche| tranche.amount.0).sum();
        runner.stake.0 + runner.delegated.0 + leaving
    });
    let staked = staked.sum::<u64>() + delegations_of(records);
    let deposits: u64 = records.of::<Model>(runners::NUMBER, b"model:").iter().map(|(_, model)| model.deposit.0).sum();
    assert_eq!(records.balance(Address::system(runners::NUMBER)), staked + deposits, "stakes and deposits are there");
    let held: u64 = jobs.values().map(|job| job.escrow.0 + job.callback_held.0).sum();
    assert_eq!(records.balance(Address::system(dispatcher::NUMBER)), held, "the escrow of jobs is there");
    let bonds: u64 = jobs.values().flat_map(|job| job.claims.iter()).map(|claim| claim.bond.0).sum();
    assert_eq!(records.balance(Address::system(verifier::NUMBER)), bonds, "the bonds are there");
}

/// Lists name what is there, once; runners count the jobs that they have.
fn check_lists(records: Records<'_>, runners: &BTreeMap<Address, Runner>, jobs: &BTreeMap<Hash, Job>) {
    let listed: Vec<Address> =
        records.names(runners::state::directory()).iter().map(|name| Address(name[..].try_into().expect("an address"))).collect();
    assert_eq!(listed, runners.keys().copied().collect::<Vec<_>>(), "every runner is listed once");
    let mut agenda: Vec<Hash> = records.names(dispatcher::state::agenda()).iter().map(|name| dispatcher::state::job_of(name)).collect();
    agenda.sort_unstable();
    assert_eq!(agenda, jobs.keys().copied().collect::<Vec<_>>(), "every job stands once in the agenda");
    for (name, job) in records.names(dispatcher::state::agenda()).iter().map(|name| (name, &jobs[&dispatcher::state::job_of(name)])) {
        assert_eq!(dispatcher::state::number_of(name), job.due.0, "a job knows its place in the agenda");
    }
    let drawing = jobs.values().filter(|job| job.status == JobStatus::Drawing).count();
    let listed = [dispatcher::state::draws(), dispatcher::state::immediate()].map(|list| records.names(list).len());
    assert_eq!(listed.iter().sum::<usize>(), drawing, "what waits for its draw is listed");
    let waiting = jobs.values().filter(|job| job.status == JobStatus::Waiting).count();
    let queues = [dispatcher::state::waiting(), dispatcher::state::offers()].map(|queue| records.names(queue).len());
    assert_eq!(queues, [waiting; 2], "what waits for a free slot is listed, with what it offers");
    for (address, runner) in runners {
        let mine = jobs.values().filter(|job| {
            let is_working = matches!(job.status, JobStatus::Assigned | JobStatus::Revealing);
            is_working
                && job.members.iter().any(|member| member.runner == *address && member.verdict != cowboy_types::job::Verdict::TimedOut)
        });
        let count = u64::try_from(mine.count()).expect("fits");
        assert_eq!(runner.active_jobs.0, count, "a runner counts the jobs it works on");
        assert_eq!(u64::try_from(records.names(runners::state::jobs_of(*address)).len()).expect("fits"), count, "and lists them");
    }
}

/// What everybody has of every token is its supply.
fn tokens(records: Records<'_>) {
    let mut sums: BTreeMap<Vec<u8>, u128> = BTreeMap::new();
    let mut supplies: BTreeMap<Vec<u8>, u128> = BTreeMap::new();
    let mut deposits = 0;
    for stored in records.0.values() {
        let (key, body) = cowboy_state::Key::open(stored).expect("every record is sealed");
        if key.kind != Kind::System || key.address != Address::system(actors::BASEFEE) {
            continue;
        }
        if let Some(rest) = key.name.strip_prefix(b"token-balance:") {
            let units = <Units as commonware_codec::DecodeExt<()>>::decode(body).expect("a number of tokens");
            assert!(units.amount > 0, "nothing stands for none");
            *sums.entry(rest[..32].to_vec()).or_default() += units.amount;
        } else if key.name.starts_with(b"token-allowance:") {
            let allowed = <Allowed as commonware_codec::DecodeExt<()>>::decode(body).expect("an allowance");
            assert!(allowed.amount > 0, "nothing stands for none");
            deposits += allowed.deposit.0;
        } else if let Some(id) = key.name.strip_prefix(b"token:") {
            let token = <Token as commonware_codec::DecodeExt<()>>::decode(body).expect("a token");
            assert!(token.supply <= token.max_supply, "there are no more than there may be");
            if token.supply > 0 {
                supplies.insert(id.to_vec(), token.supply);
            }
        }
    }
    assert_eq!(sums, supplies, "the balances of a token are its supply");
    assert!(records.balance(Address::system(actors::BASEFEE)) >= deposits, "0x06 has what owners put down for their allowances");
}

/// Every rent account stands in the directory of collections once, and 0x0A holds what was prepaid and bonded.
fn rent(records: Records<'_>) {
    let mut held = 0;
    let listed = records.names(Directory::rents());
    for name in &listed {
        let (due, actor) = rents::state::listed(name);
        let account: RentAccount = records.record(&rents::state::account_key(actor)).expect("a listed actor has a rent account");
        assert_eq!(account.next_at, due, "the account names its place");
        held += account.prepaid.0 + account.bond.0;
    }
    let accounts = records.0.values().filter(|stored| {
        let (key, _) = cowboy_state::Key::open(stored).expect("every record is sealed");
        key.kind == Kind::System && key.address == Address::system(rents::NUMBER) && key.name.starts_with(b"rent:")
    });
    assert_eq!(accounts.count(), listed.len(), "every rent account is listed once");
    assert!(records.balance(Address::system(rents::NUMBER)) >= held, "0x0A holds what was prepaid and bonded");
}
