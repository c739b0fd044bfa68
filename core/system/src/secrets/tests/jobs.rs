//! Secrets of jobs: who may use one, which runners are drawn, and what a drawn runner is released (decisions 143, 144, 506).

use super::*;
use cowboy_system::runners::NUMBER as REGISTRY;
use cowboy_system::tee;
use cowboy_testkit::chain::signed;
use cowboy_testkit::market::{Market, hex, map, simple_job, slug};
use cowboy_types::environment::Environment;
use serde_json::json;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_drawn_runner_is_released_a_secret,
    jobs_that_may_not_use_a_secret,
    runners_that_may_not_see_a_secret_are_not_drawn,
    a_program_that_was_taken_out_is_released_nothing,
];

/// A market with a committee of proxies, and a secret of account 1 under this policy.
fn market(runners: u8, policy: &Policy) -> (Market, Identity) {
    let mut market = with_committee(runners);
    let sealed_to = identity(&market.chain, 1, policy);
    assert_eq!(put(&mut market.chain, &sealed_to, policy).abort, None);
    (market, sealed_to)
}

/// A market with a committee of proxies.
pub(crate) fn with_committee(runners: u8) -> Market {
    with_rows(runners, &[])
}

/// The same with more rows.
pub(super) fn with_rows(runners: u8, more: &[(&'static str, u64)]) -> Market {
    let rows = [&quick_rows()[..], more].concat();
    let mut market = Market::with(runners, |genesis| genesis.parameters = parameters(&rows));
    (2..=5).for_each(|number| register(&mut market.chain, number));
    seat(&mut market.chain, 1);
    for number in market.runners.clone() {
        assert!(market.chain.send(number, execution(Address::system(REGISTRY), "heartbeat", &Value::map([]).encode(), 0)).is_success());
    }
    market
}

pub(super) fn for_web() -> Policy {
    Policy { hosts: List::new(vec![Text::new("example.com").expect("short")]).expect("one"), ..policy() }
}

/// A web job that uses the secret.
fn with_secret() -> serde_json::Value {
    let mut job = simple_job();
    job["secrets"] = json!([{ "name_hash": hex(&[8; 32]), "as": "KEY" }]);
    job
}

fn claim(market: &mut Market, from: u8, job: &Hash, index: u64) -> Receipt {
    let (key, proof, _) = transport();
    let argument = [("job", bytes(&job.0)), ("index", Value::uint(index)), ("transport", bytes(&key.0)), ("proof", bytes(&proof.0))];
    ask(&mut market.chain, from, "release_to_runner", argument, 0)
}

/// only the runner that was drawn is released the secret, once, until its commitment is due; the account that keeps it pays.
#[test]
fn a_drawn_runner_is_released_a_secret() {
    let (mut market, sealed_to) = market(2, &for_web());
    let job = market.submit(&with_secret());
    let drawn = market.draw(&job)[0];
    let other = market.runners.iter().copied().find(|number| *number != drawn).expect("there are two");
    let before = market.chain.balance(address(OWNER));
    assert_eq!(slug(&claim(&mut market, other, &job, 0)), "not_a_member");
    assert_eq!(slug(&claim(&mut market, drawn, &job, 1)), "secret_not_found", "the job names one");
    let receipt = claim(&mut market, drawn, &job, 0);
    assert_eq!((receipt.abort.clone(), market.chain.balance(address(OWNER))), (None, before - 10_000_000));
    let id = release_id(&job, address(drawn), &sealed_to);
    let record = release_record(&market.chain, &id).expect("it is open");
    assert_eq!((record.recipient, record.subject, record.deadline), (address(drawn), job, market.job(&job).commit_until));
    assert_eq!(slug(&claim(&mut market, drawn, &job, 0)), "release_state", "once");
    // A heartbeat of a runner has a lane before that of what it sends otherwise.
    let nonce = market.chain.nonce(drawn);
    let closing = [("release_id", bytes(&id.0)), ("epoch", Value::uint(1)), ("served", Value::uint(0b111))];
    let close = signed(drawn, nonce, execution(MANAGER, "close_release", &Value::dict(closing).encode(), 0));
    let heartbeat = signed(drawn, nonce + 1, execution(Address::system(REGISTRY), "heartbeat", &Value::map([]).encode(), 0));
    let block = market.chain.block(vec![heartbeat.clone(), close]);
    assert_eq!((block.included.len(), block.receipts[0].abort.clone()), (1, None), "the release is closed");
    assert_eq!(market.chain.block(vec![heartbeat]).included.len(), 1, "in the next block");
    let record = release_record(&market.chain, &id).expect("its receipt is kept");
    assert_eq!((record.served, record.fee), (Some(0b111), Amount::ZERO));
    let (mut paused, _) = self::market(1, &for_web());
    let job = paused.submit(&with_secret());
    let drawn = paused.draw(&job)[0];
    assert!(ask(&mut paused.chain, OWNER, "pause_secret", [("name_hash", bytes(&[8; 32])), ("paused", Value::Bool(true))], 0).is_success());
    assert_eq!(slug(&claim(&mut paused, drawn, &job, 0)), "secret_paused", "between the draw and the release");
    paused.chain.height = paused.job(&job).commit_until;
    assert_ne!(slug(&claim(&mut paused, drawn, &job, 0)), "", "the commitment was due");
}

/// an account, a host, a kind of job, a committee or a version that the policy does not name.
#[test]
fn jobs_that_may_not_use_a_secret() {
    let (mut market, _) = market(3, &for_web());
    let with = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut job = with_secret();
        change(&mut job);
        job
    };
    let secret = |more: serde_json::Value| {
        let mut one = json!({ "name_hash": hex(&[8; 32]), "as": "KEY" });
        one.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        json!([one])
    };
    let rows = [
        (with(&|job| job["job_type"]["url"] = json!("https://evil.example.org/")), "release_refused"),
        (with(&|job| job["secrets"] = json!([{ "name_hash": hex(&[9; 32]), "as": "KEY" }])), "secret_not_found"),
        (with(&|job| job["secrets"] = secret(json!({ "version": 2 }))), "secret_not_found"),
        (with(&|job| job["secrets"] = secret(json!({ "account": hex(&address(2).0) }))), "secret_not_found"),
        (with(&|job| job["secrets"] = secret(json!({ "as": "key" }))), "job_invalid"),
        (with(&|job| job["secrets"] = secret(json!({ "more": 1 }))), "job_invalid"),
        (with(&|job| job["secrets"] = json!("KEY")), "job_invalid"),
        (with(&|job| job["secrets"] = json!(vec![json!({ "name_hash": hex(&[8; 32]), "as": "KEY" }); 2])), "job_invalid"),
        (with(&|job| job["verification"] = json!({ "mode": "majority_vote", "runners": 3 })), "release_refused"),
        (
            with(&|job| {
                job["job_type"] = json!({ "type": "Llm", "prompt": "${KEY}" });
                job["bounds"]["max_output_tokens"] = json!(10);
            }),
            "secrets_not_applicable",
        ),
    ];
    for (job, expected) in rows {
        assert_eq!(market.refused(&job), expected, "{}", job["secrets"]);
    }
    let stranger = market.chain.send(
        6,
        cowboy_testkit::market::ask(
            cowboy_testkit::market::DISPATCHER,
            "submit_job",
            &with(&|job| {
                job["secrets"] = secret(json!({ "account": hex(&address(OWNER).0) }));
            }),
            0,
        ),
    );
    assert_eq!(slug(&stranger), "release_refused", "only what the account owns may use it");
}

/// Attack: somebody deploys an actor that submits jobs for whoever asks, and hands it to an account with a secret, which is not asked. By the policy that
/// `cowboy secret set` makes, for the actors of the account, or by one for its jobs, the stranger's job was sent with the value, and the account paid the fee. An actor
/// that was ever handed on has to be listed, also where it came back to the account that deployed it (decisions 733 and 735).
#[test]
fn an_actor_that_was_given_away_uses_no_secret() {
    let listed = |addresses: Vec<Address>| Actors::Listed { addresses: List::new(addresses).expect("one fits") };
    let owner = || List::new(vec![address(OWNER)]).expect("one fits");
    let script = "handler ask\n job $payload\n return $last\n";
    // Submits a job by an actor that the first of these accounts deployed and each handed to the next one. Answers why it fails, if it does.
    let asked = |owners: &[u8], policy: &dyn Fn(Address) -> Policy| {
        let mut market = with_committee(1);
        let grants: &[(&str, &[(&str, u64)])] = &[("econ.hold_balance", &[]), ("http.fetch", &[])];
        let receipt = market.chain.send(owners[0], cowboy_testkit::chain::deployment(script, Some(grants), None, 1_000_000_000_000));
        let actor = receipt.created.expect("a deployment creates");
        for pair in owners.windows(2) {
            let handed = cowboy_types::System::TransferActorOwnership { actor, owner: address(pair[1]) };
            assert!(market.chain.send(pair[0], cowboy_types::Instruction::System(handed)).is_success());
        }
        let policy = policy(actor);
        let sealed_to = identity(&market.chain, 1, &policy);
        assert_eq!(put(&mut market.chain, &sealed_to, &policy).abort, None);
        let payload = cowboy_testkit::market::map(&with_secret()).encode();
        slug(&market.chain.send(6, execution(actor, "ask", &payload, 0)))
    };
    let owned = |_: Address| for_web();
    let of_account = |_: Address| Policy { actors: Actors::Any, accounts: owner(), ..for_web() };
    let named = |actor: Address| Policy { actors: listed(vec![actor]), accounts: owner(), ..for_web() };
    for (owners, expected, why) in [
        (&[7, OWNER][..], "release_refused", "a stranger deployed it"),
        (&[OWNER, 7, OWNER][..], "release_refused", "a stranger had it meanwhile"),
        (&[OWNER][..], "", "what the account deployed itself"),
        (&[OWNER, OWNER][..], "", "it was given to nobody else"),
    ] {
        assert_eq!((asked(owners, &owned), asked(owners, &of_account)), (expected, expected), "{why}");
        assert_eq!(asked(owners, &named), "", "what the policy lists");
    }
}

/// A submission pays for what is read of each of its secrets: the secret, its version, and whether the actor that asks was handed on.
#[test]
fn each_secret_of_a_job_is_paid_for() {
    // What a second secret costs, where a record costs this many cycles.
    let second = |rate: u64| {
        let mut market = with_rows(1, &[("costs.storage_read", rate)]);
        let policy = for_web();
        let sealed_to = identity(&market.chain, 1, &policy);
        assert_eq!(put(&mut market.chain, &sealed_to, &policy).abort, None);
        let kept = (market.chain.state.clone(), market.chain.height, market.chain.timestamp);
        let mut cost = |job: &serde_json::Value| {
            (market.chain.state, market.chain.height, market.chain.timestamp) = kept.clone();
            let call = cowboy_testkit::market::ask(cowboy_testkit::market::DISPATCHER, "submit_job", job, 0);
            let receipt = market.chain.send(OWNER, call);
            assert_eq!(receipt.abort, None);
            receipt.cycles_used.0
        };
        let mut job = with_secret();
        let one = cost(&job);
        job["secrets"].as_array_mut().expect("a list").push(json!({ "name_hash": hex(&[8; 32]), "as": "OTHER" }));
        cost(&job) - one
    };
    assert_eq!(second(2_000) - second(1_000), 3 * 1_000);
}

/// Decision 587: a placeholder is of a secret that the job names; a job without secrets may have any text.
#[test]
fn placeholders_are_of_named_secrets() {
    let (mut market, _) = market(2, &for_web());
    let with = |fields: serde_json::Value| {
        let mut job = with_secret();
        job["job_type"].as_object_mut().expect("a map").extend(fields.as_object().expect("a map").clone());
        job
    };
    let mut none = with(json!({ "body": "a page may say ${OTHER}" }));
    none.as_object_mut().expect("a map").remove("secrets");
    let rows = [
        (with(json!({ "headers": { "authorization": "Bearer ${KEY}" } })), ""),
        (with(json!({ "headers": { "authorization": "Bearer ${OTHER}" } })), "job_invalid"),
        (with(json!({ "json": { "key": "${KEY}", "list": [1, { "deep": "${OTHER}" }] } })), "job_invalid"),
        (with(json!({ "body": "a${KEY}b${OTHER}" })), "job_invalid"),
        (with(json!({ "body": "a shell may say ${home}, ${KEY, $OTHER and ${}: ${KEY}" })), ""),
        (none, ""),
    ];
    for (job, expected) in rows {
        assert_eq!(market.refused(&job), expected, "{}", job["job_type"]);
    }
}

/// A refused release names the host that the policy does not.
#[test]
fn a_refused_release_names_the_host() {
    let (mut market, _) = market(2, &for_web());
    let mut job = with_secret();
    job["job_type"]["url"] = json!("https://evil.example.org/");
    let call = cowboy_testkit::market::ask(cowboy_testkit::market::DISPATCHER, "submit_job", &job, 0);
    let outcome = market.chain.block(vec![signed(1, market.chain.nonce(1), call)]);
    assert_eq!(slug(&outcome.receipts[0]), "release_refused");
    let exception = outcome.traces[0].calls[0].exception.clone().expect("the trace says why");
    let expected = "The policy of KEY does not name the host evil.example.org, which the job reaches.";
    assert!(exception.message.ends_with(expected), "{}", exception.message);
}

/// decision 552: a container gets a secret as a variable or as a file, where the policy allows containers and every host that it reaches.
#[test]
fn containers_use_secrets() {
    let (mut market, _) = market(2, &Policy { jobs: JobKind::Container.bit(), ..for_web() });
    crate::containers::offer(&mut market, &[(1_000, 512, 1_024); 2]);
    let with = |more: serde_json::Value, fields: serde_json::Value| {
        let mut job = crate::containers::job(fields);
        let mut one = json!({ "name_hash": hex(&[8; 32]), "as": "KEY" });
        one.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        job["secrets"] = json!([one]);
        job
    };
    let nothing = || json!({});
    for place in [nothing(), json!({ "in": "env" }), json!({ "in": "file" })] {
        let job = market.submit(&with(place, nothing()));
        let drawn = market.draw(&job)[0];
        assert_eq!(slug(&claim(&mut market, drawn, &job, 0)), "");
    }
    let reaching = |host: &str| json!({ "network": { "allow": [host] } });
    market.submit(&with(nothing(), reaching("example.com")));
    let rows = [
        (with(nothing(), reaching("evil.example.org")), "release_refused"),
        (with(json!({ "in": "args" }), nothing()), "job_invalid"),
        (with(json!({ "in": 1 }), nothing()), "job_invalid"),
        (with(json!({ "as": "COWBOY_SEED" }), nothing()), "job_invalid"),
        (with(nothing(), json!({ "env": { "KEY": "mine" } })), "job_invalid"),
    ];
    for (job, expected) in rows {
        assert_eq!(market.refused(&job), expected, "{}", job["secrets"]);
    }
    // A file may have any name, and is no variable.
    market.submit(&with(json!({ "as": "COWBOY_SEED", "in": "file" }), json!({ "env": { "KEY": "mine" } })));
    let mut web = with_secret();
    web["secrets"][0]["in"] = "env".into();
    assert_eq!(market.refused(&web), "job_invalid", "a web job says itself where values go");
    web["secrets"][0].as_object_mut().expect("a map").remove("in");
    assert_eq!(market.refused(&web), "release_refused", "the policy is for containers");
}

/// a runner that the policy does not name is no candidate.
#[test]
fn runners_that_may_not_see_a_secret_are_not_drawn() {
    let named = Policy { runners: Runners::Listed { addresses: List::new(vec![address(11)]).expect("one") }, ..for_web() };
    let (mut market, _) = market(3, &named);
    for _ in 0..3 {
        let job = market.submit(&with_secret());
        assert_eq!(market.draw(&job), [11]);
    }
    let rich = Policy { min_stake: Amount(STAKE + 1), ..for_web() };
    let (mut market, _) = self::market(2, &rich);
    assert_eq!(market.refused(&with_secret()), "no_candidates");
    let attested = Policy {
        attestation: Attestation::Required { environments: List::new(vec![Environment::Sev]).expect("one"), measurements: List::default() },
        ..for_web()
    };
    let (mut market, _) = self::market(2, &attested);
    assert_eq!(market.refused(&with_secret()), "no_candidates", "the environment for development proves nothing");
}

/// Has governance accept a program, or take it out.
fn accept_program(market: &mut Market, is_accepted: bool) {
    let policy = json!({ "environment": "sev", "measurement": hex(&[5; 144]), "accepted": is_accepted });
    assert!(market.chain.decide(tee::NUMBER, "set_policy", &map(&policy)));
}

/// Gives a runner the proof of a program, as the TEE Verifier keeps it for a day.
fn prove_program(market: &mut Market, number: u8) {
    let (environment, runner) = (Environment::Sev, address(number));
    let key = cowboy_system::runners::state::runner_key(runner);
    let mut record: cowboy_types::job::Runner = market.chain.record(&key).expect("it is registered");
    record.tee |= environment.bit();
    market.chain.state.insert(key.digest(), key.seal(&record.encode()));
    let (at, measurement) = (market.chain.height, cowboy_types::Blob::new(vec![5; 144]).expect("short"));
    let proof = tee::types::Attestation { environment, measurement, key: Fixed([1; 32]), at, valid_until: Height(at.0 + 86_400) };
    let key = tee::state::attestation_key(runner);
    market.chain.state.insert(key.digest(), key.seal(&proof.encode()));
}

/// Decision 779: where a policy asks for an environment, nothing is released to who runs a program that governance has taken out, also after the draw.
#[test]
fn a_program_that_was_taken_out_is_released_nothing() {
    let environments = List::new(vec![Environment::Sev]).expect("one");
    let attested = Policy { attestation: Attestation::Required { environments, measurements: List::default() }, ..for_web() };
    let (mut market, _) = market(1, &attested);
    accept_program(&mut market, true);
    let runner = market.runners[0];
    prove_program(&mut market, runner);
    let job = market.submit(&with_secret());
    assert_eq!(market.draw(&job), [runner]);
    accept_program(&mut market, false);
    assert_eq!(slug(&claim(&mut market, runner, &job, 0)), "release_refused");
    accept_program(&mut market, true);
    assert_eq!(slug(&claim(&mut market, runner, &job, 0)), "");
    accept_program(&mut market, false);
    assert_eq!(market.refused(&with_secret()), "no_candidates");
}

/// What a pause came to for a job, beside its status: why it ended, what its runner was paid, the runner's failures, and what the submitter has less than
/// it had when the pause began, with what the job held.
fn outcome_of(market: &Market, id: &Hash, (drawn, had): (u8, u64)) -> (String, u64, u64, u64) {
    let (job, key) = (market.job(id), cowboy_system::runners::state::runner_key(address(drawn)));
    let runner: cowboy_types::job::Runner = market.chain.record(&key).expect("it is registered");
    let paid = job.members.iter().map(|member| member.paid.0).sum();
    (job.reason.to_string(), paid, runner.jobs_failed.0, had - market.chain.balance(address(OWNER)))
}

/// A market with a runner that was drawn for a job with a secret, and what the submitter has with what the job holds.
fn drawn_job() -> (Market, Hash, u8, u64) {
    let (mut market, _) = market(1, &for_web());
    let id = market.submit(&with_secret());
    let drawn = market.draw(&id)[0];
    let had = market.chain.balance(address(OWNER)) + market.job(&id).escrow.0;
    (market, id, drawn, had)
}

/// Decision 749: where 0x04 was paused since a runner was drawn, a job that names a secret ends when the runner says that it cannot have it, or says nothing.
/// Nobody is paid or blamed, and the submitter has everything back, with a reason that names the pause.
#[test]
fn a_pause_of_secrets_costs_neither_submitter_nor_runner() {
    for (blocks, does_report) in [(50, true), (50, false), (3, true), (3, false)] {
        let (mut market, id, drawn, had) = drawn_job();
        market.chain.pause(&[NUMBER], blocks);
        assert_eq!(slug(&claim(&mut market, drawn, &id, 0)), "system_actor_paused");
        market.chain.idle(3);
        if does_report {
            let said = market.said(drawn, b"").failing(2, 10_000);
            assert_eq!(slug(&market.submit_alone(&id, &said)), "");
        } else {
            market.chain.idle(10);
        }
        assert_eq!(outcome_of(&market, &id, (drawn, had)), ("secrets_paused".to_owned(), 0, 0, 0), "{blocks} {does_report}");
    }
}

/// A pause excuses no other fault, and none that a runner met before it was drawn. What is delivered all the same is a result.
#[test]
fn a_pause_of_secrets_excuses_nothing_else() {
    let (mut market, id, drawn, had) = drawn_job();
    market.chain.pause(&[NUMBER], 50);
    market.chain.idle(1);
    let kept = (market.chain.state.clone(), market.chain.height, market.chain.timestamp);
    let said = market.said(drawn, b"").failing(3, 10_000);
    assert_eq!(slug(&market.submit_alone(&id, &said)), "");
    assert_eq!(&*market.job(&id).reason, "impossible");
    (market.chain.state, market.chain.height, market.chain.timestamp) = kept;
    assert_eq!(slug(&market.result(&id, drawn, b"done")), "");
    let (reason, paid, _, lost) = outcome_of(&market, &id, (drawn, had));
    assert!(reason.is_empty() && paid > 0 && lost >= paid, "{reason} {paid} {lost}");
    market.chain.idle(49);
    let id = market.submit(&with_secret());
    let drawn = market.draw(&id)[0];
    let said = market.said(drawn, b"").failing(2, 10_000);
    assert_eq!(slug(&market.submit_alone(&id, &said)), "");
    assert_eq!(&*market.job(&id).reason, "external_fault", "the pause was over before the draw");
}

/// A job that names a secret is refused while nobody could have it. Others are taken, and a pause does not excuse their runners.
#[test]
fn no_job_with_a_secret_is_taken_during_a_pause() {
    let (mut market, _) = market(1, &for_web());
    market.chain.pause(&[NUMBER], 50);
    let call = cowboy_testkit::market::ask(cowboy_testkit::market::DISPATCHER, "submit_job", &with_secret(), 0);
    let refused = market.chain.block(vec![signed(OWNER, market.chain.nonce(OWNER), call)]);
    assert_eq!(slug(&refused.receipts[0]), "system_actor_paused");
    let exception = refused.traces[0].calls[0].exception.clone().expect("the trace says why");
    assert!(exception.message.ends_with("It needs 0x04, which is paused."), "{}", exception.message);
    let id = market.submit(&simple_job());
    let drawn = market.draw(&id)[0];
    let said = market.said(drawn, b"").failing(2, 10_000);
    assert_eq!(slug(&market.submit_alone(&id, &said)), "");
    assert_eq!(&*market.job(&id).reason, "external_fault");
}

/// Attack: a runner lets a pause of the market outlast the record of its release, opens it again with another transport key, and shows the answers to the
/// first one, which hold for that key alone, as false. The record stays while its job is under way, and goes after it.
#[test]
fn a_release_is_opened_once_for_a_job() {
    let (mut market, sealed_to) = market(1, &for_web());
    let job = market.submit(&with_secret());
    let drawn = market.draw(&job)[0];
    assert_eq!(slug(&claim(&mut market, drawn, &job, 0)), "");
    let id = release_id(&job, address(drawn), &sealed_to);
    let opened = release_record(&market.chain, &id).expect("it is open");
    market.chain.pause(&[cowboy_system::dispatcher::NUMBER], 100);
    market.chain.idle(100);
    assert!(market.chain.height.0 > opened.deadline.0 + 2 * 30, "its receipt was kept long enough");
    assert_eq!(slug(&claim(&mut market, drawn, &job, 0)), "release_state");
    assert_eq!(slug(&market.result(&job, drawn, b"done")), "");
    market.chain.idle(31);
    assert_eq!(release_record(&market.chain, &id), None);
}

/// Attack: a runner has a secret released, and says nothing, so that another one is drawn. It counts among those that the policy lets have the secret, and
/// where no other may, the job ends with its escrow returned: the runner that was drawn next could only say that it cannot have the secret, for a fee.
#[test]
fn a_job_ends_where_its_secret_is_used_up() {
    let rows = [(1, 0, true, true), (1, 0, false, false), (2, 0, true, false), (2, 1, true, true)];
    for (row, (copies, releases, does_open, is_over)) in rows.into_iter().enumerate() {
        let (mut market, _) = market(2, &Policy { copies, max_releases: Count(releases), ..for_web() });
        let id = market.submit(&with_secret());
        let first = market.draw(&id)[0];
        let had = market.chain.balance(address(OWNER)) + market.job(&id).escrow.0;
        if does_open {
            assert_eq!(slug(&claim(&mut market, first, &id, 0)), "", "row {row}");
        }
        market.chain.idle(market.job(&id).commit_until.0 - market.chain.height.0);
        let (job, fee) = (market.job(&id), if does_open { 10_000_000 } else { 0 });
        if is_over {
            assert_eq!((&job.reason[..], job.escrow, job.members.len()), ("copies_used_up", Amount::ZERO, 0), "row {row}");
            assert_eq!(had - market.chain.balance(address(OWNER)), fee, "row {row}: the release, and nothing for the job");
        } else {
            let second = market.committee(&id)[0];
            assert_eq!((second == first, job.attempt), (false, Count(1)), "row {row}");
            assert_eq!(slug(&claim(&mut market, second, &id, 0)), "", "row {row}: another may have it");
        }
    }
}
