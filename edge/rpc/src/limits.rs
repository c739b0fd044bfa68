//! What a request may take: of the node's rate, of its memory, of its threads and of time.

use crate::{App, origin, refusal::Refusal};
use axum::{
    body::{Body, HttpBody as _},
    extract::{FromRequestParts, Request, State},
    http::{HeaderValue, Version, header::CONNECTION, request::Parts},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use bytes::BytesMut;
use cowboy_api::{
    Endpoint,
    error::{BODY_LATE, BODY_TOO_LARGE, BUSY, OVERLOADED, RATE_LIMITED, SERVER, TOO_SLOW},
    model::{MAX_BODY_BYTES, MAX_SUBMISSION_BYTES},
    table::Rate,
};
use cowboy_serve::{Bounds, Client, Full, Held, Memory, Permit, Pool, Refused, Slots};
use futures::StreamExt as _;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use serde_json::json;
use std::{
    io,
    net::{IpAddr, SocketAddr},
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::{runtime::Handle, time::timeout};

/// Requests a second of one client, all methods together.
pub const REQUESTS_PER_SECOND: u32 = 100;

/// Requests a minute of one address to the faucet, where nothing else is said.
pub const FAUCET_PER_MINUTE: u32 = 10;

/// The same where requests a second are limited too: a node for everybody.
const PUBLIC_FAUCET_PER_MINUTE: u32 = 5;

/// Bytes of bodies, of requests and of answers, that are held at once.
const MAX_BODIES: usize = 256 * 1024 * 1024;

/// The most of them of one client.
const BODIES_OF_CLIENT: usize = MAX_BODIES / 8;

/// The most clients whose requests are counted. Beyond that, those whose rate is whole again are forgotten first.
const MAX_CLIENTS: usize = 64 * 1024;

/// How often a full table of clients is looked through.
const TABLE_TIDIED_EVERY: Duration = Duration::from_millis(100);

/// The time that a body has to come.
const BODY_TIME: Duration = Duration::from_secs(15);

/// The time of a request that only looks something up.
const LIGHT_TIME: Duration = Duration::from_secs(60);

/// Streams of blocks that are open at a time: each reads a block from the disk whenever its client takes one.
pub(crate) const FOLLOWERS: usize = 1_024;

/// Requests for proofs that are answered at a time (decision 662).
pub(crate) const PROVERS: usize = 512;

/// The most of them of one client.
pub(crate) const PROVERS_OF_CLIENT: usize = 64;

/// Threads that read blocks for streams.
const BLOCK_READERS: usize = 2;

/// Where a request's work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// On the thread that read the request: a few records, or a health check, for which nobody waits in a queue.
    Light,
    /// The same, without an end: it waits for blocks, and does its work elsewhere.
    Waits,
    /// The same, with an end: it waits for what it proves.
    Proves,
    /// On the readers: it goes through lists, or through the ledger, and waits for nothing but the disk.
    Reads,
    /// On the workers that run and compile programs.
    Runs,
}

fn work_of(endpoint: Endpoint) -> Work {
    use Endpoint::*;
    match endpoint {
        Health | HealthDetailed | HealthReady | Height | Upgrades | BaseFee | Epoch | Account | Pending | Submit | DevSnapshot
        | DevRevert | DevBalance | DevImpersonate => Work::Light,
        Follow | Socket | SubmitWait | Faucet | ReadHandler | View | DevMine | DevWarp | Simulate => Work::Waits,
        ProofAccount | ProofActor | ProofStorage | ProofTransaction | ProofReceipt | ProofMulti => Work::Proves,
        Actor => Work::Runs,
        Genesis | Params | Methods | Supply | Validators | Validator | AccountHistory | Accounts | AccountTokens | Search | Actors
        | TokenHolders | TokenEvents | Transactions | StateChanges | ActorCode | ActorLogs | ActorEntitlements | EntitlementRegistry
        | Permissions | ActorRent | MissingChunks | Chunk | ActorStorage | ActorMailbox | Timers | ActorTimers | Proposals | Proposal
        | Timelocks | Council | ParameterHistory | Jobs | Job | JobCandidates | Runners | Runner | RunnerJobs | Delegation | Tokens
        | Token | TokenBalance | TokenAllowance | Names | Name | ActorNames | Gateways | Gateway | Blocks | Block | BlockCopy
        | Operations | Transaction | Receipt => Work::Reads,
    }
}

/// A rate that each client has for itself.
struct Clients {
    limiter: DefaultKeyedRateLimiter<Client>,
    tidied: Mutex<Instant>,
}

impl Clients {
    fn new(quota: Quota) -> Self {
        Self { limiter: RateLimiter::keyed(quota), tidied: Mutex::new(Instant::now()) }
    }

    fn allows(&self, client: Client) -> bool {
        if self.limiter.len() >= MAX_CLIENTS {
            let mut tidied = self.tidied.lock().unwrap_or_else(PoisonError::into_inner);
            if tidied.elapsed() >= TABLE_TIDIED_EVERY {
                self.limiter.retain_recent();
                *tidied = Instant::now();
            }
        }
        self.limiter.len() < MAX_CLIENTS && self.limiter.check_key(&client).is_ok()
    }

    /// Forgets clients that asked for nothing for a while.
    fn tidy(&self) {
        self.limiter.retain_recent();
        self.limiter.shrink_to_fit();
    }
}

/// The limits of one server.
pub(crate) struct Limits {
    requests: Option<Clients>,
    faucet: Clients,
    bodies: Memory,
    /// Threads that go through lists and the ledger.
    readers: Pool,
    /// Threads that read blocks for streams.
    blocks: Pool,
    /// Threads that compile and run programs.
    runners: Pool,
    /// Threads that check signatures.
    checkers: Pool,
}

impl Limits {
    /// The limit of this many requests a second of each client, or none, and the threads. Fails where the system has no room for them.
    pub(crate) fn start(requests_per_second: Option<u32>) -> io::Result<Self> {
        let rate = requests_per_second.and_then(NonZeroU32::new);
        let faucet = if rate.is_some() { PUBLIC_FAUCET_PER_MINUTE } else { FAUCET_PER_MINUTE };
        let bounds = Bounds::of_machine();
        // A stream waits for one block at a time, so that all of them have room in the queue, whoever they are of.
        let of_blocks = Bounds { threads: BLOCK_READERS, waiting: FOLLOWERS, per_client: FOLLOWERS, ..bounds.clone() };
        Ok(Self {
            requests: rate.map(|rate| Clients::new(Quota::per_second(rate))),
            faucet: Clients::new(Quota::per_minute(NonZeroU32::new(faucet).expect("the constants are not zero"))),
            bodies: Memory::new(MAX_BODIES, BODIES_OF_CLIENT),
            readers: Pool::start("api-reads", bounds.clone())?,
            blocks: Pool::start("api-blocks", of_blocks)?,
            runners: Pool::start("api-runs", bounds.clone())?,
            checkers: Pool::start("api-checks", bounds)?,
        })
    }

    fn allows(&self, rate: Rate, client: Client) -> bool {
        let is_free = rate == Rate::Free || self.requests.as_ref().is_none_or(|clients| clients.allows(client));
        is_free && (rate != Rate::Faucet || self.faucet.allows(client))
    }

    /// Forgets addresses that asked for nothing for a while.
    pub(crate) fn tidy(&self) {
        self.requests.iter().chain([&self.faucet]).for_each(Clients::tidy);
    }

    /// Compiles or runs a program on a thread that has the stack for it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        client: Client,
        work: impl FnOnce(&Handle) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        self.runners.run(client, work).await.map_err(Refusal::from)
    }

    /// Looks something up, or tries what runs no program: never behind programs.
    pub(crate) async fn read<T: Send + 'static>(&self, client: Client, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
        self.readers.run(client, move |_| work()).await.map_err(Refusal::from)
    }

    /// The same for a look at the state, for which the thread waits.
    pub(crate) async fn read_state<T: Send + 'static>(
        &self,
        client: Client,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.readers.run(client, move |runtime| runtime.block_on(work)).await.map_err(Refusal::from)
    }

    /// Reads a block for a stream: behind nothing but other blocks.
    pub(crate) async fn read_block<T: Send + 'static>(
        &self,
        client: Client,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refused> {
        self.blocks.run(client, move |_| work()).await
    }

    /// Encodes what all clients are told.
    pub(crate) async fn encode<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
        self.read(Client::OWN, work).await
    }

    /// Room for what a client is sent.
    pub(crate) fn hold(&self, client: Client) -> Held {
        self.bodies.hold(client)
    }

    /// Checks signatures: behind nothing else.
    pub(crate) async fn check<T: Send + 'static>(&self, client: Client, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
        self.checkers.run(client, move |_| work()).await.map_err(Refusal::from)
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        let reason = json!({ "reason": refused.to_string() });
        match refused {
            Refused::Client(_) => Self::new(RATE_LIMITED, reason),
            Refused::Full(_) => Self::new(OVERLOADED, reason),
            Refused::Late(_) => Self::new(TOO_SLOW, reason),
            Refused::Panicked(_) => {
                tracing::error!(%refused, "a request's work panicked");
                Self::new(SERVER, reason)
            }
        }
    }
}

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

