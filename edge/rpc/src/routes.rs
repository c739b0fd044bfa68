//! Which handler answers which row.

use crate::{
    App, explorer, limits,
    methods::{
        accounts, actors, blocks, dev, entitlements, faucet, governance, jobs, names, node, proofs, rent, streams, timers, tokens,
        transactions, validators,
    },
    metrics,
    refusal::Refusal,
};
use axum::{
    Router,
    middleware::from_fn_with_state,
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, get, post},
};
use cowboy_api::{
    Endpoint,
    error::{NO_SUCH_METHOD, SERVER, WRONG_VERB},
};
use serde_json::json;
use std::any::Any;
use tower_http::catch_panic::CatchPanicLayer;

/// The API, the explorer and the documentation.
pub(crate) fn api(app: &App) -> Router {
    let mut router = Router::new();
    for endpoint in Endpoint::ALL {
        let method = endpoint.method();
        let route = handler(*endpoint)
            .layer(from_fn_with_state((app.clone(), *endpoint), limits::hold))
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
        .layer(contained())
        .with_state(app.clone())
}

/// Answers 500 where a handler panics: one request's bug is not the node's end.
fn contained() -> CatchPanicLayer<fn(Box<dyn Any + Send>) -> Response> {
    CatchPanicLayer::custom(|payload: Box<dyn Any + Send>| {
        let said = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
        let reason = said.unwrap_or("a panic without words");
        tracing::error!(reason, "a request's handler panicked");
        Refusal::new(SERVER, json!({ "reason": reason })).into_response()
    })
}

/// The page that Prometheus reads.
pub(crate) fn metrics(app: &App) -> Router {
    Router::new().route("/metrics", get(metrics::page)).with_state(app.clone())
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
        Endpoint::Validators => get(validators::list),
        Endpoint::Validator => get(validators::validator),
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
        Endpoint::ActorRent => get(rent::of_actor),
        Endpoint::ActorStorage => get(actors::storage),
        Endpoint::ActorMailbox => get(actors::mailbox),
        Endpoint::Timers => get(timers::all),
        Endpoint::ActorTimers => get(timers::of_actor),
        Endpoint::ReadHandler => post(actors::read_handler),
        Endpoint::Proposals => get(governance::proposals),
        Endpoint::Proposal => get(governance::proposal),
        Endpoint::Timelocks => get(governance::timelocks),
        Endpoint::Council => get(governance::council),
        Endpoint::ParameterHistory => get(governance::history),
        Endpoint::Jobs => get(jobs::list),
        Endpoint::Job => get(jobs::job),
        Endpoint::JobCandidates => get(jobs::candidates),
        Endpoint::Runners => get(jobs::runners_list),
        Endpoint::Runner => get(jobs::runner),
        Endpoint::RunnerJobs => get(jobs::runner_jobs),
        Endpoint::Delegation => get(jobs::delegation),
        Endpoint::Tokens => get(tokens::list),
        Endpoint::Token => get(tokens::token),
        Endpoint::TokenBalance => get(tokens::balance),
        Endpoint::TokenAllowance => get(tokens::allowance),
        Endpoint::Names => get(names::list),
        Endpoint::Name => get(names::name),
        Endpoint::ActorNames => get(names::of_actor),
        Endpoint::Gateways => get(names::gateways),
        Endpoint::Gateway => get(names::one_gateway),
        Endpoint::Blocks => get(blocks::list),
        Endpoint::Block => get(blocks::block),
        Endpoint::Follow => get(streams::follow),
        Endpoint::BlockCopy => get(streams::copy),
        Endpoint::Operations => get(streams::operations),
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

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{body::Body, http::Request};
    use tower::ServiceExt as _;

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let router: Router = Router::new().route("/", get(async || -> &'static str { panic!("no such row") })).layer(contained());
        for _ in 0..2 {
            let response = router.clone().oneshot(Request::new(Body::empty())).await.expect("a router answers");
            assert_eq!(response.status().as_u16(), 500);
            let body = axum::body::to_bytes(response.into_body(), 10_000).await.expect("a short body");
            let error: cowboy_api::ApiError = serde_json::from_slice(&body).expect("the error table's words");
            assert_eq!((error.slug.as_str(), &error.context["reason"]), ("server_error", &json!("no such row")));
        }
    }
}
