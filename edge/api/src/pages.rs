//! Lists of the API, page by page: one way for all of them, whether a page begins at an `offset` or at the `cursor` of the one before.

use crate::{
    Client,
    error::{ApiError, UNREACHABLE},
    model,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

/// The most rows of one request: an answer of entries of storage stays below the bytes that the client takes.
const PAGE_ROWS: usize = 256;

/// The most pages of one list. A node that names one more each time is not asked for ever.
pub const MAX_PAGES: usize = 1 << 16;

/// What says where a page begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The number of rows before it.
    Offset,
    /// What the page before it named.
    Cursor,
}

impl By {
    /// The parameter's name in the table of methods.
    pub const fn parameter(self) -> &'static str {
        match self {
            Self::Offset => "offset",
            Self::Cursor => "cursor",
        }
    }
}

/// What a method with a `limit` answers.
pub trait Page: DeserializeOwned + Serialize {
    /// A row.
    type Row;

    /// What says where it begins.
    const BY: By;

    /// The rows.
    fn rows(&self) -> &[Self::Row];

    /// Adds the rows of a page that follows.
    fn extend(&mut self, following: Self);

    /// Where the next page begins, where this one began at an offset and was asked for with a limit; none for the last.
    fn next(&self, offset: u64, limit: usize) -> Option<String>;
}

/// A number of rows, as offsets count them.
fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

macro_rules! pages {
    ($( $Page:ident { $rows:ident: $Row:ident } $by:ident $next:expr; )+) => {
        $(
            impl Page for model::$Page {
                type Row = model::$Row;

                const BY: By = By::$by;

                fn rows(&self) -> &[model::$Row] {
                    &self.$rows
                }

                fn extend(&mut self, following: Self) {
                    self.$rows.extend(following.$rows);
                }

                fn next(&self, offset: u64, limit: usize) -> Option<String> {
                    let next: fn(&Self, u64, usize) -> Option<String> = $next;
                    next(self, offset, limit)
                }
            }
        )+

        /// The pages, by the names of their schemas.
        #[cfg(test)]
        const PAGES: &[(&str, By)] = &[$( (stringify!($Page), By::$by), )+];
    };
}

/// What a list says of the next page that has the number of all its rows.
macro_rules! counted {
    () => {
        |page, offset, _| {
            let seen = offset.saturating_add(count(page.rows().len()));
            (seen < page.total_count).then(|| seen.to_string())
        }
    };
}

/// What one says that names the next page.
macro_rules! named {
    () => {
        |page, _, _| page.next_cursor.clone()
    };
}

pages! {
    AccountTokens { tokens: TokenHolding } Cursor named!();
    Accounts { accounts: AccountRow } Cursor named!();
    ActorNames { names: Name } Cursor named!();
    Actors { actors: ActorRow } Cursor named!();
    Blocks { blocks: BlockSummary } Offset counted!();
    Gateways { gateways: Gateway } Offset counted!();
    History { entries: HistoryEntry } Cursor named!();
    Jobs { jobs: JobSummary } Offset counted!();
    Logs { logs: Log } Offset counted!();
    MailboxPage { messages: Message } Cursor named!();
    // Its offsets count numbers of pieces, of which those that are restored are left out.
    MissingChunks { chunks: MissingChunk } Offset |page, offset, limit| {
        let seen = offset.saturating_add(count(limit));
        (seen < page.total).then(|| seen.to_string())
    };
    Names { names: Name } Offset counted!();
    Parameters { params: Parameter } Offset counted!();
    Proposals { proposals: Proposal } Offset counted!();
    Runners { runners: Runner } Offset counted!();
    StoragePage { entries: StorageEntry } Cursor named!();
    Timers { timers: Timer } Offset counted!();
    TokenEvents { events: Log } Cursor named!();
    TokenHolders { holders: TokenBalance } Cursor named!();
    Tokens { tokens: Token } Offset counted!();
    Validators { validators: Validator } Offset counted!();
}

/// A path with a page's parameters.
fn path_of(path: &str, by: By, cursor: Option<&str>, limit: usize) -> String {
    let mut url = reqwest::Url::parse("http://node/").expect("the constant is a URL");
    url.query_pairs_mut().append_pair("limit", &limit.to_string());
    if let Some(cursor) = cursor {
        url.query_pairs_mut().append_pair(by.parameter(), cursor);
    }
    let mark = if path.contains('?') { '&' } else { '?' };
    format!("{path}{mark}{}", url.query().unwrap_or_default())
}