impl Peer {
    /// The client whose budget the request draws on.
    pub(crate) fn client(self) -> Client {
        self.0.ip().into()
    }

    fn of(parts: &axum::http::Extensions) -> Self {
        *parts.get::<Self>().expect("the server says who asks")
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Peer {
    type Rejection = Refusal;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        Ok(Self::of(&parts.extensions))
    }
}

/// Answers a request within its limits.
pub(crate) async fn hold(State((app, endpoint)): State<(App, Endpoint)>, request: Request, next: Next) -> Response {
    let has_body = !request.body().is_end_stream() && request.version() <= Version::HTTP_11;
    // A worker must not wait for a client, so the body comes first.
    let client = Peer::of(request.extensions()).client();
    let (request, _held) = match admitted(&app, endpoint, client, request).await {
        Ok(found) => found,
        Err(refusal) if has_body => return closing(refusal),
        Err(refusal) => return refusal.into_response(),
    };
    match within(&app, endpoint, request, next).await {
        Ok(response) => bounded(&app, client, response),
        Err(refusal) => refusal.into_response(),
    }
}

/// The refusal of a request whose body was not read to its end. The connection cannot carry another request, and the answer says so.
fn closing(refusal: Refusal) -> Response {
    let mut response = refusal.into_response();
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The request with its whole body, if it may be answered at all.
async fn admitted(app: &App, endpoint: Endpoint, client: Client, request: Request) -> Result<(Request, Held), Refusal> {
    origin::check(endpoint, request.uri(), request.headers())?;
    if !app.limits.allows(endpoint.method().rate, client) {
        return Err(RATE_LIMITED.into());
    }
    whole(app, endpoint, client, request).await
}

async fn within(app: &App, endpoint: Endpoint, request: Request, next: Next) -> Result<Response, Refusal> {
    let client = Peer::of(request.extensions()).client();
    let pool = match work_of(endpoint) {
        Work::Waits => return Ok(next.run(request).await),
        Work::Light => return timeout(LIGHT_TIME, next.run(request)).await.map_err(|_| TOO_SLOW.into()),
        Work::Proves => return timeout(Bounds::of_machine().patience, next.run(request)).await.map_err(|_| TOO_SLOW.into()),
        Work::Reads => &app.limits.readers,
        Work::Runs => &app.limits.runners,
    };
    // Whatever it still waits for at the end of its time, the thread does not.
    let run = move |runtime: &Handle| runtime.block_on(async { timeout(Bounds::of_machine().patience, next.run(request)).await });
    pool.run(client, run).await?.map_err(|_| TOO_SLOW.into())
}

fn body_limit(endpoint: Endpoint) -> usize {
    match endpoint {
        Endpoint::Submit | Endpoint::SubmitWait => MAX_SUBMISSION_BYTES,
        _ => MAX_BODY_BYTES,
    }
}

/// The request with its whole body, within the method's length and the server's memory, and what counts it.
async fn whole(app: &App, endpoint: Endpoint, client: Client, request: Request) -> Result<(Request, Held), Refusal> {
    let (parts, body) = request.into_parts();
    let (most, mut held, mut bytes) = (body_limit(endpoint), app.limits.bodies.hold(client), BytesMut::new());
    if body.size_hint().lower() > u64::try_from(most).unwrap_or(u64::MAX) {
        return Err(BODY_TOO_LARGE.into());
    }
    let mut chunks = body.into_data_stream();
    let read = async {
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| Refusal::bad("body", error))?;
            if bytes.len() + chunk.len() > most {
                return Err(Refusal::from(BODY_TOO_LARGE));
            }
            if !held.add(chunk.len()) {
                return Err(crowded());
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(())
    };
    timeout(BODY_TIME, read).await.map_err(|_| Refusal::from(BODY_LATE))??;
    Ok((Request::from_parts(parts, Body::from(bytes.freeze())), held))
}

/// The answer, counted until it is sent, where it is not a stream. How the node is can be asked for however much others hold.
fn bounded(app: &App, client: Client, response: Response) -> Response {
    let Some(length) = response.body().size_hint().exact() else { return response };
    let mut held = app.limits.bodies.hold(client);
    match held.add_answer(usize::try_from(length).unwrap_or(usize::MAX)) {
        true => response.map(|body| Body::new(held.with(body))),
        false => crowded().into_response(),
    }
}

/// A place for something that takes long, of which a client may have `share`. `what` names it, in the plural.
pub(crate) fn place(slots: &Slots, address: IpAddr, share: usize, what: &str) -> Result<Permit, Refusal> {
    slots.take(address, share).map_err(|full| {
        let (fault, reason) = match full {
            Full::Total(_) => (OVERLOADED, format!("as many {what} are under way as this node has places for")),
            Full::Client(_) | Full::Subnet(_) => (RATE_LIMITED, format!("too many {what} are under way: of this client or of its subnet")),
        };
        Refusal::new(fault, json!({ "reason": reason }))
    })
}

pub(crate) fn crowded() -> Refusal {
    Refusal::new(BUSY, json!({ "reason": "the bodies of other requests and answers fill the memory that is reserved for them" }))
}

/// What tests of several modules need.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use futures::FutureExt as _;
    use std::sync::{Arc, mpsc};

    /// Gives a client its share of the readers, until the result is dropped.
    pub(crate) fn occupy(limits: &Limits, client: Client) -> impl Sized {
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let work = || {
            let released = released.clone();
            move || {
                if let Ok(released) = released.lock() {
                    let _ = released.recv();
                }
            }
        };
        let mut under_way: Vec<_> = (0..Bounds::of_machine().per_client).map(|_| Box::pin(limits.read(client, work()))).collect();
        assert!(under_way.iter_mut().all(|read| read.as_mut().now_or_never().is_none()), "they run, or wait for a thread");
        (release, under_way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that asks too often takes nothing away from another.
    #[test]
    fn the_rate_is_each_clients_own() {
        let limits = Limits::start(Some(1)).expect("the system has threads");
        let client = |number: u8| Client::from(IpAddr::from([192, 0, 2, number]));
        assert!(limits.allows(Rate::Global, client(1)) && !limits.allows(Rate::Global, client(1)));
        assert!(limits.allows(Rate::Free, client(1)), "health is free");
        assert!(limits.allows(Rate::Global, client(2)));
    }

    /// Decision 758: what may have megabytes is made behind nobody's health check.
    #[test]
    fn a_genesis_is_no_light_work() {
        assert_eq!(work_of(Endpoint::Genesis), Work::Reads);
        assert_eq!(work_of(Endpoint::Health), Work::Light);
    }

    /// Whoever has 65,536 networks of IPv6 fills the table, and keeps nobody out by it.
    #[test]
    fn a_full_table_forgets_who_is_silent() {
        let clients = Clients::new(Quota::per_second(NonZeroU32::new(1_000_000).expect("not zero")));
        let client = |number: u32| Client::from(IpAddr::from((u128::from(number) << 64).to_be_bytes()));
        for number in 0..=u32::try_from(MAX_CLIENTS).expect("a small number") {
            clients.limiter.check_key(&client(number)).expect("the first request of each");
        }
        *clients.tidied.lock().expect("nothing panicked") = Instant::now() - TABLE_TIDIED_EVERY;
        assert!(clients.allows(client(u32::MAX)));
        assert!(clients.limiter.len() < MAX_CLIENTS);
    }
}
