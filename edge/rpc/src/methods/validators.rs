//! Who stakes, and who agrees on blocks.

mod shares;

use super::{Page, count};
use crate::{
    App,
    read::Snapshot,
    refusal::{Answer, Asked, Named, Refusal},
};
use axum::{Json, extract::State};
use cowboy_api::{Hex, HexAddress, error::BUSY, model};
use cowboy_node::{Chain, committees::Term, peers};
use cowboy_state::{Miss, World};
use cowboy_system::staking::{
    state,
    types::{StakeTotal, Status},
};
use cowboy_types::{Address, signing::address_of_public_key, wire::Fixed};

pub(crate) async fn list(State(app): State<App>, Asked(page): Asked<Page>) -> Answer<model::Validators> {
    let chain = app.node.chain().map_err(|_| BUSY)?;
    let term = chain.term();
    let (validators, total) = all(&app, &chain, &term).await?;
    Ok(Json(model::Validators {
        total_count: count(validators.len()),
        validators: page.of(validators),
        set_epoch: total.epoch.get(),
        set_stake: total.stake.get(),
        epoch: term.info.epoch.get(),
        is_dealt: term.is_dealt(),
    }))
}

pub(crate) async fn validator(State(app): State<App>, Named(address): Named<Address>) -> Answer<model::Validator> {
    let chain = app.node.chain().map_err(|_| BUSY)?;
    let found = all(&app, &chain, &chain.term()).await?.0.into_iter().find(|validator| validator.address.0 == address);
    found.map(Json).ok_or_else(|| Refusal::missing("validator", address))
}

async fn all(app: &App, chain: &Chain, term: &Term) -> Result<(Vec<model::Validator>, StakeTotal), Refusal> {
    let mut snapshot = Snapshot::newest(app);
    let height = snapshot.head.height.get();
    let (mut found, total) =
        snapshot.ask(|world| look(world, term, &shares::Players::fixed(world, app, term, height)?)).await?.ok_or(BUSY)?;
    let dealt = term.info.epoch.get().checked_sub(1).and_then(|epoch| chain.committees.term(epoch));
    for (key, dealers) in chain.lacking(term) {
        let accounts = dealers.iter().filter_map(|dealer| Some(Hex(dealt.as_ref()?.info.directory.get(dealer)?.address)));
        let key: &[u8] = key.as_ref();
        if let Some(validator) = found.iter_mut().find(|validator| validator.consensus_key.0 == key) {
            validator.unacknowledged_by = accounts.collect();
        }
    }
    Ok((found, total))
}

/// Everybody who stakes or signs, ascending by consensus key.
fn look(world: &World, term: &Term, players: &shares::Players) -> Result<Option<(Vec<model::Validator>, StakeTotal)>, Miss> {
    let signers = term.signers();
    let is_share_public = |key: &Fixed<32>| term.is_share_public(&key.0);
    let Some(total) = state::total(world)? else { return Ok(None) };
    let dealing = state::dealing(world)?;
    let left_out = |address: &Address| {
        let dealing = dealing.as_ref().filter(|dealing| dealing.leaves_out(address))?;
        Some(if dealing.revealed.contains(address) { "share_revealed" } else { "dealing_failed" }.to_owned())
    };
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
            let is_signing = signers.iter().any(|one| one.network_key == validator.network_key);
            model::Validator {
                address: Hex(address),
                signer: signer(&validator.signing_key),
                consensus_key: Hex(validator.network_key.0.to_vec()),
                bls_key: Hex(validator.vrf_key.0.to_vec()),
                stake: validator.stake.get(),
                status: status.into(),
                until,
                jailings: validator.jailings.get(),
                in_set: members.iter().any(|member| member.address == address),
                is_signing,
                is_share_public: is_share_public(&validator.network_key),
                unacknowledged_by: Vec::new(),
                left_out: left_out(&address),
                network_address: peers::address(&validator.endpoint).map(|address| address.to_string()),
                share: players.progress(&validator.network_key, is_signing, validator.status),
            }
        })
        .collect();
    for one in signers {
        if !found.iter().any(|validator| validator.consensus_key.0 == one.network_key.0) {
            found.push(model::Validator {
                address: Hex(one.address),
                signer: signer(&one.signing_key),
                consensus_key: Hex(one.network_key.0.to_vec()),
                bls_key: Hex(one.vrf_key.0.to_vec()),
                stake: 0,
                status: "withdrawn".into(),
                until: None,
                jailings: 0,
                in_set: false,
                is_signing: true,
                is_share_public: is_share_public(&one.network_key),
                unacknowledged_by: Vec::new(),
                left_out: None,
                network_address: peers::address(&one.endpoint).map(|address| address.to_string()),
                share: shares::signing(),
            });
        }
    }
    found.sort_by(|one, other| one.consensus_key.0.cmp(&other.consensus_key.0));
    Ok(Some((found, total)))
}

/// The address of a validator's signing key.
fn signer(key: &Fixed<33>) -> HexAddress {
    Hex(address_of_public_key(key).expect("genesis and registrations have keys that are points of the curve"))
}
