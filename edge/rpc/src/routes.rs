//! Which handler answers which row.

use crate::{
    App, explorer, limits,
    methods::{accounts, actors, blocks, dev, entitlements, faucet, node, proofs, streams, transactions},
    metrics,
    refusal::Refusal,
};
use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::from_fn_with_state,
    response::IntoResponse as _,
    routing::{MethodRouter, get, post},
};
use cowboy_api::{
    Endpoint,
    error::{NO_SUCH_METHOD, WRONG_VERB},
    model::{MAX_BODY_BYTES, MAX_SUBMISSION_BYTES},
};

/// The API, the explorer and the documentation.
pub(crate) fn api(app: &App) -> Router {
    let mut router = Router::new();
    for endpoint in Endpoint::ALL {
        let method = endpoint.method();
        let route = handler(*endpoint)
            .layer(DefaultBodyLimit::max(body_limit(*endpoint)))
            .layer(from_fn_with_state((app.clone(), method.rate), limits::check))
            .layer(from_fn_with_state((app.clone(), *endpoint), metrics::count));
        router = router.route(method.path, route);
    }
    let documentation = utoipa_swagger_ui::SwaggerUi::new("/swagger-ui").url("/api-docs/openapi.json", cowboy_api::openapi::document());
    router
        .route("/", get(explorer::home))
        .route("/explorer", get(explorer::home))
        .route(explorer::PATH, get(explorer::index))
        .route("/explorer/{*path}", get(explorer::asset))
        .merge(documentation)
        .fallback(async || Refusal::from(NO_SUCH_METHOD).into_response())
        .method_not_allowed_fallback(async || Refusal::from(WRONG_VERB).into_response())
        .with_state(app.clone())
}

/// The page that Prometheus reads.
pub(crate) fn metrics(app: &App) -> Router {
    Router::new().route("/metrics", get(metrics::page)).with_state(app.clone())
}

fn body_limit(endpoint: Endpoint) -> usize {
    match endpoint {
        Endpoint::Submit | Endpoint::SubmitWait => MAX_SUBMISSION_BYTES,
        _ => MAX_BODY_BYTES,
    }
}

fn handler(endpoint: Endpoint) -> MethodRouter<App> {
    match endpoint {
        Endpoint::Health => get(node::health),
        Endpoint::HealthDetailed => get(node::health_detailed),
        Endpoint::HealthReady => get(node::ready),
        Endpoint::Height => get(node::height),
        Endpoint::BaseFee => get(node::base_fee),
        Endpoint::Genesis => get(node::genesis),
        Endpoint::Params => get(node::params),
        Endpoint::Supply => get(node::supply),
        Endpoint::Validators => get(node::validators),
        Endpoint::Epoch => get(node::epoch),
        Endpoint::Account => get(accounts::account),
        Endpoint::AccountHistory => get(accounts::history),
        Endpoint::Faucet => post(faucet::faucet),
        Endpoint::Actor => get(actors::actor),
        Endpoint::ActorCode => get(actors::code),
        Endpoint::ActorLogs => get(actors::logs),
        Endpoint::ActorEntitlements => get(entitlements::of_actor),
        Endpoint::EntitlementRegistry => get(entitlements::registry),
        Endpoint::Permissions => get(entitlements::permissions),
        Endpoint::ActorStorage => get(actors::storage),
        Endpoint::ActorMailbox => get(actors::mailbox),
        Endpoint::ActorTimers => get(actors::timers),
        Endpoint::ReadHandler => post(actors::read_handler),
        Endpoint::Blocks => get(blocks::list),
        Endpoint::Block => get(blocks::block),
        Endpoint::Follow => get(streams::follow),
        Endpoint::Socket => get(streams::socket),
        Endpoint::Submit => post(transactions::submit),
        Endpoint::SubmitWait => post(transactions::submit_wait),
        Endpoint::Simulate => post(transactions::simulate),
        Endpoint::Transaction => get(transactions::transaction),
        Endpoint::Receipt => get(transactions::receipt),
        Endpoint::Pending => get(transactions::pending),
        Endpoint::ProofAccount => get(proofs::account),
        Endpoint::ProofActor => get(proofs::actor),
        Endpoint::ProofStorage => get(proofs::storage),
        Endpoint::ProofTransaction => get(proofs::transaction),
        Endpoint::ProofReceipt => get(proofs::receipt),
        Endpoint::ProofMulti => post(proofs::multi),
        Endpoint::DevMine => post(dev::mine),
        Endpoint::DevWarp => post(dev::warp),
        Endpoint::DevSnapshot => post(dev::snapshot),
        Endpoint::DevRevert => post(dev::revert),
        Endpoint::DevBalance => post(dev::balance),
        Endpoint::DevImpersonate => post(dev::impersonate),
    }
}
