//! What the gateway signs for: answers to GET and HEAD, so that a false one is evidence (decision 327).

use crate::{
    Shared,
    ids::{self, REQUEST_ID_HEADER},
    refusal::Refusal,
    state::BlockState,
};
use bytes::Bytes;
use cowboy_ingress::{
    request::{self, Parts},
    signed::{SIGNATURE_HEADER, Said, header_value},
};
use cowboy_system::gateways::answers::{ANSWER_VERSION, Statement};
use cowboy_types::{Address, Text, keccak256};
use hyper::{HeaderMap, header::HeaderValue, http::request::Parts as Head};
use std::sync::Arc;

/// A request that only reads, and the state that it reads.
pub(crate) struct Reading {
    state: Arc<BlockState>,
    name: String,
    actor: Address,
    id: String,
    /// The request as the handler gets it.
    pub(crate) envelope: Bytes,
}

impl Reading {
    /// A request to a name, and the actor that it leads to: zero where it leads to none.
    pub(crate) fn of(parts: &Head, host: &str, state: &Arc<BlockState>, name: &str, actor: Address) -> Result<Self, Refusal> {
        let id = ids::of_query(&parts.headers)?;
        let asked = Parts { method: parts.method.as_str(), uri: &parts.uri, headers: &parts.headers, host, request_id: &id };
        let envelope = request::envelope(&asked, None).encode().into();
        Ok(Self { state: state.clone(), name: name.to_owned(), actor, id, envelope })
    }

    /// Signs what is said, and puts the signature and the request's id into the answer.
    pub(crate) fn sign(&self, shared: &Shared, said: &Said, answer: &mut HeaderMap) {
        let Some(commander) = &shared.commander else { return };
        let statement = Statement {
            version: ANSWER_VERSION,
            genesis: self.state.at.chain.genesis,
            height: self.state.head.height,
            state_root: self.state.head.state_root,
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
