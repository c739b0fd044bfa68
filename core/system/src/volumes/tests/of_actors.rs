//! Volumes as actors use them: the host's functions, and `cowboy_sdk.volumes` in Python (decision 607).

use super::*;
use crate::containers::offer;
use cowboy_chain::query::QueryError;
use cowboy_testkit::chain::{deployment_of, manifest_json, sign, unsigned};
use cowboy_testkit::market::{Market, jobs_of, slug};
use cowboy_types::units::Cycles;
use cowboy_volumes::{BlobRef, Mode};

pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![the_host_has_functions_for_volumes];

const HOLDS: &str = r#"{"id":"econ.hold_balance"},{"id":"econ.transfer"}"#;
const BLOBS: &str = r#"{"id":"storage.blob"}"#;

/// An actor that does with a volume whatever an actor can.
const KEEPER: &str = r#"
from cowboy_sdk import ActorCallError, Actor, Address, actor, deferred, public, runner, volumes
from cowboy_sdk.volumes import BlobRef, Mount

QUOTA = 8 << 20

@actor
class Keeper(Actor):
    @public
    @deferred
    def open(self, keys: str) -> bytes:
        return volumes.create("memory", quota=QUOTA, keys=keys)

    @public
    @deferred
    def again(self) -> str:
        try:
            volumes.create("memory", quota=QUOTA)
        except ActorCallError as problem:
            return str(problem)
        return "created"

    @public
    @deferred
    def look(self) -> list:
        found = volumes.get("memory")
        standing = volumes.get_partition("memory", "notes")
        return [found["status"], found["quota"], standing is None, volumes.owned() == [volumes.volume_id("memory")]]

    @public
    @deferred
    def refer(self, hash: bytes, size: int) -> list:
        self.storage["newest"] = volumes.blob_ref("memory", hash, size)
        newest = BlobRef(self.storage["newest"])
        return [bytes(newest), newest.hash == hash, newest.size == size, newest.is_public, newest.is_in("memory")]

    @public
    @deferred
    def share(self, holder: Address, until: int) -> bytes:
        return volumes.grant("memory", "notes", holder, "rw", until=until, max_bytes=100_000)

    @public
    @deferred
    def right(self, of: bytes, is_over: bool) -> list:
        if is_over:
            volumes.revoke(of)
        found = volumes.get_capability(of)
        return [] if found is None else [found["mode"], found["used_bytes"] > 0]

    @public
    @deferred
    def keep(self) -> int:
        volumes.revert("memory", "notes")
        volumes.set_quota("memory", 2 * QUOTA, value=1_000_000)
        return volumes.fund("memory", 1_000_000)

    @public
    @deferred
    def close(self, heir: Address) -> int:
        until = volumes.delete("memory")
        volumes.undelete("memory", value=5)
        volumes.transfer("memory", heir)
        return until

    @public
    @runner.continuation
    async def work(self, image: str) -> None:
        await runner.container(
            image,
            [],
            volumes=[Mount("memory", "notes", "rw", max_bytes=100_000), Mount("memory", "old", name="before")],
            resources={"cpu_millicores": 500, "memory_mib": 64, "scratch_mib": 16, "max_duration_sec": 60},
            timeout_blocks=14_000,
            max_price=50_000_000_000,
        )
"#;

