//! Requests of S3 with any bytes, over a volume in memory. Fuzz targets send them (decision 624).

mod signing;
#[cfg(test)]
mod tests;

use super::gate::Credentials;
use super::keys::{self, Query};
use super::{S3Volume, builder, service};
use crate::engine::{self, Listing};
use crate::testing::{Kept, OWNER, engine as memory, entry, locally, spool};
use cowboy_volumes::Name;
use futures::StreamExt as _;
use hyper::Request;
use s3s::Body;
use s3s::service::S3Service;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

pub use signing::{Payload, put_as, put_in_chunks, put_presigned};

/// The files that the volume has before a request.
pub const FILES: [(&str, &[u8]); 3] = [("notes/a", b"hello world"), ("notes/b/c", b"c"), ("other/x", b"x")];

/// The file that [`put_as`], [`put_in_chunks`] and [`put_presigned`] put.
pub const NEW: &str = "notes/new";

/// The file that [`complete`] completes.
pub const BIG: &str = "notes/big";

/// The only part that it has, with number 1.
pub const PART: &[u8] = b"hello";

/// The keys of which [`pages`] lists some.
const KEYS: [&str; 9] = ["a", "a/b", "b/1", "b/10", "b/2", "b/c/3", "b0", "c", "d/4"];

/// The most bytes that are spooled.
const SPOOL: u64 = 1 << 20;

/// Paths of files, with their contents.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// Its method.
    pub method: String,
    /// Its path and query.
    pub target: String,
    /// Its headers.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Its body.
    pub body: Vec<u8>,
}

/// What came of a request.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The header of that name; empty where there is none.
    pub content_range: String,
    /// The body.
    pub body: Vec<u8>,
    /// The files that the volume has afterwards.
    pub files: Files,
}

impl Sent {
    /// A request as it is written: a line with method and target, one for each header, an empty one, and the body.
    pub fn parse(bytes: &[u8]) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (mut sent, mut rest) = (Self::default(), bytes);
        for number in 0_usize.. {
            let Some(end) = rest.iter().position(|byte| *byte == b'\n') else { break };
            let (line, behind) = (&rest[..end], &rest[end + 1..]);
            rest = behind;
            if number == 0 {
                let mut words = line.splitn(2, |byte| *byte == b' ');
                sent.method = text(words.next().unwrap_or_default());
                sent.target = text(words.next().unwrap_or_default());
            } else if line.is_empty() {
                break;
            } else {
                let mut parts = line.splitn(2, |byte| *byte == b':');
                let name = text(parts.next().unwrap_or_default());
                sent.headers.push((name, parts.next().unwrap_or_default().trim_ascii().to_vec()));
            }
        }
        sent.body = rest.to_vec();
        sent
    }

    /// One with a body, and its length in a header.
    pub fn with_body(method: &str, target: &str, body: &[u8]) -> Self {
        let headers = vec![("content-length".to_owned(), body.len().to_string().into_bytes())];
        Self { method: method.to_owned(), target: target.to_owned(), headers, body: body.to_vec() }
    }

    /// As HTTP has it; none where it has no such request.
    fn request(&self) -> Option<Request<Body>> {
        let mut builder = Request::builder().method(self.method.as_str()).uri(self.target.as_str());
        for (name, value) in &self.headers {
            builder = builder.header(name.as_str(), value.as_slice());
        }
        builder.body(Body::from(self.body.clone())).ok()
    }
}

/// Text as a query has it: each byte encoded.
pub fn encoded(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("%{byte:02X}")).collect()
}

/// The files that the volume has before a request.
pub fn files() -> Files {
    FILES.iter().map(|(path, content)| ((*path).to_owned(), content.to_vec())).collect()
}

fn credentials() -> Credentials {
    Credentials { access_key: signing::ACCESS_KEY.to_owned(), secret_key: signing::SECRET_KEY.to_owned() }
}

