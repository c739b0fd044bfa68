//! What shows that a gateway cheated, and what does not (004 §12.2).

use super::*;
use commonware_codec::Encode as _;
use cowboy_system::gateways::answers::{ANSWER_VERSION, DEV_ANSWER_VERSION, SignedAnswer, Statement};
use cowboy_testkit::chain::{deployment, key, unsigned};
use cowboy_types::units::Amount;
use cowboy_types::{Instruction, System, Text, Transaction};

/// two dispatches under one nonce cost three tenths of the stake, once. What was signed for another chain costs nothing, whatever number that chain has
/// (decision 765).
#[test]
pub(super) fn a_gateway_that_cheats_is_slashed() {
    let mut chain = Chain::new();
    let actor = chain.deploy_with(SCRIPT, WEB, 0);
    register(&mut chain, 2, STAKE);
    let dispatch = |number: u8, nonce: u64, change: &dyn Fn(&mut Transaction)| {
        let argument = Value::map(dispatch_argument(actor, request(&chain, 2, actor, number, "POST", b"")));
        let mut transaction = unsigned(2, nonce, execution(REGISTRY, "dispatch", &argument.encode(), 0));
        change(&mut transaction);
        key(2).sign_transaction(&mut transaction);
        Value::Bytes(transaction.to_bytes().to_vec())
    };
    let plain = |request, nonce| dispatch(request, nonce, &|_| {});
    let forged = dispatch(2, 7, &|transaction| transaction.from = address(3));
    let foreign = dispatch(2, 7, &|transaction| transaction.chain_id = cowboy_types::units::ChainId(7));
    let abroad = |number| {
        let argument = Value::map(dispatch_argument(actor, request_on(Hash([8; 32]), 2, actor, number, "POST", b"")));
        dispatch(number, 7, &|transaction| transaction.instruction = execution(REGISTRY, "dispatch", &argument.encode(), 0))
    };
    let pricier = dispatch(1, 7, &|transaction| transaction.max_fee_per_cycle.0 += 1);
    let transfer = Instruction::System(System::Transfer { to: address(2), amount: Amount::ZERO });
    let withdrawal = dispatch(2, 7, &|transaction| transaction.instruction = transfer.clone());
    let rows = [
        (plain(1, 7), plain(1, 7), Some(error::BAD_EVIDENCE)),
        (plain(1, 7), pricier, Some(error::BAD_EVIDENCE)),
        (plain(1, 7), plain(2, 8), Some(error::BAD_EVIDENCE)),
        (plain(1, 7), forged, Some(error::BAD_EVIDENCE)),
        (plain(1, 7), foreign, Some(error::BAD_EVIDENCE)),
        (plain(1, 7), abroad(2), Some(error::BAD_EVIDENCE)),
        (abroad(1), abroad(2), Some(error::BAD_EVIDENCE)),
        (plain(1, 7), withdrawal, Some(error::BAD_EVIDENCE)),
        (plain(1, 7), Value::Bytes(vec![1, 2, 3]), Some(error::BAD_EVIDENCE)),
        (plain(1, 7), Value::Null, Some(error::INVALID_ARGUMENT)),
        (plain(1, 7), plain(2, 7), None),
        (plain(1, 7), plain(3, 7), Some(error::BAD_EVIDENCE)),
    ];
    for (place, (first, second, expected)) in rows.into_iter().enumerate() {
        assert_eq!(ask(&mut chain, 5, "report", [("first", first), ("second", second)], 0).abort, expected, "row {place}");
    }
    let stake = STAKE * 7 / 10;
    assert_eq!((gateway(&chain, 2).stake, chain.balance(state::stakes())), (Amount(stake), stake));
    assert!(!is_active(&mut chain, 2), "its stake is below the least");
    assert!(ask(&mut chain, 2, "add_stake", [], STAKE).is_success());
    assert!(is_active(&mut chain, 2));
    let deployed = chain.send(3, deployment("handler x\n return 'x'\n", Some(WEB), None, 0));
    assert!(deployed.is_success());
}

/// Attack: a gateway shows its client the command that it signed, and sends another one that it signed under the same nonce and with the same id: the client's can
/// never run, and the id leads to the result of the other one. It is evidence as if the ids differed (decision 765).
#[test]
fn a_command_that_is_changed_under_its_id_is_evidence() {
    let mut chain = Chain::new();
    let actor = chain.deploy_with(SCRIPT, WEB, 0);
    register(&mut chain, 2, STAKE);
    let [shown, sent] = [&b"1 CBY to Ann"[..], &b"9 CBY to Bob"[..]].map(|body| {
        let argument = Value::map(dispatch_argument(actor, request(&chain, 2, actor, 1, "POST", body)));
        let mut transaction = unsigned(2, 7, execution(REGISTRY, "dispatch", &argument.encode(), 0));
        key(2).sign_transaction(&mut transaction);
        Value::Bytes(transaction.to_bytes().to_vec())
    });
    assert_eq!(ask(&mut chain, 5, "report", [("first", shown), ("second", sent)], 0).abort, None);
    assert_eq!(gateway(&chain, 2).stake.0, STAKE * 7 / 10);
}

