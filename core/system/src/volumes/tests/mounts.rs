//! Volumes of jobs: which runner has which right, for how long, and for whom nothing is mounted.

use super::*;
use crate::containers::{job, offer};
use cowboy_system::volumes::types::Capability;
use cowboy_testkit::market::{Market, hex, slug};
use serde_json::{Value as Json, json};

/// What a runner gives to a container: as much as the class small takes, and two mebibytes for what is written to volumes.
const ROOM: (u64, u64, u64) = (1_000, 512, 1_026);

/// A market with runners of containers, relays, and a volume of the account that submits.
fn market(runners: usize, keys: &str) -> (Market, Hash) {
    let mut market = Market::with(u8::try_from(runners).expect("few"), |genesis| genesis.parameters = parameters(&quick_rows()));
    offer(&mut market, &vec![ROOM; runners]);
    KEEPERS.for_each(|number| register(&mut market.chain, number));
    let volume_id = create(&mut market.chain, "memory", keys);
    (market, volume_id)
}

fn mount(mode: &str) -> Json {
    json!({ "volume": "memory", "partition": "notes", "mode": mode, "max_bytes": 100_000 })
}

fn with(volumes: &[Json]) -> Json {
    job(json!({ "volumes": volumes }))
}

fn claim(market: &mut Market, from: u8, job: &Hash, index: u64) -> Receipt {
    ask(&mut market.chain, from, STORAGE, "mount", [("job", bytes(&job.0)), ("index", Value::uint(index))], 0)
}

fn id_of(receipt: &Receipt) -> Fixed<16> {
    assert_eq!(receipt.abort, None);
    Fixed(cbor::decode(&receipt.return_data).expect("CBOR").as_bytes().expect("an id").try_into().expect("16 bytes"))
}

fn record(market: &Market, id: &Fixed<16>) -> Option<Capability> {
    market.chain.record(&state::capability_key(id))
}

/// A-182, A-234: the runner that was drawn has what the job says, until its commitment is due; then nothing of it is left.
#[test]
fn a_drawn_runner_mounts_a_volume() {
    let (mut market, volume_id) = market(2, "public");
    let job = market.submit(&with(&[mount("rw")]));
    let drawn = market.draw(&job)[0];
    let other = market.runners.iter().copied().find(|number| *number != drawn).expect("there are two");
    assert_eq!(slug(&claim(&mut market, other, &job, 0)), "not_a_member");
    assert_eq!(slug(&claim(&mut market, drawn, &job, 1)), "volume_not_found", "the job names one");
    assert_eq!(slug(&claim(&mut market, drawn, &Hash([9; 32]), 0)), "job_not_found");
    let id = id_of(&claim(&mut market, drawn, &job, 0));
    let until = market.job(&job).commit_until;
    let expected = Capability {
        volume: volume_id,
        partition: partition("notes"),
        holder: address(drawn),
        mode: cowboy_volumes::Mode::ReadWrite,
        max_bytes: 100_000,
        used_bytes: 0,
        from: market.chain.height,
        until,
        job,
    };
    assert_eq!(record(&market, &id), Some(expected));
    assert_eq!(id_of(&claim(&mut market, drawn, &job, 0)), id, "once more is the same");
    assert_eq!(volume(&market.chain, &volume_id).map(|volume| volume.capabilities.0), Some(1));
    // What everybody may read needs no right: jobs of strangers could take all that a volume has.
    let reading = market.submit(&with(&[mount("r")]));
    let reader = market.draw(&reading)[0];
    assert_eq!(slug(&claim(&mut market, reader, &reading, 0)), "volume_state");
    // It commits with it, where it may.
    let mut files = Files::default();
    files.put(1, 5_000);
    let change = |chain: &Chain, name: &str| Change { capability: Some(id), ..Change::of(chain, volume_id, name, &files) };
    assert_eq!(change(&market.chain, "other").send(&mut market.chain, drawn).abort, Some(error::CAPABILITY_REFUSED));
    assert_eq!(change(&market.chain, "notes").send(&mut market.chain, other).abort, Some(error::CAPABILITY_REFUSED));
    assert_eq!(change(&market.chain, "notes").send(&mut market.chain, drawn).abort, None);
    // When its commitment was due, the right goes by itself.
    market.chain.height = until;
    market.chain.idle(2);
    assert_eq!((record(&market, &id), volume(&market.chain, &volume_id).map(|volume| volume.capabilities.0)), (None, Some(0)));
    assert_ne!(slug(&claim(&mut market, drawn, &job, 0)), "", "the commitment was due");
}

