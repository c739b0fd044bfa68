//! Draws of committees, the phases of dealings, and what the end of a dealing changes (decision 142).

use super::api::{Begun, Failed, KeyBegun, PhaseBegun, Rekey, Seated};
use super::forms::Seat;
use super::round::{self, is_quorum, name_of, speakers};
use super::state;
use super::types::{Committee, Confirmation, Member, Members, Player, Proxy, ReleaseKey, Round, bit, indices};
use crate::actor::{Context, Handle};
use crate::market::selection;
use crate::schema::Emit;
use crate::standstill::Standstill;
use bytes::Bytes;
use commonware_codec::DecodeExt as _;
use cowboy_params::Params;
use cowboy_secrets::dealing::{MIN_MEMBERS, Outcome, Phase, threshold};
use cowboy_state::{Miss, Step, World};
use cowboy_types::job::Candidate;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List, error, keccak256};

/// What separates this use of a beacon from every other.
const DOMAIN: &[u8] = b"cowboy-secrets-committee-v1:";

/// How often a key is looked at in the time after which a proxy counts as absent.
const LOOKS_FOR_ABSENCE: u64 = 6;

/// The moment at which 0x04 looks at a key.
#[derive(Clone, Copy)]
pub(super) struct Now<'a> {
    pub(super) params: &'a Params,
    pub(super) still: &'a Standstill,
    pub(super) height: Height,
    pub(super) beacon: &'a Bytes,
}

impl Now<'_> {
    /// When a key without a dealing is looked at next: several times before a member that is gone counts as absent, and when a draw is due.
    fn next_look(&self, key: &ReleaseKey) -> Height {
        let soon = self.after(self.params.secrets.alive / LOOKS_FOR_ABSENCE);
        if key.draw_at > self.height { key.draw_at.min(soon) } else { soon }
    }

    fn after(&self, blocks: u64) -> Height {
        Height(self.height.0.saturating_add(blocks))
    }
}

/// Looks at a key that is due: ends the phase of its dealing, or draws another committee where that is at hand.
pub(super) fn look(world: &mut World, now: Now<'_>, id: u32) -> Result<(), Miss> {
    let mut key = state::key(world, id)?.expect("the agenda names keys that are there");
    let before = key.next_look;
    key.next_look = match state::round(world, id)? {
        // It was paused since the phase began.
        Some(round) if now.height < round.phase_end(now.params, now.still) => round.phase_end(now.params, now.still),
        Some(round) => end_phase(world, now, id, &mut key, round)?,
        None if key.is_over(now.params, now.still, now.height) => {
            state::reschedule(world, state::Subject::Key(id), Some(before), None)?;
            return forget(world, now, id, &key);
        }
        None if now.height >= key.draw_at || is_short(world, now, id, &key)? => draw(world, now, id, &mut key)?,
        None => now.next_look(&key),
    };
    retire(world, now, id, &key)?;
    state::set_key(world, id, Some(before), &key)
}

/// A volume has its keys from this one from now on.
pub(crate) fn bind(world: &mut World, id: u32) -> Result<(), Miss> {
    let Some(mut key) = state::key(world, id)? else { return Ok(()) };
    key.volumes = Count(key.volumes.0.saturating_add(1));
    world.write(state::release_key(id), &key);
    Ok(())
}

/// A volume that had its keys from this one is gone.
pub(crate) fn unbind(world: &mut World, id: u32) -> Result<(), Miss> {
    let Some(mut key) = state::key(world, id)? else { return Ok(()) };
    key.volumes = Count(key.volumes.0.saturating_sub(1));
    world.write(state::release_key(id), &key);
    Ok(())
}

/// Removes what is left of a key that opens nothing any more.
fn forget(world: &mut World, now: Now<'_>, id: u32, key: &ReleaseKey) -> Result<(), Miss> {
    for epoch in key.committees() {
        unseat(world, now, id, epoch)?;
    }
    world.remove(state::release_key(id));
    Ok(())
}

