//! `cowboy gateway verify-answer` and `report-answers`: what a gateway signed, and what proves that it signed a false one.

use super::{
    session::Session,
    verify::{asked, get},
};
use clap::Args;
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_api::{Hex, HexBytes, model};
use cowboy_console::{amount, failure::Failure, output::table};
use cowboy_ingress::Trust;
use cowboy_ingress::request::REQUEST_ID_HEADER;
use cowboy_ingress::signed::{Chain, NotSigned, Said, check, read};
use cowboy_system::gateways::answers::SignedAnswer;
use cowboy_types::{Address, Hash};
use reqwest::{
    Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Asks a gateway for a page, and checks that it signed what it answered.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboy gateway verify-answer http://mysite.localhost:8080/ --save answer.json
  cowboy gateway verify-answer answer.json --genesis 0x…")]
pub(crate) struct VerifyAnswer {
    /// The URL of a page, or a file that --save wrote
    #[arg(value_name = "URL|FILE")]
    what: String,
    /// The genesis hash of the chain [default: trust the node's]
    #[arg(long, value_name = "HASH")]
    genesis: Option<Hash>,
    /// A further zone of names, in addition to localhost and cowboy.network
    #[arg(long, value_name = "DOMAIN")]
    zone: Vec<String>,
    /// Send this request id, a UUID of version 4; two gateways that get the same id get the same request
    #[arg(long, value_name = "UUID")]
    id: Option<String>,
    /// A file for request, response and signature
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

/// A request, its answer, and what the gateway signed.
#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The request as the actor saw it, canonical CBOR.
    request: HexBytes,
    status: u16,
    headers: Vec<(String, HexBytes)>,
    body: HexBytes,
    /// The signed statement.
    signed: HexBytes,
}

impl VerifyAnswer {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        let kept = if self.what.starts_with("http://") || self.what.starts_with("https://") {
            self.fetch().await?
        } else {
            Kept::load(&self.what)?
        };
        if let Some(path) = &self.save {
            std::fs::write(path, serde_json::to_vec_pretty(&kept).expect("text and bytes are JSON")).map_err(Failure::file(path))?;
        }
        let chain = self.chain(session).await?;
        let (signed, signer) = kept.check(chain).map_err(|error| Failure::Witness(error.to_string()))?;
        let gateway: Option<model::Gateway> = session.client.get(&format!("/gateways/{signer}")).await.ok();
        let statement = &signed.statement;
        let block = session.client.block(&statement.height.0.to_string()).await.ok();
        let is_state_known = block.map(|block| block.header.state_root.0 == statement.state_root);
        if is_state_known == Some(false) {
            let what = format!(
                "the gateway signed that block {} has the state {}, but it has another one",
                statement.height, statement.state_root
            );
            return Err(Failure::Witness(what));
        }
        let standing = match &gateway {
            _ if chain.is_dev => "on a dev chain, where a signature is no evidence",
            Some(gateway) if gateway.is_active => "an active gateway",
            Some(_) => "a gateway that is not active",
            None => "not a registered gateway: no stake backs its statement",
        };
        let state = if is_state_known.is_some() { "as in the chain's block" } else { "of a block that the node does not have" };
        let document = json!({
            "signed_by": signer.to_string(), "is_active": gateway.as_ref().is_some_and(|gateway| gateway.is_active),
            "height": statement.height.0, "state_root": statement.state_root.to_string(), "name": statement.name.to_string(),
            "actor": statement.actor.to_string(), "status": statement.status, "is_state_known": is_state_known,
            "signed": kept.signed,
        });
        let rows = table([
            ("answer", format!("{}, {}: as it was signed", statement.status, amount::counted(kept.body.0.len(), "byte"))),
            ("signed by", format!("{signer}, {standing}")),
            ("actor", format!("{} behind {}", statement.actor, &*statement.name)),
            ("height", statement.height.0.to_string()),
            ("state", format!("{}, {state}", statement.state_root)),
        ]);
        session.output.result(&document, rows);
        Ok(())
    }

    /// The chain that the answer is to be about. Where no node knows the one that was named, it is no dev chain.
    async fn chain(&self, session: &Session) -> Result<Chain, Failure> {
        let node = session.client.get::<model::Genesis>("/genesis").await;
        let of_node = |genesis: &model::Genesis| Trust::new(&genesis.config.0, &genesis.group_key.0).map(|trust| trust.signing());
        match (self.genesis, node) {
            (None, Err(error)) => Err(error.into()),
            (None, Ok(genesis)) => of_node(&genesis).map_err(|error| Failure::Node(error.to_string())),
            (Some(expected), node) => {
                let known = node.ok().and_then(|genesis| of_node(&genesis).ok()).filter(|chain| chain.genesis == expected);
                Ok(known.unwrap_or(Chain { genesis: expected, is_dev: false }))
            }
        }
    }

    async fn fetch(&self) -> Result<Kept, Failure> {
        let url = Url::parse(&self.what).map_err(|error| {
            Failure::argument(format!("{} is not a URL: {error}", self.what), "write one like http://mysite.localhost:8080/")
        })?;
        let more = self.id.iter().map(|id| (REQUEST_ID_HEADER, id.as_str())).collect::<Vec<_>>();
        let (response, sent) = get(&url, &more).await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let signed = read(&headers).map_err(|error| Failure::Witness(error.to_string()))?;
        let id = headers.get(REQUEST_ID_HEADER).and_then(|id| id.to_str().ok()).unwrap_or_default();
        let asked = asked(url.as_str(), &self.zone)?.with_headers(sent);
        let body = response.bytes().await.map_err(|error| Failure::Node(format!("{url} broke off: {error}")))?;
        Ok(Kept {
            request: Hex(asked.envelope(id).encode()),
            status,
            headers: headers.iter().map(|(name, value)| (name.to_string(), Hex(value.as_bytes().to_vec()))).collect(),
            body: Hex(body.to_vec()),
            signed: Hex(signed.encode().to_vec()),
        })
    }
}

impl Kept {
    fn load(path: &str) -> Result<Self, Failure> {
        let bytes = std::fs::read(path).map_err(Failure::file(path))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| Failure::argument(format!("{path} is not a saved answer: {error}"), "create one with verify-answer --save"))
    }

    /// What was signed and by whom, where it is what was received.
    fn check(&self, chain: Chain) -> Result<(SignedAnswer, Address), NotSigned> {
        let line = |(name, value): &(String, HexBytes)| {
            Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_bytes(&value.0).ok()?))
        };
        let mut headers = HeaderMap::new();
        for (name, value) in self.headers.iter().map(line).collect::<Option<Vec<_>>>().ok_or(NotSigned::Malformed)? {
            headers.append(name, value);
        }
        let signed = SignedAnswer::decode(self.signed.0.clone()).map_err(|_| NotSigned::Malformed)?;
        let signer = check(&signed, chain, &self.request.0, &Said::of(self.status, &headers, &self.body.0))?;
        Ok((signed, signer))
    }
}

/// The argument of a report: two answers that one gateway signed.
pub(crate) fn report(first: &str, second: &str) -> Result<Value, Failure> {
    let signed = |path| Ok::<_, Failure>(Kept::load(path)?.signed);
    Ok(json!({ "first": signed(first)?, "second": signed(second)? }))
}
