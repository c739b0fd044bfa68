//! The proxy of a box, asked from inside.

use crate::fixture::Fixture;
use cowboy_container::egress::{Gate, HelloError, server_name};
use cowboy_container::{Egress, End, Network, Plan};
use futures::future::BoxFuture;
use proptest::prelude::{Strategy as _, any, prop_oneof};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// A resolver that knows one server, and counts what it is asked.
struct Names {
    server: SocketAddr,
    asked: AtomicUsize,
}

impl Gate for Names {
    fn addresses(&self, host: String, _port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let answer = match host.as_str() {
            "private.example" => Err(io::Error::other("169.254.169.254 is a private address")),
            _ => Ok(vec![self.server]),
        };
        Box::pin(async move { answer })
    }
}

/// Answers each connection with what it first receives.
async fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("it listens");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut bytes = [0; 4096];
            let count = client.read(&mut bytes).await.unwrap_or(0);
            let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
            // The client may be gone.
            let _ = client.write_all(format!("served [{text}]").as_bytes()).await;
        }
    });
    address
}

struct Setup {
    fixture: Fixture,
    names: Arc<Names>,
    egress: Egress,
}

impl Setup {
    async fn new(test: &str) -> Option<Self> {
        let fixture = Fixture::new(test)?;
        let server = serve().await;
        let names = Arc::new(Names { server, asked: AtomicUsize::new(0) });
        let hosts = ["api.example", "private.example"].map(str::to_owned);
        Some(Self { fixture, names: names.clone(), egress: Egress::new(hosts, names).expect("the list is right") })
    }

    fn plan(&self, request: &[u8]) -> Plan {
        let mut plan = self.fixture.plan(&["proxy"]);
        plan.stdin = request.to_vec();
        plan.network = Network::Proxy(self.egress.clone());
        plan
    }
}

/// A ClientHello with extensions.
fn hello(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let length = |length: usize| u16::try_from(length).expect("it is short").to_be_bytes();
    let data: Vec<u8> = extensions.iter().flat_map(|(kind, data)| [&kind.to_be_bytes(), &length(data.len()), &data[..]].concat()).collect();
    let body = [&[3, 3][..], &[7; 32], &[0], &[0, 2, 0x13, 1], &[1, 0], &length(data.len()), &data].concat();
    let message = [&[1, 0][..], &length(body.len()), &body].concat();
    [&[22, 3, 1][..], &length(message.len()), &message].concat()
}

fn named(name: &str) -> (u16, Vec<u8>) {
    let length = |length: usize| u16::try_from(length).expect("it is short").to_be_bytes();
    (0, [&length(name.len() + 3)[..], &[0], &length(name.len()), name.as_bytes()].concat())
}

fn connect(host: &str, after: &[u8]) -> Vec<u8> {
    [format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes(), after].concat()
}

