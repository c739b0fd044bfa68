//! A gateway over a devnet in this process, visited by an ordinary client and by hand.

mod nonces;
mod others;
mod signed;
mod witness;

use cowboy_api::{
    keystore::{DEV_MNEMONIC, Mnemonic},
    manifest,
};
use cowboy_chain::genesis::Funded;
use cowboy_gateway::{Backend, Config, Gateway, Limits, Listener, Registration, Source, Upstream};
use cowboy_node::{
    BlockTime, NodeConfig, NodeHandle,
    genesis::{self, DevGenesis},
};
use cowboy_serve::Slots;
use cowboy_types::{
    Address, Amount, Blob, Cells, ChainId, Cycles, Hash, Instruction, Nonce, Receipt, Text, Transaction, cbor::Value, instruction::Actor,
    signing::PrivateKey, units::Price,
};
use std::{net::Ipv4Addr, time::Duration};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const YEAR: u64 = 31_536_000;

struct World {
    node: NodeHandle,
    keys: Vec<PrivateKey>,
    gateway: Gateway,
    http: reqwest::Client,
    _folder: tempfile::TempDir,
}

fn unsigned(key: &PrivateKey, nonce: Nonce, instruction: Instruction) -> Transaction {
    Transaction {
        chain_id: ChainId(1337),
        nonce,
        instruction,
        cycles_limit: Cycles(8_000_000),
        cells_limit: Cells(300_000),
        max_fee_per_cycle: Price(20_000),
        max_fee_per_cell: Price(20_000),
        max_priority_fee_per_cycle: Price(0),
        max_priority_fee_per_cell: Price(0),
        from: key.address(),
        metadata: Default::default(),
        origin_tx_hash: None,
        origin_remaining_cycles: None,
        origin_remaining_cells: None,
        signature: Default::default(),
        additional_signers: Default::default(),
    }
}

impl World {
    async fn start(limits: Limits) -> Self {
        let words = Mnemonic::parse(DEV_MNEMONIC, "").expect("the words are good");
        let keys: Vec<PrivateKey> = (0..2).map(|index| words.key(index).expect("the index is small")).collect();
        let grant = |key: &PrivateKey| Funded { address: key.address(), amount: Amount::from_cby(200_000).expect("a small amount") };
        let dev = DevGenesis { accounts: keys.iter().map(grant).collect(), ..DevGenesis::default() };
        let (genesis, mut validators) = genesis::dev(dev).expect("the genesis is good");
        let folder = tempfile::tempdir().expect("a directory for the test");
        let mut config = NodeConfig::alone(folder.path().join("state"), genesis, validators.remove(0));
        config.block_time = BlockTime::Instant;
        let stake = Amount(config.genesis.chain.params.gateways.stake_min);
        let started = tokio::task::spawn_blocking(move || NodeHandle::start(config)).await.expect("starting does not panic");
        let node = started.expect("the node starts");
        node.watch_head().wait_for(|head| head.number > 0).await.expect("the node runs");
        let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into()).await.expect("the loopback has free ports");
        let registration = Registration { endpoint: "localhost".into(), http_port: listener.address().port(), stake };
        let backend = Backend {
            node: node.clone(),
            upstream: Upstream::Own,
            key: Some(keys[1].clone()),
            journal: Some(nonces::journal(folder.path(), &keys[1])),
            registration: Some(registration),
            keeps_up: false,
            source: Source::default(),
            slots: Slots::new(1_000),
        };
        let gateway = listener.serve(Config { limits, ..Config::default() }, backend).expect("it needs no certificate");
        Self { node, keys, gateway, http: reqwest::Client::new(), _folder: folder }
    }

    /// Sends an instruction of the first account, and waits for its receipt.
    async fn send(&self, instruction: Instruction) -> Receipt {
        let nonce = self.node.account(self.keys[0].address()).await.expect("the node runs").nonce;
        let mut transaction = unsigned(&self.keys[0], nonce, instruction);
        self.keys[0].sign_transaction(&mut transaction);
        let mut heads = self.node.watch_head();
        let sent = self.node.submit(vec![transaction.to_bytes().to_vec()]).await.expect("the node runs").remove(0);
        let hash: Hash = sent.expect("the transaction is taken");
        loop {
            let view = self.node.view().expect("the node runs");
            if let Some(place) = view.place_of(&hash).expect("the ledger reads") {
                let receipt = view.receipt(place).expect("the ledger reads").expect("a place has a receipt");
                assert_eq!(receipt.abort, None);
                return receipt;
            }
            drop(view);
            heads.changed().await.expect("the node runs");
        }
    }

    async fn deploy(&self, code: &str, json: &str) -> Address {
        let manifest = manifest::manifest_bytes(&serde_json::from_str(json).expect("JSON"));
        let deploy = Actor::Deploy {
            code: Blob::new(code.as_bytes().to_vec()).expect("a short source"),
            salt: Blob::default(),
            init: None,
            manifest: Some(Blob::new(manifest).expect("a short manifest")),
            endowment: Amount::from_cby(50).expect("a small amount"),
        };
        self.send(Instruction::Actor(deploy)).await.created.expect("a deployment creates")
    }

    async fn register(&self, name: &str, actor: Address) {
        let argument = Value::map([
            ("name", Value::text(name)),
            ("actor_address", Value::Bytes(actor.0.to_vec())),
            ("duration_blocks", Value::uint(YEAR)),
        ]);
        let register = Actor::Execute {
            target: Address::system(0x0E),
            handler: Text::new("register").expect("a short name"),
            payload: Blob::new(argument.encode()).expect("a short argument"),
            value: Amount::from_cby(1_000).expect("a small amount"),
        };
        self.send(Instruction::Actor(register)).await;
    }

    fn request(&self, method: &str, host: &str, path: &str) -> reqwest::RequestBuilder {
        let url = format!("http://{}{path}", self.gateway.address());
        self.http.request(method.parse().expect("a method"), url).header("host", host)
    }

    async fn visit(&self, method: &str, host: &str, path: &str) -> (u16, String, String) {
        taken(self.request(method, host, path)).await
    }

    /// Bytes to the port, and all that comes back.
    async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = tokio::net::TcpStream::connect(self.gateway.address()).await.expect("the gateway listens");
        // The gateway may close before all is written.
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn stop(self) {
        self.gateway.stop().await;
        let node = self.node;
        tokio::task::spawn_blocking(move || node.shutdown()).await.expect("stopping does not panic");
    }
}

