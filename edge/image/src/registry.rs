//! Images in registries, by the OCI distribution specification.

use crate::{
    digest::Digest,
    documents::{Descriptor, INDEX, INDEXES, MANIFEST, MANIFESTS, Named},
    error::ImageError,
    layout::Layout,
    source::{BlobKind, BlobReader, Source},
    text::shortened,
};
use futures::TryStreamExt as _;
use reqwest::{
    Client, ClientBuilder, Method, RequestBuilder, Response, StatusCode, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE},
};
use std::{
    collections::HashMap,
    fmt, io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio_util::io::StreamReader;

/// How many redirects are followed.
const MAX_REDIRECTS: usize = 5;
/// The longest answer of a token server, and what of other answers is quoted.
const MAX_ANSWER_BYTES: usize = 64 << 10;
const MAX_NAME_BYTES: usize = 255;

type Guard = Arc<dyn Fn(&Url) -> bool + Send + Sync>;

/// A repository of a registry: a [`Source`], and a place to push images to.
///
/// Requests go to the registry, and where it redirects or sends for tokens. Such addresses need the registry's scheme or `https`; an IP address is only followed if it
/// is the registry's own. Names are resolved by the client: give it a resolver that refuses private addresses.
#[derive(Clone)]
pub struct Registry {
    client: Client,
    base: Url,
    repository: String,
    credentials: Option<(String, String)>,
    guard: Option<Guard>,
    /// What authorises each kind of access.
    authorizations: Arc<Mutex<HashMap<Access, String>>>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No credentials.
        write!(formatter, "Registry({}{})", self.base, self.repository)
    }
}

/// What pushing an image did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// How many configs and layers were uploaded.
    pub uploaded: usize,
    /// How many the registry had.
    pub present: usize,
    /// The bytes that were uploaded.
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Access {
    Pull,
    Push,
}

impl Registry {
    /// A client for registries, to which the caller adds its resolver: it follows no redirects by itself, and gives up after 10 seconds without a connection or 30
    /// without a byte. While something is uploaded no byte comes, so whoever pushes gives it another `read_timeout`.
    pub fn client() -> ClientBuilder {
        let redirects = reqwest::redirect::Policy::none();
        Client::builder().redirect(redirects).connect_timeout(Duration::from_secs(10)).read_timeout(Duration::from_secs(30))
    }

    /// The repository of an address, `oci://HOST/NAME`, or with `https://` or `http://` and a port. `client` should follow no redirects.
    ///
    /// # Errors
    ///
    /// If the address has another form.
    pub fn new(client: Client, address: &str) -> Result<Self, ImageError> {
        let refused = |reason: &str| ImageError::Registry { registry: shortened(address.as_bytes()), reason: reason.into() };
        let text = address.strip_prefix("oci://").map_or_else(|| address.to_owned(), |rest| format!("https://{rest}"));
        let mut base = Url::parse(&text).map_err(|error| refused(&format!("the address is refused: {error}")))?;
        if !matches!(base.scheme(), "https" | "http") || !base.username().is_empty() || base.password().is_some() {
            return Err(refused("the address has to begin with oci://, https:// or http://, and may not have a user"));
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(refused("the address may not have a query or a fragment"));
        }
        let repository = base.path().trim_start_matches('/').to_owned();
        if !is_repository(&repository) {
            return Err(refused("the address has to name a repository: lowercase letters, digits, and between them . _ - and /"));
        }
        base.set_path("/");
        Ok(Self { client, base, repository, credentials: None, guard: None, authorizations: Arc::default() })
    }

    /// Uses a user and a password, or a token as the password, where the registry asks for authorisation. Otherwise it is asked anonymously.
    #[must_use]
    pub fn with_credentials(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.credentials = Some((user.into(), password.into()));
        self
    }

    /// Asks about each address before a request goes there; it is refused on `false`.
    #[must_use]
    pub fn with_guard(mut self, guard: impl Fn(&Url) -> bool + Send + Sync + 'static) -> Self {
        self.guard = Some(Arc::new(guard));
        self
    }