#[tokio::test]
async fn only_the_hosts_of_the_list_are_reached() {
    let Some(setup) = Setup::new("only_the_hosts_of_the_list_are_reached").await else { return };
    let get = |url: &str, host: &str, more: &str| format!("GET {url} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n").into_bytes();
    let api = |more: &str| get("http://api.example/a?b", "api.example", more);
    let (secure, ech) = (hello(&[named("api.example")]), hello(&[named("api.example"), (0xfe0d, vec![0; 8])]));
    let rows: &[(Vec<u8>, &str)] = &[
        (api(""), "served [GET /a?b HTTP/1.1\r\nhost: api.example\r\nconnection: close\r\n\r\n]"),
        (
            get("http://API.example:80", "api.example", "X-A: b\r\n"),
            "served [GET / HTTP/1.1\r\nhost: API.example:80\r\nX-A: b\r\nconnection: close",
        ),
        (api("Connection: X-Hop\r\nX-Hop: 1\r\nProxy-Authorization: x\r\nTE: x\r\n"), "host: api.example\r\nconnection: close\r\n\r\n]"),
        ([api("Content-Length: 2\r\n"), b"ab".to_vec()].concat(), "connection: close\r\n\r\nab]"),
        // Hosts.
        (get("http://other.example/", "other.example", ""), "403"),
        (get("http://sub.api.example/", "sub.api.example", ""), "403"),
        (get("http://169.254.169.254/", "169.254.169.254", ""), "400"),
        (get("http://127.0.0.1/", "127.0.0.1", ""), "400"),
        (get("http://2130706433/", "2130706433", ""), "400"),
        (get("http://0x7f.1/", "0x7f.1", ""), "400"),
        (get("http://[::1]/", "[::1]", ""), "400"),
        (get("http://localhost/", "localhost", ""), "400"),
        (get("http://api.example./", "api.example.", ""), "400"),
        (get("http://user@api.example/", "api.example", ""), "400"),
        (get("http://private.example/", "private.example", ""), "169.254.169.254 is a private address"),
        // One thing in the address and another in the header.
        (get("http://api.example/", "other.example", ""), "Host and the address name different hosts"),
        (get("http://api.example/", "api.example", "Host: other.example\r\n"), "Host is there twice"),
        (b"GET http://api.example/ HTTP/1.1\r\n\r\n".to_vec(), "Host is missing"),
        (get("http://api.example:81/", "api.example:81", ""), "port 81"),
        (get("/a", "api.example", ""), "400"),
        (get("https://api.example/", "api.example", ""), "400"),
        (get("ftp://api.example/", "api.example", ""), "400"),
        // More than one request.
        ([api(""), api("")].concat(), "bytes follow the request"),
        (api("Transfer-Encoding: chunked\r\n"), "Transfer-Encoding"),
        (api("Content-Length: 1\r\nContent-Length: 1\r\n"), "Content-Length is there twice"),
        (api("Content-Length: +1\r\n"), "no number"),
        (api("Connection: content-length\r\nContent-Length: 1\r\n"), "the server needs"),
        (b"GET http://api.example/ HTTP/1.1\nHost: api.example\n\n".to_vec(), "400"),
        (b"GET http://api.example/ HTTP/1.0\r\nHost: api.example\r\n\r\n".to_vec(), "400"),
        (api(&format!("X-Long: {}\r\n", "x".repeat(20_000))), "431"),
        (vec![0xff; 100], "400"),
        // TLS.
        (connect("api.example:443", &secure), "Connection established\r\n\r\nserved [\u{16}\u{3}\u{1}"),
        (connect("other.example:443", &secure), "403"),
        (connect("api.example:22", &secure), "port 22"),
        (connect("api.example:80", &secure), "port 80"),
        (connect("api.example", &secure), "400"),
        (connect("api.example:443", &hello(&[named("other.example")])), "TLS asks for \"other.example\""),
        (connect("api.example:443", &hello(&[])), "names no host"),
        (connect("api.example:443", &ech), "ECH"),
        (connect("api.example:443", b"SSH-2.0-x\r\n"), "does not start with a TLS handshake"),
        (connect("169.254.169.254:443", &secure), "400"),
        (connect("private.example:443", &hello(&[named("private.example")])), "private address"),
    ];
    for (request, expected) in rows {
        let found = setup.fixture.output(setup.plan(request)).await;
        assert!(found.contains(expected), "{:?}: {found:?}, not {expected:?}", String::from_utf8_lossy(request));
    }
    setup.fixture.assert_clean();
}

#[tokio::test]
async fn bytes_and_connections_are_bounded_and_counted() {
    let Some(mut setup) = Setup::new("bytes_and_connections_are_bounded_and_counted").await else { return };
    let request = b"GET http://api.example/ HTTP/1.1\r\nHost: api.example\r\n\r\n";
    let outcome = setup.fixture.run(setup.plan(request)).await;
    let sent = "GET / HTTP/1.1\r\nhost: api.example\r\nconnection: close\r\n\r\n".len();
    assert_eq!(outcome.usage.egress_bytes, u64::try_from(2 * sent + "served []".len()).expect("it fits"));
    setup.egress.max_bytes = u64::try_from(sent).expect("it fits");
    let outcome = setup.fixture.run(setup.plan(request)).await;
    assert_eq!((outcome.end, outcome.stdout, outcome.usage.egress_bytes), (End::Exited(0), b"\n".to_vec(), setup.egress.max_bytes));
    setup.egress.max_connections = 0;
    assert!(setup.fixture.output(setup.plan(request)).await.contains("429"));
}

