//! Images are pushed to a registry and pulled from it; the registry is a server of this process that implements the distribution API.

use crate::support::{Image, Layer, Tar, descriptor, gzip, image, options, tree};
use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use cowboy_image::{BlobKind, Digest, ImageError, Pushed, Registry, Source as _, Store, pull};
use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, Mutex},
};
use tokio::net::TcpListener;

/// How a registry misbehaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fault {
    #[default]
    None,
    /// Blobs have other bytes.
    Changed,
    /// Blobs never end.
    Endless,
    /// Blobs end early, without a length before.
    Short,
    /// Blobs are always somewhere else.
    Redirects,
    /// Blobs are at an address that is not the registry's.
    Elsewhere,
    /// Tokens are longer than any.
    LongToken,
    /// Tokens come from an address that is not the registry's.
    OtherRealm,
    /// Uploads are to go to an address that is not the registry's.
    OtherUpload,
}

#[derive(Default)]
struct Server {
    base: String,
    /// Another origin, where the bytes of blobs are.
    storage: String,
    fault: Mutex<Fault>,
    blobs: Mutex<BTreeMap<String, Bytes>>,
    manifests: Mutex<BTreeMap<String, (String, Bytes)>>,
    requests: Mutex<Vec<String>>,
}

impl Server {
    async fn start() -> Arc<Self> {
        let (api, storage) = (listen().await, listen().await);
        let address = |listener: &TcpListener| format!("http://{}", listener.local_addr().expect("it is bound"));
        let server = Arc::new(Self { base: address(&api), storage: address(&storage), ..Self::default() });
        let router = Router::new().fallback(answer).with_state(server.clone());
        tokio::spawn(async { axum::serve(api, router).await });
        let router = Router::new().fallback(store).with_state(server.clone());
        tokio::spawn(async { axum::serve(storage, router).await });
        server
    }

    fn client(&self) -> Registry {
        let client = Registry::client().no_proxy().build().expect("a client");
        Registry::new(client, &format!("{}/team/app", self.base)).expect("it is right").with_credentials("me", "pass")
    }

    fn set(&self, fault: Fault) {
        *self.fault.lock().expect("no panic") = fault;
    }

    fn fault(&self) -> Fault {
        *self.fault.lock().expect("no panic")
    }

    fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().expect("no panic"))
    }
}

async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("a port")
}

fn status(code: u16) -> Response {
    StatusCode::from_u16(code).expect("it is one").into_response()
}

fn redirect(code: u16, location: &str) -> Response {
    (StatusCode::from_u16(code).expect("it is one"), [(header::LOCATION, location.to_owned())]).into_response()
}

/// The storage has nothing to do with the registry's tokens.
async fn store(State(server): State<Arc<Server>>, request: Request) -> Response {
    assert!(!request.headers().contains_key(header::AUTHORIZATION), "tokens are for the registry only");
    let digest = request.uri().path().trim_start_matches('/').to_owned();
    let blob = server.blobs.lock().expect("no panic").get(&digest).cloned();
    let Some(bytes) = blob else { return status(404) };
    match server.fault() {
        Fault::Changed => Bytes::from(bytes.iter().map(|byte| byte ^ 1).collect::<Vec<_>>()).into_response(),
        Fault::Endless => {
            Body::from_stream(futures::stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 1 << 16])))).into_response()
        }
        Fault::Short => {
            let half = bytes.slice(..bytes.len() / 2);
            Body::from_stream(futures::stream::iter([Ok::<_, std::io::Error>(half)])).into_response()
        }
        _ => bytes.into_response(),
    }
}

