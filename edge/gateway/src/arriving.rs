//! Commands on their way to the actor: their bodies, and what of them is refused before they are signed.

use crate::{
    Shared, attempts::or_accepted, bodies::json_response, budgets::Payers, command::Commander, config::Limits, ids::Salt,
    membership::Urgency, refusal::Refusal, requests::Sent, sending::is_refused_for_good, sharer::Sharer, signed::envelope_of,
    state::BlockState,
};
use bytes::Bytes;
use cowboy_ingress::request::{REQUEST_ID_HEADER, VERIFY_HEADER};
use cowboy_serve::{Client, Full};
use cowboy_types::{Address, cbor::Value};
use hyper::{Method, Response, StatusCode, body::Incoming, header, http::request};
use serde_json::json;
use std::{net::IpAddr, sync::Arc};

/// The part of the commands under way that one client has: a quarter.
const CLIENTS: usize = 4;

/// A command whose body is on its way.
pub(crate) struct Arriving<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) address: IpAddr,
    pub(crate) parts: &'a request::Parts,
    pub(crate) host: &'a str,
    pub(crate) name: &'a str,
}

impl Arriving<'_> {
    /// Reads the body, of this length at most, and sends the command to the actor to which the name leads then. Notes the height of the state that it is tried on.
    pub(crate) async fn send(self, body: Incoming, most: u64, height: &mut Option<u64>) -> Result<Response<Bytes>, Refusal> {
        let Self { shared, address, parts, host, name } = self;
        let Some(commander) = &shared.commander else {
            let what = "This gateway only reads: it has no key.";
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "READ_ONLY", what, "Ask another gateway."));
        };
        let longest = u64::try_from(Commander::payload_bytes()).unwrap_or(u64::MAX);
        let (body, _held) = shared.body(address.into(), body, most.min(longest)).await?;
        let state = shared.newest.state().await?;
        *height = Some(state.head.height.0);
        let route = state.route(name).await?;
        let most = route.admits(parts.method.as_str())?.request_bytes;
        if u64::try_from(body.len()).unwrap_or(u64::MAX) > most {
            return Err(Refusal::too_large(most));
        }
        let _place = shared.limits.enter(&state.params, route.actor, address)?;
        let command = Command { shared, address, parts, host, state, name: &route.name, actor: route.actor };
        command.send(commander, body).await
    }
}

/// A command to an actor that takes it.
struct Command<'a> {
    shared: &'a Shared,
    address: IpAddr,
    parts: &'a request::Parts,
    host: &'a str,
    state: Arc<BlockState>,
    name: &'a str,
    actor: Address,
}

impl Command<'_> {
    fn envelope(&self, request_id: &str, body: Option<&[u8]>) -> Value {
        envelope_of(self.parts, self.host, request_id, body)
    }

    async fn send(self, commander: &Commander, body: Bytes) -> Result<Response<Bytes>, Refusal> {
        // DELETE has no body (004 §8.1, decision 76).
        let body = (self.parts.method != Method::DELETE).then_some(body);
        let salt = Salt::of(&self.parts.method, &self.parts.uri, &self.parts.headers, body.as_deref())?;
        let id = salt.id(self.state.at.chain.genesis, commander.address(), self.actor);
        let requests = &self.shared.requests;
        if requests.is_under_way(&id) || is_done(&self.state, &id).await? {
            return Ok(accepted(&id, None));
        }
        let answer = commander.attempts().run(&id, self.attempt(commander, &id, salt, body)).await;
        let is_sent = async { requests.is_under_way(&id) || self.has_run(&id).await };
        or_accepted(answer, is_sent, || accepted(&id, None)).await
    }

    /// Whether the request of this id was delivered while this one waited.
    async fn has_run(&self, id: &str) -> bool {
        match self.shared.newest.state().await {
            Ok(state) => is_done(&state, id).await.unwrap_or(false),
            Err(_) => false,
        }
    }

    /// Has the command signed and sent. Whether it may run where this refuses it, [`Attempts::run`](crate::attempts::Attempts::run) says.
    async fn attempt(&self, commander: &Commander, id: &str, salt: Salt, body: Option<Bytes>) -> Result<Response<Bytes>, Refusal> {
        let share = share_of(&self.shared.config.limits, self.address);
        let place = self.shared.commands.take(self.address, share).map_err(no_place)?;
        self.shared.membership.ensure(commander, &self.shared.node, &self.state, Urgency::Last).await.map_err(inactive)?;
        let envelope = self.envelope(id, body.as_deref());
        let payers = Payers::new(self.address, self.name, self.actor);
        let agree = |used| -> Result<Sent, Refusal> {
            let agreed = self.shared.limits.agree(&self.state.params, payers, used)?;
            Ok(Sent { id: id.to_owned(), target: self.actor, at: self.state.head.number, agreed, _place: place })
        };
        let client = Client::from(self.address);
        let sent = commander.dispatch(client, &self.shared.node, &self.state, (self.actor, envelope, salt), agree).await?;
        let Some(sent) = sent else { return Ok(accepted(id, None)) };
        let is_asked = self.parts.headers.contains_key(VERIFY_HEADER);
        let transaction = is_asked.then(|| format!("0x{}", hex::encode(sent.transaction.to_bytes())));
        Ok(accepted(id, Some((sent.hash.to_string(), transaction))))
    }
}