    /// Pushes an image with everything that belongs to it: for an index, all its manifests. Blobs come first and manifests last, so that nobody finds half an
    /// image; a blob that the registry has is not sent again. With a tag, the image is named by the tag, too.
    ///
    /// # Errors
    ///
    /// If the layout lacks a blob, or the registry refuses.
    pub async fn push(&self, layout: &Layout, digest: &Digest, tag: Option<&str>) -> Result<Pushed, ImageError> {
        if let Some(tag) = tag.filter(|tag| !is_tag(tag)) {
            return Err(self.failed(format!("{tag:?} is not a tag: letters, digits and _ . -, at most 128")));
        }
        let bytes = layout.document(digest)?;
        let mut pushed = Pushed::default();
        let media_type = match Named::decode(&bytes)? {
            Named::Manifest(manifest) => {
                self.push_blobs(layout, std::iter::once(&manifest.config).chain(&manifest.layers), &mut pushed).await?;
                media_type(&bytes, &MANIFESTS, MANIFEST)
            }
            Named::Index(manifests) => {
                for listed in &manifests {
                    self.push_manifest(layout, listed, &mut pushed).await?;
                }
                media_type(&bytes, &INDEXES, INDEX)
            }
        };
        let names = std::iter::once(digest.to_string()).chain(tag.map(str::to_owned));
        for name in names {
            self.put_manifest(&name, media_type, &bytes).await?;
        }
        Ok(pushed)
    }

    async fn push_manifest(&self, layout: &Layout, listed: &Descriptor, pushed: &mut Pushed) -> Result<(), ImageError> {
        let bytes = layout.document(&listed.digest)?;
        let Named::Manifest(manifest) = Named::decode(&bytes)? else {
            return Err(ImageError::Document { what: "index", reason: "an index in an index is not supported".into() });
        };
        self.push_blobs(layout, std::iter::once(&manifest.config).chain(&manifest.layers), pushed).await?;
        self.put_manifest(&listed.digest.to_string(), media_type(&bytes, &MANIFESTS, MANIFEST), &bytes).await
    }

    async fn put_manifest(&self, name: &str, media_type: &str, bytes: &[u8]) -> Result<(), ImageError> {
        let url = self.url(&format!("manifests/{name}"))?;
        let request = |url| Ok(self.client.request(Method::PUT, url).header(CONTENT_TYPE, media_type).body(bytes.to_vec()));
        let response = self.send(url, Access::Push, &request).await?;
        self.expect(response, &[StatusCode::CREATED], "the manifest").await.map(|_| ())
    }

    async fn push_blobs(&self, layout: &Layout, blobs: impl Iterator<Item = &Descriptor>, pushed: &mut Pushed) -> Result<(), ImageError> {
        for blob in blobs {
            if self.push_blob(layout, blob).await? {
                pushed.uploaded += 1;
                pushed.bytes = pushed.bytes.saturating_add(blob.size);
            } else {
                pushed.present += 1;
            }
        }
        Ok(())
    }

    /// Uploads a blob in one request, unless the registry has it; true if it was uploaded.
    async fn push_blob(&self, layout: &Layout, blob: &Descriptor) -> Result<bool, ImageError> {
        let digest = blob.digest;
        let url = self.url(&format!("blobs/{digest}"))?;
        let head = self.send(url, Access::Push, &|url| Ok(self.client.head(url))).await?;
        if head.status() == StatusCode::OK {
            return Ok(false);
        }
        let found = layout.blob(&digest)?.metadata().map_err(ImageError::io("read", layout.blob_path(&digest)))?.len();
        if found != blob.size {
            return Err(ImageError::WrongSize { digest, found, expected: blob.size });
        }
        let start =
            self.send(self.url("blobs/uploads/")?, Access::Push, &|url| Ok(self.client.post(url).header(CONTENT_LENGTH, 0))).await?;
        let base = start.url().clone();
        let start = self.expect(start, &[StatusCode::ACCEPTED], "the upload").await?;
        let mut location = self.location(&start, &base)?;
        location.query_pairs_mut().append_pair("digest", &digest.to_string());
        let request = |url| {
            let file = tokio::fs::File::from_std(layout.blob(&digest)?);
            let request = self.client.put(url).header(CONTENT_TYPE, "application/octet-stream");
            Ok(request.header(CONTENT_LENGTH, blob.size).body(reqwest::Body::from(file)))
        };
        let response = self.send(location, Access::Push, &request).await?;
        self.expect(response, &[StatusCode::CREATED], "the upload").await.map(|_| true)
    }

