//! Ids of requests (004 §8.1, decision 178).

use crate::refusal::Refusal;
use cowboy_ingress::request::REQUEST_ID_HEADER;
use cowboy_system::gateways::envelope;
use cowboy_types::{Address, Hash, keccak256};
use hyper::{HeaderMap, Method, Uri};

/// The header by which a client may send a command again: the same key and request are the same command.
const KEY_HEADER: &str = "idempotency-key";

/// The longest key.
const KEY_BYTES: usize = 200;

/// What makes a command's id differ from others of this gateway to its actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Salt(pub(crate) [u8; 32]);

impl Salt {
    /// The salt of a command: of its key, method, target and body where the client gave a key; else a new one.
    pub(crate) fn of(method: &Method, uri: &Uri, headers: &HeaderMap, body: Option<&[u8]>) -> Result<Self, Refusal> {
        if headers.contains_key(REQUEST_ID_HEADER) {
            let what = "The gateway makes the ids of commands. To send one again safely, send it with the same Idempotency-Key.";
            return Err(Refusal::bad_request(what));
        }
        let Some(key) = headers.get(KEY_HEADER) else {
            return Ok(Self(random()?));
        };
        let is_key = |bytes: &[u8]| (1..=KEY_BYTES).contains(&bytes.len()) && bytes.iter().all(|byte| (b'!'..=b'~').contains(byte));
        if !is_key(key.as_bytes()) {
            return Err(Refusal::bad_request("Idempotency-Key is 1 to 200 visible ASCII characters."));
        }
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        let parts = [key.as_bytes(), method.as_str().as_bytes(), target.as_bytes(), body.unwrap_or_default()];
        let digests: Vec<[u8; 32]> = parts.iter().map(|part| keccak256(&[part]).0).collect();
        Ok(Self(keccak256(&[b"cowboy-idempotency:", &digests.concat()]).0))
    }

    /// The id of the command on the chain with this genesis hash.
    pub(crate) fn id(self, genesis: Hash, gateway: Address, target: Address) -> String {
        envelope::request_id(genesis, gateway, target, &self.0)
    }
}

fn random<const N: usize>() -> Result<[u8; N], Refusal> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(Refusal::unavailable)?;
    Ok(bytes)
}

/// The id of a query, which nothing remembers: the client's own, or a new one.
pub(crate) fn of_query(headers: &HeaderMap) -> Result<String, Refusal> {
    match headers.get(REQUEST_ID_HEADER) {
        None => Ok(envelope::request_id(Hash::ZERO, Address::ZERO, Address::ZERO, &random()?)),
        Some(given) => match given.to_str().ok().filter(|id| envelope::is_request_id(id)) {
            Some(id) => Ok(id.to_owned()),
            None => Err(Refusal::bad_request("X-Cowboy-Request-Id is a UUID of version 4, in lower case.")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{HeaderName, HeaderValue};

    fn salt(method: &Method, uri: &'static str, header: Option<(&'static str, &'static str)>, body: &[u8]) -> Option<Salt> {
        let mut headers = HeaderMap::new();
        if let Some((name, value)) = header {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        Salt::of(method, &Uri::from_static(uri), &headers, Some(body)).ok()
    }

    /// The same key and request have one id; another key, method, target or body has another; without a key every request is new.
    #[test]
    fn a_key_makes_a_request_the_same() {
        let key = Some(("idempotency-key", "k-1"));
        let first = salt(&Method::POST, "/a?b=1", key, b"x").expect("a key");
        assert_eq!(salt(&Method::POST, "/a?b=1", key, b"x"), Some(first));
        let others = [
            salt(&Method::PUT, "/a?b=1", key, b"x"),
            salt(&Method::POST, "/a?b=2", key, b"x"),
            salt(&Method::POST, "/a?b=1", key, b"y"),
            salt(&Method::POST, "/a?b=1", Some(("idempotency-key", "k-2")), b"x"),
            salt(&Method::POST, "/a?b=1", None, b"x"),
        ];
        for other in others {
            assert!(other.is_some_and(|other| other != first), "{other:?}");
        }
        assert_ne!(salt(&Method::POST, "/", None, b""), salt(&Method::POST, "/", None, b""));
        for refused in
            [("idempotency-key", ""), ("idempotency-key", "a b"), ("x-cowboy-request-id", "0f8fad5b-d9cb-469f-a165-70867728950e")]
        {
            assert_eq!(salt(&Method::POST, "/", Some(refused), b""), None, "{refused:?}");
        }
    }
}
