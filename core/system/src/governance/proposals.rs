//! Decisions: proposed with a deposit, voted on by stake and by head, and effective after a timelock (003 §11, §13.1).
//!
//! Both chambers must agree: the staked CBY of the set, and its validators with one vote each. A council of nine may
//! stop what is queued, shorten the way of what is tier 3, and pause a system actor until the chambers have voted on it.

use super::api::{
    Cancel, Cancelled, CountVotes, Execute, Executed, Failed, FastTrack, FastTracked, GetHistory, GetProposal, Made, ParameterChange,
    Preview, PreviewEvent, PreviewProposal, ProposalState, Propose, Queued, Rejected, Vote,
};
use super::named::named_row;
use super::types::{Action, Agreement, Ballot, Change, Choice, Proposal, Stage};
use super::{NUMBER, actions, pauses, state};
use crate::actor::{Context, Handle};
use crate::calls;
use crate::proposed::{Notice, ProposedCall};
use crate::schema::Emit;
use crate::staking::{state as staking, types::ValidatorSet};
use cowboy_state::{Key, Miss, Step, Stop};
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Event, List, Text, error};

impl Handle for Propose {
    fn handle(self, context: &mut Context<'_>) -> Step<u64> {
        let actions = self.0.into_actions(context)?;
        let Terms { tier, deposit, voting } = terms(context, &actions)?;
        if context.value != deposit {
            return Err(error::GOVERNANCE_DEPOSIT.into());
        }
        let total = staking::total(context.world)?.ok_or(error::SYSTEM_UNAUTHORIZED)?;
        let proposal = Proposal {
            proposer: context.sender,
            tier,
            actions,
            deposit: context.value,
            stage: Stage::Voting { until: Height(context.height.0.saturating_add(voting)) },
            is_fast: false,
            is_ratification: false,
            epoch: total.epoch,
            ballots: List::default(),
        };
        hold_claims(context, &proposal.actions, voting)?;
        add(context, &proposal)
    }
}

/// What a proposal of some actions is bound to.
struct Terms {
    /// 0 or 3.
    tier: u8,
    /// What it puts down.
    deposit: Amount,
    /// Blocks in which it is voted on.
    voting: u64,
}

fn terms(context: &Context<'_>, actions: &[Action]) -> Step<Terms> {
    let tier = actions::tier(context, actions)?;
    let rows = &context.params.governance;
    let (deposit, voting) = if tier == 3 { (rows.deposit_3, rows.voting_3) } else { (rows.deposit_0, rows.voting_0) };
    Ok(Terms { tier, deposit: Amount(deposit), voting })
}

/// Whether the council may cancel a proposal of these actions. Else a council that abuses its power would stay for good (decision 693).
fn is_cancellable(actions: &[Action]) -> bool {
    !actions.iter().all(|action| matches!(action, Action::SetCouncil { .. }))
}

/// Keeps open the claim that an action decides, or the stake of the gateway that it judges, until it is voted on, its timelock is over, and as long as counting and executing may take. Refuses
/// several: who holds up the payout of a job, and the stake of a runner, puts a deposit down for each (decision 693).
fn hold_claims(context: &mut Context<'_>, actions: &[Action], voting: u64) -> Step<()> {
    let until = context.height.0.saturating_add(voting).saturating_add(context.params.governance.timelock);
    let until = Height(until.saturating_add(context.params.jobs.dispute_vote_margin));
    let proposal = state::count(context.world)?;
    let mut is_holding = false;
    for (actor, call) in proposed_calls(proposal, actions) {
        if calls::note(context, actor, call, Notice::Made(until))? && std::mem::replace(&mut is_holding, true) {
            context.explanation = Some(
                "A proposal decides one open claim or judges one answer, so that each has a deposit of its own. Propose the others apart."
                    .to_owned(),
            );
            return Err(error::PROPOSAL_ACTION.into());
        }
    }
    Ok(())
}

/// The calls that a proposal would make, each with its actor.
fn proposed_calls(proposal: Count, actions: &[Action]) -> impl Iterator<Item = (u8, ProposedCall<'_>)> {
    actions.iter().filter_map(move |action| match action {
        Action::Call { actor, method, argument } => Some((*actor, ProposedCall { proposal, method, argument })),
        _ => None,
    })
}

