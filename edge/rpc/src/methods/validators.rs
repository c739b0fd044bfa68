//! Who stakes, and who agrees on blocks.

use super::{Page, count};
use crate::{
    App,
    read::Snapshot,
    refusal::{Answer, Asked, Named, Refusal},
};
use axum::{Json, extract::State};
use cowboy_api::{Hex, error::BUSY, model};
use cowboy_state::{Miss, World};
use cowboy_system::staking::{
    state,
    types::{Member, StakeTotal, Status},
};
use cowboy_types::Address;

pub(crate) async fn list(State(app): State<App>, Asked(page): Asked<Page>) -> Answer<model::Validators> {
    let (validators, total) = all(&app).await?;
    let total_count = count(validators.len());
    Ok(Json(model::Validators { validators: page.of(validators), total_count, set_epoch: total.epoch.get(), set_stake: total.stake.get() }))
}

pub(crate) async fn validator(State(app): State<App>, Named(address): Named<Address>) -> Answer<model::Validator> {
    let found = all(&app).await?.0.into_iter().find(|validator| validator.address.0 == address);
    found.map(Json).ok_or_else(|| Refusal::missing("validator", address))
}

async fn all(app: &App) -> Result<(Vec<model::Validator>, StakeTotal), Refusal> {
    let term = app.node.chain().map_err(|_| BUSY)?.term();
    let signers: Vec<Member> = term.info.output.players().iter().filter_map(|key| term.info.directory.get(key).cloned()).collect();
    Ok(Snapshot::newest(app).ask(|world| look(world, &signers)).await?.ok_or(BUSY)?)
}

/// Everybody who stakes or signs, ascending by consensus key.
fn look(world: &World, signers: &[Member]) -> Result<Option<(Vec<model::Validator>, StakeTotal)>, Miss> {
    let Some(total) = state::total(world)? else { return Ok(None) };
    let members = state::set(world, total.epoch.get())?.map_or_else(Vec::new, |set| set.members.into_vec());
    let mut found: Vec<model::Validator> = state::all(world)?
        .into_iter()
        .map(|(address, validator)| {
            let (status, until) = match validator.status {
                Status::Waiting => ("waiting", None),
                Status::Active => ("active", None),
                Status::Leaving { until } => ("leaving", Some(until.get())),
                Status::Jailed { until } => ("jailed", Some(until.get())),
            };
            model::Validator {
                address: Hex(address),
                consensus_key: Hex(validator.network_key.0.to_vec()),
                bls_key: Hex(validator.vrf_key.0.to_vec()),
                stake: validator.stake.get(),
                status: status.into(),
                until,
                jailings: validator.jailings.get(),
                in_set: members.iter().any(|member| member.address == address),
                is_signing: signers.iter().any(|one| one.network_key == validator.network_key),
            }
        })
        .collect();
    for one in signers {
        if !found.iter().any(|validator| validator.consensus_key.0 == one.network_key.0) {
            found.push(model::Validator {
                address: Hex(one.address),
                consensus_key: Hex(one.network_key.0.to_vec()),
                bls_key: Hex(one.vrf_key.0.to_vec()),
                stake: 0,
                status: "withdrawn".into(),
                until: None,
                jailings: 0,
                in_set: false,
                is_signing: true,
            });
        }
    }
    found.sort_by(|one, other| one.consensus_key.0.cmp(&other.consensus_key.0));
    Ok(Some((found, total)))
}
