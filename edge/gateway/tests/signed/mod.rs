//! Answers that the gateway signs for, checked as a client does.

use super::World;
use cowboy_ingress::{
    request::{Parts, envelope},
    signed::{Chain, NotSigned, SIGNATURE_HEADER, Said, check, read},
};
use cowboy_system::gateways::answers::{DEV_ANSWER_VERSION, SignedAnswer};
use cowboy_types::{Address, Hash};
use hyper::{
    HeaderMap,
    header::{HeaderName, HeaderValue},
};

/// What a client has of an answer: what it sent, what it got, and the statement.
#[derive(Clone)]
struct Got {
    envelope: Vec<u8>,
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
    signed: Result<SignedAnswer, NotSigned>,
}

impl Got {
    fn said(&self) -> Said {
        Said::of(self.status, &self.headers, &self.body)
    }

    fn signed(&self) -> &SignedAnswer {
        self.signed.as_ref().expect("the answer is signed")
    }

    fn check(&self, chain: Chain) -> Result<Address, NotSigned> {
        check(self.signed(), chain, &self.envelope, &self.said())
    }
}

async fn ask(world: &World, method: &str, host: &str, path: &str, more: &[(&'static str, &str)]) -> Got {
    let mut request = world.request(method, host, path);
    let mut sent = HeaderMap::new();
    for (name, value) in [("accept", "*/*"), ("host", host)].iter().chain(more) {
        sent.insert(HeaderName::from_static(name), HeaderValue::try_from(*value).expect("a value"));
        if *name != "host" {
            request = request.header(*name, *value);
        }
    }
    let response = request.send().await.expect("the gateway answers");
    let headers = response.headers().clone();
    let id = headers.get("x-cowboy-request-id").map(|id| id.to_str().expect("text").to_owned()).unwrap_or_default();
    let parts = Parts { method, uri: &path.parse().expect("a path"), headers: &sent, host, request_id: &id };
    let status = response.status().as_u16();
    let body = response.bytes().await.expect("a body").to_vec();
    Got { envelope: envelope(&parts, None).encode(), status, signed: read(&headers), headers, body }
}

/// every answer to GET is signed by the gateway's account over chain, block, state, request and answer, failures too.
pub(crate) async fn signing(world: &World) {
    let (config, gateway) = (&world.node.config().genesis.chain, world.keys[1].address());
    let chain = Chain { genesis: config.genesis, is_dev: true };
    let rows = [
        ("mysite.localhost", "/", 200),
        ("blog.mysite.localhost", "/?x=1&x=2", 200),
        ("rogue.localhost", "/echo/a?b=c", 200),
        ("rogue.localhost", "/status/204", 204),
        ("rogue.localhost", "/raise", 500),
        ("rogue.localhost", "/loop", 422),
        ("unknown-name.localhost", "/", 404),
    ];
    for (host, path, status) in rows {
        let got = ask(world, "GET", host, path, &[]).await;
        assert_eq!((got.status, got.check(chain)), (status, Ok(gateway)), "{host}{path}");
        let (statement, head) = (&got.signed().statement, world.node.head());
        assert_eq!((statement.height, statement.state_root), (head.height, head.state_root), "{host}{path}");
        // The same request again is the same statement, so that no honest gateway contradicts itself.
        let id = got.headers["x-cowboy-request-id"].to_str().expect("text");
        let again = [("x-cowboy-request-id", id)];
        let (first, second) = (ask(world, "GET", host, path, &again).await, ask(world, "GET", host, path, &again).await);
        assert_eq!(first.signed, second.signed, "{host}{path}");
        changed(got, chain);
    }
    partly(world, chain, gateway).await;
    let (own, command) = (ask(world, "GET", "mysite.localhost", "/_cowboy/info", &[]), ask(world, "DELETE", "mysite.localhost", "/", &[]));
    assert_eq!((own.await.signed, command.await.signed), (Err(NotSigned::Missing), Err(NotSigned::Missing)));
}

/// A part, an answer that did not change and one without its body carry the statement about the whole answer.
async fn partly(world: &World, chain: Chain, gateway: Address) {
    let whole = ask(world, "GET", "mysite.localhost", "/", &[]).await;
    let part = ask(world, "GET", "mysite.localhost", "/", &[("range", "bytes=0-3")]).await;
    assert_eq!(part.status, 206);
    assert_eq!(check(part.signed(), chain, &part.envelope, &whole.said()), Ok(gateway));
    assert_eq!(part.check(chain), Err(NotSigned::OtherAnswer("status")));
    let head = ask(world, "HEAD", "mysite.localhost", "/", &[]).await;
    assert_eq!(check(head.signed(), chain, &head.envelope, &whole.said()), Ok(gateway));
}

/// What was changed on the way is not what was signed.
fn changed(got: Got, chain: Chain) {
    let after = |change: &dyn Fn(&mut Got)| {
        let mut other = got.clone();
        change(&mut other);
        other.check(chain).err()
    };
    let is_failure = got.headers.contains_key("x-cowboy-error");
    let header = HeaderName::from_static(if is_failure { "x-cowboy-error" } else { "location" });
    assert_eq!(after(&|got| got.status = 418), Some(NotSigned::OtherAnswer("status")));
    assert_eq!(after(&|got| got.envelope.push(0)), Some(NotSigned::OtherRequest));
    assert_eq!(after(&|got| drop(got.headers.insert(&header, HeaderValue::from_static("x")))), Some(NotSigned::OtherAnswer("header")));
    let body = after(&|got| got.body.push(b'x'));
    assert_eq!(body, (!is_failure).then_some(NotSigned::OtherAnswer("body")), "the words of a failure are the gateway's own");
    assert_eq!(got.check(Chain { genesis: Hash::ZERO, ..chain }), Err(NotSigned::OtherChain(chain.genesis)));
    // A dev chain may be put back: what is signed about it is no evidence anywhere, and no answer of another chain (decision 361).
    assert_eq!(got.signed().statement.version, DEV_ANSWER_VERSION);
    assert_eq!(got.check(Chain { is_dev: false, ..chain }), Err(NotSigned::OtherKind { is_dev: false }));
    for text in ["", "0", "zz", "0102"] {
        let headers = HeaderMap::from_iter([(HeaderName::from_static(SIGNATURE_HEADER), HeaderValue::from_static(text))]);
        assert_eq!(read(&headers).err(), Some(NotSigned::Malformed), "{text}");
    }
}
