//! Views of system actors, as typed JSON.

use super::actors::ask;
use crate::{
    App,
    limits::Peer,
    refusal::{Answer, Body, Refusal, parse},
};
use axum::{
    Json,
    extract::{Path, State},
};
use cowboy_api::{model, system};
use cowboy_chain::query::Question;
use cowboy_system::{interface, registry};

pub(crate) async fn view(
    State(app): State<App>,
    Path((address, name)): Path<(String, String)>,
    peer: Peer,
    Body(model::ViewArguments(arguments)): Body<model::ViewArguments>,
) -> Answer<model::ViewAnswer> {
    let target = parse(&address)?;
    let actor = registry::at(target).ok_or_else(|| Refusal::missing("system actor", target))?;
    let method = actor.method(&name).ok_or_else(|| Refusal::missing("method", name))?;
    if !method.is_view {
        return Err(Refusal::bad("method", format!("{} is not a view; send a transaction", method.name)));
    }
    let argument = system::argument(method, &arguments).map_err(|error| Refusal::bad("argument", error))?;
    let question = Question { target, handler: method.name.to_owned(), payload: argument.encode().into(), cycles_limit: None };
    let (height, answer) = ask(&app, &peer, question).await?;
    let result = system::json_of_bytes(&method.result, &answer.result);
    Ok(Json(model::ViewAnswer { block_height: height.get(), result, cycles_used: answer.cycles_used.get() }))
}

pub(crate) async fn methods() -> Json<model::Methods> {
    Json(model::Methods { actors: interface() })
}