fn deploy(chain: &mut Chain, code: &str, entitlements: &str) -> Address {
    let manifest = manifest_json(&format!(r#"{{"entitlements":[{entitlements}]}}"#));
    let deployment = deployment_of(code.as_bytes(), Some(manifest), None, b"", 200 * CBY);
    let mut transaction = unsigned(OWNER, chain.nonce(OWNER), deployment);
    transaction.cycles_limit = Cycles(20_000_000);
    let receipt = chain.one(sign(OWNER, transaction));
    assert_eq!(receipt.abort, None);
    receipt.created.expect("a deployment creates")
}

fn keeper(chain: &mut Chain) -> Address {
    deploy(chain, KEEPER, &format!(r#"{HOLDS},{BLOBS},{{"id":"storage.kv"}}"#))
}

fn run(chain: &mut Chain, actor: Address, handler: &str, argument: &Value) -> Receipt {
    let payload = if *argument == Value::Null { Vec::new() } else { argument.encode() };
    let mut transaction = unsigned(OWNER, chain.nonce(OWNER), execution(actor, handler, &payload, 0));
    transaction.cycles_limit = Cycles(20_000_000);
    let receipt = chain.one(sign(OWNER, transaction));
    assert_eq!(receipt.abort, None, "{handler}");
    receipt
}

/// What a handler returns that does not return bytes.
fn shown(chain: &mut Chain, actor: Address, handler: &str, argument: &Value) -> Value {
    let receipt = run(chain, actor, handler, argument);
    cbor::decode(&receipt.return_data).expect("CBOR")
}

fn list(items: impl IntoIterator<Item = Value>) -> Value {
    Value::Array(items.into_iter().collect())
}

/// A-180, 004 §8.3.1: each function is a call of its method, for the same price; it needs storage.blob, and a query may use none.
#[test]
fn the_host_has_functions_for_volumes() {
    let mut chain = kept();
    let script = "#script\nhandler make\n try create_volume 'memory' 'public' 8388608 2000000000 4 2 450\n return $last\n\
                  handler shy\n try create_volume 'other' 'public' 8388608 1 4 2 450\n return $last\n\
                  handler none\n try create_volume 'other' 'public' 8388608\n return $last\n\
                  handler refer\n try blob_ref $payload 0x0707070707070707070707070707070707070707070707070707070707070707 5\n return $last\n\
                  handler end\n try delete_volume $payload\n return $last\n\
                  handler call\n try call 0x000000000000000000000000000000000000000a 'undelete_volume' $payload 5000000\n return $last\n\
                  handler called\n try call 0x000000000000000000000000000000000000000a 'delete_volume' $payload 5000000\n return $last\n";
    let without = deploy(&mut chain, script, HOLDS);
    let id = [7; 32];
    for handler in ["make", "refer", "end"] {
        assert_eq!(chain.call(without, handler, &id).abort, Some(error::MISSING_ENTITLEMENT), "{handler}");
    }
    // Other code has another address.
    let actor = deploy(&mut chain, &format!("{script}handler other\n return 'x'\n"), &format!("{HOLDS},{BLOBS}"));
    for handler in ["make", "refer", "end"] {
        let answer = chain.ask(actor, handler, &id, None).result;
        assert!(matches!(answer, Err(QueryError::SideEffect { .. })), "{handler}");
    }
    let before = chain.balance(actor);
    assert!(chain.call(actor, "make", b"").is_success());
    let volume_id = Name::new("memory").expect("a name").volume(actor);
    let record = volume(&chain, &volume_id).expect("it was created");
    assert_eq!((record.owner, before - chain.balance(actor)), (actor, 2 * CBY));
    for (handler, refusal) in [("shy", "volume_escrow"), ("none", "invalid_argument"), ("make", "volume_exists")] {
        assert_eq!(String::from_utf8_lossy(&chain.call(actor, handler, b"").return_data), refusal);
    }
    assert_eq!(before - chain.balance(actor), 2 * CBY, "what was refused is back");
    let expected = BlobRef::new(&volume_id, true, Hash([7; 32]), 5).to_bytes();
    assert_eq!(chain.call(actor, "refer", &volume_id.0).return_data[..], expected[..]);
    // The same by a call of the method. The script engine counts lines, and no cycles of host functions.
    let encoded = Value::dict([("volume", bytes(&volume_id.0))]).encode();
    let direct = chain.call(actor, "end", &volume_id.0);
    assert_eq!(volume(&chain, &volume_id).map(|record| record.status), Some(Status::Deleted));
    assert_eq!(chain.call(actor, "refer", &volume_id.0).return_data[..], *b"volume_state");
    assert!(chain.call(actor, "call", &encoded).is_success());
    let called = chain.call(actor, "called", &encoded);
    assert_eq!(volume(&chain, &volume_id).map(|record| record.status), Some(Status::Deleted));
    assert_eq!(direct.cycles_used, called.cycles_used);
    assert_eq!(chain.call(actor, "refer", &id).return_data[..], *b"volume_not_found");
}

/// A-180, A-234: what the SDK has for volumes, on this chain.
#[test]
fn a_python_actor_uses_volumes() {
    let mut chain = kept();
    let actor = keeper(&mut chain);
    let volume_id = Name::new("memory").expect("a name").volume(actor);
    let before = chain.balance(actor);
    assert_eq!(run(&mut chain, actor, "open", &Value::text("public")).return_data[..], volume_id.0[..]);
    let record = volume(&chain, &volume_id).expect("it was created");
    assert_eq!((record.owner, record.quota, before - chain.balance(actor)), (actor, 8 * MIB, CBY + record.escrow.0));
    let refused = shown(&mut chain, actor, "again", &Value::Null);
    assert!(refused.as_text().is_some_and(|text| text.contains("[volume_exists]")), "{refused:?}");
    let looks = |is_empty: bool| list([Value::text("active"), Value::uint(8 * MIB), Value::Bool(is_empty), Value::Bool(true)]);
    assert_eq!(shown(&mut chain, actor, "look", &Value::Null), looks(true));

    let reference = BlobRef::new(&volume_id, true, Hash([7; 32]), 5).to_bytes();
    let argument = list([bytes(&[7; 32]), Value::uint(5)]);
    let parts = list([bytes(&reference), Value::Bool(true), Value::Bool(true), Value::Bool(true), Value::Bool(true)]);
    assert_eq!(shown(&mut chain, actor, "refer", &argument), parts);

    // A stranger writes with the right that the actor gave, until it takes it back.
    let until = chain.height.0 + 1_000;
    let given = run(&mut chain, actor, "share", &list([bytes(&address(STRANGER).0), Value::uint(until)]));
    let right: Fixed<16> = Fixed(given.return_data[..].try_into().expect("16 bytes"));
    let mut files = Files::default();
    files.put(1, 5_000);
    let change = Change { capability: Some(right), ..Change::of(&chain, volume_id, "notes", &files) };
    assert_eq!(change.send(&mut chain, STRANGER).abort, None);
    assert_eq!(shown(&mut chain, actor, "look", &Value::Null), looks(false));
    let of = |is_over: bool| list([bytes(&right.0), Value::Bool(is_over)]);
    assert_eq!(shown(&mut chain, actor, "right", &of(false)), list([Value::text("rw"), Value::Bool(true)]));
    let mut more = files.clone();
    more.put(2, 5_000);
    let change = Change { capability: Some(right), ..Change::of(&chain, volume_id, "notes", &more) };
    assert_eq!(change.send(&mut chain, STRANGER).abort, None);
    assert_eq!(shown(&mut chain, actor, "right", &of(true)), list([]));
    let late = Change { capability: Some(right), ..Change::of(&chain, volume_id, "notes", &more) };
    assert_eq!(late.send(&mut chain, STRANGER).abort, Some(error::CAPABILITY_REFUSED));

    let escrow = volume(&chain, &volume_id).expect("it is there").escrow.0;
    assert_eq!(shown(&mut chain, actor, "keep", &Value::Null), Value::uint(escrow + 2_000_000));
    let standing: Partition = chain.record(&state::partition_key(&volume_id, &partition("notes"))).expect("it was committed");
    assert_eq!(standing.root.top, files.top(), "the actor went back");
    let until = shown(&mut chain, actor, "close", &bytes(&address(STRANGER).0));
    let record = volume(&chain, &volume_id).expect("it is there");
    assert_eq!((record.owner, record.status, record.quota), (address(STRANGER), Status::Active, 16 * MIB));
    assert_eq!(until, Value::uint(chain.height.0 + 20));
}

/// A-234: the mounts of an actor's job are what the drawn runner has a right to.
#[test]
fn a_job_of_an_actor_mounts_its_volume() {
    let mut market = Market::with(1, |genesis| genesis.parameters = parameters(&quick_rows()));
    offer(&mut market, &[(1_000, 512, 1_026)]);
    KEEPERS.for_each(|number| register(&mut market.chain, number));
    let actor = keeper(&mut market.chain);
    let volume_id = Name::new("memory").expect("a name").volume(actor);
    run(&mut market.chain, actor, "open", &Value::text("public"));
    run(&mut market.chain, actor, "work", &Value::text(format!("count@sha256:{}", "b".repeat(64))));
    let (job, _) = jobs_of(&market.chain).into_iter().find(|(_, job)| job.submitter == actor).expect("the job was taken");
    let drawn = market.draw(&job)[0];
    let claim = |market: &mut Market, index: u64| {
        ask(&mut market.chain, drawn, STORAGE, "mount", [("job", bytes(&job.0)), ("index", Value::uint(index))], 0)
    };
    let receipt = claim(&mut market, 0);
    assert_eq!(receipt.abort, None);
    let id: Fixed<16> = Fixed(cbor::decode(&receipt.return_data).expect("CBOR").as_bytes().expect("an id").try_into().expect("16 bytes"));
    let right: cowboy_system::volumes::types::Capability = market.chain.record(&state::capability_key(&id)).expect("it was given");
    assert_eq!((right.volume, right.partition, right.holder), (volume_id, partition("notes"), address(drawn)));
    assert_eq!((right.mode, right.max_bytes, right.job), (Mode::ReadWrite, 100_000, job));
    assert_eq!(slug(&claim(&mut market, 1)), "volume_state", "everybody reads a public volume: the second mount needs no right");
    assert_eq!(slug(&claim(&mut market, 2)), "volume_not_found", "there are two");
}
