//! Decisions: proposals, the council, timelocks, what parameters were.

use super::count;
use crate::{
    App,
    read::Snapshot,
    refusal::{Answer, Asked, Refusal, Segment},
};
use axum::{Json, extract::State};
use cowboy_api::{Hex, HexAddress, model};
use cowboy_params::Params;
use cowboy_state::{Key, Miss, World};
use cowboy_system::Versions;
use cowboy_system::governance::{
    state,
    types::{Action, Choice, Proposal, Stage, Upgrade},
};
use cowboy_types::Address;
use serde::Deserialize;

/// The newest proposals that are looked at for those that stand where the request wants them.
const LOOKED_AT: u64 = 10_000;

/// Proposals that are read at a time.
const CHUNK: u64 = 100;

/// Which proposals to answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
    stage: Option<String>,
}

pub(crate) async fn proposals(State(app): State<App>, Asked(wanted): Asked<Wanted>) -> Answer<model::Proposals> {
    let mut state = Snapshot::newest(&app);
    let total = state.ask(state::count).await?.get();
    let limit = super::limit(wanted.limit);
    let proposals = match wanted.stage {
        Some(stage) => standing(&mut state, total, &stage).await?.into_iter().skip(wanted.offset).take(limit).collect(),
        None => {
            let end = total.saturating_sub(count(wanted.offset));
            read(&mut state, end.saturating_sub(count(limit)), end).await?
        }
    };
    Ok(Json(model::Proposals { proposals, total_count: total }))
}

pub(crate) async fn proposal(State(app): State<App>, Segment(text): Segment) -> Answer<model::Proposal> {
    let id: u64 = text.parse().map_err(|_| Refusal::bad("id", "a proposal is named by its number, from 0".to_owned()))?;
    let mut state = Snapshot::newest(&app);
    let total = state.ask(state::count).await?.get();
    if id >= total {
        return Err(Refusal::missing("proposal", id));
    }
    read(&mut state, id, id + 1).await?.pop().map(Json).ok_or_else(|| Refusal::missing("proposal", id))
}

pub(crate) async fn timelocks(State(app): State<App>) -> Answer<model::Proposals> {
    let mut state = Snapshot::newest(&app);
    let total = state.ask(state::count).await?.get();
    let mut proposals = standing(&mut state, total, "queued").await?;
    proposals.sort_by_key(|proposal| (proposal.height, proposal.id));
    Ok(Json(model::Proposals { proposals, total_count: total }))
}

pub(crate) async fn council(State(app): State<App>) -> Answer<model::Council> {
    let mut state = Snapshot::newest(&app);
    let rows = state.params(&app.chain.params).await?.governance;
    let council = state.ask(state::council).await?;
    let members = council.members.iter().copied().map(Hex).collect();
    Ok(Json(model::Council { members, size: rows.council_size, threshold: rows.council_threshold }))
}

pub(crate) async fn upgrades(State(app): State<App>) -> Answer<model::Upgrades> {
    let chain = app.node.chain()?;
    let (schedule, versions) = (chain.protocol.schedule(), chain.protocol.versions());
    let version = schedule.version_at(app.node.head().height.next());
    let scheduled = schedule.scheduled.iter().map(|upgrade| upgrade_of(versions, upgrade)).collect();
    Ok(Json(model::Upgrades { version, newest_known: versions.newest(), scheduled }))
}

/// A scheduled version, as this node knows it.
pub(super) fn upgrade_of(versions: Versions, upgrade: &Upgrade) -> model::Upgrade {
    let rules = versions.rules(upgrade.version);
    let about = rules.map(|rules| rules.about.to_owned()).unwrap_or_default();
    model::Upgrade { version: upgrade.version, height: upgrade.height.get(), is_known: rules.is_some(), about }
}

pub(crate) async fn history(State(app): State<App>, Segment(name): Segment) -> Answer<model::ParameterHistory> {
    let row = Params::row(&name).ok_or_else(|| Refusal::missing("parameter", &name))?;
    let history = Snapshot::newest(&app).ask(|world| state::history(world, row)).await?;
    let changes = history.entries.iter().map(|change| model::ParameterMove {
        height: change.height.get(),
        value: change.value,
        proposal: change.proposal.get(),
    });
    Ok(Json(model::ParameterHistory { name, changes: changes.collect() }))
}

