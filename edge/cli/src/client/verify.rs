//! `cowboy verify-response`: what a gateway answered, against the validators' signature, by running the actor again.

use super::session::Session;
use bytes::Bytes;
use clap::Args;
use cowboy_api::{HexBytes, client, model};
use cowboy_console::{amount, failure::Failure, output::table};
use cowboy_host::clock;
use cowboy_ingress::{
    Asked, Checked, Refused, Step, Trust,
    check::check,
    request::{VERIFY_HEADER, ZONES},
    signed::{NotSigned, SIGNATURE_HEADER, check_witness},
    witness::Witness,
};
use cowboy_types::{Address, Hash};
use reqwest::{
    Url,
    header::{HeaderMap, HeaderValue},
};
use serde_json::{Value, json};
use std::{net::Ipv4Addr, path::PathBuf, time::Duration};

/// The age in seconds from which an answer is shown with a warning: a proof stays true for ever, of the block that it is about.
const OLD_SECONDS: u64 = 60;

/// How long a gateway is given.
const PATIENCE: Duration = Duration::from_secs(30);

/// Asks a gateway with proofs, checks them, and runs the actor's handler again over what they prove.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboy verify-response http://mysite.localhost:8080/
  cowboy verify-response http://mysite.localhost:8080/ --save answer.witness --body page.html
  cowboy verify-response answer.witness --url http://mysite.localhost:8080/ --genesis-file genesis.json")]
pub(crate) struct VerifyResponse {
    /// The URL of a page, or a file with a gateway's response to `Cowboy-Verify: 1`
    #[arg(value_name = "URL|FILE")]
    what: String,
    /// With a file: the requested URL [default: trust the request in the file]
    #[arg(long)]
    url: Option<String>,
    /// The genesis hash that the chain must have [default: trust the node's]
    #[arg(long, value_name = "HASH")]
    genesis: Option<Hash>,
    /// The validators' group key [default: the one that the genesis hash covers]
    #[arg(long, value_name = "HEX")]
    group_key: Option<HexBytes>,
    /// A saved copy of a node's /genesis, so that no node has to be asked
    #[arg(long, value_name = "FILE")]
    genesis_file: Option<PathBuf>,
    /// The lowest height that you accept
    #[arg(long, default_value_t = 0, value_name = "HEIGHT")]
    min_block: u64,
    /// The greatest age of the block in seconds, by this computer's clock [default: a block older than 60 s is shown with a warning]
    #[arg(long, value_name = "SECONDS")]
    max_age: Option<u64>,
    /// A further zone of names, in addition to localhost and cowboy.network
    #[arg(long, value_name = "DOMAIN")]
    zone: Vec<String>,
    /// A file for the gateway's response
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// A file for the body, once it is verified
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
}

impl VerifyResponse {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        let (trust, is_pinned) = self.trust(session).await?;
        let is_url = self.what.starts_with("http://") || self.what.starts_with("https://");
        let (bytes, asked, signature) = if is_url {
            if self.url.is_some() {
                return Err(Failure::argument("--url goes with a file", "leave it out"));
            }
            let url = Url::parse(&self.what).map_err(|error| {
                Failure::argument(format!("{} is not a URL: {error}", self.what), "write one like http://mysite.localhost:8080/")
            })?;
            let (bytes, sent, signature) = fetch(&url).await?;
            // As it was sent: a client writes some letters of a URL in another way.
            (bytes, Some(asked(url.as_str(), &self.zone)?.with_headers(sent)), signature)
        } else {
            let bytes = std::fs::read(&self.what).map_err(Failure::file(&self.what))?;
            (bytes.into(), self.url.as_deref().map(|url| asked(url, &self.zone)).transpose()?, Signature::Unknown)
        };
        if let Some(path) = &self.save {
            std::fs::write(path, &bytes).map_err(Failure::file(path))?;
        }
        let checked = check(bytes.clone(), &trust, asked.as_ref(), self.min_block).map_err(|error| Failure::Witness(said(&error)))?;
        let age = Age::of(checked.header.timestamp_ms.0, clock::now_ms());
        if let Some(limit) = self.max_age.filter(|limit| age.is_over(*limit)) {
            let height = checked.header.height();
            return Err(Failure::Witness(format!("it was true at block {height}, {}: --max-age is {limit} s", age.text())));
        }
        if let Some(path) = &self.body {
            std::fs::write(path, &checked.body).map_err(Failure::file(path))?;
        }
        let signature = signature.checked(&bytes, &trust);
        let mut document = document(&trust, &checked);
        document["age_ms"] = json!(age.0);
        document["is_old"] = json!(age.is_over(OLD_SECONDS));
        document["signed_by"] = json!(signature.signer().map(|signer| signer.to_string()));
        session.output.result(&document, rows(&trust, is_pinned, (&checked, age), asked.is_some(), &signature));
        Ok(())
    }

    /// Whom to trust, and whether the caller named it.
    async fn trust(&self, session: &Session) -> Result<(Trust, bool), Failure> {
        let genesis: model::Genesis = match &self.genesis_file {
            Some(path) => {
                let bytes = std::fs::read(path).map_err(Failure::file(path))?;
                serde_json::from_slice(&bytes).map_err(|error| {
                    Failure::argument(format!("{} is not a genesis: {error}", path.display()), "save /genesis of a node")
                })?
            }
            None => session.client.get("/genesis").await?,
        };
        let key = self.group_key.as_ref().unwrap_or(&genesis.group_key);
        let trust =
            Trust::new(&genesis.config.0, &key.0).map_err(|error| Failure::argument(error.to_string(), "check where it is from"))?;
        match self.genesis.filter(|expected| *expected != trust.genesis()) {
            Some(expected) => Err(Failure::refused(
                format!("the chain has the genesis {}, not {expected}", trust.genesis()),
                "ask a node of the right chain with --rpc-url",
            )),
            None => Ok((trust, self.genesis_file.is_some() || self.genesis.is_some())),
        }
    }
}

