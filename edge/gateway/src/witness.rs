//! Answers with proofs of all that they follow from: `Cowboy-Verify: 1`.
//!
//! Proofs are of the newest state only. Where a block comes in between, everything is done again for that block, and at last blocks wait for the proofs, those of a follower for a
//! part of its time (decision 662).

use crate::{BODIES_OF_CLIENT, Shared, refusal::Refusal, signed::Reading, state::BlockState};
use bytes::Bytes;
use commonware_codec::{Encode as _, EncodeSize as _};
use cowboy_chain::{Image, engine::Images, query::At, resume};
use cowboy_ingress::{
    Visit, Witness,
    signed::{SIGNATURE_HEADER, Said},
    visit::Visited,
    witness::{CONTENT_TYPE, MAX_ENTRIES, MAX_WITNESS_BYTES},
};
use cowboy_light::Anchor;
use cowboy_node::reader::{ATTEMPTS, NotStill, Proving};
use cowboy_serve::{Client, Full, Held};
use cowboy_state::{StateKey, records};
use cowboy_types::{Address, Hash};
use hyper::{
    Response, StatusCode,
    header::{self, HeaderValue},
};
use std::{
    collections::BTreeSet,
    net::IpAddr,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    runtime::Handle,
    time::{error::Elapsed, timeout},
};

/// How long a certificate that is on its way, or the proofs of others, are waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// The wait before a certificate is looked for again.
const PAUSE: Duration = Duration::from_millis(25);

/// Witnesses that are made at a time: as many requests wait until a node's state stands still.
pub(crate) const WITNESSES: usize = 512;

/// The most bytes of a witness: more of one answer are sent to no client.
const MAX_BYTES: usize = BODIES_OF_CLIENT;

const _: () = assert!(MAX_BYTES <= MAX_WITNESS_BYTES, "clients read what is sent");

/// What the records and proofs of a witness take while it is made. They count for the client before there are many.
struct Room {
    held: Held,
    bytes: usize,
}

impl Room {
    fn new(held: Held) -> Self {
        Self { held, bytes: 0 }
    }

    fn take(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_BYTES {
            return Err(too_large());
        }
        match self.held.add(bytes) {
            true => Ok(()),
            false => Err(Refusal::busy("MEMORY_FULL", "Other requests and answers fill the memory that is reserved for proofs.")),
        }
    }
}

/// The answer to a request that only reads, with its witness, and the height of the state it was made on, within one of the gateway's places for witnesses. Another client may get the place
/// meanwhile.
pub(crate) async fn witness(
    shared: &Shared,
    address: IpAddr,
    asked: (&str, &str),
    request: (String, Bytes),
) -> Result<(Response<Bytes>, u64), Refusal> {
    let mut place = shared.witnesses.take(address, shared.witnesses_of_client).map_err(no_place)?;
    let replaced = place.replaceable();
    tokio::select! {
        biased;
        made = proven(shared, address.into(), asked, request) => made,
        _ = replaced => Err(no_place(Full::Total(WITNESSES))),
    }
}

/// Where blocks came in between, the answer is made again, at last while the state of a node that follows others stands still.
async fn proven(
    shared: &Shared,
    client: Client,
    asked: (&str, &str),
    (id, request): (String, Bytes),
) -> Result<(Response<Bytes>, u64), Refusal> {
    let chain = shared.node.chain().map_err(Refusal::unavailable)?;
    for attempt in 0..ATTEMPTS {
        // Also small proofs, and the handlers before them, take time of the blocks.
        if chain.proving.is_catching_up() {
            return Err(not_still(NotStill::CatchingUp));
        }
        let attempted = attempted(shared, client, asked, (&id, &request), attempt);
        let made = if Proving::is_urgent(attempt) {
            let still = timeout(PATIENCE, chain.proving.still()).await.map_err(others_first)?.map_err(not_still)?;
            timeout(PATIENCE, still.during(attempted)).await.map_err(others_first)?.transpose()?.flatten()
        } else {
            attempted.await?
        };
        if let Some(made) = made {
            return Ok(made);
        }
    }
    Err(Refusal::unavailable("blocks come faster than the proof is made"))
}

/// One attempt at it. Nothing where a block came in between.
async fn attempted(
    shared: &Shared,
    client: Client,
    (name, method): (&str, &str),
    (id, request): (&str, &Bytes),
    attempt: usize,
) -> Result<Option<(Response<Bytes>, u64)>, Refusal> {
    let chain = shared.node.chain().map_err(Refusal::unavailable)?;
    let (state, anchor) = certified(shared).await?;
    let (visited, keys) = visit(shared, client, &state, name, method, request.clone()).await?;
    if keys.len() > MAX_ENTRIES {
        return Err(too_large());
    }
    // Only for the proofs: a handler may take its time.
    let turn = timeout(PATIENCE, chain.proving.turn(attempt)).await;
    let (batch, _turn) = turn.map_err(others_first)?;
    let mut room = Room::new(shared.bodies.hold(client));
    let Some(entries) = state.prove(keys, batch, |bytes| room.take(bytes)).await? else { return Ok(None) };
    let answer = visited.answer();
    let witness = Witness::new(name, request.clone(), &answer, anchor, entries).ok_or_else(too_large)?;
    if witness.encode_size() > MAX_BYTES {
        return Err(too_large());
    }
    let mut response = Response::new(witness.encode());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // What the chain says is nobody's secret, and pages of others check it.
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(SIGNATURE_HEADER));
    let said = Said::of(answer.status.as_u16(), &answer.headers, &answer.shown_body());
    let actor = visited.route.map_or(Address::ZERO, |route| route.actor);
    let reading = Reading { block: state.block(), name: name.to_owned(), actor, id: id.to_owned(), envelope: request.clone() };
    reading.sign(shared, &said, headers);
    Ok(Some((response, state.head.height.0)))
}