/// What gateway 2 says about a page at height 100, changed.
pub(super) fn statement(chain: &Chain, change: impl FnOnce(&mut Statement)) -> Statement {
    let mut statement = Statement {
        version: ANSWER_VERSION,
        genesis: chain.config.genesis,
        height: Height(100),
        state_root: Hash([1; 32]),
        name: Text::new("mysite").expect("short"),
        actor: address(7),
        request: Hash([2; 32]),
        status: 200,
        headers: Hash([3; 32]),
        body: Hash([4; 32]),
    };
    change(&mut statement);
    statement
}

pub(super) fn signed(by: u8, statement: Statement) -> Value {
    let signature = key(by).sign(&statement.digest());
    Value::Bytes(SignedAnswer { statement, signature }.encode().to_vec())
}

/// two answers that one gateway signed and that cannot both be true cost three tenths of its stake, once for a height;
/// true ones, others' and those of other chains cost nothing. A single false one does when governance says so.
#[test]
pub(super) fn answers_that_contradict_each_other_are_slashed() {
    let mut chain = Chain::new();
    register(&mut chain, 2, STAKE);
    let said = |change: fn(&mut Statement)| statement(&chain, change);
    let (truth, lie) = (said(|_| {}), said(|statement| statement.body = Hash([5; 32])));
    let mine = |statement: &Statement| signed(2, statement.clone());
    let refused = |second: Value| (mine(&truth), second, Some(error::BAD_EVIDENCE));
    let both = |change: fn(&mut Statement)| {
        let mut changed = lie.clone();
        change(&mut changed);
        (mine(&statement(&chain, change)), mine(&changed), Some(error::BAD_EVIDENCE))
    };
    let rows = [
        refused(mine(&truth)),
        refused(mine(&said(|other| (other.request, other.body) = (Hash([9; 32]), Hash([5; 32]))))),
        refused(mine(&said(|other| (other.height, other.body) = (Height(101), Hash([5; 32]))))),
        refused(mine(&said(|other| (other.name, other.actor) = (Text::new("other").expect("short"), address(8))))),
        // Another gateway, a name or a state without this gateway's signature, another chain, another version.
        refused(signed(3, lie.clone())),
        refused(Value::Bytes(SignedAnswer { statement: lie.clone(), signature: key(2).sign(&truth.digest()) }.encode().to_vec())),
        refused(Value::Bytes(vec![1, 2, 3])),
        refused(Value::Bytes([mine(&lie).as_bytes().expect("bytes"), &[0]].concat())),
        both(|other| other.genesis = Hash([8; 32])),
        both(|other| other.version = 2),
        // Both of a dev chain, which may have been put back between them.
        both(|other| other.version = DEV_ANSWER_VERSION),
        (signed(4, truth.clone()), signed(4, lie.clone()), Some(error::GATEWAY_UNKNOWN)),
        (mine(&truth), Value::Null, Some(error::INVALID_ARGUMENT)),
        (mine(&truth), mine(&lie), None),
        refused(mine(&said(|other| other.status = 404))),
    ];
    for (place, (first, second, expected)) in rows.into_iter().enumerate() {
        let receipt = ask(&mut chain, 5, "report_answers", [("first", first), ("second", second)], 0);
        assert_eq!(receipt.abort, expected, "row {place}");
    }
    let mut stake = STAKE * 7 / 10;
    assert_eq!((gateway(&chain, 2).stake, chain.balance(state::stakes())), (Amount(stake), stake));
    let changes: [fn(&mut Statement); 4] = [
        |other| other.state_root = Hash([9; 32]),
        |other| (other.request, other.actor) = (Hash([9; 32]), address(8)),
        |other| other.status = 500,
        |other| other.headers = Hash([9; 32]),
    ];
    for (place, change) in changes.into_iter().enumerate() {
        let height = Height(101 + u64::try_from(place).expect("small"));
        let [first, second] = [|_: &mut Statement| {}, change].map(|change| {
            signed(
                2,
                statement(&chain, |statement| {
                    statement.height = height;
                    change(statement);
                }),
            )
        });
        assert_eq!(ask(&mut chain, 5, "report_answers", [("first", first), ("second", second)], 0).abort, None, "row {place}");
        stake -= stake * 3 / 10;
        assert_eq!(gateway(&chain, 2).stake.0, stake);
    }
    let single = signed(2, statement(&chain, |statement| statement.height = Height(200)));
    assert_eq!(ask(&mut chain, 5, "judge_answer", [("answer", single.clone())], 0).abort, Some(error::SYSTEM_UNAUTHORIZED));
    let judgement = Value::map([("answer", single)]);
    assert!(chain.decide(15, "judge_answer", &judgement));
    assert!(!chain.decide(15, "judge_answer", &judgement), "once");
    assert_eq!(chain.balance(state::stakes()), stake - stake * 3 / 10, "what was slashed is gone");
}