    fn url(&self, path: &str) -> Result<Url, ImageError> {
        self.base.join(&format!("v2/{}/{path}", self.repository)).map_err(|error| self.failed(error.to_string()))
    }

    /// Sends a request, with authorisation if the registry asks for it, and where it redirects.
    async fn send(&self, url: Url, access: Access, request: &Request<'_>) -> Result<Response, ImageError> {
        let response = self.send_once(url.clone(), access, request).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let challenge = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let authorization = self.authorize(&challenge, access).await?;
        self.authorizations.lock().unwrap_or_else(PoisonError::into_inner).insert(access, authorization);
        self.send_once(url, access, request).await
    }

    async fn send_once(&self, url: Url, access: Access, request: &Request<'_>) -> Result<Response, ImageError> {
        let authorization = self.authorizations.lock().unwrap_or_else(PoisonError::into_inner).get(&access).cloned();
        let mut url = url;
        for _ in 0..=MAX_REDIRECTS {
            self.check(&url)?;
            let mut request = request(url.clone())?;
            // Only the registry itself gets to see what authorises.
            if let Some(authorization) = authorization.as_ref().filter(|_| url.origin() == self.base.origin()) {
                request = request.header(AUTHORIZATION, authorization);
            }
            let response = request.send().await.map_err(|error| self.failed(describe(&error)))?;
            // 304 is no redirect.
            if !response.status().is_redirection() || response.status() == StatusCode::NOT_MODIFIED {
                return Ok(response);
            }
            url = self.location(&response, &url)?;
        }
        Err(self.failed(format!("it redirects more than {MAX_REDIRECTS} times, which is the limit")))
    }

    fn location(&self, response: &Response, base: &Url) -> Result<Url, ImageError> {
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let location = location.and_then(|location| base.join(location).ok());
        location.ok_or_else(|| self.failed(format!("it answers {} without a location", response.status())))
    }

    /// Refuses addresses that a registry must not send us to.
    fn check(&self, url: &Url) -> Result<(), ImageError> {
        let is_own = url.host() == self.base.host();
        let is_name = url.domain().is_some();
        let is_scheme = url.scheme() == "https" || (url.scheme() == "http" && self.base.scheme() == "http");
        let is_plain = url.username().is_empty() && url.password().is_none();
        if is_scheme && is_plain && (is_own || is_name) && self.guard.as_ref().is_none_or(|guard| guard(url)) {
            return Ok(());
        }
        let host = url.host_str().unwrap_or_default();
        Err(self.failed(format!("a request to {}://{} is refused", url.scheme(), shortened(host.as_bytes()))))
    }

