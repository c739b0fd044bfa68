//! Relations between parameters: no decision takes from governance what it needs to undo it (decision 553).

use cowboy_params::Params;
use cowboy_testkit::chain::{Chain, execution, sign, unsigned};
use cowboy_testkit::governance::{CBY, GOVERNANCE, about, ask, chain_of, later, param, propose, set_parameter, stage, vote};
use cowboy_types::cbor::Value;
use cowboy_types::units::Cycles;
use cowboy_types::{Receipt, error};

fn all(rows: &[(&str, u64)]) -> Vec<(&'static str, Value)> {
    vec![("actions", Value::Array(rows.iter().map(|(name, value)| Value::dict(set_parameter(name, *value))).collect()))]
}

/// Votes for proposals, and executes them in their order.
fn execute(chain: &mut Chain, ids: &[u64]) {
    for id in ids {
        for from in 1..=3 {
            assert!(vote(chain, from, *id, "yes").is_success());
        }
    }
    later(chain, 3_600);
    for id in ids {
        assert!(ask(chain, 6, "count", about(*id), 0).is_success());
    }
    later(chain, 3_600);
    for id in ids {
        assert!(ask(chain, 6, "execute", about(*id), 0).is_success());
    }
}

/// The same; answers where each stands then.
fn carry(chain: &mut Chain, ids: &[u64]) -> Vec<String> {
    execute(chain, ids);
    ids.iter().map(|id| stage(chain, *id)).collect()
}

#[test]
fn what_genesis_gives_fits_together() {
    for relation in Params::RELATIONS {
        assert!(relation.holds(&Params::GENESIS), "{relation}: {}", relation.reason);
    }
}

/// Each of these values lies in its row's range, and so do those that would end every call.
#[test]
fn rows_that_depend_on_each_other_move_together() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let no_call_fits = [("intrinsic.message_cycles", 1_000_000), ("lanes.system_cycles", 1_000_000)];
    let less_for_a_block = [("fees.block_cycles", 43_000_000), ("fees.cycles_target", 10_000_000)];
    let lanes = [("lanes.system_cycles", 4_000_000), ("lanes.user_cycles", 21_000_000)];
    let rows: [(&str, &[(&str, u64)], bool); 13] = [
        ("a callback beyond its part of a block", &[("jobs.callback_cells", 4_000_001)], false),
        ("the largest callback", &[("jobs.callback_cells", 4_000_000)], true),
        ("a stake that is free before its fault is shown", &[("consensus.unbonding", 604_799)], false),
        ("claims that end before the window that a job names", &[("jobs.dispute_max", 14_399)], false),
        ("claims that end with it", &[("jobs.dispute_max", 14_400)], true),
        ("a stake that is free before claims end", &[("jobs.dispute_max", 575_941)], false),
        ("a stake that is free when they have ended", &[("jobs.dispute_max", 575_940)], true),
        ("calls beyond their lane", &no_call_fits, false),
        ("a block below its lanes", &less_for_a_block, false),
        ("a lane beyond the block", &[("lanes.user_cycles", 22_222_223)], false),
        ("a floor above the ceiling", &[("fees.base_fee_max", 1_000_000), ("fees.base_fee_min", 1_000_001)], false),
        ("a floor at the ceiling", &[("fees.base_fee_max", 1_000_000), ("fees.base_fee_min", 1_000_000)], true),
        ("a block with its lanes", &[less_for_a_block, lanes].concat(), true),
    ];
    for (case, rows, is_accepted) in rows {
        let receipt = ask(&mut chain, 5, "propose", all(rows), 1_000 * CBY);
        assert_eq!(receipt.abort, (!is_accepted).then_some(error::PARAMETER_RELATION), "{case}");
    }
}

/// Two decisions that fit alone and not together: the second one fails.
#[test]
fn relations_are_checked_when_a_decision_takes_effect() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let dear = propose(&mut chain, set_parameter("intrinsic.message_cycles", 850_000), 1_000);
    let small = propose(&mut chain, set_parameter("execution.actor_block_cycles", 200_000), 1_000);
    assert_eq!(carry(&mut chain, &[dear, small]), ["executed", "failed"]);
    assert_eq!(param(&mut chain, "execution.actor_block_cycles"), 1_000_000);
}

/// Where calls are as dear as relations allow, in the smallest lanes, the next decision undoes it.
#[test]
fn governance_undoes_what_it_may_do() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let worst = [
        ("intrinsic.message_cycles", 890_000),
        ("intrinsic.deploy_cycles", 100_000),
        ("gateways.command_cycles_max", 1_000_000),
        ("lanes.system_cycles", 1_000_000),
        ("lanes.user_cycles", 1_000_000),
    ];
    let id = propose(&mut chain, all(&worst), 1_000);
    execute(&mut chain, &[id]);
    // As much as the relation reckons with, and no more.
    let call = |chain: &mut Chain, from: u8, method: &str, argument: Vec<(&str, Value)>, value: u64| -> Receipt {
        let mut transaction = unsigned(from, chain.nonce(from), execution(GOVERNANCE, method, &Value::dict(argument).encode(), value));
        transaction.cycles_limit = Cycles(890_000 + 18 * 5_000 + 512 * 2);
        let receipt = chain.one(sign(from, transaction));
        assert_eq!(receipt.abort, None, "{method}");
        receipt
    };
    let undone = [("intrinsic.message_cycles", 21_000), ("lanes.system_cycles", 40_000_000), ("lanes.user_cycles", 22_222_222)];
    call(&mut chain, 5, "propose", all(&undone), 1_000 * CBY);
    for from in 1..=3 {
        call(&mut chain, from, "vote", [about(1), vec![("choice", Value::text("yes"))]].concat(), 0);
    }
    later(&mut chain, 3_600);
    call(&mut chain, 1, "count", about(1), 0);
    later(&mut chain, 3_600);
    call(&mut chain, 1, "execute", about(1), 0);
    assert_eq!(param(&mut chain, "intrinsic.message_cycles"), 21_000);
}

/// Relays send heartbeats within a sixth of `volumes.alive`: a decision lowers it by half at most, and so do two in a row.
#[test]
fn what_services_act_in_time_of_falls_step_by_step() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let rows = Params::ROWS.iter().filter(|row| row.is_stepwise);
    assert_eq!(
        rows.map(|row| row.name).collect::<Vec<_>>(),
        ["jobs.heartbeat_timeout", "rent.orphan_shard_ttl", "gateways.health", "secrets.alive", "volumes.alive"]
    );
    let refused = ask(&mut chain, 5, "propose", set_parameter("volumes.alive", 1_799), 1_000 * CBY);
    assert_eq!(refused.abort, Some(error::INVALID_ARGUMENT));
    let id = propose(&mut chain, set_parameter("volumes.alive", 1_800), 1_000);
    assert_eq!(carry(&mut chain, &[id]), ["executed"]);
    for (blocks, value, is_accepted) in [(0, 900, false), (0, 1_800, true), (1_700, 900, false), (200, 899, false), (0, 900, true)] {
        later(&mut chain, blocks);
        let receipt = ask(&mut chain, 5, "propose", set_parameter("volumes.alive", value), 1_000 * CBY);
        assert_eq!(receipt.is_success(), is_accepted, "{value}, {blocks} blocks later");
    }
}