/// Status, `X-Cowboy-Error`, body.
async fn taken(request: reqwest::RequestBuilder) -> (u16, String, String) {
    let response = request.send().await.expect("the gateway answers");
    let error = response.headers().get("x-cowboy-error").map(|value| value.to_str().expect("text").to_owned()).unwrap_or_default();
    (response.status().as_u16(), error, response.text().await.expect("a body"))
}

const SITE: &str = include_str!("../../../examples/site/actor.py");
const SITE_MANIFEST: &str = include_str!("../../../examples/site/manifest.json");

/// Handlers that misbehave, each at its path.
const ROGUE: &str = "from cowboy_sdk import actor, call, http, public


@actor
class Rogue:
    @http.get('/loop')
    def loop(self, request):
        while True:
            pass

    @http.get('/raise')
    def fail(self, request):
        raise ValueError('no')

    @http.get('/write')
    def write(self, request):
        self.storage['a'] = 1

    @http.get('/middle')
    def middle(self, request):
        total = 0
        for number in range(20_000):
            total += number
        return str(total)

    @http.get('/greedy')
    def greedy(self, request):
        try:
            while True:
                pass
        except BaseException:
            return 'caught'

    @http.get('/nested')
    def nested(self, request):
        try:
            return str(call(bytes(19) + bytes([14]), 'resolve', {'name': 'mysite'}))
        except BaseException:
            return 'caught'

    @http.get('/recurse')
    def recurse(self, request):
        return self.recurse(request)

    @http.get('/status/{status}')
    def status(self, request, status: int):
        return http.Response(status, 'x')

    @http.get('/inject')
    def inject(self, request):
        return http.Response(200, 'x', {'x-a': 'b\\r\\nset-cookie: c=1'})

    @http.get('/long')
    def long(self, request):
        return 'x' * 2000

    @http.get('/echo/{rest:path}')
    def echo(self, request, rest):
        return {'path': request.path, 'query': request.query, 'host': request.host, 'headers': request.headers.get('x-two')}

    @http.post('/burn')
    def burn(self, request):
        total = 0
        for number in range(500_000):
            total += number
        return str(total)

    @http.post('/fail')
    def fail_later(self, request):
        raise ValueError('no')

    @http.post('/keep')
    def keep(self, request):
        self.storage['kept'] = self.storage.get('kept', 0) + 1

    @http.post('/once')
    def once(self, request):
        if 'once' in self.storage:
            raise ValueError('no')
        self.storage['once'] = True

    @http.get('/cookies')
    def cookies(self, request):
        return http.Response(200, 'x', {'set-cookie': ['a=1; Path=/', 'b=2; Domain=localhost']})

    @http.get('/headers/{number}')
    def headers(self, request, number: int):
        return http.Response(200, 'x', {'x-a': ['b'] * number})