/// The owner takes such a right back, like any other; and where the volume goes, it goes too.
#[test]
fn an_owner_takes_a_mount_back() {
    let (mut market, volume_id) = market(1, "public");
    let job =
        market.submit(&with(&[mount("rw"), json!({ "volume": "memory", "partition": "out", "as": "out", "mode": "w", "max_bytes": 9 })]));
    let drawn = market.draw(&job)[0];
    let (reads, writes) = (id_of(&claim(&mut market, drawn, &job, 0)), id_of(&claim(&mut market, drawn, &job, 1)));
    assert_eq!(ask(&mut market.chain, OWNER, STORAGE, "revoke_cap", [("capability", bytes(&reads.0))], 0).abort, None);
    assert_eq!((record(&market, &reads), record(&market, &writes).is_some()), (None, true));
    assert_eq!(ask(&mut market.chain, OWNER, STORAGE, "delete_volume", [("volume", bytes(&volume_id.0))], 0).abort, None);
    assert_eq!(claim(&mut market, drawn, &job, 0).abort, Some(error::VOLUME_STATE), "it is deleted");
    market.chain.idle(30);
    assert_eq!((record(&market, &writes), volume(&market.chain, &volume_id)), (None, None));
}

/// What the submitter may not have mounted is refused when the job is submitted.
#[test]
fn jobs_that_mount_what_they_may_not() {
    let (mut market, volume_id) = market(3, "owner");
    let theirs = |mode: &str| json!({ "volume": hex(&volume_id.0), "as": "theirs", "partition": "notes", "mode": mode, "max_bytes": 1 });
    assert_eq!(market.refused(&with(&[mount("r")])), "volume_state", "nobody but its owner has its keys");
    let open = create(&mut market.chain, "open", "public");
    let of_open = |mode: &str| json!({ "volume": hex(&open.0), "as": "open", "partition": "notes", "mode": mode, "max_bytes": 1 });
    assert_eq!(market.refused(&with(&[json!({ "volume": "nothing", "partition": "notes", "mode": "r" })])), "volume_not_found");
    let mut several = with(&[of_open("rw")]);
    several["verification"] = json!({ "mode": "majority_vote", "runners": 3 });
    assert_eq!(market.refused(&several), "container_invalid", "one commit is one runner's");
    several["job_type"]["volumes"] = json!([of_open("r")]);
    market.submit(&several);
    let from_stranger = |market: &mut Market, job: &Json| {
        let call = cowboy_testkit::market::ask(cowboy_testkit::market::DISPATCHER, "submit_job", job, 0);
        slug(&market.chain.send(STRANGER, call))
    };
    assert_eq!(from_stranger(&mut market, &with(&[theirs("r")])), "volume_foreign");
    assert_eq!(from_stranger(&mut market, &with(&[of_open("rw")])), "volume_foreign");
    assert_eq!(from_stranger(&mut market, &with(&[of_open("r")])), "", "anybody reads a public volume");
    // What is written is memory of the runner until it is kept.
    let memory = create(&mut market.chain, "written", "public");
    let written = |bytes: u64| json!({ "volume": hex(&memory.0), "as": "written", "partition": "notes", "mode": "w", "max_bytes": bytes });
    market.submit(&with(&[written(2 << 20)]));
    assert_eq!(market.refused(&with(&[written((2 << 20) + 1)])), "no_candidates");
    // Runners that mount no volumes are no candidates, and get no images from them.
    for number in market.runners.clone() {
        let mut declared = cowboy_testkit::market::declaration(number);
        declared["kinds"] = json!(["container"]);
        let (cpu, memory, scratch) = ROOM;
        declared["containers"] =
            json!({ "cpu_millicores": cpu, "memory_mib": memory, "scratch_mib": scratch, "platforms": ["linux/amd64"], "volumes": false });
        declared["rates"] = json!({ "compute_second": 1, "memory_mb": 1, "max_job_value": 5_000 * CBY });
        assert_eq!(
            market.chain.send(number, cowboy_testkit::market::ask(cowboy_testkit::market::REGISTRY, "update", &declared, 0)).abort,
            None
        );
    }
    market.submit(&job(json!({})));
    assert_eq!(market.refused(&with(&[of_open("r")])), "no_candidates");
    let stored = format!("volume:{}/images", hex(&open.0).trim_start_matches("0x"));
    assert_eq!(market.refused(&job(json!({ "source": stored }))), "no_candidates");
    let mut web = cowboy_testkit::market::simple_job();
    web["job_type"]["volumes"] = json!([of_open("r")]);
    assert_eq!(market.refused(&web), "job_unsupported", "no other work has a place for files");
}

