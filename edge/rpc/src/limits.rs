//! How many requests a second the node answers.

use crate::{App, refusal::Refusal};
use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use cowboy_api::{
    Endpoint,
    error::{RATE_LIMITED, TOO_SLOW},
    table::Rate,
};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use std::{num::NonZeroU32, time::Duration};

/// Requests a second, all methods together.
pub const REQUESTS_PER_SECOND: u32 = 100;

/// Wishes a minute at the faucet.
pub const FAUCET_PER_MINUTE: u32 = 5;

/// The limits of one server, or none.
pub(crate) struct Limits {
    global: Option<DefaultDirectRateLimiter>,
    faucet: Option<DefaultDirectRateLimiter>,
}

impl Limits {
    /// The limit of this many requests a second and the faucet's, or none.
    pub(crate) fn new(requests_per_second: Option<u32>) -> Self {
        let Some(rate) = requests_per_second.and_then(NonZeroU32::new) else { return Self { global: None, faucet: None } };
        let faucet = NonZeroU32::new(FAUCET_PER_MINUTE).expect("the constant is not zero");
        Self { global: Some(RateLimiter::direct(Quota::per_second(rate))), faucet: Some(RateLimiter::direct(Quota::per_minute(faucet))) }
    }

    fn allows(&self, rate: Rate) -> bool {
        let within = |limiter: &Option<DefaultDirectRateLimiter>| limiter.as_ref().is_none_or(|limiter| limiter.check().is_ok());
        match rate {
            Rate::Free => true,
            Rate::Global => within(&self.global),
            Rate::Faucet => within(&self.global) && within(&self.faucet),
        }
    }
}

/// The longest that a request may take which waits for nothing, in seconds.
const MAX_SECONDS: u64 = 60;

/// Ends a request that takes too long. Streams go on for ever, and what waits for blocks has a patience of its own.
pub(crate) async fn in_time(State(endpoint): State<Endpoint>, request: Request, next: Next) -> Response {
    let waits = matches!(
        endpoint,
        Endpoint::Follow | Endpoint::Socket | Endpoint::SubmitWait | Endpoint::Faucet | Endpoint::DevMine | Endpoint::DevWarp
    );
    if waits {
        return next.run(request).await;
    }
    match tokio::time::timeout(Duration::from_secs(MAX_SECONDS), next.run(request)).await {
        Ok(response) => response,
        Err(_) => Refusal::from(TOO_SLOW).into_response(),
    }
}

/// Refuses what is beyond the limits.
pub(crate) async fn check(State((app, rate)): State<(App, Rate)>, request: Request, next: Next) -> Response {
    if app.limits.allows(rate) { next.run(request).await } else { Refusal::from(RATE_LIMITED).into_response() }
}