async fn answer(State(server): State<Arc<Server>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let (path, query) = (parts.uri.path().to_owned(), parts.uri.query().unwrap_or_default().to_owned());
    server.requests.lock().expect("no panic").push(format!("{} {path}", parts.method));
    if path == "/token" {
        return token(&server, &query, &parts.headers);
    }
    let needed = if matches!(parts.method, Method::GET) { "pull" } else { "pull,push" };
    let authorization = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if authorization != "Bearer pull,push" && authorization != format!("Bearer {needed}") {
        let realm = if server.fault() == Fault::OtherRealm { "http://127.0.0.2:1".to_owned() } else { server.base.clone() };
        let challenge = format!(r#"Bearer realm="{realm}/token",service="test",scope="repository:other:pull""#);
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)]).into_response();
    }
    let Some(rest) = path.strip_prefix("/v2/team/app/") else { return status(404) };
    let body = axum::body::to_bytes(body, 1 << 26).await.expect("it is short");
    match (parts.method.as_str(), rest.split_once('/')) {
        ("GET", Some(("manifests", name))) => {
            let found = server.manifests.lock().expect("no panic").get(name).cloned();
            found.map_or_else(|| status(404), |(media_type, bytes)| ([(header::CONTENT_TYPE, media_type)], bytes).into_response())
        }
        ("PUT", Some(("manifests", name))) => {
            let media_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
            server.manifests.lock().expect("no panic").insert(name.into(), (media_type, body));
            status(201)
        }
        ("HEAD", Some(("blobs", digest))) => status(if server.blobs.lock().expect("no panic").contains_key(digest) { 200 } else { 404 }),
        ("GET", Some(("blobs", digest))) => match server.fault() {
            Fault::Redirects => redirect(302, &path),
            Fault::Elsewhere => redirect(307, "http://127.0.0.2:1/"),
            _ => redirect(307, &format!("{}/{digest}", server.storage)),
        },
        ("POST", Some(("blobs", "uploads/"))) if server.fault() == Fault::OtherUpload => redirect(202, "http://127.0.0.2:1/"),
        ("POST", Some(("blobs", "uploads/"))) => redirect(202, "/v2/team/app/blobs/uploads/7?state=a%20b"),
        ("PUT", Some(("blobs", "uploads/7"))) => upload(&server, &query, body),
        _ => status(405),
    }
}