impl Client {
    /// A page of a list, from a cursor on, and the cursor of the next one. Of a list that is counted, a cursor is an offset.
    async fn page<P: Page>(&self, path: &str, cursor: Option<&str>, limit: usize) -> Result<(P, Option<String>), ApiError> {
        let page: P = self.get(&path_of(path, P::BY, cursor, limit)).await?;
        // What is no number has been refused.
        let offset = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        let next = page.next(offset, limit);
        if next.is_some() && next.as_deref() == cursor {
            return Err(self.strange(&format!("the node answers no page of {path} beyond {}", cursor.unwrap_or_default())));
        }
        Ok((page, next))
    }

    /// What a node does that answers, and not as one.
    fn strange(&self, reason: &str) -> ApiError {
        ApiError::of_fault(UNREACHABLE).with(json!({ "url": self.url(), "reason": reason }))
    }

    /// At most `most` rows of a list, from a cursor on, as one page, and the cursor of what follows; none where nothing does.
    ///
    /// # Errors
    ///
    /// If the node refuses, or does not continue.
    pub async fn list<P: Page>(&self, path: &str, cursor: Option<&str>, most: usize) -> Result<(P, Option<String>), ApiError> {
        self.within(path, cursor, most, MAX_PAGES).await
    }

    /// The same, with at most this many requests.
    async fn within<P: Page>(&self, path: &str, cursor: Option<&str>, most: usize, pages: usize) -> Result<(P, Option<String>), ApiError> {
        let (mut whole, mut next) = self.page::<P>(path, cursor, most.min(PAGE_ROWS)).await?;
        for _ in 1..pages {
            let left = most.saturating_sub(whole.rows().len());
            let Some(cursor) = next.as_deref().filter(|_| left > 0) else { return Ok((whole, next)) };
            let (page, following) = self.page::<P>(path, Some(cursor), left.min(PAGE_ROWS)).await?;
            whole.extend(page);
            next = following;
        }
        Ok((whole, next))
    }

    /// A list to its end, as one page.
    ///
    /// # Errors
    ///
    /// If the node refuses, does not continue, or does not come to an end.
    pub async fn all<P: Page>(&self, path: &str) -> Result<P, ApiError> {
        self.whole_within(path, MAX_PAGES).await
    }

