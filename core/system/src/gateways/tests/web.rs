//! The examples that are web sites, with the real VM: queries, dispatched commands, kept results (004 §8).

use cowboy_chain::query::QueryError;
use cowboy_state::Directory;
use cowboy_system::gateways;
use cowboy_testkit::chain::{Chain, address, deployment_of, execution, manifest_json};
use cowboy_testkit::market::Market;
use cowboy_types::cbor::{self, Value};
use cowboy_types::{Address, Hash, Receipt, error};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_guestbook_is_read_and_signed,
    a_router_switches_in_one_step,
    a_query_cannot_write,
    an_agent_asks_and_stores_the_answer,
];

const REGISTRY: Address = Address::system(0x0F);
const CBY: u64 = 1_000_000_000;

macro_rules! example {
    ($folder:literal, $file:literal) => {
        include_str!(concat!("../../../../../examples/", $folder, "/", $file))
    };
}

fn deploy(chain: &mut Chain, code: &str, manifest: &str, init: Option<(&str, &[u8])>) -> Address {
    let (handler, payload) = init.map_or((None, &b""[..]), |(handler, payload)| (Some(handler), payload));
    let receipt = chain.send(1, deployment_of(code.as_bytes(), Some(manifest_json(manifest)), handler, payload, 50 * CBY));
    assert_eq!(receipt.abort, None, "it is deployed");
    receipt.created.expect("a deployment creates")
}

/// The id of the gateway's n-th request to an actor.
fn request_id(chain: &Chain, actor: Address, number: u8) -> String {
    gateways::envelope::request_id(chain.config.genesis, address(2), actor, &[number; 32])
}

fn envelope(chain: &Chain, actor: Address, number: u8, method: &str, path: &str, body: Option<&[u8]>) -> Value {
    Value::map([
        ("body", body.map_or(Value::Null, |body| Value::Bytes(body.to_vec()))),
        ("headers", Value::Map(vec![])),
        ("host", Value::text("mysite.cowboy.network")),
        ("method", Value::text(method)),
        ("path", Value::text(path)),
        ("query", Value::Map(vec![])),
        ("request_id", Value::text(request_id(chain, actor, number))),
    ])
}

/// A chain where account 2 is a gateway.
fn with_gateway() -> Chain {
    let mut chain = Chain::new();
    let place = Value::map([("endpoint", Value::text("localhost")), ("http_port", Value::uint(8080))]);
    assert!(chain.send(2, execution(REGISTRY, "register_gateway", &place.encode(), 10_000 * CBY)).is_success());
    chain
}

fn command(chain: &mut Chain, number: u8, actor: Address, method: &str, path: &str, body: &[u8]) -> Receipt {
    let body = (method != "DELETE").then_some(body);
    let argument = Value::map([
        ("target", Value::Bytes(actor.0.to_vec())),
        ("envelope", envelope(chain, actor, number, method, path, body)),
        ("salt", Value::Bytes(vec![number; 32])),
    ]);
    chain.send(2, execution(REGISTRY, "dispatch", &argument.encode(), 0))
}

/// Status and body of what a query answers.
fn query(chain: &Chain, actor: Address, path: &str) -> (u64, String) {
    let answer = chain.ask(actor, "http.request", &envelope(chain, actor, 0, "GET", path, None).encode(), None);
    opened(&answer.result.expect("it answers"))
}

/// Status and body of a kept result.
fn kept(chain: &Chain, actor: Address, number: u8) -> Option<(u64, String)> {
    Some(opened(&chain.stored(actor, &format!("_http/results/{}", request_id(chain, actor, number)))?))
}

fn opened(bytes: &[u8]) -> (u64, String) {
    if bytes == [0] {
        return (0, "gone".to_string());
    }
    let value = cbor::decode(bytes).expect("CBOR");
    let body = value.get("body").and_then(Value::as_bytes).expect("a body");
    (value.get("status").and_then(Value::as_u64).expect("a status"), String::from_utf8_lossy(body).into_owned())
}