fn token(server: &Server, query: &str, headers: &HeaderMap) -> Response {
    assert_eq!(headers[header::AUTHORIZATION], "Basic bWU6cGFzcw==");
    let actions = query.strip_prefix("scope=repository%3Ateam%2Fapp%3A").and_then(|rest| rest.strip_suffix("&service=test"));
    let token = actions.expect("it asks for its own repository").replace("%2C", ",");
    let padding = if server.fault() == Fault::LongToken { " ".repeat(1 << 17) } else { String::new() };
    format!(r#"{{"access_token":"{token}"{padding}}}"#).into_response()
}

fn upload(server: &Server, query: &str, body: Bytes) -> Response {
    let digest = query.strip_prefix("state=a%20b&digest=").expect("the state of the upload and the digest").replace("%3A", ":");
    if Digest::of(&body).to_string() != digest {
        return status(400);
    }
    server.blobs.lock().expect("no panic").insert(digest, body);
    status(201)
}

fn two_layers() -> Image {
    let (lower, upper) = (Tar::default().file("a", "1"), Tar::default().file("b", "2").bytes());
    Image::new(&[Layer::from(&lower), Layer::new("+gzip", gzip(&upper), &upper)])
}

/// What was pushed is pulled with the same bytes, by its digest, through tokens and redirects.
#[tokio::test]
async fn images_are_pushed_and_pulled() {
    let (server, image) = (Server::start().await, two_layers());
    let pushed = server.client().push(&image.open(), &image.manifest, Some("v1.0")).await.expect("it is accepted");
    assert_eq!((pushed.uploaded, pushed.present, pushed.bytes > 1_000), (3, 0, true));
    let sent = server.requests();
    assert_eq!(sent.iter().filter(|request| request.starts_with("PUT")).count(), 3 + 2, "blobs, and the manifest under two names");
    assert_eq!(sent.iter().filter(|request| request.contains("/token")).count(), 1);
    let last = sent.iter().position(|request| request.starts_with("PUT") && request.contains("/manifests/"));
    let blobs = sent.iter().rposition(|request| request.starts_with("PUT") && request.contains("/blobs/"));
    assert!(blobs < last, "the manifest comes after everything that it names: {sent:?}");
    let pushed = server.client().push(&image.open(), &image.manifest, None).await.expect("it is accepted");
    assert_eq!(pushed, Pushed { uploaded: 0, present: 3, bytes: 0 });
    assert_eq!(server.requests().iter().filter(|request| request.starts_with("POST")).count(), 0, "the registry has all blobs");

    let here = tempfile::tempdir().expect("a directory");
    let source = server.client();
    let pulled =
        pull(&source, &image.manifest, options().platform, options().limits, &here.path().join("pulled")).await.expect("it is right");
    assert_eq!(pulled.only().expect("one"), image.manifest);
    let store = Store::open(here.path().join("store"), options(), 1 << 30).expect("it opens");
    let kept = store.obtain(&image.manifest, &source).await.expect("it is right");
    assert_eq!(tree(&kept.rootfs).len(), 2);
    let none = store.obtain(&Digest::of(b"none"), &source).await.expect_err("it is not there");
    assert!(matches!(none, ImageError::MissingBlob { .. }), "{none}");
    assert!(source.open(BlobKind::Blob, &Digest::of(b"none")).await.is_err());
}

/// An index is pushed with its manifests, and its digest finds the one of the platform.
#[tokio::test]
async fn indexes_are_pushed_and_pulled() {
    let (server, image) = (Server::start().await, two_layers());
    let manifest = fs::read(image.blob(&image.manifest)).expect("a file");
    let entry = descriptor("application/vnd.oci.image.manifest.v1+json", &manifest)
        .replace("}", r#","platform":{"os":"linux","architecture":"amd64"}}"#);
    let index = image.add(format!(r#"{{"schemaVersion":2,"manifests":[{entry}]}}"#).as_bytes());
    server.client().push(&image.open(), &index, None).await.expect("it is accepted");
    let types: Vec<String> = server.manifests.lock().expect("no panic").values().map(|(media_type, _)| media_type.clone()).collect();
    assert!(types.contains(&"application/vnd.oci.image.index.v1+json".to_owned()) && types.len() == 2);
    let here = tempfile::tempdir().expect("a directory");
    let store = Store::open(here.path().join("store"), options(), 1 << 30).expect("it opens");
    assert_eq!(store.obtain(&index, &server.client()).await.expect("it is right").digest, image.manifest);
}

/// A registry that lies, sends elsewhere, or never ends gets an error, and nothing is kept.
#[tokio::test]
async fn registries_are_not_trusted() {
    let (server, image) = (Server::start().await, two_layers());
    server.client().push(&image.open(), &image.manifest, None).await.expect("it is accepted");
    let here = tempfile::tempdir().expect("a directory");
    let store = Store::open(here.path().join("store"), options(), 1 << 30).expect("it opens");
    let cases = [
        (Fault::Changed, "was changed"),
        (Fault::Endless, "its descriptor says"),
        (Fault::Short, "its descriptor says"),
        (Fault::Redirects, "redirects more than 5 times"),
        (Fault::Elsewhere, "a request to http://127.0.0.2 is refused"),
        (Fault::LongToken, "longer than 65536 bytes"),
        (Fault::OtherRealm, "a request to http://127.0.0.2 is refused"),
    ];
    for (fault, reason) in cases {
        server.set(fault);
        let error = store.obtain(&image.manifest, &server.client()).await.expect_err(reason).to_string();
        assert!(error.contains(reason), "{fault:?}: {error}");
        assert!(store.images().is_empty());
    }
    server.set(Fault::OtherUpload);
    let other = self::image(&[Tar::default().file("c", "3")]);
    let error = server.client().push(&other.open(), &other.manifest, None).await.expect_err("it is elsewhere").to_string();
    assert!(error.contains("a request to http://127.0.0.2 is refused"), "{error}");
    server.set(Fault::None);
    server.requests();
    let guarded = server.client().with_guard(|_| false);
    assert!(store.obtain(&image.manifest, &guarded).await.is_err());
    assert!(server.requests().is_empty(), "the guard is asked before the first request");
    for tag in ["", "-a", "a b", "a/b", &"a".repeat(129)] {
        assert!(server.client().push(&image.open(), &image.manifest, Some(tag)).await.is_err(), "{tag}");
    }
    fs::remove_file(image.blob(&Layer::from(&Tar::default().file("a", "1")).diff_id)).expect("it is there");
    server.blobs.lock().expect("no panic").clear();
    assert!(matches!(server.client().push(&image.open(), &image.manifest, None).await, Err(ImageError::MissingBlob { .. })));
    store.obtain(&Digest::of(b"none"), &server.client()).await.expect_err("it is not there");
}