/// What a GET of a URL asks, below the zones that every client knows and these.
pub(super) fn asked(url: &str, zones: &[String]) -> Result<Asked, Failure> {
    let zones: Vec<&str> = ZONES.into_iter().chain(zones.iter().map(String::as_str)).collect();
    Asked::of_url(url, &zones).map_err(|error| Failure::argument(error.to_string(), "name the zone with --zone"))
}

/// What is known of the gateway's own signature, which stands beside the proof in a header. The proof holds without it.
enum Signature {
    /// The response is of a file, which has no headers.
    Unknown,
    /// There is no such header.
    Absent,
    /// Its value.
    Header(HeaderValue),
    /// Of this account.
    Of(Address),
    /// It is not one of this response.
    Wrong(NotSigned),
}

impl Signature {
    fn checked(self, witness: &Bytes, trust: &Trust) -> Self {
        let Self::Header(value) = self else { return self };
        let signer = Witness::read(witness.clone())
            .map_err(|_| NotSigned::Malformed)
            .and_then(|witness| check_witness(value.as_bytes(), trust.signing(), &witness));
        signer.map_or_else(Self::Wrong, Self::Of)
    }

    fn signer(&self) -> Option<Address> {
        match self {
            Self::Of(signer) => Some(*signer),
            _ => None,
        }
    }

    /// Who signed, for people.
    fn text(&self, trust: &Trust) -> String {
        match self {
            Self::Unknown => "not known: the file does not contain the header with the signature".to_owned(),
            Self::Absent | Self::Header(_) => "no: this gateway has no key; the proof holds without its signature".to_owned(),
            Self::Of(signer) if trust.signing().is_dev => format!("by {signer}; on a dev chain a signature is no evidence"),
            Self::Of(signer) => format!("by the gateway {signer}"),
            Self::Wrong(why) => format!("not valid: {why}"),
        }
    }
}

/// What the gateway answers to a request for a witness, the headers that the actor sees of the request, and the gateway's signature.
async fn fetch(url: &Url) -> Result<(Bytes, HeaderMap, Signature), Failure> {
    let (response, mut sent) = get(url, &[(VERIFY_HEADER, "1")]).await?;
    sent.remove(VERIFY_HEADER);
    let status = response.status();
    let signature = response.headers().get(SIGNATURE_HEADER).cloned().map_or(Signature::Absent, Signature::Header);
    let bytes = response.bytes().await.map_err(|error| away(format!("{url} broke off: {error}")))?;
    if !status.is_success() {
        let shown: String = String::from_utf8_lossy(&bytes).chars().take(300).collect();
        return Err(Failure::Witness(format!("the gateway returned no proof: {status}: {shown}")));
    }
    Ok((bytes, sent, signature))
}

fn away(what: String) -> Failure {
    Failure::refused(what, "check the URL, and whether a gateway runs there")
}

