//! A typed client of a node.

use crate::{
    error::{ApiError, BAD_REQUEST, TIMEOUT, UNREACHABLE},
    hex_text::Hex,
    model,
};
use cowboy_params::Params;
use cowboy_types::{Address, Hash, Transaction};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use std::time::Duration;

/// A connection to one node. Clones share it.
#[derive(Clone, Debug)]
pub struct Client {
    base: String,
    http: reqwest::Client,
}

/// The time of an answer that the node has at once.
const ANSWER_TIME: Duration = Duration::from_secs(90);

/// The time of an answer to what is sent: a devnet may make many blocks for it.
const WORK_TIME: Duration = Duration::from_secs(15 * 60);

/// The most bytes of an answer.
const MAX_ANSWER: usize = 128 * 1024 * 1024;

/// What connections to this node begin with: they follow no redirection, which could lead anywhere. One that needs no certificates reads none: the system's take milliseconds and megabytes.
pub fn builder(url: &str) -> reqwest::ClientBuilder {
    let builder = reqwest::Client::builder().connect_timeout(Duration::from_secs(5)).redirect(reqwest::redirect::Policy::none());
    if url.starts_with("http://") { builder.tls_certs_only([]) } else { builder }
}

/// Why the body of a response is not there.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It is longer than its reader takes.
    #[error("the answer has more than {0} bytes")]
    TooLong(usize),
    /// The connection ended before it.
    #[error("{}", innermost(.0))]
    Broken(reqwest::Error),
}