/// Removes a committee that answers no more, and notes when its members gave up their seats: when its time was over, or now, where the next one or the
/// end of its key came before.
fn unseat(world: &mut World, now: Now<'_>, id: u32, epoch: Count) -> Result<(), Miss> {
    let Some(committee) = state::committee(world, id, epoch)? else { return Ok(()) };
    let until = committee.answers_until(now.params, now.still).map_or(now.height, |until| until.min(now.height));
    for member in committee.members.iter() {
        if let Some(mut proxy) = state::proxy(world, member.address)? {
            proxy.seated_until = proxy.seated_until.max(until);
            state::set_proxy(world, member.address, &proxy);
        }
    }
    world.remove(state::committee_key(id, epoch));
    Ok(())
}

/// Removes the committee before this one once its time is over.
fn retire(world: &mut World, now: Now<'_>, id: u32, key: &ReleaseKey) -> Result<(), Miss> {
    let Some(epoch) = key.epoch.checked_sub(Count(1)) else { return Ok(()) };
    let is_over = |committee: &Committee| !committee.does_answer(now.params, now.still, now.height);
    if state::committee(world, id, epoch)?.as_ref().is_some_and(is_over) { unseat(world, now, id, epoch) } else { Ok(()) }
}

/// Whether so few members of the committee are up that one more that fails would leave too few to answer or deal.
fn is_short(world: &World, now: Now<'_>, id: u32, key: &ReleaseKey) -> Result<bool, Miss> {
    let Some(committee) = state::committee(world, id, key.epoch)? else { return Ok(false) };
    let keys: Vec<_> = committee.members.iter().map(|member| state::proxy_key(member.address)).collect();
    world.require(&keys)?;
    let mut alive = 0usize;
    for member in indices(committee.confirmed).filter_map(|place| committee.members.get(place)) {
        alive = alive.saturating_add(usize::from(
            state::proxy(world, member.address)?.is_some_and(|proxy| proxy.is_alive(now.params, now.still, now.height)),
        ));
    }
    Ok(alive <= threshold(committee.members.len()) && alive < committee.members.len())
}

/// Draws who receives shares next, by stake, and begins a dealing. Answers when the key is looked at again.
fn draw(world: &mut World, now: Now<'_>, id: u32, key: &mut ReleaseKey) -> Result<Height, Miss> {
    let rows = &now.params.secrets;
    let proxies = state::all_proxies(world)?;
    let able = proxies.iter().filter(|(_, proxy)| proxy.is_able(now.params, now.still, now.height));
    let (mut eligible, excluded): (Vec<_>, Vec<_>) = able.partition(|(_, proxy)| proxy.drawn_after(now.params, now.still) < now.height);
    // A key that nobody else can hold is held by those that missed a dealing (decision 503). Nor is it ever left to a few: whoever keeps the
    // others from speaking would hold it (decision 570).
    if eligible.len() < min_members(eligible.len().saturating_add(excluded.len())) {
        eligible.extend(excluded);
    }
    if eligible.len() < MIN_MEMBERS {
        return Ok(now.next_look(key));
    }
    let number = Count(key.rounds.0.saturating_add(1));
    let candidate = |(address, proxy): &&(Address, Proxy)| Candidate { runner: *address, weight: (proxy.stake.0 / Amount::CBY.0).max(1) };
    let candidates: Vec<Candidate> = eligible.iter().map(candidate).collect();
    let seed = keccak256(&[now.beacon, DOMAIN, &id.to_be_bytes(), &number.0.to_be_bytes()]);
    let drawn = selection::select(&candidates, &seed, usize::try_from(rows.members).unwrap_or(MIN_MEMBERS));
    let mut players: Vec<Player> = proxies
        .iter()
        .filter(|(address, _)| drawn.contains(address))
        .map(|(address, proxy)| Player { member: Member { address: *address, key: proxy.key }, key: None })
        .collect();
    players.sort_by_key(|player| player.member.key);
    let dealers = state::committee(world, id, key.epoch)?.map(|committee| committee.members).unwrap_or_default();
    let ends_at = now.after(rows.phase);
    let round = Round {
        number,
        begun_at: now.height,
        phase: Phase::Join,
        ends_at,
        dealers,
        players: List::new(players).expect("no more than the most members are drawn"),
        spoke: 0,
        heard: List::default(),
        hashes: List::new(vec![Hash::ZERO]).expect("one fits"),
        confirmations: List::default(),
    };
    key.rounds = number;
    let seats = round.players.iter().map(|player| Seat { address: player.member.address, key: player.member.key });
    Begun { ends_at, key_id: u64::from(id), players: List::new(seats.collect()).expect("as many as players"), round: number }.emit(world);
    world.write(state::round_key(id), &round);
    Ok(ends_at)
}