    /// What authorises access, by the registry's challenge.
    async fn authorize(&self, challenge: &str, access: Access) -> Result<String, ImageError> {
        let (scheme, rest) = challenge.split_once(' ').unwrap_or((challenge, ""));
        if scheme.eq_ignore_ascii_case("basic") {
            let Some((user, password)) = &self.credentials else { return Err(self.failed("it wants a user and a password".into())) };
            // The client knows how to encode them.
            let request = self.client.get(self.base.clone()).basic_auth(user, Some(password)).build();
            let header = request
                .ok()
                .and_then(|request| request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok().map(str::to_owned)));
            return header.ok_or_else(|| self.failed("the user or the password has characters that cannot be sent".into()));
        }
        let fields = parameters(rest);
        let realm = fields.get("realm").filter(|_| scheme.eq_ignore_ascii_case("bearer")).and_then(|realm| Url::parse(realm).ok());
        let mut url = realm
            .ok_or_else(|| self.failed(format!("it asks for authorisation that is not supported: {}", shortened(challenge.as_bytes()))))?;
        self.check(&url)?;
        let actions = match access {
            Access::Pull => "pull",
            Access::Push => "pull,push",
        };
        url.query_pairs_mut().append_pair("scope", &format!("repository:{}:{actions}", self.repository));
        if let Some(service) = fields.get("service") {
            url.query_pairs_mut().append_pair("service", service);
        }
        let mut request = self.client.get(url);
        if let Some((user, password)) = &self.credentials {
            request = request.basic_auth(user, Some(password));
        }
        let response = request.send().await.map_err(|error| self.failed(describe(&error)))?;
        let response = self.expect(response, &[StatusCode::OK], "a token").await?;
        let token = token(&self.bounded(response).await?);
        token.map(|token| format!("Bearer {token}")).ok_or_else(|| self.failed("its token server answers without a token".into()))
    }

    /// A response with one of these statuses; otherwise the start of what it says is the error.
    async fn expect(&self, response: Response, statuses: &[StatusCode], what: &str) -> Result<Response, ImageError> {
        let status = response.status();
        if statuses.contains(&status) {
            return Ok(response);
        }
        let said = self.bounded(response).await.unwrap_or_default();
        Err(self.failed(format!("{what} is refused with {status}: {}", shortened(&said))))
    }

    async fn bounded(&self, mut response: Response) -> Result<Vec<u8>, ImageError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(describe(&error)))? {
            if bytes.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err(self.failed(format!("its answer is longer than {MAX_ANSWER_BYTES} bytes, which is the limit")));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    fn failed(&self, reason: String) -> ImageError {
        ImageError::Registry { registry: self.base.host_str().unwrap_or_default().into(), reason }
    }
}

type Request<'a> = dyn Fn(Url) -> Result<RequestBuilder, ImageError> + Send + Sync + 'a;

#[async_trait::async_trait]
impl Source for Registry {
    async fn open(&self, kind: BlobKind, digest: &Digest) -> Result<BlobReader, ImageError> {
        let (folder, accepted) = match kind {
            BlobKind::Manifest => ("manifests", [&INDEXES[..], &MANIFESTS[..]].concat().join(", ")),
            BlobKind::Blob => ("blobs", "*/*".to_owned()),
        };
        let url = self.url(&format!("{folder}/{digest}"))?;
        let request = |url| Ok(self.client.get(url).header(ACCEPT, &accepted));
        let response = self.send(url, Access::Pull, &request).await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Err(ImageError::MissingBlob { digest: *digest, origin: format!("{}{}", self.base, self.repository) });
        }
        let response = self.expect(response, &[StatusCode::OK], "the blob").await?;
        Ok(Box::new(StreamReader::new(Box::pin(response.bytes_stream().map_err(io::Error::other)))))
    }
}

/// The media type of a document: its own, or the usual one.
fn media_type(bytes: &[u8], known: &[&'static str; 2], usual: &'static str) -> &'static str {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Typed {
        media_type: Option<String>,
    }
    let own = serde_json::from_slice::<Typed>(bytes).ok().and_then(|typed| typed.media_type);
    known.iter().find(|name| own.as_deref() == Some(name)).copied().unwrap_or(usual)
}

/// A failure of a request with its causes, and without the address, which may have a token in it.
fn describe(error: &reqwest::Error) -> String {
    let mut text = if error.is_timeout() { "a request ran out of time".to_owned() } else { "a request failed".to_owned() };
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}

fn token(answer: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Answer {
        token: Option<String>,
        access_token: Option<String>,
    }
    let answer: Answer = serde_json::from_slice(answer).ok()?;
    answer.token.or(answer.access_token)
}

