//! Records of decisions and validators.

use super::*;
use cowboy_state::records::{ParameterChange, ParameterChanges};
use cowboy_system::governance::types::{Ballot, Choice, Council, Pause, PauseEnd, Pauses, Proposal, Stage, Upgrade, Upgrades};
use cowboy_system::staking;
use cowboy_system::staking::types::{StakeTotal, Validator, ValidatorSet};
use cowboy_testkit::chain::{validator, validators};

fn governed() -> Chain {
    Chain::with(|genesis| {
        genesis.validators = validators((1..=4).map(|number| validator(number, Amount::from_cby(100_000).expect("fits"))));
    })
}

#[test]
fn records_of_decisions() {
    let chain = governed();
    let propose = |state: &mut State, id: u64, change: &dyn Fn(&mut Proposal)| {
        state.put(&governance::state::count_key(), &Count(1));
        state.make(&governance::state::proposal_key(id), |proposal: &mut Proposal| {
            (proposal.deposit, proposal.ballots, proposal.stage) = (Amount::ZERO, list(vec![]), Stage::Executed);
            change(proposal);
        });
    };
    let ballot = Ballot { voter: WHO, choice: Choice::Yes };
    let schedule = |state: &mut State, rows: [(u8, u64); 2], highest: u8| {
        let scheduled = rows.map(|(version, height)| Upgrade { version, height: Height(height) });
        state.put(&governance::state::upgrades_key(), &Upgrades { scheduled: list(scheduled.to_vec()), highest });
    };
    let moved = |rows: &[u16]| {
        let changes = rows.iter().map(|row| ParameterChange { row: *row, value: 1 });
        ParameterChanges { changes: list(changes.collect()) }
    };
    let known = cowboy_params::Params::ROWS[0].id;
    each_breaks(
        &chain.state,
        chain.height,
        governance::invariants::check,
        &[
            ("proposals are counted", &|state| state.put(&governance::state::count_key(), &Count(1))),
            ("a proposal's number is below their count", &|state| propose(state, 1, &|_| ())),
            ("a proposal has a deposit only while it is voted on", &|state| propose(state, 0, &|proposal| proposal.deposit = Amount(1))),
            ("ballots ascend by voter", &|state| propose(state, 0, &|proposal| proposal.ballots = list(vec![ballot.clone(); 2]))),
            ("0x09 has the deposits of proposals", &|state| {
                propose(state, 0, &|proposal| {
                    (proposal.deposit, proposal.stage) = (Amount(1), Stage::Voting { until: Height(9) });
                });
            }),
            ("the council ascends", &|state| {
                state.put(&governance::state::council_key(), &Council { members: list(vec![WHO; 2]) });
            }),
            ("pauses ascend by actor", &|state| {
                let pause = Pause { actor: 1, end: PauseEnd::Resumed };
                state.put(&governance::state::pauses_key(), &Pauses { pauses: list(vec![pause.clone(), pause]) });
            }),
            ("versions ascend", &|state| schedule(state, [(3, 10), (2, 20)], 3)),
            ("heights of versions ascend", &|state| schedule(state, [(2, 20), (3, 20)], 3)),
            ("no version is above the highest that was scheduled", &|state| schedule(state, [(2, 10), (3, 20)], 2)),
            ("moved parameters ascend by row", &|state| state.put(&keys::parameters(), &moved(&[known, known]))),
            ("moved parameters are rows", &|state| state.put(&keys::parameters(), &moved(&[u16::MAX]))),
        ],
    );
}

#[test]
fn records_of_validators() {
    let chain = governed();
    let total: StakeTotal = chain.record(&staking::state::total_key()).expect("there are validators");
    let set = staking::state::set_key(total.epoch.0);
    let other: Validator = chain.record(&staking::state::validator_key(address(1))).expect("it is one");
    each_breaks(
        &chain.state,
        chain.height,
        staking::invariants::check,
        &[
            ("every validator is listed once", &|state| state.put(&staking::state::validator_key(WHO), &other)),
            ("a validator is found by its network key", &|state| state.drop(&staking::state::network_key(&other.network_key))),
            ("all stakes are where stakes stand", &|state| {
                state.change(&staking::state::validator_key(address(1)), |validator: &mut Validator| validator.stake.0 += 1);
            }),
            ("every fault is listed once, to be forgotten", &|state| state.insert(staking::state::faults(), &[0; 45])),
            ("the set of the running epoch is kept", &|state| state.drop(&set)),
            ("a set ascends by network key", &|state| {
                state.change(&set, |set: &mut ValidatorSet| {
                    let members: Vec<_> = set.members.iter().rev().cloned().collect();
                    set.members = list(members);
                });
            }),
            ("the stake of the running set is counted", &|state| {
                state.change(&staking::state::total_key(), |total: &mut StakeTotal| total.stake.0 += 1);
            }),
            ("the stake of the running set is counted", &|state| {
                state.change(&staking::state::total_key(), |total: &mut StakeTotal| total.members.0 += 1);
            }),
        ],
    );
}