";
const ROGUE_MANIFEST: &str = r#"{"entitlements": [{"id": "econ.hold_balance"}, {"id": "ingress.http", "params": {"cors_origins": ["https://app.example.com"], "max_response_bytes": 1000, "max_query_cycles": 3000000, "max_request_bytes": 1000}}, {"id": "storage.kv"}]}"#;

/// A-304, A-319, A-322 to A-334, A-336 to A-338, A-347: the whole story, and everything that goes wrong on the way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn actors_are_web_sites() {
    let costs = Limits { command_cycles: 500_000, max_command_cycles: 1_500_000, ..Limits::default() };
    let world = World::start(Limits { requests_per_second: Some(0), ..costs }).await;
    let site = world.deploy(SITE, SITE_MANIFEST).await;
    let rogue = world.deploy(ROGUE, ROGUE_MANIFEST).await;
    world.register("mysite", site).await;
    world.register("rogue", rogue).await;
    reading(&world).await;
    writing(&world, site).await;
    nonces::are_signed_once(&world).await;
    signed::signing(&world).await;
    witness::proving(&world).await;
    witness::moving(&world).await;
    misbehaving(&world).await;
    refusing(&world).await;
    other_origins(&world).await;
    by_hand(&world).await;
    others::on_large_stacks(&world).await;
    others::with_a_rate(&world).await;
    others::with_a_slow_body(&world).await;
    others::that_catches_up(&world).await;
    world.stop().await;
}

/// Decision 182: pages of the origins that the manifest names read answers, failures too; the gateway answers their preflights.
async fn other_origins(world: &World) {
    let ask = |method: &str, host: &str, path: &str, origin: &str| {
        let request = world.request(method, host, path).header("origin", origin);
        request.header("access-control-request-method", "POST").header("access-control-request-headers", "idempotency-key").send()
    };
    let mine = "https://app.example.com";
    let rows = [
        ("OPTIONS", "rogue.localhost", "/burn", mine, 204, Some(mine)),
        ("OPTIONS", "rogue.localhost", "/_cowboy/requests/x", mine, 204, Some(mine)),
        ("OPTIONS", "rogue.localhost", "/burn", "https://other.example.com", 204, None),
        ("OPTIONS", "mysite.localhost", "/", mine, 405, None),
        ("GET", "rogue.localhost", "/status/200", mine, 200, Some(mine)),
        ("GET", "rogue.localhost", "/raise", mine, 500, Some(mine)),
        ("GET", "mysite.localhost", "/", mine, 200, None),
    ];
    for (method, host, path, origin, status, allowed) in rows {
        let answer = ask(method, host, path, origin).await.expect("the gateway answers");
        let told = answer.headers().get("access-control-allow-origin").map(|value| value.to_str().expect("text"));
        assert_eq!((answer.status().as_u16(), told), (status, allowed), "{method} {host} {path} {origin}");
    }
    let preflight = ask("OPTIONS", "rogue.localhost", "/burn", mine).await.expect("the gateway answers");
    let header = |name: &str| preflight.headers()[name].to_str().expect("text").to_owned();
    assert_eq!(header("access-control-allow-methods"), "GET, HEAD, POST");
    assert_eq!(header("access-control-allow-headers"), "idempotency-key");
}

