//! Published models (003 §5.1): permissionless, with a deposit that comes back; governance flags and bans.
//!
//! What governance decided of a model outlives its publication: else its publisher would withdraw it while a ban is voted on, and publish it again
//! (decision 761). A model of which something was decided and that nobody publishes has a record with no publisher and no deposit.

use super::api::{GetModel, ModelId, ModelPublished, ModelRetired, ModelState, ModelStatusSet, PublishModel, RetireModel, SetModelStatus};
use super::{payouts::pay_out, state};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use cowboy_state::{Miss, Step, World};
use cowboy_types::job::{Model, runner::ModelStatus};
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Address, Hash, List, Text, error};

/// A model's record, where there is one.
fn find(world: &World, id: &Hash) -> Result<Option<Model>, Miss> {
    world.read(&state::model_key(id))
}

/// Whether somebody publishes a model.
fn is_published(model: &Model) -> bool {
    model.publisher != Address::ZERO
}

/// The record of a model of which something was decided, and that nobody publishes.
fn unpublished(status: ModelStatus, height: Height) -> Model {
    let (publisher, deposit) = (Address::ZERO, Amount::ZERO);
    Model { publisher, deposit, parts: List::default(), name: Text::default(), published_at: height, status }
}

/// Keeps a model's record, and its place in the list; nothing where nobody publishes it and nothing is decided of it.
fn keep(world: &mut World, id: &Hash, model: &Model) -> Result<(), Miss> {
    if is_published(model) || model.status != ModelStatus::Listed {
        state::models().insert(world, &id.0)?;
        world.write(state::model_key(id), model);
    } else {
        state::models().remove(world, &id.0)?;
        world.remove(state::model_key(id));
    }
    Ok(())
}

impl Handle for PublishModel {
    fn handle(self, context: &mut Context<'_>) -> Step<ModelId> {
        let Self { weights, arch, tokenizer, license, name } = self;
        let deposit = Amount(context.params.jobs.model_deposit);
        if context.value != deposit {
            return Err(error::STAKE_TOO_LOW.into());
        }
        let model_id = Model::id(&weights, &arch, &tokenizer, &license);
        let status = match find(context.world, &model_id)? {
            Some(former) if is_published(&former) => return Err(error::MODEL_EXISTS.into()),
            Some(former) if former.status == ModelStatus::Banned => return Err(error::MODEL_NOT_FOUND.into()),
            Some(former) => former.status,
            None => ModelStatus::Listed,
        };
        let publisher = context.sender;
        let parts = List::new(vec![weights, arch, tokenizer, license]).expect("four fit");
        let model = Model { publisher, deposit, parts, name, published_at: context.height, status: status.clone() };
        keep(context.world, &model_id, &model)?;
        ModelPublished { model_id, publisher, status }.emit(context.world);
        Ok(ModelId { model_id })
    }
}

impl Handle for RetireModel {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { model_id } = self;
        let Model { publisher, deposit, status, .. } = state::model(context.world, &model_id)?;
        if publisher != context.sender {
            return Err(error::NOT_OWNER.into());
        }
        // A ban outlives its publisher's interest.
        if status == ModelStatus::Banned {
            return Err(error::MODEL_NOT_FOUND.into());
        }
        keep(context.world, &model_id, &unpublished(status.clone(), context.height))?;
        pay_out(context.world, publisher, deposit)?;
        ModelRetired { model_id, publisher, status }.emit(context.world);
        Ok(())
    }
}

impl Handle for SetModelStatus {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { model_id, status } = self;
        let model = match find(context.world, &model_id)? {
            Some(model) => Model { status: status.clone(), ..model },
            None if status == ModelStatus::Listed => return Err(error::MODEL_NOT_FOUND.into()),
            None => unpublished(status.clone(), context.height),
        };
        keep(context.world, &model_id, &model)?;
        ModelStatusSet { model_id, publisher: model.publisher, status }.emit(context.world);
        Ok(())
    }
}

impl Handle for GetModel {
    fn handle(self, context: &mut Context<'_>) -> Step<ModelState> {
        let Model { publisher, name, status, deposit, .. } = state::model(context.world, &self.model_id)?;
        Ok(ModelState { publisher, name, status, deposit })
    }
}

/// Whether governance banned a model.
pub(crate) fn is_banned(world: &World, id: &Hash) -> Result<bool, Miss> {
    if *id == Hash::ZERO {
        return Ok(false);
    }
    Ok(find(world, id)?.is_some_and(|model| model.status == ModelStatus::Banned))
}