    async fn whole_within<P: Page>(&self, path: &str, pages: usize) -> Result<P, ApiError> {
        match self.within(path, None, usize::MAX, pages).await? {
            (whole, None) => Ok(whole),
            (_, Some(_)) => Err(self.strange(&format!("the node names more than {pages} pages of {path}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Endpoint, Hex, table::Answer};
    use cowboy_types::Hash;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    /// A node with one list, which answers this many requests.
    fn node(requests: usize, answer: impl Fn(u64, u64) -> serde_json::Value + Send + 'static) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback has free ports");
        let url = format!("http://{}", listener.local_addr().expect("it listens"));
        std::thread::spawn(move || {
            for _ in 0..requests {
                let (mut stream, _) = listener.accept().expect("the client connects");
                let mut lines = BufReader::new(stream.try_clone().expect("the system has handles")).lines().map_while(Result::ok);
                let line = lines.next().unwrap_or_default();
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                let target = line.split(' ').nth(1).unwrap_or_default();
                let asked = reqwest::Url::parse(&format!("http://node{target}")).expect("a target is a path");
                let number = |name: &str| asked.query_pairs().find(|(key, _)| key == name).and_then(|(_, value)| value.parse().ok());
                let body = answer(number("offset").unwrap_or(0), number("limit").unwrap_or(0)).to_string();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
                stream.write_all((head + &body).as_bytes()).expect("the client reads");
            }
        });
        Client::new(&url).expect("the address of a node")
    }

    /// The numbers of 2,500 that are asked for and are multiples of a step.
    fn chunks(step: u64) -> impl Fn(u64, u64) -> serde_json::Value + Send + 'static {
        move |offset, limit| {
            let all = (offset..2_500.min(offset + limit)).filter(|number| number % step == 0);
            let chunks = all.map(|number| model::MissingChunk { number, hash: Hex(Hash::ZERO) }).collect();
            json!(model::MissingChunks { chunks, total: 2_500 })
        }
    }

    /// A list is read to its end, or to as many rows as were asked for, in as many requests as its pages take.
    #[tokio::test]
    async fn lists_are_read_to_their_end() {
        let numbers = |page: &model::MissingChunks| page.rows().iter().map(|chunk| chunk.number).collect::<Vec<_>>();
        let all: model::MissingChunks = node(10, chunks(2)).all("/chunks").await.expect("the node answers");
        assert_eq!(numbers(&all), (0..2_500).filter(|number| number % 2 == 0).collect::<Vec<_>>());
        let (some, next) = node(6, chunks(1)).list("/chunks", Some("10"), 1_500).await.expect("the node answers");
        assert_eq!((numbers(&some), next.as_deref()), ((10..1_510).collect::<Vec<_>>(), Some("1510")));
    }

    /// A node that names the page that it has just answered is not asked for ever.
    #[tokio::test]
    async fn a_list_that_does_not_continue_is_an_error() {
        let stuck = node(2, |_, _| json!({ "holders": [], "next_cursor": "x" }));
        let refused = stuck.all::<model::TokenHolders>("/holders").await.expect_err("the second page is the first");
        assert_eq!(refused.slug, UNREACHABLE.slug);
    }

    /// A node that names one page more each time is not asked for ever: a list to its end is an error, and a part of one has its cursor.
    #[tokio::test]
    async fn a_list_without_an_end_is_an_error() {
        let endless = |requests| node(requests, |_, _| json!(model::MissingChunks { chunks: Vec::new(), total: u64::MAX }));
        let refused = endless(3).whole_within::<model::MissingChunks>("/chunks", 3).await.expect_err("a fourth page is named");
        assert_eq!(refused.slug, UNREACHABLE.slug);
        let (_, next) = endless(3).within::<model::MissingChunks>("/chunks", None, 1_000, 3).await.expect("the node answers");
        assert_eq!(next.as_deref(), Some("768"));
    }

    /// Every method that takes a limit answers a page, and takes the parameter that says where it begins.
    #[test]
    fn every_list_of_the_table_has_pages() {
        let mut lists = 0;
        for endpoint in Endpoint::ALL {
            let method = endpoint.method();
            let has = |name: &str| method.query.iter().any(|parameter| parameter.name == name);
            let Answer::Json(shape) = method.answer else { continue };
            if !has("limit") {
                continue;
            }
            lists += 1;
            let name = (shape.name)();
            let by = PAGES.iter().find(|(page, _)| *page == name).map(|(_, by)| *by);
            let by = by.unwrap_or_else(|| panic!("{}: {name} is no page", method.path));
            assert!(has(by.parameter()), "{} has no {}", method.path, by.parameter());
        }
        assert!(lists >= PAGES.len());
    }

    #[test]
    fn a_page_says_where_the_next_one_begins() {
        let names = |total_count| model::Names { names: Vec::new(), total_count };
        assert_eq!((names(0).next(0, 50), names(50).next(50, 50), names(51).next(50, 50)), (None, None, Some("50".into())));
        let named = |next: Option<&str>| model::ActorNames { names: Vec::new(), next_cursor: next.map(str::to_owned) };
        assert_eq!((named(None).next(0, 1), named(Some("b")).next(0, 1)), (None, Some("b".into())));
        let chunks = model::MissingChunks { chunks: Vec::new(), total: 300 };
        assert_eq!((chunks.next(0, 256), chunks.next(256, 256)), (Some("256".into()), None), "restored pieces are left out, and counted");
    }

    #[test]
    fn cursors_are_written_as_urls_have_them() {
        assert_eq!(path_of("/jobs", By::Offset, Some("50"), 20), "/jobs?limit=20&offset=50");
        assert_eq!(path_of("/a?kind=timer", By::Cursor, Some("a&b"), 1), "/a?kind=timer&limit=1&cursor=a%26b");
        assert_eq!(path_of("/jobs", By::Offset, None, 1), "/jobs?limit=1");
    }
}