async fn reading(world: &World) {
    let page = world.request("GET", "mysite.localhost", "/").send().await.expect("the gateway answers");
    assert_eq!(page.status().as_u16(), 200);
    let height = page.headers()["x-cowboy-block"].to_str().expect("text").parse::<u64>().expect("a height");
    assert_eq!(height, world.node.head().height.0);
    let etag = page.headers()["etag"].to_str().expect("text").to_owned();
    let body = page.text().await.expect("a body");
    assert!(body.contains("0 entries"), "{body}");
    let length = body.len();
    let head = world.request("HEAD", "MySite.Cowboy.Network", "/").send().await.expect("the gateway answers");
    assert_eq!(head.headers()["content-length"].to_str().ok().map(str::to_owned), Some(length.to_string()), "A-327: as GET, without body");
    assert_eq!(head.bytes().await.expect("no body").len(), 0);
    assert_eq!(taken(world.request("GET", "mysite.localhost", "/").header("if-none-match", etag)).await.0, 304);
    let part = world.request("GET", "mysite.localhost", "/").header("range", "bytes=0-3").send().await.expect("the gateway answers");
    assert_eq!((part.status().as_u16(), part.headers()["content-range"].to_str().ok()), (206, Some(&*format!("bytes 0-3/{length}"))));
    assert_eq!(part.bytes().await.expect("a body").len(), 4);
    assert_eq!(world.visit("GET", "a.b1c.mysite.localhost", "/").await.0, 400, "each label by the rule");
    assert_eq!(world.visit("GET", "blog.mysite.localhost:8080", "/").await.0, 200, "A-339: the parent serves what is below");
    let too_new = world.request("GET", "mysite.localhost", "/").header("x-cowboy-min-block", height + 1_000);
    assert_eq!(taken(too_new).await.1, "MIN_BLOCK_NOT_REACHED");
    assert_eq!(taken(world.request("GET", "mysite.localhost", "/").header("x-cowboy-min-block", height)).await.0, 200);
    assert_eq!(taken(world.request("GET", "mysite.localhost", "/").header("x-cowboy-min-block", "soon")).await.0, 400);
    for (host, path) in [("127.0.0.1", "/_cowboy/health"), ("mysite.localhost", "/_cowboy/health")] {
        assert_eq!(world.visit("GET", host, path).await.0, 200);
    }
    let (status, _, info) = world.visit("GET", "mysite.localhost", "/_cowboy/info").await;
    let info: serde_json::Value = serde_json::from_str(&info).expect("JSON");
    assert_eq!((status, &info["ingress"]["max_request_bytes"], &info["name"]), (200, &4_096.into(), &"mysite".into()));
    let (status, _, described) = world.visit("GET", "mysite.localhost", "/_cowboy/openapi.json").await;
    assert_eq!(status, 200);
    assert!(described.contains("\"/entries/{number}\""), "{described}");
}

