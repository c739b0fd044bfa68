//! Records of runners, jobs and claims.

use super::*;
use cowboy_system::runners::delegations::{Delegation, Pool, delegation_key, pool_key};
use cowboy_system::{dispatcher, runners, verifier};
use cowboy_testkit::market::simple_job;
use cowboy_types::job::{Job, JobStatus, Model, Runner};

#[test]
fn records_of_runners() {
    let market = Market::new(2);
    let runner = runners::state::runner_key(address(10));
    each_breaks(
        &market.chain.state,
        market.chain.height,
        runners::invariants::check,
        &[
            ("0x01 has stakes, delegations and deposits", &|state| state.change(&runner, |runner: &mut Runner| runner.delegated.0 += 1)),
            ("every runner is listed once", &|state| state.drop(&runner)),
            ("every runner has a profile", &|state| state.drop(&runners::state::profile_key(address(10)))),
            ("who attested something is a runner", &|state| state.bytes(&runners::attestations::key(WHO), b"")),
            ("every model is listed once", &|state| {
                state.make(&runners::state::model_key(&ID), |model: &mut Model| model.deposit = Amount::ZERO);
            }),
            ("the shares of delegators are those of their pool", &|state| {
                let pool = Pool { shares: 1, active: Amount::ZERO, leaving: Amount::ZERO, leaving_shares: 0, is_closed: false };
                state.put(&pool_key(WHO, Height(1)), &pool);
            }),
            ("a runner's record has what counts, until the runner is gone", &|state| {
                state.change(&runner, |runner: &mut Runner| runner.stake.0 -= 1);
                let pool = Pool { shares: 0, active: Amount(1), leaving: Amount::ZERO, leaving_shares: 0, is_closed: false };
                state.put(&pool_key(WHO, Height(1)), &pool);
            }),
            ("every delegation is in a pool", &|state| {
                state.put(&delegation_key(WHO, Height(1), WHO), &Delegation { shares: 1, leaving: list(vec![]) });
            }),
        ],
    );
}

#[test]
fn records_of_jobs() {
    let mut market = Market::new(2);
    let id = market.submit(&simple_job());
    let member = address(market.draw(&id)[0]);
    let (key, runner) = (dispatcher::state::job_key(&id), runners::state::runner_key(member));
    let with_status = |status: JobStatus| {
        move |state: &mut State| state.change(&dispatcher::state::job_key(&id), |job: &mut Job| job.status = status.clone())
    };
    each_breaks(
        &market.chain.state,
        market.chain.height,
        dispatcher::invariants::check,
        &[
            ("0x02 has the escrow of jobs", &|state| state.change(&key, |job: &mut Job| job.escrow.0 += 1)),
            ("every job stands once in the agenda, at its height", &|state| state.change(&key, |job: &mut Job| job.due.0 += 1)),
            ("what waits for its draw is listed", &with_status(JobStatus::Drawing)),
            ("what waits for a free slot is listed", &with_status(JobStatus::Waiting)),
            ("a job has what it asked for, and its candidates", &|state| state.drop(&dispatcher::state::spec_key(&id))),
            ("what waits for a free slot is listed with what it offers", &|state| state.insert(dispatcher::state::offers(), &ID.0)),
            ("an answer that waits is of a job", &|state| state.insert(dispatcher::state::callbacks(), &ID.0)),
            ("a runner lists the jobs it works on", &|state| state.insert(runners::state::jobs_of(member), &ID.0)),
            ("a result is of a job", &|state| state.bytes(&dispatcher::state::output_key(&ID, &ID), b"stray")),
            ("a runner counts the jobs it works on", &|state| {
                state.change(&runner, |runner: &mut Runner| runner.active_jobs = Count::ZERO);
            }),
            ("a runner counts the jobs it works on", &with_status(JobStatus::Failed)),
        ],
    );
    let bond = |state: &mut State, bond: u64| {
        state.change(&key, |job: &mut Job| {
            let mut claim: cowboy_types::job::Challenge = generate_value(7);
            claim.bond = Amount(bond);
            job.claims = list(vec![claim]);
        });
    };
    each_breaks(
        &market.chain.state,
        market.chain.height,
        verifier::invariants::check,
        &[("0x03 has the bonds of claims", &|state| bond(state, 1)), ("a claim is about a job with an outcome", &|state| bond(state, 0))],
    );
}