/// How many of `proxies` a dealing needs.
fn min_members(proxies: usize) -> usize {
    let most = selection::two_thirds(u64::try_from(proxies).unwrap_or(u64::MAX));
    usize::try_from(most).unwrap_or(usize::MAX).max(MIN_MEMBERS)
}

/// Ends a phase: the next one begins, or the dealing has failed. Answers when the key is looked at again.
fn end_phase(world: &mut World, now: Now<'_>, id: u32, key: &mut ReleaseKey, mut round: Round) -> Result<Height, Miss> {
    exclude_silent(world, now, (id, key.epoch), &round)?;
    if let Some(confirmation) = round::accepted(&round) {
        seat(world, now, (id, key), &round, confirmation)?;
        return Ok(key.next_look);
    }
    let next = match round.phase {
        Phase::Join => {
            let drawn = round.players.len();
            let joined: Vec<Player> =
                std::mem::take(&mut round.players).into_vec().into_iter().filter(|player| player.key.is_some()).collect();
            let is_enough = joined.len() >= min_members(drawn);
            round.players = List::new(joined).expect("some of those that were there");
            if round.dealers.is_empty() {
                let members = round.players.iter().map(|player| player.member.clone()).collect();
                round.dealers = Members::new(members).expect("as many as players");
            }
            Some(Phase::Deal).filter(|_| is_enough)
        }
        Phase::Deal => Some(Phase::Ack).filter(|_| is_quorum(&round)),
        Phase::Ack => Some(Phase::Log),
        Phase::Log => Some(Phase::Confirm).filter(|_| is_quorum(&round)),
        Phase::Confirm => None,
    };
    let Some(phase) = next else {
        Failed { key_id: u64::from(id), phase: name_of(round.phase), round: round.number }.emit(world);
        round::forget(world, id, &round);
        key.draw_at = now.after(now.params.secrets.retry);
        return Ok(key.draw_at);
    };
    let mut hashes = std::mem::take(&mut round.hashes).into_vec();
    hashes.push(Hash::ZERO);
    round.hashes = List::new(hashes).expect("there are five phases");
    let mut heard = std::mem::take(&mut round.heard).into_vec();
    heard.push(round.spoke);
    round.heard = List::new(heard).expect("four phases are before the last one");
    round.phase = phase;
    round.spoke = 0;
    round.ends_at = now.after(now.params.secrets.phase);
    PhaseBegun { ends_at: round.ends_at, key_id: u64::from(id), phase: name_of(phase), round: round.number }.emit(world);
    world.write(state::round_key(id), &round);
    Ok(round.ends_at)
}

/// Whoever was silent in a phase is not drawn for a while. It keeps the seat that it has. A member without a share cannot deal, and is not blamed.
fn exclude_silent(world: &mut World, now: Now<'_>, (id, epoch): (u32, Count), round: &Round) -> Result<(), Miss> {
    let until = now.after(now.params.secrets.exclusion);
    let does_deal = matches!(round.phase, Phase::Deal | Phase::Log);
    let standing = if does_deal { state::committee(world, id, epoch)? } else { None };
    let has_share = |place: usize| standing.as_ref().is_none_or(|committee| committee.confirmed & bit(place) != 0);
    let silent: Vec<Address> = speakers(round)
        .into_iter()
        .enumerate()
        .filter(|(place, _)| round.spoke & bit(*place) == 0 && has_share(*place))
        .map(|(_, member)| member.address)
        .collect();
    for address in silent {
        if let Some(mut proxy) = state::proxy(world, address)? {
            proxy.excluded_until = proxy.excluded_until.max(until);
            state::set_proxy(world, address, &proxy);
        }
    }
    Ok(())
}

