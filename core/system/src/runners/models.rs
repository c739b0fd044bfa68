//! Published models (003 §5.1): permissionless, with a deposit that comes back; governance flags and bans.

use super::{NUMBER, handlers::pay_out, state};
use crate::actor::Context;
use crate::reader::Reader;
use cowboy_state::Step;
use cowboy_types::cbor::Value;
use cowboy_types::job::{Model, runner::ModelStatus};
use cowboy_types::units::Amount;
use cowboy_types::{Abort, Hash, List, error};

fn invalid() -> Abort {
    error::INVALID_ARGUMENT
}

pub(super) fn publish(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let reader = Reader::new(argument, invalid);
    let parts = [reader.hash("weights")?, reader.hash("arch")?, reader.hash("tokenizer")?, reader.hash("license")?];
    let deposit = Amount(context.params.jobs.model_deposit);
    if context.value != deposit {
        return Err(error::STAKE_TOO_LOW.into());
    }
    let id = Model::id(&parts[0], &parts[1], &parts[2], &parts[3]);
    if context.world.get(&state::model_key(&id))?.is_some() {
        return Err(error::MODEL_EXISTS.into());
    }
    let model = Model {
        publisher: context.sender,
        deposit,
        parts: List::new(parts.to_vec()).expect("four fit"),
        name: reader.bounded_text("name")?,
        published_at: context.height,
        status: ModelStatus::Listed,
    };
    state::models().insert(context.world, &id.0)?;
    context.world.write(state::model_key(&id), &model);
    announce(context, "ModelPublished", &id, &model);
    Ok(Value::map([("model_id", Value::Bytes(id.0.to_vec()))]))
}

pub(super) fn retire(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let id = Reader::new(argument, invalid).hash("model_id")?;
    let model = state::model(context.world, &id)?;
    if model.publisher != context.sender {
        return Err(error::NOT_OWNER.into());
    }
    // A ban outlives its publisher's interest.
    if model.status == ModelStatus::Banned {
        return Err(error::MODEL_NOT_FOUND.into());
    }
    state::models().remove(context.world, &id.0)?;
    context.world.remove(state::model_key(&id));
    pay_out(context.world, model.publisher, model.deposit)?;
    announce(context, "ModelRetired", &id, &model);
    Ok(Value::Null)
}

pub(super) fn set_status(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let reader = Reader::new(argument, invalid);
    let id = reader.hash("model_id")?;
    let mut model = state::model(context.world, &id)?;
    model.status = match reader.number("status")? {
        0 => ModelStatus::Listed,
        1 => ModelStatus::Flagged,
        2 => ModelStatus::Banned,
        _ => return Err(invalid().into()),
    };
    context.world.write(state::model_key(&id), &model);
    announce(context, "ModelStatusSet", &id, &model);
    Ok(Value::Null)
}

pub(super) fn get(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let id = Reader::new(argument, invalid).hash("model_id")?;
    let model = state::model(context.world, &id)?;
    Ok(Value::map([
        ("publisher", Value::Bytes(model.publisher.0.to_vec())),
        ("name", Value::text(model.name.to_string())),
        ("status", Value::uint(u64::from(model.status.number()))),
        ("deposit", Value::uint(model.deposit.0)),
    ]))
}

/// Whether governance banned a model.
pub(crate) fn is_banned(world: &cowboy_state::World, id: &Hash) -> Result<bool, cowboy_state::Miss> {
    if *id == Hash::ZERO {
        return Ok(false);
    }
    Ok(world.read::<Model>(&state::model_key(id))?.is_some_and(|model| model.status == ModelStatus::Banned))
}

fn announce(context: &mut Context<'_>, name: &'static str, id: &Hash, model: &Model) {
    let data = Value::map([
        ("model_id", Value::Bytes(id.0.to_vec())),
        ("publisher", Value::Bytes(model.publisher.0.to_vec())),
        ("status", Value::uint(u64::from(model.status.number()))),
    ]);
    context.announce(NUMBER, name, &data);
}