/// What a server answers to a request. None where it is none.
async fn answered(service: &S3Service, kept: &Kept, sent: &Sent) -> Option<Answer> {
    let Ok(response) = service.call(sent.request()?).await else {
        return Some(Answer { status: 500, content_range: String::new(), body: Vec::new(), files: left(kept) });
    };
    let (head, mut pieces) = response.into_parts();
    let mut body = Vec::new();
    while let Some(Ok(piece)) = pieces.next().await {
        body.extend_from_slice(&piece);
    }
    let range = head.headers.get("content-range").and_then(|value| value.to_str().ok()).unwrap_or_default();
    Some(Answer { status: head.status.as_u16(), content_range: range.to_owned(), body, files: left(kept) })
}

fn left(kept: &Kept) -> Files {
    kept.paths().into_iter().filter_map(|path| kept.content(&path).map(|content| (path, content))).collect()
}

/// Does something with a server of the files, which lets in whoever signs with the credentials, or everybody.
fn with_server<T>(is_open: bool, work: impl AsyncFnOnce(&S3Service, &Kept) -> T) -> Option<T> {
    let mut done = None;
    locally(async {
        let (engine, kept): (_, Rc<Kept>) = memory(OWNER, false);
        kept.put(&FILES);
        let (engine, serving) = engine::serve(engine);
        tokio::task::spawn_local(serving);
        let volume = S3Volume { engine, spool: spool(SPOOL), uploads: Arc::default() };
        let service = if is_open { builder(volume).build() } else { service(volume, &credentials()) };
        done = Some(work(&service, &kept).await);
    });
    done
}

/// What a server answers that lets in whoever signs. None where it is no request.
pub fn ask(sent: &Sent) -> Option<Answer> {
    with_server(false, async |service: &S3Service, kept: &Kept| answered(service, kept, sent).await)?
}

/// What a server answers that lets everybody in. None where it is no request.
pub fn ask_unsigned(sent: &Sent) -> Option<Answer> {
    with_server(true, async |service: &S3Service, kept: &Kept| answered(service, kept, sent).await)?
}

/// What is answered to a request with this body that completes an upload with one part.
pub fn complete(body: &[u8]) -> Option<Answer> {
    let target = format!("/{BIG}");
    with_server(true, async |service: &S3Service, kept: &Kept| {
        let begun = answered(service, kept, &Sent::with_body("POST", &format!("{target}?uploads"), b"")).await?;
        let text = String::from_utf8(begun.body).ok()?;
        let (id, _) = text.split_once("<UploadId>")?.1.split_once("</UploadId>")?;
        let part = Sent::with_body("PUT", &format!("{target}?partNumber=1&uploadId={id}"), PART);
        answered(service, kept, &part).await.filter(|answer| answer.status == 200)?;
        answered(service, kept, &Sent::with_body("POST", &format!("{target}?uploadId={id}"), body)).await
    })?
}

/// The keys and common parts of a list, by its parts, each with at most `most`.
pub fn pages(prefix: &str, delimiter: &str, after: &str, most: i32) -> Vec<Vec<String>> {
    let at = |key: &&str| (format!("notes/{key}"), entry(&format!("notes/{key}"), b"x"));
    let (listing, Some(notes)) = (KEYS.iter().map(at).collect::<Listing>(), Name::new("notes")) else { return Vec::new() };
    let (mut found, mut after) = (Vec::new(), after.to_owned());
    // One more than it may have.
    while found.len() <= KEYS.len() + 1 {
        let query = Query { prefix: prefix.to_owned(), delimiter: Some(delimiter.to_owned()), after, most: Some(most) };
        let Ok(page) = keys::page(&listing, &notes, &query) else { break };
        found.push(page.files.into_iter().map(|(key, _)| key).chain(page.folders).collect());
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    found
}

/// How many keys [`pages`] knows.
pub fn key_count() -> usize {
    KEYS.len()
}