/// What a gateway answers to a GET, and all headers that it was sent: these and the least that there are.
pub(super) async fn get(url: &Url, more: &[(&'static str, &str)]) -> Result<(reqwest::Response, HeaderMap), Failure> {
    let host = url.host_str().unwrap_or_default().to_owned();
    let mut builder = client::builder(url.as_str()).timeout(PATIENCE);
    if host.ends_with(".localhost") {
        // Names below it are this machine (RFC 6761), whatever the resolver thinks of them.
        builder = builder.resolve(&host, (Ipv4Addr::LOCALHOST, 0).into());
    }
    let client = builder.build().map_err(|error| Failure::Node(error.to_string()))?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let mut sent = HeaderMap::new();
    for (name, value) in [("accept", "*/*"), ("host", &format!("{host}{port}"))].iter().chain(more) {
        sent.insert(*name, value.parse().map_err(|_| away(format!("{url} is not a URL, or {name} is not a header")))?);
    }
    let request = client.get(url.clone()).headers(sent.clone());
    let response = request.send().await.map_err(|error| away(format!("{url} does not answer: {}", client::innermost(&error))))?;
    Ok((response, sent))
}

/// What held, and what did not.
fn said(error: &Refused) -> String {
    let held: Vec<&str> = Step::ALL.iter().take_while(|step| **step < error.step()).map(|step| step.name()).collect();
    let held = if held.is_empty() { "nothing".to_owned() } else { held.join(", ") };
    format!("{error}\n  checked: {held}; failed: {}", error.step())
}

fn document(trust: &Trust, checked: &Checked) -> Value {
    let headers: Vec<Value> =
        checked.headers.iter().map(|(name, value)| json!([name.as_str(), String::from_utf8_lossy(value.as_bytes())])).collect();
    json!({
        "verified": true, "genesis": trust.genesis().to_string(), "height": checked.header.height().get(),
        "header": checked.header.digest().to_string(), "epoch": checked.round.0, "view": checked.round.1,
        "name": checked.name, "actor": checked.actor.map(|actor| actor.to_string()), "records": checked.records,
        "cycles": checked.cycles_used, "status": checked.status, "error": checked.failure, "headers": headers,
        "body": String::from_utf8_lossy(&checked.body),
    })
}

/// How long ago a block was made, in milliseconds, by this computer's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Age(u64);

impl Age {
    /// The age of a block of this time. One of the future is new.
    fn of(timestamp_ms: u64, now_ms: u64) -> Self {
        Self(now_ms.saturating_sub(timestamp_ms))
    }

    fn is_over(self, seconds: u64) -> bool {
        self.0 > seconds.saturating_mul(1_000)
    }

    fn text(self) -> String {
        format!("{} ago", amount::span(self.0 / 1_000))
    }

    /// The block's place and age, with a warning where it is old.
    fn row(self, height: u64) -> String {
        let warning = if self.is_over(OLD_SECONDS) { "; WARNING: it may have changed since (--max-age refuses old answers)" } else { "" };
        format!("true at block {height}, {}{warning}", self.text())
    }
}

fn rows(trust: &Trust, is_pinned: bool, (checked, age): (&Checked, Age), is_asked: bool, signature: &Signature) -> String {
    let text = |field| checked.request.get(field).and_then(cowboy_types::cbor::Value::as_text).unwrap_or_default().to_owned();
    let actor = checked.actor.map_or("none".to_owned(), |actor| actor.to_string());
    let failure = checked.failure.as_ref().map(|code| format!(" {code}")).unwrap_or_default();
    table([
        ("request", format!("{} {}{}{}", text("method"), text("host"), text("path"), if is_asked { "" } else { " (as the file says)" })),
        (
            "answer",
            format!(
                "{}{failure}, {}: equal to the result of the actor's code",
                checked.status,
                amount::counted(checked.body.len(), "byte")
            ),
        ),
        ("actor", format!("{actor} behind {}", checked.name)),
        (
            "replayed",
            format!("{} over {}", amount::counted(checked.cycles_used, "cycle"), amount::counted(checked.records, "proven record")),
        ),
        ("height", checked.header.height().get().to_string()),
        ("age", age.row(checked.header.height().get())),
        ("finalized", format!("by the validators in epoch {}, view {}", checked.round.0, checked.round.1)),
        ("signed", signature.text(trust)),
        ("genesis", format!("{}{}", trust.genesis(), if is_pinned { "" } else { " (as the node says)" })),
    ])
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer of weeks ago is shown as one: its proof is as good as on its day.
    #[test]
    fn an_old_answer_is_shown_with_a_warning() {
        let now_ms = 2_000_000_000_000;
        let rows = [(59, "59 s ago"), (61, "61 s ago"), (600, "10 min ago"), (10_000, "2 h ago"), (21 * 86_400, "21 days ago")];
        for (seconds, ago) in rows {
            let age = Age::of(now_ms - seconds * 1_000, now_ms);
            assert!(age.row(7).starts_with(&format!("true at block 7, {ago}")), "{}", age.row(7));
            assert_eq!(age.row(7).contains("WARNING"), seconds > OLD_SECONDS, "{seconds}");
            assert_eq!((age.is_over(seconds), age.is_over(seconds - 1)), (false, true));
        }
        assert_eq!(Age::of(now_ms + 5_000, now_ms), Age(0), "the clocks differ");
    }
}