/// A-319, A-328, A-330, A-333: a page, a form, its result, the cleanup by one timer, and the mark that it leaves.
#[test]
fn a_guestbook_is_read_and_signed() {
    let mut chain = with_gateway();
    let site = deploy(&mut chain, example!("site", "actor.py"), example!("site", "manifest.json"), None);
    let (status, page) = query(&chain, site, "/");
    assert_eq!(status, 200);
    assert!(page.contains("0 entries"), "{page}");
    let receipt = command(&mut chain, 1, site, "POST", "/sign", b"text=%3Cb%3E+hello");
    assert_eq!(receipt.abort, None);
    assert_eq!(kept(&chain, site, 1), Some((201, r#"{"number":1,"text":"<b> hello"}"#.to_string())));
    assert!(query(&chain, site, "/").1.contains("<li>&lt;b&gt; hello</li>"), "escaped");
    assert_eq!(query(&chain, site, "/entries/1").0, 200);
    assert_eq!(query(&chain, site, "/entries/2").0, 404);
    let spoofed = chain.send(3, execution(site, "http.request", &envelope(&chain, site, 2, "POST", "/sign", Some(b"text=x")).encode(), 0));
    assert_eq!(opened(&spoofed.return_data).0, 403, "not by way of the registry");
    assert!(query(&chain, site, "/").1.contains("1 entries"));
    assert_eq!(chain.names(Directory::timers_of(site)).len(), 1);
    let height = chain.height.0;
    chain.height.0 = height + 3_600;
    chain.idle(200);
    assert_eq!(kept(&chain, site, 1), Some((0, "gone".to_string())), "A-332: the mark by which gateways know");
}

/// The most nanoseconds that a cycle may take: what `./bench calibrate search --bound 30` looks for programs above.
const CYCLE_NS: u64 = 30;

/// A-356: a simple GET is answered within 100 ms. Even at the price of the slowest cycles, with its source compiled anew, it takes less.
#[test]
fn a_simple_get_takes_less_than_a_tenth_of_a_second() {
    let mut chain = with_gateway();
    let source = example!("site", "actor.py");
    let site = deploy(&mut chain, source, example!("site", "manifest.json"), None);
    let answer = chain.ask(site, "http.request", &envelope(&chain, site, 0, "GET", "/", None).encode(), None);
    assert_eq!(opened(&answer.result.expect("it answers")).0, 200);
    let weights = &cowboy_params::Params::GENESIS.weights;
    let compiling = u64::try_from(source.len()).expect("a short source") * weights.source_byte;
    let nanoseconds = answer.cycles_used.0 * CYCLE_NS + weights.call + compiling;
    assert!(nanoseconds < 100_000_000, "{nanoseconds} ns, {} cycles", answer.cycles_used.0);
}

/// A-315: the router forwards commands to the present implementation and shows what that publishes.
#[test]
fn a_router_switches_in_one_step() {
    let mut chain = with_gateway();
    let manifest = example!("router", "manifest.json");
    let router = deploy(&mut chain, example!("router", "actor.py"), manifest, None);
    let init = format!("{{\"router\":\"{router}\"}}");
    let mut number = 0;
    for version in ["VERSION = 1", "VERSION = 2"] {
        let source = example!("router", "version.py").replace("VERSION = 1", version);
        let behind = deploy(&mut chain, &source, manifest, Some(("init", init.as_bytes())));
        let pointed =
            chain.send(1, execution(router, "set_implementation", &Value::Array(vec![Value::Bytes(behind.0.to_vec())]).encode(), 0));
        assert_eq!(pointed.abort, None);
        number += 1;
        assert_eq!(command(&mut chain, number, router, "POST", "/page", b"1234").abort, None);
        chain.idle(3);
        let (status, page) = query(&chain, router, "/page");
        assert_eq!(status, 200);
        assert!(page.contains(&format!("Version {}: 1 commands", &version[10..])), "{page}");
    }
    let foreign = chain.send(3, execution(router, "set_implementation", &Value::Array(vec![Value::Bytes(vec![7; 20])]).encode(), 0));
    assert_eq!(foreign.abort, Some(error::PERMISSION_DENIED));
}

/// A-320, A-321, A-350: what a handler of GET may and may not do, by the SDK's own routes.
#[test]
fn a_query_cannot_write() {
    let mut chain = with_gateway();
    let code = "from cowboy_sdk import actor, http, emit\n\n@actor\nclass Site:\n    @http.get('/write')\n    def write(self, request):\n        \
        try:\n            self.storage['a'] = 1\n        except Exception:\n            pass\n        return 'caught'\n\n    \
        @http.get('/read')\n    def read(self, request):\n        return http.json_response({'a': self.storage.get('a'), 'sender': str(self.sender)})\n\n    \
        @http.get('/loop')\n    def loop(self, request):\n        while True:\n            pass\n\n    \
        @http.get('/raise')\n    def fail(self, request):\n        raise ValueError('no')\n";
    let site = deploy(&mut chain, code, example!("site", "manifest.json"), None);
    let ask = |path: &str| chain.ask(site, "http.request", &envelope(&chain, site, 0, "GET", path, None).encode(), Some(1_000_000)).result;
    assert!(matches!(ask("/write"), Err(QueryError::SideEffect { .. })), "a trap that no handler catches");
    assert!(matches!(ask("/loop"), Err(QueryError::CycleLimit { .. })));
    assert!(matches!(ask("/raise"), Err(QueryError::Failed { abort, .. }) if abort == error::HANDLER_RAISED));
    let read = |_: u8| ask("/read").expect("it answers");
    assert_eq!(read(1), read(2), "A-325, A-351: the same state and envelope, the same bytes");
    assert_eq!(chain.stored(site, "a"), None);
}

/// 004 §8.5: a plain function asks a model by POST, and stores the answer where visitors look for it when it comes.
#[test]
fn an_agent_asks_and_stores_the_answer() {
    let mut market = Market::new(3);
    let place = Value::map([("endpoint", Value::text("localhost")), ("http_port", Value::uint(8080))]);
    assert!(market.chain.send(2, execution(REGISTRY, "register_gateway", &place.encode(), 10_000 * CBY)).is_success());
    let agent = deploy(&mut market.chain, example!("agent", "actor.py"), example!("agent", "manifest.json"), None);
    let receipt = command(&mut market.chain, 1, agent, "POST", "/api/ask", br#"{"question": "Why?"}"#);
    assert_eq!(receipt.abort, None);
    let key = format!("_http/results/{}", request_id(&market.chain, agent, 1));
    assert_eq!(market.chain.stored(agent, &key), None, "the answer follows");
    let submitted = receipt.events.iter().find(|event| &event.name[..] == "JobSubmitted").expect("an event names the job");
    let data = cbor::decode(&submitted.data).expect("event data is CBOR");
    let job = Hash(data.get("job_id").and_then(Value::as_bytes).expect("an id").try_into().expect("an id"));
    let committee = market.draw(&job);
    assert_eq!(market.result(&job, committee[0], b"Because.").abort, None);
    for _ in 0..5 {
        market.chain.idle(1);
    }
    let stored = market.chain.stored(agent, &key).expect("the answer is stored");
    let text = cbor::decode(&stored).expect("CBOR").as_text().expect("JSON text").to_string();
    assert!(text.contains("200") && text.contains("Because."), "{text}");
    let forged = br#"{"reply_handler": "on_llm_result", "job_id": "x", "status": "ok", "result": "Lies."}"#;
    assert!(market.chain.send(3, execution(agent, "on_llm_result", forged, 0)).is_success(), "it does nothing");
    assert_eq!(market.chain.stored(agent, &key), Some(stored));
}