/// Whether the request of this id was delivered already.
async fn is_done(state: &BlockState, id: &str) -> Result<bool, Refusal> {
    let found = state.ask(|world| cowboy_system::gateways::state::request(world, id)).await?;
    Ok(found.is_some())
}

/// How many commands of a client may be under way: any of all, where a proxy on this machine brings them.
fn share_of(limits: &Limits, address: IpAddr) -> usize {
    let of_client = limits.client_commands_at_once.unwrap_or((limits.commands_at_once / CLIENTS).max(1));
    Sharer::of(address).map_or(limits.commands_at_once, |_| of_client)
}

fn no_place(full: Full) -> Refusal {
    match full {
        Full::Total(_) => Refusal::busy("TOO_MANY_COMMANDS", "Too many commands are under way.").retry(2),
        Full::Client(_) | Full::Subnet(_) => {
            let what = "Too many commands of this client or its network are under way.";
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMIT", what, "Send it again when some of them are done.").retry(2)
        }
    }
}

/// Why the gateway itself is not active: its registration or heartbeat did not succeed, which is not the matter of the visitor's command.
fn inactive(why: Refusal) -> Refusal {
    if !is_refused_for_good(&why) {
        return why;
    }
    let what = "The gateway is not active: its node refuses its registration or heartbeat.";
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", what, "Ask another gateway, or tell the operator of this one.").retry(60)
}

/// 202: the command is on its way, and where its result will be (004 §8.4).
pub(crate) fn accepted(id: &str, sent: Option<(String, Option<String>)>) -> Response<Bytes> {
    let result = format!("/_cowboy/requests/{id}");
    let (hash, transaction) = sent.map_or((None, None), |(hash, transaction)| (Some(hash), transaction));
    let mut body = json!({ "request_id": id, "result": result, "transaction_hash": hash });
    if let Some(transaction) = transaction {
        body["transaction"] = transaction.into();
    }
    let mut response = json_response(StatusCode::ACCEPTED, &body);
    let headers = response.headers_mut();
    if let (Ok(id), Ok(result)) = (header::HeaderValue::from_str(id), header::HeaderValue::from_str(&result)) {
        headers.insert(REQUEST_ID_HEADER, id);
        headers.insert(header::LOCATION, result);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_serve::Slots;

    /// Decision 664: one client has a part of the commands under way, and a subnet two; a proxy on this machine has all.
    #[test]
    fn a_client_has_a_share_of_the_commands() {
        let limits = Limits { commands_at_once: 16, ..Limits::default() };
        let given = Limits { client_commands_at_once: Some(3), ..limits.clone() };
        let of = |net: u8, host: u8| IpAddr::from([10, 0, net, host]);
        let (own, other) = (IpAddr::from([127, 0, 0, 1]), of(1, 1));
        assert_eq!([share_of(&limits, other), share_of(&given, other), share_of(&given, own)], [4, 3, 16]);
        let slots = Slots::new(limits.commands_at_once);
        let mut held = Vec::new();
        let mut refused = |address: IpAddr| {
            let taken = slots.take(address, share_of(&limits, address)).map_err(no_place);
            taken.map(|place| held.push(place)).err().map(|refusal| (refusal.status.as_u16(), refusal.code))
        };
        assert_eq!((0..5).filter_map(|_| refused(other)).collect::<Vec<_>>(), [(429, "RATE_LIMIT")]);
        assert_eq!((0..5).filter_map(|_| refused(of(1, 2))).collect::<Vec<_>>(), [(429, "RATE_LIMIT")]);
        assert_eq!(refused(of(1, 3)), Some((429, "RATE_LIMIT")), "its subnet has two shares");
        assert_eq!((0..9).filter_map(|_| refused(own)).collect::<Vec<_>>(), [(503, "TOO_MANY_COMMANDS")]);
    }
}