async fn writing(world: &World, site: Address) {
    let command = || world.request("POST", "mysite.localhost", "/sign").header("idempotency-key", "one").body("text=Hello");
    let (status, _, accepted) = taken(command()).await;
    assert_eq!(status, 202, "{accepted}");
    let accepted: serde_json::Value = serde_json::from_str(&accepted).expect("JSON");
    let id = accepted["request_id"].clone();
    let path = accepted["result"].as_str().expect("a path").to_owned();
    let mut heads = world.node.watch_head();
    let result = loop {
        let (status, error, body) = world.visit("GET", "mysite.localhost", &path).await;
        match status {
            202 => heads.changed().await.expect("the node runs"),
            _ => break (status, error, body),
        }
    };
    assert_eq!(result, (201, String::new(), r#"{"number":1,"text":"Hello"}"#.to_owned()));
    let (status, _, again) = taken(command()).await;
    let again: serde_json::Value = serde_json::from_str(&again).expect("JSON");
    assert_eq!((status, &again["request_id"]), (202, &id), "sent again, it is the same request");
    assert!(again["transaction_hash"].is_null(), "and there is no second transaction");
    let elsewhere = world.request("POST", "rogue.localhost", "/keep").header("idempotency-key", "one").body("x");
    let elsewhere: serde_json::Value = serde_json::from_str(&taken(elsewhere).await.2).expect("JSON");
    assert!(elsewhere["transaction_hash"].is_string() && elsewhere["request_id"] != id, "the same key at another name is another request");
    let (status, error, _) = taken(world.request("POST", "rogue.localhost", "/burn").body("x")).await;
    assert_eq!((status, error.as_str()), (403, "COMMAND_TOO_EXPENSIVE"), "the gateway did not agree to that");
    assert!(world.visit("GET", "mysite.localhost", "/").await.2.contains("1 entries"));
    assert_eq!(world.visit("GET", "rogue.localhost", &path).await.0, 404, "nothing leaks to another name");
    assert_eq!(world.visit("GET", "mysite.localhost", "/_cowboy/requests/0f8fad5b-d9cb-469f-a165-000000000000").await.1, "UNKNOWN_REQUEST");
    assert_eq!(world.visit("GET", "mysite.localhost", "/_cowboy/requests/x").await.0, 404);
    let pays = world.node.account(world.keys[1].address()).await.expect("the node runs").balance;
    assert!(pays < Amount::from_cby(190_000).expect("small"), "A-331: the gateway staked and pays");
    assert_eq!(
        world.node.account(site).await.expect("the node runs").balance,
        Amount::from_cby(50).expect("small"),
        "and the actor does not"
    );
    failing(world).await;
}

/// Decision 574: a command that fails when it is tried is not sent, and costs the gateway nothing; one that fails later says so where its result
/// would be.
async fn failing(world: &World) {
    // What waits counts.
    let nonce = world.node.next_nonce(world.keys[1].address()).await.expect("the node runs");
    let (status, error, said) = taken(world.request("POST", "rogue.localhost", "/fail").body("x")).await;
    assert_eq!((status, error.as_str()), (500, "HANDLER_PANIC"));
    assert!(said.contains("was not sent") && said.contains("(ValueError)"), "{said}");
    assert_eq!(world.node.next_nonce(world.keys[1].address()).await.expect("the node runs"), nonce);
    let once = || taken(world.request("POST", "rogue.localhost", "/once").body("x"));
    let (first, second) = tokio::join!(once(), once());
    let mut heads = world.node.watch_head();
    let mut failed = 0;
    for (mut status, mut error, accepted) in [first, second] {
        let accepted: serde_json::Value = serde_json::from_str(&accepted).expect("JSON");
        while status == 202 {
            let path = accepted["result"].as_str().expect("a path");
            (status, error, _) = world.visit("GET", "rogue.localhost", path).await;
            if status == 202 {
                heads.changed().await.expect("the node runs");
            }
        }
        failed += usize::from((status, error.as_str()) == (500, "HANDLER_PANIC"));
    }
    assert_eq!(failed, 1, "one of them is the first");
}

async fn misbehaving(world: &World) {
    let rows = [
        ("/loop", 422, "QUERY_CYCLE_LIMIT"),
        ("/raise", 500, "HANDLER_PANIC"),
        ("/write", 500, "QUERY_SIDE_EFFECT_TRAP"),
        ("/recurse", 500, "HANDLER_PANIC"),
        ("/status/99", 502, "INVALID_RESPONSE"),
        ("/status/101", 502, "INVALID_RESPONSE"),
        ("/status/600", 502, "INVALID_RESPONSE"),
        ("/inject", 502, "INVALID_RESPONSE"),
        ("/long", 502, "INVALID_RESPONSE"),
        ("/headers/50", 200, ""),
        ("/headers/129", 502, "INVALID_RESPONSE"),
        ("/status/204", 204, ""),
        ("/nowhere", 404, ""),
        ("/echo/a%2Fb/../c?x=1&x=2", 200, ""),
    ];
    for (path, status, error) in rows {
        let found = world.visit("GET", "rogue.localhost", path).await;
        assert_eq!((found.0, found.1.as_str()), (status, error), "{path}: {}", found.2);
    }
    let page = world.request("GET", "rogue.localhost", "/raise").header("accept", "text/html");
    assert!(taken(page).await.2.starts_with("<!doctype html>"), "people get a page");
    let cookies = world.request("GET", "rogue.localhost", "/cookies").send().await.expect("the gateway answers");
    let cookies: Vec<_> = cookies.headers().get_all("set-cookie").iter().map(|cookie| cookie.to_str().expect("text")).collect();
    assert_eq!(cookies, ["a=1; Path=/"], "decision 575");
}

async fn refusing(world: &World) {
    let rows = [
        ("GET", "unknown-name.localhost", "/", 404, "UNKNOWN_NAME"),
        ("GET", "example.com", "/", 421, "UNKNOWN_ZONE"),
        ("GET", "xn--abc.localhost", "/", 400, "BAD_HOST"),
        ("GET", "127.0.0.1", "/page", 404, "UNKNOWN_PATH"),
        ("GET", "mysite.localhost", "/_cowboy/other", 404, "UNKNOWN_PATH"),
        ("POST", "mysite.localhost", "/_cowboy/health", 405, "METHOD_NOT_ALLOWED"),
        ("OPTIONS", "mysite.localhost", "/", 405, "METHOD_NOT_ALLOWED"),
        ("DELETE", "mysite.localhost", "/", 405, "METHOD_NOT_ALLOWED"),
        ("BREW", "mysite.localhost", "/", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "mysite.localhost", "/%5Fcowboy/health", 400, "BAD_REQUEST"),
    ];
    for (method, host, path, status, error) in rows {
        let found = world.visit(method, host, path).await;
        assert_eq!((found.0, found.1.as_str()), (status, error), "{method} {host} {path}");
    }
    let nonce = world.node.account(world.keys[1].address()).await.expect("the node runs").nonce;
    let large = world.request("POST", "rogue.localhost", "/fail").body(vec![b'x'; 1_001]);
    assert_eq!(taken(large).await.1, "REQUEST_TOO_LARGE");
    let huge = world.request("POST", "mysite.localhost", "/sign").body(vec![b'x'; 10 * 1024 * 1024 + 1]);
    if let Ok(response) = huge.send().await {
        assert_eq!(response.status().as_u16(), 413);
    }
    assert_eq!(taken(world.request("POST", "mysite.localhost", "/sign").header("idempotency-key", "a b").body("x")).await.0, 400);
    let chosen = world.request("POST", "mysite.localhost", "/sign").header("x-cowboy-request-id", "0f8fad5b-d9cb-469f-a165-70867728950e");
    assert_eq!(taken(chosen.body("x")).await.1, "BAD_REQUEST", "ids are made, not chosen (decision 178)");
    assert_eq!(world.node.account(world.keys[1].address()).await.expect("the node runs").nonce, nonce, "refused before any transaction");
}

/// What no client sends, byte by byte.
async fn by_hand(world: &World) {
    let many = (0..200).map(|number| format!("x-{number}: y\r\n")).collect::<String>();
    let rows: &[(&str, String, &[&str])] = &[
        ("two hosts", "GET / HTTP/1.1\r\nHost: mysite.localhost\r\nHost: rogue.localhost\r\nConnection: close\r\n\r\n".into(), &["400"]),
        ("no host", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n".into(), &["400"]),
        (
            "length and chunks",
            "POST /sign HTTP/1.1\r\nHost: mysite.localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n"
                .into(),
            // The chunks win (RFC 9112 §6.3), and nobody behind the gateway reads these bytes a second time.
            &["202"],
        ),
        ("two lengths", "POST /sign HTTP/1.1\r\nHost: mysite.localhost\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd".into(), &["400"]),
        ("no chunk", "POST /sign HTTP/1.1\r\nHost: mysite.localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n".into(), &["400"]),
        ("many headers", format!("GET / HTTP/1.1\r\nHost: mysite.localhost\r\n{many}\r\n"), &["431"]),
        ("a long header", format!("GET / HTTP/1.1\r\nHost: mysite.localhost\r\nX: {}\r\n\r\n", "y".repeat(1 << 20)), &["431", ""]),
        ("no HTTP", "\x16\x03\x01\x02garbage\r\n\r\n".into(), &["400", ""]),
    ];
    for (what, bytes, statuses) in rows {
        let answer = world.raw(bytes.as_bytes()).await;
        let status = answer.split(' ').nth(1).unwrap_or_default();
        assert!(statuses.contains(&status), "{what}: {answer:?}");
    }
    assert_eq!(world.visit("GET", "mysite.localhost", "/").await.0, 200, "the gateway stays up");
}