/// The whole body of a response, where it has at most `most` bytes. No more of it is read.
///
/// # Errors
///
/// If it is longer, or does not come.
pub async fn body(mut response: reqwest::Response, most: usize) -> Result<Vec<u8>, BodyError> {
    if response.content_length().is_some_and(|length| usize::try_from(length).map_or(true, |length| length > most)) {
        return Err(BodyError::TooLong(most));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(BodyError::Broken)? {
        if body.len() + chunk.len() > most {
            return Err(BodyError::TooLong(most));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The deepest cause of a failure, which says most of a request that failed.
pub fn innermost(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source()).last().map(ToString::to_string).unwrap_or_default()
}

/// Bytes of a transaction as a submission's body.
const OCTETS: &str = "application/octet-stream";

impl Client {
    /// A client of the node at this address, like `http://localhost:4000`.
    pub fn new(url: &str) -> Result<Self, ApiError> {
        let base = url.trim_end_matches('/').to_owned();
        if !base.starts_with("http://") && !base.starts_with("https://") {
            let context = json!({ "rpc_url": url, "expected": "http://host:port or https://host:port" });
            return Err(ApiError {
                what: format!("{url:?} is not the address of a node."),
                why: "An address begins with http:// or https://.".into(),
                fix: "Give one like http://localhost:4000.".into(),
                ..ApiError::of_fault(BAD_REQUEST).with(context)
            });
        }
        let http = builder(&base).build().map_err(|error| unreachable(&base, &error))?;
        Ok(Self { base, http })
    }

    /// The node's address.
    pub fn url(&self) -> &str {
        &self.base
    }

    /// GET of a path.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ApiError> {
        self.answer(self.http.get(self.url_of(path)).timeout(ANSWER_TIME)).await
    }

    /// POST of a JSON body.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, ApiError> {
        self.answer(self.http.post(self.url_of(path)).timeout(WORK_TIME).json(body)).await
    }

    /// PUT of a JSON body.
    pub async fn put<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, ApiError> {
        self.answer(self.http.put(self.url_of(path)).timeout(ANSWER_TIME).json(body)).await
    }

    fn url_of(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    async fn answer<T: DeserializeOwned>(&self, request: reqwest::RequestBuilder) -> Result<T, ApiError> {
        let response = request.send().await.map_err(|error| unreachable(&self.base, &error))?;
        let status = response.status();
        let bytes = self.whole(response).await?;
        let strange = || {
            let beginning: String = String::from_utf8_lossy(&bytes).chars().take(200).collect();
            ApiError::of_fault(UNREACHABLE).with(json!({ "url": self.base, "status": status.as_u16(), "answer": beginning }))
        };
        if status.is_success() {
            return serde_json::from_slice(&bytes).map_err(|_| strange());
        }
        Err(refusal(&bytes).unwrap_or_else(strange))
    }

    /// The whole body, where it is not too long.
    async fn whole(&self, response: reqwest::Response) -> Result<Vec<u8>, ApiError> {
        let unread = |error: BodyError| ApiError::of_fault(UNREACHABLE).with(json!({ "url": self.base, "reason": error.to_string() }));
        body(response, MAX_ANSWER).await.map_err(unread)
    }

    /// How the node is.
    pub async fn health(&self) -> Result<model::HealthDetailed, ApiError> {
        self.get("/health/detailed").await
    }

    /// The newest finalized height.
    pub async fn height(&self) -> Result<u64, ApiError> {
        Ok(self.get::<model::Height>("/height").await?.height)
    }

    /// What a cycle and a cell cost.
    pub async fn base_fee(&self) -> Result<model::BaseFee, ApiError> {
        self.get("/basefee").await
    }

    /// An account.
    pub async fn account(&self, address: &Address) -> Result<model::Account, ApiError> {
        self.get(&format!("/account/{address}")).await
    }

    /// The parameters of the next block, as governance left them.
    pub async fn params(&self) -> Result<Params, ApiError> {
        let now: model::Parameters = self.all("/params").await?;
        Ok(Params::GENESIS.moved(now.params.into_iter().map(|row| (row.id, row.value))))
    }

    /// An account, empty where the chain has never seen it.
    pub async fn account_or_empty(&self, address: &Address) -> Result<model::Account, ApiError> {
        match self.account(address).await {
            Err(error) if error.slug == crate::error::NOT_FOUND.slug => Ok(model::Account { address: Hex(*address), nonce: 0, balance: 0 }),
            other => other,
        }
    }

    /// An actor.
    pub async fn actor(&self, address: &Address) -> Result<model::Actor, ApiError> {
        self.get(&format!("/actor/{address}")).await
    }

    /// A block by height, hash or `latest`.
    pub async fn block(&self, id: &str) -> Result<model::Block, ApiError> {
        self.get(&format!("/block/{id}")).await
    }

    /// A transaction.
    pub async fn transaction(&self, hash: &Hash) -> Result<model::Transaction, ApiError> {
        self.get(&format!("/transaction/{hash}")).await
    }

    /// What came of a transaction.
    pub async fn receipt(&self, hash: &Hash) -> Result<model::Receipt, ApiError> {
        self.get(&format!("/transaction/{hash}/receipt")).await
    }

    /// Runs a handler on committed state.
    pub async fn read_handler(&self, actor: &Address, question: &model::ReadHandler) -> Result<model::ReadAnswer, ApiError> {
        self.post(&format!("/actor/{actor}/read_handler"), question).await
    }

    /// What a view of a system actor returns.
    pub async fn view(&self, actor: &Address, method: &str, arguments: &serde_json::Value) -> Result<model::ViewAnswer, ApiError> {
        self.post(&format!("/actors/{actor}/views/{method}"), arguments).await
    }

    /// Submits one transaction and answers its name.
    pub async fn submit(&self, transaction: &Transaction) -> Result<Hash, ApiError> {
        let result = self.submit_bytes("/submit", transaction, ANSWER_TIME).await?;
        result.tx_hash.map(|hash| hash.0).ok_or_else(|| result.error.unwrap_or_else(|| ApiError::of_fault(TIMEOUT)))
    }

    /// Submits one transaction and waits for its receipt.
    pub async fn submit_wait(&self, transaction: &Transaction, timeout: Duration) -> Result<model::Receipt, ApiError> {
        let path = format!("/submit_wait?timeout_ms={}", timeout.as_millis());
        let result = self.submit_bytes(&path, transaction, timeout.saturating_add(ANSWER_TIME)).await?;
        result.receipt.ok_or_else(|| result.error.unwrap_or_else(|| ApiError::of_fault(TIMEOUT)))
    }

    async fn submit_bytes(&self, path: &str, transaction: &Transaction, time: Duration) -> Result<model::SubmitResult, ApiError> {
        let request = self.http.post(self.url_of(path)).timeout(time).header("content-type", OCTETS).body(transaction.to_bytes());
        let mut submitted: model::Submitted = self.answer(request).await?;
        submitted.results.pop().ok_or_else(|| ApiError::of_fault(UNREACHABLE).with(json!({ "url": self.base, "answer": "no result" })))
    }

    /// Submits several transactions in their canonical encoding, and answers the result of each, in order.
    pub async fn submit_all(&self, transactions: Vec<Vec<u8>>) -> Result<Vec<model::SubmitResult>, ApiError> {
        let count = transactions.len();
        let body = model::Submission { transactions: transactions.into_iter().map(Hex).collect() };
        let request = self.http.post(self.url_of("/submit")).timeout(ANSWER_TIME).json(&body);
        let bytes = self.whole(request.send().await.map_err(|error| unreachable(&self.base, &error))?).await?;
        // Where all are refused the status says so, and the body still has the result of each.
        match serde_json::from_slice::<model::Submitted>(&bytes) {
            Ok(submitted) if submitted.results.len() == count => Ok(submitted.results),
            _ => Err(refusal(&bytes).unwrap_or_else(|| ApiError::of_fault(UNREACHABLE).with(json!({ "url": self.base })))),
        }
    }

    /// Runs a transaction on committed state, without effect.
    pub async fn simulate(&self, transaction: &Transaction) -> Result<model::Simulated, ApiError> {
        self.post("/simulate", &model::Simulate { transaction: Hex(transaction.to_bytes().to_vec()) }).await
    }

    /// Asks the faucet.
    pub async fn faucet(&self, address: &Address) -> Result<model::FaucetAnswer, ApiError> {
        self.post("/faucet", &model::FaucetRequest { address: Hex(*address) }).await
    }

    /// Opens a stream of bytes, like `/follow`.
    pub async fn stream(&self, path: &str) -> Result<impl futures::Stream<Item = Result<Vec<u8>, ApiError>> + use<>, ApiError> {
        let response = self.http.get(self.url_of(path)).send().await.map_err(|error| unreachable(&self.base, &error))?;
        let base = self.base.clone();
        if !response.status().is_success() {
            let bytes = self.whole(response).await?;
            return Err(refusal(&bytes).unwrap_or_else(|| ApiError::of_fault(UNREACHABLE).with(json!({ "url": base }))));
        }
        Ok(futures::StreamExt::map(response.bytes_stream(), move |chunk| {
            chunk.map(|bytes| bytes.to_vec()).map_err(|error| unreachable(&base, &error))
        }))
    }
}

/// The refusal in an answer: an error by itself, or the first of a submission that failed whole.
fn refusal(bytes: &[u8]) -> Option<ApiError> {
    serde_json::from_slice(bytes).ok().or_else(|| {
        let submitted: model::Submitted = serde_json::from_slice(bytes).ok()?;
        submitted.results.into_iter().find_map(|result| result.error)
    })
}

fn unreachable(url: &str, error: &reqwest::Error) -> ApiError {
    ApiError::of_fault(UNREACHABLE).with(json!({ "url": url, "reason": innermost(error) }))
}
