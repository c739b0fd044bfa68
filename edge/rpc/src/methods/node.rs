//! The chain as a whole.

use super::{Page, count};
use crate::{
    App,
    read::Snapshot,
    refusal::{Answer, Asked, Refusal},
    standing::standing,
};
use axum::{Json, extract::State};
use commonware_codec::Encode as _;
use cowboy_api::{
    Hex, convert,
    error::{BUSY, NOT_READY},
    model,
};
use cowboy_chain::genesis::{BUCKETS, bucket_address};
use cowboy_chain::{fees::BaseFees, lanes::Lane};
use cowboy_host::clock::as_ms;
use cowboy_params::Params;
use cowboy_state::records::{Markets, Supply, keys};
use cowboy_system::staking::epoch::epoch_of;
use cowboy_types::Amount;
use serde_json::json;

/// Answers while the process lives.
pub(crate) async fn health() -> Json<model::Health> {
    Json(model::Health { status: "ok".into() })
}

pub(crate) async fn health_detailed(State(app): State<App>) -> Answer<model::HealthDetailed> {
    let chain = app.node.chain()?;
    let standing = standing(&app);
    let head = standing.head;
    let (schedule, versions) = (chain.protocol.schedule(), chain.protocol.versions());
    let next = head.height.next();
    let block_time = as_ms(chain.pace.gap().unwrap_or_default());
    Ok(Json(model::HealthDetailed {
        status: if standing.waits_for.is_some() { "waiting" } else { "ok" }.into(),
        waits_for: standing.waits_for,
        version: env!("CARGO_PKG_VERSION").into(),
        protocol_version: schedule.version_at(next),
        protocol_newest: versions.newest(),
        upgrade: schedule.pending(next).next().map(|upgrade| super::governance::upgrade_of(versions, upgrade)),
        chain_id: app.chain.chain_id.get(),
        genesis: Hex(app.chain.genesis),
        dev: app.chain.is_dev,
        height: head.height.get(),
        block_hash: Hex(head.digest),
        timestamp_ms: head.timestamp_ms.get(),
        block_time_ms: block_time,
        mempool: count(chain.mempool.size().transactions),
        peers: count(standing.peers),
        peers_connected: count(standing.connected),
        view: standing.view,
        last_block_age_ms: as_ms(standing.age),
        uptime_ms: as_ms(app.started.elapsed()),
    }))
}

/// Responds whether the node makes progress; a refusal says what it waits for.
pub(crate) async fn ready(State(app): State<App>) -> Answer<model::Ready> {
    let standing = standing(&app);
    let height = standing.head.height.get();
    match standing.waits_for {
        None => Ok(Json(model::Ready { ready: true, height })),
        Some(waits_for) => Err(Refusal::new(
            NOT_READY,
            json!({
                "waits_for": waits_for,
                "height": height,
                "view": standing.view,
                "peers": standing.peers,
                "peers_connected": standing.connected,
                "last_block_age_ms": as_ms(standing.age),
            }),
        )),
    }
}

pub(crate) async fn height(State(app): State<App>) -> Json<model::Height> {
    Json(model::Height { height: app.node.head().height.get() })
}

pub(crate) async fn base_fee(State(app): State<App>) -> Answer<model::BaseFee> {
    let mut state = Snapshot::newest(&app);
    let params = state.params(&app.chain.params).await?;
    let markets = state.ask(|world| world.read::<Markets>(&keys::markets())).await?.ok_or(BUSY)?;
    let of_block = BaseFees { cycle: markets.base_fee_cycle, cell: markets.base_fee_cell };
    let lane = |lane: Lane| {
        let BaseFees { cycle, cell } = lane.base_fees(&params, of_block);
        let budget = model::LaneUsage { cycles: lane.budget(&params).get(), cells: params.fees.block_cells };
        model::LaneFee { cycle: cycle.get(), cell: cell.get(), budget }
    };
    Ok(Json(model::BaseFee {
        height: state.head.height.get(),
        cycle_basefee: markets.base_fee_cycle.get(),
        cell_basefee: markets.base_fee_cell.get(),
        lanes: model::LaneFees { system: lane(Lane::System), timer: lane(Lane::Timer), runner: lane(Lane::Runner), user: lane(Lane::User) },
    }))
}

pub(crate) async fn genesis(State(app): State<App>) -> Json<model::Genesis> {
    let genesis = &app.node.config().genesis;
    Json(model::Genesis {
        hash: Hex(genesis.hash()),
        config: Hex(genesis.config.encode().to_vec()),
        sharing: Hex(genesis.sharing.clone()),
        group_key: Hex(genesis.committee.group_key().0.to_vec()),
    })
}

pub(crate) async fn params(State(app): State<App>, Asked(page): Asked<Page>) -> Answer<model::Parameters> {
    let params = Snapshot::newest(&app).params(&app.chain.params).await?;
    let rows = Params::ROWS.iter().map(|row| convert::parameter(row, &params));
    Ok(Json(model::Parameters { params: page.of(rows), total_count: count(Params::ROWS.len()) }))
}

pub(crate) async fn supply(State(app): State<App>) -> Answer<model::Supply> {
    let mut state = Snapshot::newest(&app);
    let supply = state.ask(|world| world.read::<Supply>(&keys::supply())).await?.ok_or(BUSY)?;
    let mut locked = 0;
    for bucket in BUCKETS.map(|bucket| bucket_address(bucket.name)) {
        let account = state.ask(|world| world.account(bucket)).await?;
        locked += account.balance.get();
    }
    let before = match state.before() {
        Some(mut before) => before.ask(|world| world.read::<Supply>(&keys::supply())).await?.map_or(Amount::ZERO, |supply| supply.minted),
        None => Amount::ZERO,
    };
    let circulating = supply.genesis.saturating_add(supply.minted).saturating_sub(supply.burned);
    Ok(Json(model::Supply {
        genesis: supply.genesis.get(),
        minted: supply.minted.get(),
        burned: supply.burned.get(),
        circulating: circulating.get(),
        locked,
        last_mint: supply.minted.saturating_sub(before).get(),
    }))
}

pub(crate) async fn epoch(State(app): State<App>) -> Answer<model::Epoch> {
    let params = Snapshot::newest(&app).params(&app.chain.params).await?;
    // The newest block is in memory, so that a request reads nothing from the disk.
    let number = Some(app.node.head().number).filter(|number| *number > 0).ok_or(BUSY)?;
    let newest = app.node.chain()?.block(number)?.ok_or(BUSY)?;
    let header = newest.header();
    Ok(Json(model::Epoch {
        epoch: epoch_of(&params, header.height()),
        signing_epoch: header.context.epoch.get(),
        view: header.context.view.get(),
        number: header.number.get(),
        length: params.consensus.epoch,
    }))
}