/// Keeps a new proposal. Answers its number.
pub(super) fn add(context: &mut Context<'_>, proposal: &Proposal) -> Step<u64> {
    let id = state::count(context.world)?;
    context.world.write(state::count_key(), &Count(id.0.saturating_add(1)));
    context.world.write(state::proposal_key(id.0), proposal);
    Made { proposal: id }.emit(context.world);
    Ok(id.0)
}

/// Takes effect as a decision would, says what came of it, and undoes it.
impl Handle for PreviewProposal {
    fn handle(self, context: &mut Context<'_>) -> Step<Preview> {
        let actions = self.0.into_actions(context)?;
        let Terms { tier, deposit, voting } = terms(context, &actions)?;
        let (checkpoint, id) = (context.world.checkpoint(), state::count(context.world)?);
        let refusal = match hold_claims(context, &actions, voting) {
            Ok(()) => None,
            Err(Stop::Abort(abort)) if abort == error::PROPOSAL_ACTION => context.explanation.take().and_then(Text::new),
            Err(stop) => return Err(stop),
        };
        context.world.rollback(&checkpoint);
        let done = actions::take_effect(context, id.0, &actions);
        let shown = |event: &Event| {
            let data = cbor::decode(&event.data).unwrap_or(Value::Null);
            PreviewEvent { data, emitter: event.emitter, name: event.name.clone() }
        };
        let events: Vec<PreviewEvent> = context.world.events_since(&checkpoint).iter().map(shown).collect();
        context.world.rollback(&checkpoint);
        let error = match done {
            Ok(()) => None,
            Err(Stop::Abort(abort)) => Some(Text::new(error::row(abort.code).slug).expect("the words of errors are short")),
            Err(Stop::Miss(miss)) => return Err(Stop::Miss(miss)),
        };
        let (events, is_cancellable) = (List::new(events).ok_or(error::TOO_MANY_EVENTS)?, is_cancellable(&actions));
        Ok(Preview { deposit, error, events, is_cancellable, refusal, tier })
    }
}

/// A proposal by its number.
fn numbered(context: &Context<'_>, id: u64) -> Step<Proposal> {
    Ok(state::proposal(context.world, id)?.ok_or(error::INVALID_ARGUMENT)?)
}

impl Handle for Vote {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { proposal: id, choice } = self;
        let mut proposal = numbered(context, id)?;
        if !matches!(proposal.stage, Stage::Voting { until } if context.height < until) {
            return Err(error::GOVERNANCE_STAGE.into());
        }
        let total = staking::total(context.world)?.ok_or(error::SYSTEM_UNAUTHORIZED)?;
        let set = staking::set(context.world, total.epoch.0)?.expect("the newest set is kept");
        if !set.members.iter().any(|member| member.address == context.sender) {
            return Err(error::SYSTEM_UNAUTHORIZED.into());
        }
        let mut ballots = proposal.ballots.into_vec();
        let ballot = Ballot { voter: context.sender, choice };
        match ballots.binary_search_by_key(&context.sender, |ballot| ballot.voter) {
            Ok(place) => ballots[place] = ballot,
            Err(place) => ballots.insert(place, ballot),
        }
        proposal.ballots = List::new(ballots).ok_or(error::INVALID_ARGUMENT)?;
        context.world.write(state::proposal_key(id), &proposal);
        Ok(())
    }
}

impl Handle for CountVotes {
    fn handle(self, context: &mut Context<'_>) -> Step<bool> {
        let Self { proposal: id } = self;
        let mut proposal = numbered(context, id)?;
        if !matches!(proposal.stage, Stage::Voting { until } if context.height >= until) {
            return Err(error::GOVERNANCE_STAGE.into());
        }
        let tally = tally(context, &proposal)?;
        // Where too few cared to vote, the deposit pays for the noise.
        let (deposit, proposer) = (std::mem::take(&mut proposal.deposit), proposal.proposer);
        // An invariant, see `actions::take_effect`. Were it ever broken, the proposal would stay open, and the chain would continue.
        if !context.world.debit(Address::system(NUMBER), deposit)? {
            return Err(error::PROPOSAL_ACTION.into());
        }
        if tally.is_present {
            context.world.credit(proposer, deposit)?
        } else {
            context.world.burn(deposit)?
        }
        let rows = &context.params.governance;
        let lock = if proposal.is_fast { rows.timelock_fast } else { rows.timelock };
        let is_in_effect = proposal.is_ratification && pauses::ratify(context, id, tally.is_accepted)?;
        proposal.stage = match (tally.is_accepted, proposal.is_ratification) {
            (false, _) => Stage::Rejected,
            (true, false) => Stage::Queued { from: Height(context.height.0.saturating_add(lock)) },
            (true, true) if is_in_effect => Stage::Executed,
            (true, true) => Stage::Failed,
        };
        settle(context, id, &proposal)?;
        Ok(tally.is_accepted)
    }
}

