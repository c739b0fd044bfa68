//! Calls that a service posts once, and again where it does not see them on the chain.

use cowboy_api::sender::{Call, Request};
use cowboy_types::units::Amount;
use std::collections::BTreeMap;

/// Blocks after which what was sent and is not seen is sent again.
const AGAIN_AFTER: u64 = 4;

/// Blocks after which it is forgotten that something was sent.
const FORGOTTEN_AFTER: u64 = 10_000;

/// The calls of a service.
#[derive(Default)]
pub struct Calls {
    /// When each thing was sent last, and how often.
    sent: BTreeMap<String, (u64, u32)>,
}

impl Calls {
    /// The call for a thing to do, where it was not sent a moment ago.
    pub fn once(&mut self, height: u64, what: impl Into<String>, request: Request) -> Option<Call> {
        self.paid(height, what, request, Amount::ZERO)
    }

    /// Whether a thing would be sent now, so that it need not be computed where not.
    pub fn is_time(&self, height: u64, what: &str) -> bool {
        self.sent.get(what).is_none_or(|(at, _)| height >= at.saturating_add(AGAIN_AFTER))
    }

    /// The same with CBY that go along.
    pub fn paid(&mut self, height: u64, what: impl Into<String>, request: Request, value: Amount) -> Option<Call> {
        let what = what.into();
        if !self.is_time(height, &what) {
            return None;
        }
        let tries = self.sent.get(&what).map_or(0, |(_, tries)| tries.saturating_add(1));
        self.sent.retain(|_, (at, _)| at.saturating_add(FORGOTTEN_AFTER) > height);
        self.sent.insert(what, (height, tries));
        // What is sent again is tried out first.
        Some(Call { value, tries: tries.max(1), ..Call::from(request) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::cbor::Value;

    /// A thing is posted once, and again after four blocks; others do not wait for it.
    #[test]
    fn a_call_is_sent_again_later() {
        let mut calls = Calls::default();
        let request = Request { actor: 0x0B, method: "heartbeat", argument: Value::Null };
        let mut at = |height, what: &str| calls.once(height, what, request.clone()).map(|call| call.tries);
        assert_eq!((at(10, "a"), at(11, "a"), at(13, "a"), at(13, "b")), (Some(1), None, None, Some(1)));
        assert_eq!((at(14, "a"), at(15, "a"), at(18, "a")), (Some(1), None, Some(2)));
        assert_eq!((at(10_018, "c"), calls.sent.len()), (Some(1), 1), "what was sent long ago is forgotten");
    }
}