/// Of the newest proposals, those that stand somewhere, the newest first.
async fn standing(state: &mut Snapshot, total: u64, stage: &str) -> Result<Vec<model::Proposal>, Refusal> {
    let mut found = Vec::new();
    let (first, mut end) = (total.saturating_sub(LOOKED_AT), total);
    while end > first {
        let begin = end.saturating_sub(CHUNK).max(first);
        found.extend(read(state, begin, end).await?.into_iter().filter(|proposal| proposal.stage == stage));
        end = begin;
    }
    Ok(found)
}

/// Proposals by number, the newest first.
async fn read(state: &mut Snapshot, begin: u64, end: u64) -> Result<Vec<model::Proposal>, Refusal> {
    state
        .ask(|world| {
            let keys: Vec<Key> = (begin..end).flat_map(keys_of).collect();
            world.require(&keys)?;
            (begin..end).rev().filter_map(|id| shown(world, id).transpose()).collect()
        })
        .await
}

fn keys_of(id: u64) -> [Key; 3] {
    [state::proposal_key(id), state::agreement_key(id, "cancel"), state::agreement_key(id, "fast_track")]
}

fn shown(world: &World, id: u64) -> Result<Option<model::Proposal>, Miss> {
    let Some(proposal) = state::proposal(world, id)? else { return Ok(None) };
    let agreed = |what: &str| -> Result<Vec<HexAddress>, Miss> {
        Ok(state::agreement(world, &state::agreement_key(id, what))?.members.iter().copied().map(Hex).collect())
    };
    let (stage, height) = stage_of(&proposal);
    let ballot = |ballot: &cowboy_system::governance::types::Ballot| model::Ballot {
        voter: Hex(ballot.voter),
        choice: match ballot.choice {
            Choice::Yes => "yes",
            Choice::No => "no",
            Choice::Abstain => "abstain",
        }
        .into(),
    };
    Ok(Some(model::Proposal {
        id,
        proposer: Hex(proposal.proposer),
        tier: proposal.tier,
        actions: proposal.actions.iter().map(action).collect(),
        deposit: proposal.deposit.get(),
        stage: stage.into(),
        height,
        is_fast: proposal.is_fast,
        is_ratification: proposal.is_ratification,
        epoch: proposal.epoch.get(),
        ballots: proposal.ballots.iter().map(ballot).collect(),
        cancel: agreed("cancel")?,
        fast_track: agreed("fast_track")?,
    }))
}

fn stage_of(proposal: &Proposal) -> (&'static str, Option<u64>) {
    match proposal.stage {
        Stage::Voting { until } => ("voting", Some(until.get())),
        Stage::Queued { from } => ("queued", Some(from.get())),
        Stage::Executed => ("executed", None),
        Stage::Failed => ("failed", None),
        Stage::Rejected => ("rejected", None),
        Stage::Cancelled => ("cancelled", None),
    }
}

fn action(action: &Action) -> model::ProposedAction {
    let named = |name: &str| model::ProposedAction { action: name.into(), ..Default::default() };
    match action {
        Action::SetParameter { row, value } => {
            let name = Params::ROWS.iter().find(|one| one.id == *row).map(|row| row.name.to_owned());
            model::ProposedAction { name, value: Some(*value), ..named("set_parameter") }
        }
        Action::Disburse { bucket, to, amount } => {
            model::ProposedAction { bucket: Some(bucket.to_string()), to: Some(Hex(*to)), amount: Some(amount.get()), ..named("disburse") }
        }
        Action::SetCouncil { members } => {
            model::ProposedAction { members: Some(members.iter().copied().map(Hex).collect()), ..named("set_council") }
        }
        Action::Call { actor, method, argument } => model::ProposedAction {
            actor: Some(Hex(Address::system(*actor))),
            method: Some(method.to_string()),
            argument: Some(Hex(argument.to_vec())),
            ..named("call")
        },
        Action::CircuitBreak { actor } => model::ProposedAction { actor: Some(Hex(Address::system(*actor))), ..named("circuit_break") },
        Action::Upgrade { version, height } => {
            model::ProposedAction { version: Some(*version), height: Some(height.get()), ..named("upgrade") }
        }
        Action::CancelUpgrade { version } => model::ProposedAction { version: Some(*version), ..named("cancel_upgrade") },
        Action::Resume { actor } => model::ProposedAction { actor: Some(Hex(Address::system(*actor))), ..named("resume") },
    }
}