/// The parameters of a challenge: `name="value"` or `name=value`, with commas between them.
fn parameters(text: &str) -> HashMap<String, String> {
    let mut fields = HashMap::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_at(after.find(',').unwrap_or(after.len())),
        };
        fields.insert(name.trim_matches([' ', ',']).to_ascii_lowercase(), value.to_owned());
        rest = next;
    }
    fields
}

fn is_repository(text: &str) -> bool {
    let is_component = |part: &str| {
        let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let (first, last) = (part.bytes().next(), part.bytes().last());
        first.is_some_and(is_alphanumeric)
            && last.is_some_and(is_alphanumeric)
            && part.bytes().all(|byte| is_alphanumeric(byte) || b"._-".contains(&byte))
            && !part.contains("..")
    };
    text.len() <= MAX_NAME_BYTES && text.split('/').all(is_component)
}

fn is_tag(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= 128 && text.bytes().next().is_some_and(is_word) && text.bytes().all(|byte| is_word(byte) || b".-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_strictly() {
        let read = |address: &str| Registry::new(Client::new(), address).map(|registry| format!("{registry:?}"));
        assert_eq!(read("oci://ghcr.io/a/b-c.d").expect("it is right"), "Registry(https://ghcr.io/a/b-c.d)");
        assert_eq!(read("http://127.0.0.1:5000/app").expect("it is right"), "Registry(http://127.0.0.1:5000/app)");
        let refused = [
            "ghcr.io/a",
            "oci://ghcr.io",
            "oci://ghcr.io/",
            "oci://ghcr.io/A",
            "oci://ghcr.io/a/",
            "oci://ghcr.io/a//b",
            "oci://ghcr.io/a%2Fb",
            "oci://ghcr.io/a..b",
            "oci://ghcr.io/-a",
            "oci://ghcr.io/a:tag",
            "oci://ghcr.io/a?x=1",
            "oci://user:password@ghcr.io/a",
            "ftp://ghcr.io/a",
            "file:///etc/passwd",
        ];
        for address in refused {
            assert!(read(address).is_err(), "{address}");
        }
        assert!(read(&format!("oci://ghcr.io/{}", "a".repeat(256))).is_err());
    }

    #[test]
    fn challenges_are_read() {
        let fields = parameters(r#"realm="https://auth.test/token?a=b",service=registry, scope="repository:x:pull,push""#);
        let read = ["realm", "service", "scope"].map(|name| fields.get(name).map(String::as_str));
        assert_eq!(read, [Some("https://auth.test/token?a=b"), Some("registry"), Some("repository:x:pull,push")]);
        for text in ["", "=", "\"", "a", "a=\"", "==,=,", "realm=\"unterminated"] {
            let _ = parameters(text);
        }
    }

    /// A registry cannot send requests to other addresses by number, without TLS, or with a user.
    #[test]
    fn addresses_elsewhere_are_checked() {
        let secure = Registry::new(Client::new(), "oci://registry.test/a").expect("it is right");
        let check = |registry: &Registry, url: &str| registry.check(&url.parse().expect("a URL")).is_ok();
        assert!(check(&secure, "https://registry.test/x") && check(&secure, "https://storage.test/x"));
        for url in [
            "http://registry.test/x",
            "https://127.0.0.1/x",
            "https://[::1]/x",
            "https://169.254.169.254/",
            "https://2130706433/",
            "https://a:b@storage.test/",
            "ftp://storage.test/",
        ] {
            assert!(!check(&secure, url), "{url}");
        }
        let local = Registry::new(Client::new(), "http://127.0.0.1:5000/a").expect("it is right");
        assert!(check(&local, "http://127.0.0.1:6000/x") && !check(&local, "http://127.0.0.2:5000/x"));
        let guarded = secure.with_guard(|url| url.path() != "/secret");
        assert!(!check(&guarded, "https://registry.test/secret") && check(&guarded, "https://registry.test/x"));
    }
}
