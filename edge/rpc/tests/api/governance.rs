//! Decisions, validators and rent, as the API shows them.

use crate::devnet::Devnet;
use commonware_codec::Encode as _;
use cowboy_api::{Hex, cbor, model};
use cowboy_types::{Actor, Address, Amount, Blob, Instruction, Text, instruction::Ordinary};
use serde_json::{Value, json};

const GOVERNANCE: Address = Address::system(0x09);

/// What a proposal of tier 0 puts down, in CBY.
const DEPOSIT_CBY: u64 = 1_000;

fn call(method: &str, argument: &Value, value: Amount) -> Actor {
    Actor::Execute {
        target: GOVERNANCE,
        handler: Text::new(method.to_owned()).expect("a short name"),
        payload: Blob::new(cbor::encode(argument)).expect("a short argument"),
        value,
    }
}

/// A proposal is followed from its deposit to the parameter that it moved.
#[tokio::test(flavor = "multi_thread")]
async fn a_decision_is_shown_from_its_proposal_to_its_effect() {
    let devnet = Devnet::start(None).await;
    let (client, key) = (&devnet.client, &devnet.keys[3]);
    let deposit = Amount::from_cby(DEPOSIT_CBY).expect("a small amount");
    let wish = json!({ "action": "set_parameter", "name": "economics.faucet", "value": 7 });
    devnet.send(key, 0, Instruction::Actor(call("propose", &wish, deposit))).await;
    let get = async |id: u64| -> model::Proposal { client.get(&format!("/governance/proposals/{id}")).await.expect("it was proposed") };
    let made = get(0).await;
    let action = model::ProposedAction {
        action: "set_parameter".into(),
        name: Some("economics.faucet".into()),
        value: Some(7),
        ..model::ProposedAction::default()
    };
    assert_eq!((made.stage.as_str(), made.tier, made.deposit, &made.actions), ("voting", 0, deposit.get(), &vec![action]));
    assert_eq!(made.proposer.0, key.address());

    let validators: model::Validators = client.get("/validators").await.expect("somebody signs");
    let voter = validators.validators[0].address;
    let vote = Ordinary::Actor(call("vote", &json!({ "proposal": 0, "choice": "yes" }), Amount::ZERO));
    let voted: model::SubmitResult = client
        .post("/dev/impersonate", &model::Impersonate { sender: voter, instruction: Hex(vote.encode().to_vec()) })
        .await
        .expect("it votes");
    assert_eq!(voted.receipt.map(|receipt| receipt.status).as_deref(), Some("success"));
    assert_eq!(get(0).await.ballots, vec![model::Ballot { voter, choice: "yes".into() }]);

    let warp = async |height: Option<u64>| -> model::Height {
        client.post("/dev/warp", &model::Warp { height, ..model::Warp::default() }).await.expect("time passes")
    };
    warp(made.height).await;
    // The dev chain's own account signed the impersonation: its number 1.
    devnet.send(key, 2, Instruction::Actor(call("count", &json!({ "proposal": 0 }), Amount::ZERO))).await;
    let waiting: model::Proposals = client.get("/governance/timelocks").await.expect("one is accepted");
    assert_eq!(waiting.proposals.iter().map(|one| (one.id, one.stage.as_str(), one.deposit)).collect::<Vec<_>>(), vec![(0, "queued", 0)]);
    warp(waiting.proposals[0].height).await;
    devnet.send(key, 3, Instruction::Actor(call("execute", &json!({ "proposal": 0 }), Amount::ZERO))).await;

    let history: model::ParameterHistory = client.get("/governance/history/economics.faucet").await.expect("the parameter is known");
    assert_eq!(history.changes.iter().map(|one| (one.value, one.proposal)).collect::<Vec<_>>(), vec![(7, 0)]);
    let params: model::Parameters = client.get("/params?limit=1000").await.expect("parameters are shown");
    assert_eq!(params.params.iter().find(|row| row.name == "economics.faucet").map(|row| row.value), Some(7));
    for (query, expected) in [("", 1), ("?stage=executed", 1), ("?stage=voting", 0), ("?offset=1", 0)] {
        let found: model::Proposals = client.get(&format!("/governance/proposals{query}")).await.expect("proposals are listed");
        assert_eq!((found.proposals.len(), found.total_count), (expected, 1), "{query}");
    }
    let council: model::Council = client.get("/governance/council").await.expect("the council is shown");
    assert_eq!((council.members.len(), council.size, council.threshold), (0, 9, 7));
    for (path, status) in [("/governance/proposals/1", 404), ("/governance/proposals/first", 400), ("/governance/history/no.such", 404)] {
        let refused = client.get::<Value>(path).await.expect_err(path);
        assert_eq!(refused.status(), status, "{path}: {refused}");
    }
    devnet.stop().await;
}

/// Who stakes and who signs, and what an actor owes.
#[tokio::test(flavor = "multi_thread")]
async fn validators_and_rent_are_shown() {
    let devnet = Devnet::start(None).await;
    let client = &devnet.client;
    let found: model::Validators = client.get("/validators").await.expect("somebody signs");
    let one = &found.validators[0];
    assert_eq!((found.total_count, one.status.as_str(), one.in_set, one.is_signing), (1, "active", true, true));
    assert_eq!((found.epoch, found.is_dealt, one.is_share_public, &one.network_address), (0, true, false, &None));
    assert!(one.stake > 0 && found.set_stake == one.stake, "{found:?}");
    assert_eq!(one.left_out, None);
    let same: model::Validator = client.get(&format!("/validators/{}", one.address)).await.expect("it is one");
    assert_eq!(&same, one);

    let actor = devnet.deploy(&devnet.keys[0], 0, "def greet(payload):\n    return payload\n").await;
    let rent: model::Rent = client.get(&format!("/actor/{actor}/rent")).await.expect("the actor is there");
    assert_eq!((rent.actor.0, rent.state.as_str(), rent.debt, rent.unpaid), (actor, "paid", 0, 0));
    assert!(rent.size > 0 && rent.quota > rent.size, "{rent:?}");
    for path in [format!("/validators/{actor}"), "/actor/0x1100000000000000000000000000000000000011/rent".into()] {
        assert_eq!(client.get::<Value>(&path).await.expect_err(&path).status(), 404, "{path}");
    }
    devnet.stop().await;
}