/// The owner alone rewrites a partition with its next key: a job that may write commits under the key that stands.
#[test]
fn a_job_rewrites_nothing() {
    let mut market = crate::secrets::jobs::with_committee(1);
    offer(&mut market, &[ROOM]);
    (3..=8).for_each(|number| register(&mut market.chain, number));
    let volume_id = create(&mut market.chain, "memory", "committee");
    let mut files = Files::default();
    files.put(1, 5_000);
    commit(&mut market.chain, volume_id, "notes", &files);
    let job = market.submit(&with(&[mount("w")]));
    let drawn = market.draw(&job)[0];
    let id = id_of(&claim(&mut market, drawn, &job, 0));
    files.put(2, 5_000);
    let change = Change { capability: Some(id), ..Change::of(&market.chain, volume_id, "notes", &files) };
    let next = Change { key_version: change.key_version + 1, ..change.clone() };
    assert_eq!(next.send(&mut market.chain, drawn).abort, Some(error::CAPABILITY_REFUSED));
    assert_eq!(change.send(&mut market.chain, drawn).abort, None);
}

/// A-243: the key of a mounted partition is released to the runner, once, and the volume's owner pays: a runner cannot have an owner pay again and again.
#[test]
fn a_mounted_partition_has_a_key() {
    let mut market = crate::secrets::jobs::with_committee(1);
    offer(&mut market, &[ROOM]);
    (3..=8).for_each(|number| register(&mut market.chain, number));
    let volume_id = create(&mut market.chain, "memory", "committee");
    let job = market.submit(&with(&[mount("r")]));
    let drawn = market.draw(&job)[0];
    let (key, proof, _) = crate::secrets::transport();
    let release = |market: &mut Market, capability: Value| {
        let argument = [
            ("volume", bytes(&volume_id.0)),
            ("partition", bytes(&partition("notes").0)),
            ("capability", capability),
            ("transport", bytes(&key.0)),
            ("proof", bytes(&proof.0)),
        ];
        ask(&mut market.chain, drawn, Address::system(actors::SECRETS), "release_partition", argument, 0)
    };
    assert_eq!(release(&mut market, Value::Null).abort, Some(error::CAPABILITY_REFUSED), "it has not claimed its right yet");
    let capability = bytes(&id_of(&claim(&mut market, drawn, &job, 0)).0);
    let (owner, runner) = (market.chain.balance(address(OWNER)), market.chain.balance(address(drawn)));
    let receipt = release(&mut market, capability.clone());
    assert_eq!((receipt.abort.clone(), owner - market.chain.balance(address(OWNER))), (None, 10_000_000));
    assert_eq!(without_fee(runner, market.chain.balance(address(drawn)), &receipt), 0);
    assert_eq!(slug(&release(&mut market, capability)), "release_state", "once for a job");
    assert_eq!(owner - market.chain.balance(address(OWNER)), 10_000_000);
}

/// Decision 749: a job that mounts what a runner could not ask for is refused while 0x0A is paused, or 0x04, which makes the keys. One whose runner was drawn
/// before ends with a reason that names the pause, and costs nobody anything. What everybody may read, nobody asks for.
#[test]
fn a_pause_costs_neither_submitter_nor_runner() {
    for (keys, paused, reason) in
        [("public", 0x0A, "volumes_paused"), ("committee", 0x0A, "volumes_paused"), ("committee", 0x04, "secrets_paused")]
    {
        let mut market = crate::secrets::jobs::with_committee(1);
        offer(&mut market, &[ROOM]);
        (3..=8).for_each(|number| register(&mut market.chain, number));
        create(&mut market.chain, "memory", keys);
        let job = market.submit(&with(&[mount("rw")]));
        let drawn = market.draw(&job)[0];
        market.chain.pause(&[paused], 100);
        assert_eq!(market.refused(&with(&[mount("rw")])), "system_actor_paused", "{keys}");
        if keys == "public" {
            market.submit(&with(&[mount("r")]));
        }
        let had = market.chain.balance(address(OWNER)) + market.job(&job).escrow.0;
        let said = market.said(drawn, b"").failing(2, 10_000);
        assert_eq!(slug(&market.submit_alone(&job, &said)), "");
        let record = market.job(&job);
        let paid: u64 = record.members.iter().map(|member| member.paid.0).sum();
        assert_eq!((&*record.reason, paid, had - market.chain.balance(address(OWNER))), (reason, 0, 0), "{keys}");
    }
}

/// A pause of the keys is none of a volume that needs none.
#[test]
fn a_pause_of_keys_keeps_no_public_volume() {
    let (mut market, _) = market(1, "public");
    market.chain.pause(&[0x04], 100);
    let job = market.submit(&with(&[mount("rw")]));
    let drawn = market.draw(&job)[0];
    id_of(&claim(&mut market, drawn, &job, 0));
    let said = market.said(drawn, b"").failing(2, 10_000);
    assert_eq!(slug(&market.submit_alone(&job, &said)), "");
    assert_eq!(&*market.job(&job).reason, "external_fault");
}
