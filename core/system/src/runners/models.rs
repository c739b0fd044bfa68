//! Published models (003 §5.1): permissionless, with a deposit that comes back; governance flags and bans.

use super::api::{GetModel, ModelId, ModelPublished, ModelRetired, ModelState, ModelStatusSet, PublishModel, RetireModel, SetModelStatus};
use super::{payouts::pay_out, state};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use cowboy_state::Step;
use cowboy_types::job::{Model, runner::ModelStatus};
use cowboy_types::units::Amount;
use cowboy_types::{Hash, List, error};

impl Handle for PublishModel {
    fn handle(self, context: &mut Context<'_>) -> Step<ModelId> {
        let Self { weights, arch, tokenizer, license, name } = self;
        let deposit = Amount(context.params.jobs.model_deposit);
        if context.value != deposit {
            return Err(error::STAKE_TOO_LOW.into());
        }
        let model_id = Model::id(&weights, &arch, &tokenizer, &license);
        if context.world.get(&state::model_key(&model_id))?.is_some() {
            return Err(error::MODEL_EXISTS.into());
        }
        let (publisher, status) = (context.sender, ModelStatus::Listed);
        let parts = List::new(vec![weights, arch, tokenizer, license]).expect("four fit");
        let model = Model { publisher, deposit, parts, name, published_at: context.height, status: status.clone() };
        state::models().insert(context.world, &model_id.0)?;
        context.world.write(state::model_key(&model_id), &model);
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
        state::models().remove(context.world, &model_id.0)?;
        context.world.remove(state::model_key(&model_id));
        pay_out(context.world, publisher, deposit)?;
        ModelRetired { model_id, publisher, status }.emit(context.world);
        Ok(())
    }
}

impl Handle for SetModelStatus {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { model_id, status } = self;
        let model = Model { status: status.clone(), ..state::model(context.world, &model_id)? };
        context.world.write(state::model_key(&model_id), &model);
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
pub(crate) fn is_banned(world: &cowboy_state::World, id: &Hash) -> Result<bool, cowboy_state::Miss> {
    if *id == Hash::ZERO {
        return Ok(false);
    }
    Ok(world.read::<Model>(&state::model_key(id))?.is_some_and(|model| model.status == ModelStatus::Banned))
}