#[tokio::test]
async fn a_name_is_resolved_once_and_variables_name_the_proxy() {
    let Some(setup) = Setup::new("a_name_is_resolved_once_and_variables_name_the_proxy").await else { return };
    let mut plan = setup.plan(b"GET http://api.example/ HTTP/1.1\r\nHost: api.example\r\n\r\n");
    plan.command.push("3".to_owned());
    assert_eq!(setup.fixture.output(plan).await.matches("served").count(), 3);
    assert_eq!(setup.names.asked.load(Ordering::Relaxed), 1);
    let mut plan = setup.plan(b"");
    plan.command[1] = "env".to_owned();
    let variables = setup.fixture.output(plan).await;
    for name in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"] {
        assert!(variables.contains(&format!("{name}=http://127.0.0.1:3128")), "{variables}");
    }
    // With a proxy, nothing else has a way out either.
    let mut plan = setup.plan(b"");
    plan.command.splice(1.., ["connect".to_owned(), setup.names.server.to_string()]);
    assert_eq!(setup.fixture.output(plan).await, "ECONNREFUSED");
}

#[test]
fn lists_of_hosts_are_checked() {
    let names = Arc::new(Names { server: SocketAddr::from(([127, 0, 0, 1], 1)), asked: AtomicUsize::new(0) });
    let many: Vec<String> = (0..33).map(|index| format!("host{index}.example")).collect();
    let rows: &[(&[&str], bool)] = &[
        (&["a.example", "b-c.example"], true),
        (&["A.example"], false),
        (&["*.example"], false),
        (&["1.2.3.4"], false),
        (&["example"], false),
        (&["a.example:80"], false),
        (&["-a.example"], false),
        (&["a..example"], false),
        (&[""], false),
    ];
    for (hosts, is_right) in rows {
        assert_eq!(Egress::new(hosts.iter().map(|host| (*host).to_owned()), names.clone()).is_ok(), *is_right, "{hosts:?}");
    }
    Egress::new(many.clone(), names.clone()).expect_err("33 are too many");
    Egress::new(many[1..].to_vec(), names).expect("32 are allowed");
}

#[test]
fn a_hello_is_decoded_strictly() {
    let right = hello(&[(43, vec![2, 3, 4]), named("api.example")]);
    assert_eq!(server_name(&right), Ok(Some("api.example".to_owned())));
    for count in 0..right.len() {
        assert_eq!(server_name(&right[..count]), Ok(None), "{count} bytes of it");
    }
    // In two records.
    let (front, back) = right[5..].split_at(9);
    let record = |part: &[u8]| [&[22, 3, 1][..], &u16::try_from(part.len()).expect("it is short").to_be_bytes(), part].concat();
    assert_eq!(server_name(&[record(front), record(back)].concat()), Ok(Some("api.example".to_owned())));
    let two = [&[0, 10, 0, 0, 2][..], b"a.b"].concat();
    let rows: &[(Vec<u8>, HelloError)] = &[
        (b"GET / HTTP/1.1".to_vec(), HelloError::NoHandshake),
        (vec![22, 2, 0], HelloError::NoHandshake),
        (record(&[2, 0, 0, 0]), HelloError::Malformed),
        (record(&[1, 0xff, 0, 0]), HelloError::Long),
        (record(&[1, 0, 0, 0, 9]), HelloError::Malformed),
        (vec![22, 3, 1, 0, 0], HelloError::Malformed),
        (vec![22, 3, 1, 0x40, 1], HelloError::Malformed),
        (hello(&[]), HelloError::NoName),
        (hello(&[named("10.0.0.1")]), HelloError::NoName),
        (hello(&[named("api.example"), named("api.example")]), HelloError::Malformed),
        (hello(&[(0, two)]), HelloError::Malformed),
        (hello(&[named("api.example"), (0xfe0d, Vec::new())]), HelloError::Encrypted),
    ];
    for (bytes, expected) in rows {
        assert_eq!(server_name(bytes), Err(*expected), "{bytes:?}");
    }
}

proptest::proptest! {
    /// Whatever it is, it is decoded or refused, and what is a name once stays that name with more bytes.
    #[test]
    fn any_bytes_are_decoded_or_refused(
        bytes in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..600),
            (proptest::collection::vec((any::<u16>(), proptest::collection::vec(any::<u8>(), 0..40)), 0..6)).prop_map(|rows| hello(&rows)),
            (any::<proptest::sample::Index>(), any::<u8>()).prop_map(|(index, value)| {
                let mut bytes = hello(&[named("api.example")]);
                let at = index.index(bytes.len());
                bytes[at] = value;
                bytes
            }),
        ],
        more in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        if let Ok(Some(name)) = server_name(&bytes) {
            assert_eq!(server_name(&[bytes, more.clone()].concat()), Ok(Some(name)));
        }
        let _ = cowboy_container::egress::Head::parse(&more);
    }
}
