//! Which handler answers which row.

use crate::{
    App, admin, explorer, limits,
    methods::{
        accounts, actors, blocks, dev, entitlements, faucet, governance, jobs, names, node, proofs, rent, search, streams, timers, tokens,
        transactions, validators, views,
    },
    metrics,
    refusal::Refusal,
    swagger,
};
use axum::{
    Router,
    middleware::{from_fn, from_fn_with_state},
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
    router
        .route("/", get(explorer::home))
        .route("/explorer", get(explorer::home))
        .route(explorer::PATH, get(explorer::index))
        .route("/explorer/{*path}", get(explorer::asset))
        .merge(swagger::routes())
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

/// The operator's endpoint, with the page that Prometheus reads.
pub(crate) fn admin(app: &App) -> Router {
    Router::new()
        .route("/metrics", get(metrics::page))
        .route("/log-level", get(admin::log_level).put(admin::set_log_level))
        .route("/peers", get(admin::peers))
        .route("/peers/{name}/unban", post(admin::unban))
        .route("/config", get(admin::settings))
        .route("/pool", get(admin::pool))
        .route("/stores", get(admin::stores))
        .fallback(async || Refusal::from(NO_SUCH_METHOD).into_response())
        .method_not_allowed_fallback(async || Refusal::from(WRONG_VERB).into_response())
        .layer(from_fn(admin::guard))
        .layer(contained())
        .with_state(app.clone())
}

/// The handler of each row; a row of the API's table that has none here does not compile.
macro_rules! handlers {
    ($($Row:ident $verb:ident $handler:path;)+) => {
        fn handler(endpoint: Endpoint) -> MethodRouter<App> {
            match endpoint { $( Endpoint::$Row => $verb($handler), )+ }
        }
    };
}

handlers! {
    Health get node::health;
    HealthDetailed get node::health_detailed;
    HealthReady get node::ready;
    Height get node::height;
    BaseFee get node::base_fee;
    Genesis get node::genesis;
    Params get node::params;
    Supply get node::supply;
    Validators get validators::list;
    Validator get validators::validator;
    Epoch get node::epoch;
    Account get accounts::account;
    AccountHistory get accounts::history;
    Accounts get accounts::list;
    AccountTokens get tokens::of_account;
    Search get search::find;
    Faucet post faucet::faucet;
    Actors get actors::list;
    Actor get actors::actor;
    ActorCode get actors::code;
    ActorLogs get actors::logs;
    ActorEntitlements get entitlements::of_actor;
    EntitlementRegistry get entitlements::registry;
    Permissions get entitlements::permissions;
    ActorRent get rent::of_actor;
    MissingChunks get rent::missing;
    Chunk get rent::chunk;
    ActorStorage get actors::storage;
    ActorMailbox get actors::mailbox;
    Timers get timers::all;
    ActorTimers get timers::of_actor;
    ReadHandler post actors::read_handler;
    View post views::view;
    Methods get views::methods;
    Proposals get governance::proposals;
    Proposal get governance::proposal;
    Timelocks get governance::timelocks;
    Council get governance::council;
    Upgrades get governance::upgrades;
    ParameterHistory get governance::history;
    Jobs get jobs::list;
    Job get jobs::job;
    JobCandidates get jobs::candidates;
    Runners get jobs::runners_list;
    Runner get jobs::runner;
    RunnerJobs get jobs::runner_jobs;
    Delegation get jobs::delegation;
    Tokens get tokens::list;
    Token get tokens::token;
    TokenBalance get tokens::balance;
    TokenHolders get tokens::holders;
    TokenEvents get tokens::events;
    TokenAllowance get tokens::allowance;
    Names get names::list;
    Name get names::name;
    ActorNames get names::of_actor;
    Gateways get names::gateways;
    Gateway get names::one_gateway;
    Blocks get blocks::list;
    Block get blocks::block;
    Follow get streams::follow;
    BlockCopy get streams::copy;
    Operations get streams::operations;
    Socket get streams::socket;
    Submit post transactions::submit;
    SubmitWait post transactions::submit_wait;
    Simulate post transactions::simulate;
    Transactions get accounts::receipts;
    Transaction get transactions::transaction;
    Receipt get transactions::receipt;
    StateChanges get transactions::changes;
    Pending get transactions::pending;
    ProofAccount get proofs::account;
    ProofActor get proofs::actor;
    ProofStorage get proofs::storage;
    ProofTransaction get proofs::transaction;
    ProofReceipt get proofs::receipt;
    ProofMulti post proofs::multi;
    DevMine post dev::mine;
    DevWarp post dev::warp;
    DevSnapshot post dev::snapshot;
    DevRevert post dev::revert;
    DevBalance post dev::balance;
    DevImpersonate post dev::impersonate;
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