/// The newest state whose block is known to be final, with what shows that it is.
async fn certified(shared: &Shared) -> Result<(Arc<BlockState>, Anchor), Refusal> {
    let found = async {
        loop {
            let state = shared.newest.state().await?;
            if let Some(anchor) = state.anchor()? {
                return Ok((state, anchor));
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    timeout(PATIENCE, found).await.unwrap_or_else(|_| Err(Refusal::unavailable("the certificate of the newest block is still on its way")))
}

fn others_first(_: Elapsed) -> Refusal {
    Refusal::busy("BUSY", "Blocks, or the proofs of other answers, are made first.").retry(2)
}

fn not_still(why: NotStill) -> Refusal {
    match why {
        NotStill::CatchingUp => {
            let what = "The gateway's node catches up with its chain, and makes no proofs meanwhile.";
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "CATCHING_UP", what, "Ask without a proof, or ask another gateway.").retry(10)
        }
        NotStill::Crowded => no_place(Full::Total(WITNESSES)),
    }
}

/// All places are taken, or those of one client or subnet.
fn no_place(full: Full) -> Refusal {
    match full {
        Full::Total(_) => Refusal::busy("BUSY", "As many answers with proofs are made as this gateway makes at a time.").retry(2),
        Full::Client(_) | Full::Subnet(_) => {
            let what = "Too many answers with proofs are made for this client or its network.";
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMIT", what, "Wait for the answers before asking more.").retry(1)
        }
    }
}

fn too_large() -> Refusal {
    let what = "The answer follows from more than a proof has room for.";
    Refusal::new(StatusCode::NOT_IMPLEMENTED, "PROOF_TOO_LARGE", what, "Ask without a proof.")
}

/// What a client will do with the records, done first; and which records that takes.
async fn visit(
    shared: &Shared,
    client: Client,
    state: &Arc<BlockState>,
    name: &str,
    method: &str,
    request: Bytes,
) -> Result<(Visited, BTreeSet<StateKey>), Refusal> {
    let (state, name, method) = (state.clone(), name.to_owned(), method.to_owned());
    shared.runner.run(client, move |runtime| run(runtime, &state, &name, &method, request)).await
}

fn run(runtime: &Handle, state: &BlockState, name: &str, method: &str, request: Bytes) -> Result<(Visited, BTreeSet<StateKey>), Refusal> {
    let seen = Arc::new(Seen { images: state.at.images.clone(), asked: Mutex::default() });
    let at = At { images: seen.clone(), ..state.at.clone() };
    let mut visit = Visit::new(at, name, method, request);
    let mut keys = BTreeSet::new();
    let visited = resume::run(&mut visit, |wanted| {
        keys.extend(&wanted);
        state.fetch_here(runtime, wanted)
    })?;
    // A client has no image: it compiles the source.
    let asked = seen.asked.lock().expect("nothing panics while it holds the lock");
    keys.extend(asked.iter().map(|code_hash| records::keys::code(code_hash).digest()));
    Ok((visited, keys))
}

/// Images, and which were asked for.
struct Seen {
    images: Arc<dyn Images>,
    asked: Mutex<BTreeSet<Hash>>,
}

impl Images for Seen {
    fn get(&self, code_hash: &Hash) -> Option<Image> {
        self.asked.lock().expect("nothing panics while it holds the lock").insert(*code_hash);
        self.images.get(code_hash)
    }

    fn put(&self, code_hash: Hash, image: Image) {
        self.images.put(code_hash, image);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_serve::Memory;

    /// An actor that reads keys with long proofs fills no gateway: its witness is refused before it is made.
    #[test]
    fn the_proofs_of_a_witness_have_a_bound() {
        let (mib, client) = (1024 * 1024, Client::from(std::net::IpAddr::from([192, 0, 2, 1])));
        let refused = |memory: &Memory| {
            let mut room = Room::new(memory.hold(client));
            let refusal = (0..4_096).find_map(|_| room.take(mib).err()).expect("there is a bound");
            (refusal.code, memory.held() / mib)
        };
        assert_eq!(refused(&Memory::new(usize::MAX, usize::MAX)), ("PROOF_TOO_LARGE", MAX_BYTES / mib));
        let memory = Memory::new(10 * mib, 10 * mib);
        assert_eq!(refused(&memory), ("MEMORY_FULL", 10));
        assert_eq!(memory.held(), 0);
    }

    /// Decision 662: a node that catches up, and a client that asks for too much, are other reasons than one that passes in a moment.
    #[test]
    fn refusals_of_proofs_say_why() {
        let rows = [
            (not_still(NotStill::CatchingUp), 503, "CATCHING_UP"),
            (not_still(NotStill::Crowded), 503, "BUSY"),
            (no_place(Full::Client(1)), 429, "RATE_LIMIT"),
            (no_place(Full::Subnet(2)), 429, "RATE_LIMIT"),
        ];
        for (refusal, status, code) in rows {
            assert_eq!((refusal.status.as_u16(), refusal.code, refusal.retry_after.is_some()), (status, code, true));
        }
    }
}