/// Keeps a proposal whose stage changed, and emits the event of it. Nothing stays open for one that is over (decision 765).
fn settle(context: &mut Context<'_>, id: u64, proposal: &Proposal) -> Result<(), Miss> {
    context.world.write(state::proposal_key(id), proposal);
    if !matches!(proposal.stage, Stage::Voting { .. } | Stage::Queued { .. }) {
        for (actor, call) in proposed_calls(Count(id), &proposal.actions) {
            calls::note(context, actor, call, Notice::Over)?;
        }
    }
    let (number, world) = (Count(id), &mut *context.world);
    match proposal.stage {
        Stage::Voting { .. } => {}
        Stage::Queued { .. } => Queued { proposal: number }.emit(world),
        Stage::Executed => Executed { proposal: number }.emit(world),
        Stage::Failed => Failed { proposal: number }.emit(world),
        Stage::Rejected => Rejected { proposal: number }.emit(world),
        Stage::Cancelled => Cancelled { proposal: number }.emit(world),
    }
    Ok(())
}

/// What the votes on a proposal come to.
struct Tally {
    /// Whether enough stake voted.
    is_present: bool,
    /// Whether both chambers agree.
    is_accepted: bool,
}

fn tally(context: &Context<'_>, proposal: &Proposal) -> Step<Tally> {
    let total = staking::total(context.world)?.ok_or(error::SYSTEM_UNAUTHORIZED)?;
    let set = staking::set(context.world, total.epoch.0)?.expect("the newest set is kept");
    let (mut stakes, mut heads) = ([0u128; 3], [0u128; 3]);
    for ballot in proposal.ballots.iter() {
        // Who left the set meanwhile has no stake in it.
        let Some(member) = set.members.iter().find(|member| member.address == ballot.voter) else { continue };
        let place = match ballot.choice {
            Choice::Yes => 0,
            Choice::No => 1,
            Choice::Abstain => 2,
        };
        stakes[place] += u128::from(member.stake.0);
        heads[place] += 1;
    }
    let rows = &context.params.governance;
    let (quorum, approval) = if proposal.tier == 3 { (rows.quorum_3, rows.approval_3) } else { (rows.quorum_0, rows.approval_0) };
    let all: u128 = set.members.iter().map(|member| u128::from(member.stake.0)).sum();
    let is_present = stakes.iter().sum::<u128>() * 10_000 >= all * u128::from(quorum) && all > 0;
    let is_more = |[yes, no, _]: [u128; 3], share: u64| yes * 10_000 > (yes + no) * u128::from(share);
    let is_majority = is_more(stakes, approval) && is_more(heads, 5_000);
    let has_two_thirds = |yes: u128, of: u128| yes * 3 >= of * 2;
    let is_supermajority = has_two_thirds(stakes[0], all) && has_two_thirds(heads[0], heads_of(&set));
    let is_accepted = is_present && is_majority && (is_supermajority || !actions::move_inflation(&proposal.actions));
    Ok(Tally { is_present, is_accepted })
}

fn heads_of(set: &ValidatorSet) -> u128 {
    u128::try_from(set.members.len()).unwrap_or(u128::MAX)
}

impl Handle for Execute {
    fn handle(self, context: &mut Context<'_>) -> Step<bool> {
        let Self { proposal: id } = self;
        let mut proposal = numbered(context, id)?;
        if !matches!(proposal.stage, Stage::Queued { from } if context.height >= from) {
            return Err(error::GOVERNANCE_STAGE.into());
        }
        let checkpoint = context.world.checkpoint();
        let done = actions::take_effect(context, id, &proposal.actions);
        proposal.stage = match done {
            Ok(()) => Stage::Executed,
            Err(Stop::Miss(miss)) => return Err(Stop::Miss(miss)),
            // Who executes it with too little must not make it fail for ever.
            Err(Stop::Abort(abort)) if [error::OUT_OF_CYCLES, error::OUT_OF_TIME].contains(&abort) => return Err(abort.into()),
            Err(Stop::Abort(_)) => {
                context.world.rollback(&checkpoint);
                Stage::Failed
            }
        };
        let is_done = proposal.stage == Stage::Executed;
        settle(context, id, &proposal)?;
        Ok(is_done)
    }
}

