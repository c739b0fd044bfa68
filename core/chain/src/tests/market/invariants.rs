//! What holds of the market after every block, whatever happened in it.

use super::super::harness::Chain;
use cowboy_state::Kind;
use cowboy_system::{dispatcher, runners, verifier};
use cowboy_types::job::{Job, JobStatus, Model, Runner};
use cowboy_types::{Address, Hash};
use std::collections::BTreeMap;

/// Every record of a system actor whose name begins so, with the rest of its name.
fn records<T: commonware_codec::DecodeExt<()>>(chain: &Chain, number: u8, prefix: &[u8]) -> Vec<(Vec<u8>, T)> {
    let opened = chain.state.values().map(|stored| cowboy_state::Key::open(stored).expect("the state holds sealed records"));
    opened
        .filter(|(key, _)| key.kind == Kind::System && key.address == Address::system(number) && key.name.starts_with(prefix))
        .map(|(key, body)| (key.name[prefix.len()..].to_vec(), T::decode(body).expect("a record")))
        .collect()
}

/// Every runner.
pub(crate) fn runners_of(chain: &Chain) -> BTreeMap<Address, Runner> {
    records(chain, runners::NUMBER, b"runner:")
        .into_iter()
        .map(|(name, runner)| (Address(name.try_into().expect("an address")), runner))
        .collect()
}

/// Every job that is not forgotten.
pub(crate) fn jobs_of(chain: &Chain) -> BTreeMap<Hash, Job> {
    records(chain, dispatcher::NUMBER, b"job:").into_iter().map(|(name, job)| (Hash(name.try_into().expect("an id")), job)).collect()
}

/// What delegators asked back, and what they left with runners that are gone.
fn delegations_of(chain: &Chain) -> u64 {
    let pools = records::<runners::delegations::Pool>(chain, runners::NUMBER, b"delegations:");
    pools.iter().map(|(_, pool)| pool.leaving.0 + pool.active.0).sum()
}

pub(crate) fn check(chain: &Chain) {
    let (runners, jobs) = (runners_of(chain), jobs_of(chain));
    check_money(chain, &runners, &jobs);
    check_lists(chain, &runners, &jobs);
}

/// Each actor of the market has what it holds for others, to the base unit.
fn check_money(chain: &Chain, runners: &BTreeMap<Address, Runner>, jobs: &BTreeMap<Hash, Job>) {
    let staked = runners.values().map(|runner| {
        let leaving: u64 = runner.unbonding.iter().map(|tranche| tranche.amount.0).sum();
        runner.stake.0 + runner.delegated.0 + leaving
    });
    let staked = staked.sum::<u64>() + delegations_of(chain);
    let deposits: u64 = records::<Model>(chain, runners::NUMBER, b"model:").iter().map(|(_, model)| model.deposit.0).sum();
    assert_eq!(chain.balance(Address::system(runners::NUMBER)), staked + deposits, "stakes and deposits are there");
    let held: u64 = jobs.values().map(|job| job.escrow.0 + job.callback_held.0).sum();
    assert_eq!(chain.balance(Address::system(dispatcher::NUMBER)), held, "the escrow of jobs is there");
    let bonds: u64 = jobs.values().flat_map(|job| job.claims.iter()).map(|claim| claim.bond.0).sum();
    assert_eq!(chain.balance(Address::system(verifier::NUMBER)), bonds, "the bonds are there");
}

/// Lists name what is there, once; runners count the jobs that they have.
fn check_lists(chain: &Chain, runners: &BTreeMap<Address, Runner>, jobs: &BTreeMap<Hash, Job>) {
    let listed: Vec<Address> =
        chain.names(runners::state::directory()).iter().map(|name| Address(name[..].try_into().expect("an address"))).collect();
    assert_eq!(listed, runners.keys().copied().collect::<Vec<_>>(), "every runner is listed once");
    let mut agenda: Vec<Hash> = chain.names(dispatcher::state::agenda()).iter().map(|name| dispatcher::state::job_of(name)).collect();
    agenda.sort_unstable();
    assert_eq!(agenda, jobs.keys().copied().collect::<Vec<_>>(), "every job stands once in the agenda");
    for (name, job) in chain.names(dispatcher::state::agenda()).iter().map(|name| (name, &jobs[&dispatcher::state::job_of(name)])) {
        assert_eq!(dispatcher::state::number_of(name), job.due.0, "a job knows its place in the agenda");
    }
    let drawing = jobs.values().filter(|job| job.status == JobStatus::Drawing).count();
    let listed = [dispatcher::state::draws(), dispatcher::state::immediate()].map(|list| chain.names(list).len());
    assert_eq!(listed.iter().sum::<usize>(), drawing, "what waits for its draw is listed");
    let waiting = jobs.values().filter(|job| job.status == JobStatus::Waiting).count();
    let queues = [dispatcher::state::waiting(), dispatcher::state::offers()].map(|queue| chain.names(queue).len());
    assert_eq!(queues, [waiting; 2], "what waits for a free slot is listed, with what it offers");
    for (address, runner) in runners {
        let mine = jobs.values().filter(|job| {
            let is_working = matches!(job.status, JobStatus::Assigned | JobStatus::Revealing);
            is_working
                && job.members.iter().any(|member| member.runner == *address && member.verdict != cowboy_types::job::Verdict::TimedOut)
        });
        let count = u64::try_from(mine.count()).expect("fits");
        assert_eq!(runner.active_jobs.0, count, "a runner counts the jobs it works on");
        assert_eq!(u64::try_from(chain.names(runners::state::jobs_of(*address)).len()).expect("fits"), count, "and lists them");
    }
}