/// The players of a dealing become the committee of its key. Only those that confirmed the outcome have to answer: nobody knows whether the others
/// have a share.
pub(super) fn seat(
    world: &mut World,
    now: Now<'_>,
    (id, key): (u32, &mut ReleaseKey),
    round: &Round,
    confirmation: Confirmation,
) -> Result<(), Miss> {
    let Confirmation { members: confirmed, outcome, .. } = confirmation;
    let encoded = outcome.expect("an outcome that nobody gave is not accepted");
    let outcome = Outcome::decode(encoded.bytes().clone()).expect("the outcome was checked when it was given");
    let rows = &now.params.secrets;
    if let Some(mut committee) = state::committee(world, id, key.epoch)? {
        committee.until = Some(now.after(rows.handover));
        world.write(state::committee_key(id, key.epoch), &committee);
    }
    if let Some(old) = key.epoch.checked_sub(Count(1)) {
        unseat(world, now, id, old)?;
    }
    key.epoch = Count(key.epoch.0.saturating_add(1));
    key.master = Some(Fixed(*outcome.master().bytes()));
    // Whoever's share is public is replaced soon: until then, fewer are needed to open what is sealed.
    key.draw_at = now.after(if outcome.revealed.is_empty() { rows.term } else { rows.replacement });
    key.next_look = now.next_look(key);
    let members: Vec<_> = round.players.iter().map(|player| player.member.clone()).collect();
    let seats = members.iter().map(|member| Seat { address: member.address, key: member.key }).collect();
    let members = Members::new(members).expect("as many as players");
    world.write(state::committee_key(id, key.epoch), &Committee { members, outcome: encoded, since: now.height, until: None, confirmed });
    round::forget(world, id, round);
    Seated { epoch: key.epoch, key_id: u64::from(id), members: List::new(seats).expect("as many as players") }.emit(world);
    Ok(())
}

/// Has another committee drawn soon: a member of this one lost its seat.
pub(super) fn hasten(world: &mut World, params: &Params, height: Height, id: u32) -> Result<(), Miss> {
    let Some(mut key) = state::key(world, id)? else { return Ok(()) };
    let at = Height(height.0.saturating_add(params.secrets.replacement));
    if state::round(world, id)?.is_some() || key.draw_at <= at {
        return Ok(());
    }
    let before = key.next_look;
    key.draw_at = at;
    key.next_look = before.min(at);
    state::set_key(world, id, Some(before), &key)
}

/// Makes a key the newest, and has the committee drawn that will deal it.
pub(super) fn begin(context: &mut Context<'_>, id: u32) -> Result<(), Miss> {
    let key = ReleaseKey {
        master: None,
        epoch: Count::ZERO,
        draw_at: context.height,
        next_look: Height(context.height.0.saturating_add(context.params.secrets.phase)),
        rounds: Count::ZERO,
        sunset: None,
        volumes: Count::ZERO,
    };
    context.world.write(state::current_key(), &id);
    state::set_key(context.world, id, None, &key)
}

impl Handle for Rekey {
    /// Makes room for a new key. Secrets are sealed to the present one until the new one is dealt.
    fn handle(self, context: &mut Context<'_>) -> Step<Count> {
        let rows = &context.params.secrets;
        let id = state::current(context.world)?.ok_or(error::NO_RELEASE_KEY)?;
        let key = state::key(context.world, id)?.filter(|key| key.master.is_some()).ok_or(error::NO_RELEASE_KEY)?;
        let old = ReleaseKey { sunset: Some(Height(context.height.0.saturating_add(rows.sunset))), ..key };
        context.world.write(state::release_key(id), &old);
        let next = id.saturating_add(1);
        begin(context, next)?;
        KeyBegun { key_id: u64::from(next) }.emit(context.world);
        Ok(Count(u64::from(next)))
    }
}

/// The number of the key that secrets are sealed to: the newest that was dealt.
pub(crate) fn sealing_key(world: &World) -> Result<Option<u32>, Miss> {
    let Some(newest) = state::current(world)? else { return Ok(None) };
    for id in [Some(newest), newest.checked_sub(1)].into_iter().flatten() {
        if state::key(world, id)?.is_some_and(|key| key.master.is_some()) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// A key, and the committee that holds it now.
pub(super) fn seated(world: &World, id: u32) -> Result<Option<(ReleaseKey, Committee)>, Miss> {
    let Some(key) = state::key(world, id)? else { return Ok(None) };
    Ok(state::committee(world, id, key.epoch)?.map(|committee| (key, committee)))
}