impl Handle for Cancel {
    fn handle(self, context: &mut Context<'_>) -> Step<bool> {
        let Self { proposal: id } = self;
        let mut proposal = numbered(context, id)?;
        if !matches!(proposal.stage, Stage::Queued { .. }) {
            return Err(error::GOVERNANCE_STAGE.into());
        }
        let agreed = agree(context, &state::agreement_key(id, "cancel"))?;
        if !is_cancellable(&proposal.actions) {
            context.explanation = Some("The council cannot cancel a proposal that only names another council.".to_owned());
            return Err(error::PROPOSAL_ACTION.into());
        }
        if agreed {
            proposal.stage = Stage::Cancelled;
            settle(context, id, &proposal)?;
        }
        Ok(agreed)
    }
}

impl Handle for FastTrack {
    fn handle(self, context: &mut Context<'_>) -> Step<bool> {
        let Self { proposal: id } = self;
        let mut proposal = numbered(context, id)?;
        let Stage::Voting { until } = proposal.stage else { return Err(error::GOVERNANCE_STAGE.into()) };
        if proposal.tier != 3 || proposal.is_fast {
            return Err(error::GOVERNANCE_STAGE.into());
        }
        let agreed = agree(context, &state::agreement_key(id, "fast_track"))?;
        if agreed {
            let soon = Height(context.height.0.saturating_add(context.params.governance.voting_fast));
            proposal.stage = Stage::Voting { until: until.min(soon) };
            proposal.is_fast = true;
            context.world.write(state::proposal_key(id), &proposal);
            FastTracked { proposal: Count(id) }.emit(context.world);
        }
        Ok(agreed)
    }
}

/// Counts the sender among the council's members that agree. Answers whether they are enough.
pub(super) fn agree(context: &mut Context<'_>, key: &Key) -> Step<bool> {
    let council = state::council(context.world)?;
    if !council.members.contains(&context.sender) {
        return Err(error::SYSTEM_UNAUTHORIZED.into());
    }
    let mut members = state::agreement(context.world, key)?.members.into_vec();
    if let Err(place) = members.binary_search(&context.sender) {
        members.insert(place, context.sender);
    }
    let count = members.iter().filter(|member| council.members.contains(member)).count();
    let members = List::new(members).ok_or(error::INVALID_ARGUMENT)?;
    context.world.write(key.clone(), &Agreement { members });
    Ok(u64::try_from(count).unwrap_or(u64::MAX) >= context.params.governance.council_threshold)
}

impl Handle for GetProposal {
    fn handle(self, context: &mut Context<'_>) -> Step<ProposalState> {
        let proposal = numbered(context, self.proposal)?;
        let (stage, height) = match proposal.stage {
            Stage::Voting { until } => ("voting", Some(until)),
            Stage::Queued { from } => ("queued", Some(from)),
            Stage::Executed => ("executed", None),
            Stage::Failed => ("failed", None),
            Stage::Rejected => ("rejected", None),
            Stage::Cancelled => ("cancelled", None),
        };
        let ballots = Count(u64::try_from(proposal.ballots.len()).unwrap_or(u64::MAX));
        let stage = Text::new(stage).expect("names of stages are short");
        let Proposal { is_fast, proposer, tier, .. } = proposal;
        Ok(ProposalState { ballots, height, is_fast, proposer, stage, tier })
    }
}

impl Handle for GetHistory {
    fn handle(self, context: &mut Context<'_>) -> Step<List<ParameterChange, 256>> {
        let row = named_row(&self.name)?;
        let entry = |change: &Change| ParameterChange { height: change.height, proposal: change.proposal, value: change.value };
        let entries = state::history(context.world, row)?.entries.iter().map(entry).collect();
        Ok(List::new(entries).expect("the history has as many"))
    }
}
