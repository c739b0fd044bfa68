//! What the gateway signs for: answers to GET and HEAD, so that a false one is evidence (decision 327).

use crate::{Shared, ids, refusal::Refusal};
use bytes::Bytes;
use cowboy_ingress::{
    request::{self, Parts, REQUEST_ID_HEADER},
    signed::{Chain, SIGNATURE_HEADER, Said, header_value},
};
use cowboy_system::gateways::answers::{Statement, answer_version};
use cowboy_types::{Address, Hash, Height, Text, cbor::Value, keccak256};
use hyper::{HeaderMap, header::HeaderValue, http::request::Parts as Head};

/// The block whose state an answer is made on.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub(crate) chain: Chain,
    pub(crate) height: Height,
    pub(crate) state_root: Hash,
}

/// A request that only reads, and the state that it reads.
pub(crate) struct Reading {
    pub(crate) block: Block,
    pub(crate) name: String,
    /// The actor that the name leads to: zero where it leads to none.
    pub(crate) actor: Address,
    pub(crate) id: String,
    /// The request as the handler gets it.
    pub(crate) envelope: Bytes,
}

/// A request with this id, as the handler gets it.
pub(crate) fn envelope_of(parts: &Head, host: &str, request_id: &str, body: Option<&[u8]>) -> Value {
    let parts = Parts { method: parts.method.as_str(), uri: &parts.uri, headers: &parts.headers, host, request_id };
    request::envelope(&parts, body)
}

impl Reading {
    /// A request to a name, and the actor that it leads to: zero where it leads to none.
    pub(crate) fn of(parts: &Head, host: &str, block: Block, name: &str, actor: Address) -> Result<Self, Refusal> {
        let id = ids::of_query(&parts.headers)?;
        let envelope = envelope_of(parts, host, &id, None).encode().into();
        Ok(Self { block, name: name.to_owned(), actor, id, envelope })
    }

    /// Signs what is said, and puts the signature and the request's id into the answer.
    pub(crate) fn sign(&self, shared: &Shared, said: &Said, answer: &mut HeaderMap) {
        let Some(commander) = &shared.commander else { return };
        let statement = Statement {
            version: answer_version(self.block.chain.is_dev),
            genesis: self.block.chain.genesis,
            height: self.block.height,
            state_root: self.block.state_root,
            name: Text::new(&*self.name).expect("a name of the chain is at most 253 bytes"),
            actor: self.actor,
            request: keccak256(&[&self.envelope]),
            status: said.status,
            headers: said.headers,
            body: said.body,
        };
        let value = |text: &str| HeaderValue::from_str(text).expect("digits and hyphens are a header");
        answer.insert(SIGNATURE_HEADER, value(&header_value(&commander.sign_answer(statement))));
        answer.insert(REQUEST_ID_HEADER, value(&self.id));
    }
}
