//! Proxies: registering, heartbeats, leaving (decision 145).

use super::api::{AddStake, Heartbeat, Leave, Leaving, Left, RegisterProxy, Registered, Slashed, Staked, UpdateProxy, Updated, Withdraw};
use super::forms::{DescribedProxy, Moved};
use super::types::Proxy;
use super::{NUMBER, committee, state, views};
use crate::actor::{Context, Handle};
use crate::endpoint;
use crate::market::payment;
use crate::room::{Standing, place_for};
use crate::schema::Emit;
use crate::staking::possession;
use crate::standstill::SECRETS;
use cowboy_params::Params;
use cowboy_secrets::proxy::proof_message;
use cowboy_state::{Miss, Step, World};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, List, error};
use std::collections::BTreeSet;

/// The sender's own record.
fn own(context: &Context<'_>) -> Step<Proxy> {
    Ok(state::proxy(context.world, context.sender)?.ok_or(error::PROXY_UNKNOWN)?)
}

impl Handle for RegisterProxy {
    fn handle(self, context: &mut Context<'_>) -> Step<DescribedProxy> {
        let rows = &context.params.secrets;
        let (endpoint, port) = endpoint::checked(&self.endpoint, self.port).ok_or(error::PROXY_ENDPOINT)?;
        let is_new = state::proxy(context.world, context.sender)?.is_none();
        if !is_new || context.world.read::<Address>(&state::signer_key(&self.key))?.is_some() {
            return Err(error::PROXY_EXISTS.into());
        }
        make_room(context, context.value)?;
        if context.value.0 < rows.proxy_stake {
            return Err(error::PROXY_STAKE.into());
        }
        context.charge(0, context.params.weights.verify_ed25519);
        if !possession::network_key_signs(&self.key, &proof_message(&context.genesis, context.sender, &self.key), self.proof.0) {
            return Err(error::PROXY_KEY.into());
        }
        let record = Proxy {
            endpoint,
            port,
            certificate: self.certificate,
            key: self.key,
            stake: context.value,
            registered_at: context.height,
            last_heartbeat: context.height,
            left_at: None,
            seated_until: Height::ZERO,
            excluded_until: Height::ZERO,
            silences: Count::ZERO,
            silent_since: Height::ZERO,
            demands: List::default(),
        };
        // The first key is dealt once proxies can be drawn.
        if state::current(context.world)?.is_none() {
            committee::begin(context, state::FIRST_KEY)?;
        }
        state::proxies().insert(context.world, &context.sender.0)?;
        context.world.write(state::signer_key(&self.key), &context.sender);
        context.charge_kept(&record);
        state::set_proxy(context.world, context.sender, &record);
        Registered(Moved { amount: record.stake, proxy: context.sender }).emit(context.world);
        let still = SECRETS.read(context.world)?;
        Ok(views::described_proxy(context, &still, context.sender, &record))
    }
}

impl Handle for UpdateProxy {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut record = own(context)?;
        (record.endpoint, record.port) = endpoint::checked(&self.endpoint, self.port).ok_or(error::PROXY_ENDPOINT)?;
        record.certificate = self.certificate;
        context.charge_kept(&record);
        state::set_proxy(context.world, context.sender, &record);
        Updated(Moved { amount: record.stake, proxy: context.sender }).emit(context.world);
        Ok(())
    }
}

impl Handle for Heartbeat {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut record = own(context)?;
        context.is_due = record.is_heartbeat_due(context.params.secrets.alive, context.height.0);
        record.last_heartbeat = context.height;
        state::set_proxy(context.world, context.sender, &record);
        Ok(())
    }
}

impl Handle for AddStake {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut record = own(context)?;
        if context.value == Amount::ZERO || record.left_at.is_some() {
            return Err(error::PROXY_STATE.into());
        }
        record.stake = record.stake.saturating_add(context.value);
        state::set_proxy(context.world, context.sender, &record);
        Staked(Moved { amount: record.stake, proxy: context.sender }).emit(context.world);
        Ok(())
    }
}

impl Handle for Leave {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut record = own(context)?;
        if record.left_at.is_some() {
            return Err(error::PROXY_STATE.into());
        }
        record.left_at = Some(context.height);
        state::set_proxy(context.world, context.sender, &record);
        Leaving(Moved { amount: record.stake, proxy: context.sender }).emit(context.world);
        Ok(())
    }
}

impl Handle for Withdraw {
    /// Pays the stake once nothing of the proxy can be asked for, or shown to be false, any more.
    fn handle(self, context: &mut Context<'_>) -> Step<Amount> {
        let record = own(context)?;
        if record.left_at.is_none() || !record.demands.is_empty() || seated(context.world)?.contains(&context.sender) {
            return Err(error::PROXY_STATE.into());
        }
        if context.height < record.free_at(context.params, &SECRETS.read(context.world)?) {
            return Err(error::STILL_BOUND.into());
        }
        remove(context.world, context.sender, &record)?;
        Ok(record.stake)
    }
}

/// Removes a proxy of which nothing can be asked any more, and pays its stake.
fn remove(world: &mut World, proxy: Address, record: &Proxy) -> Result<(), Miss> {
    take(world, record.stake)?;
    world.credit(proxy, record.stake)?;
    state::proxies().remove(world, &proxy.0)?;
    world.require([&state::signer_key(&record.key)])?;
    world.remove(state::signer_key(&record.key));
    world.remove(state::proxy_key(proxy));
    Left(Moved { amount: record.stake, proxy }).emit(world);
    Ok(())
}

/// Makes room for one more proxy with this stake. Where the registry is full, it takes the place of one that is gone, which is paid its stake (decision
/// 582), or of an idle one that has less stake and gives way (decision 597); fails where there is none. A proxy cannot give itself a seat or a demand, so
/// whoever has one keeps its place (decision 606).
fn make_room(context: &mut Context<'_>, stake: Amount) -> Step<()> {
    let (params, height) = (context.params, context.height);
    let count = state::proxies().count(context.world)?;
    // The proxies are read, and for each key two committees and a dealing.
    let keys = u64::from(state::current(context.world)?.unwrap_or(0));
    if !context.is_full(count, params.secrets.proxies, count.saturating_add(keys.saturating_mul(3)))? {
        return Ok(());
    }
    let (still, seated, mut idle) = (SECRETS.read(context.world)?, seated(context.world)?, Vec::new());
    for (address, proxy) in state::all_proxies(context.world)? {
        if !proxy.demands.is_empty() || seated.contains(&address) {
            continue;
        }
        let standing = Standing {
            is_free: height >= proxy.free_at(params, &still),
            is_busy: false,
            is_up: proxy.left_at.is_none() && proxy.is_alive(params, &still, height),
            stake: proxy.stake,
            registered_at: proxy.registered_at,
        };
        idle.push((standing, (address, proxy)));
    }
    let (standing, (address, proxy)) = place_for(idle, stake).ok_or(error::PROXIES_FULL)?;
    match standing.is_free {
        true => remove(context.world, address, &proxy)?,
        false => give_way(context.world, height, address, proxy)?,
    }
    Ok(())
}

/// Has a proxy leave and takes its place. Its stake answers for what it did until it is free.
fn give_way(world: &mut World, height: Height, address: Address, mut proxy: Proxy) -> Result<(), Miss> {
    state::proxies().remove(world, &address.0)?;
    if proxy.left_at.is_none() {
        proxy.left_at = Some(height);
        state::set_proxy(world, address, &proxy);
        Leaving(Moved { amount: proxy.stake, proxy: address }).emit(world);
    }
    Ok(())
}

/// The members of committees that answer, and of dealings.
fn seated(world: &World) -> Result<BTreeSet<Address>, Miss> {
    let mut seated = BTreeSet::new();
    for id in state::key_ids(state::current(world)?) {
        let Some(key) = state::key(world, id)? else { continue };
        for epoch in key.committees() {
            let committee = state::committee(world, id, epoch)?;
            seated.extend(committee.iter().flat_map(|committee| committee.members.iter().map(|member| member.address)));
        }
        let round = state::round(world, id)?;
        seated.extend(round.iter().flat_map(|round| round.players.iter().map(|player| player.member.address)));
    }
    Ok(seated)
}

/// Takes CBY that 0x04 holds for others out of its balance.
pub(super) fn take(world: &mut World, amount: Amount) -> Result<(), Miss> {
    assert!(world.debit(Address::system(NUMBER), amount)?, "0x04 holds all stakes, deposits, fees and bonds");
    Ok(())
}

/// Notes that a proxy has to answer a demand. It has room for it.
pub(super) fn ask(world: &mut World, proxy: Address, release: Hash) -> Result<(), Miss> {
    let mut record = state::proxy(world, proxy)?.expect("only proxies that are there are asked");
    let mut demands = std::mem::take(&mut record.demands).into_vec();
    demands.push(release);
    record.demands = List::new(demands).expect("only proxies with room are asked");
    state::set_proxy(world, proxy, &record);
    Ok(())
}

/// Notes that a proxy need not answer a demand any more.
pub(super) fn excuse(world: &mut World, proxy: Address, release: &Hash) -> Result<(), Miss> {
    let Some(mut record) = state::proxy(world, proxy)? else { return Ok(()) };
    let mut demands = std::mem::take(&mut record.demands).into_vec();
    demands.retain(|asked| asked != release);
    record.demands = List::new(demands).expect("no more than before");
    state::set_proxy(world, proxy, &record);
    Ok(())
}

/// Burns a share of a proxy's stake, and lets it be drawn no more for a while where it loses its seat.
pub(super) fn punish(
    world: &mut World,
    (params, height): (&Params, Height),
    proxy: Address,
    basis_points: u64,
    does_lose_seat: bool,
) -> Result<Amount, Miss> {
    let Some(mut record) = state::proxy(world, proxy)? else { return Ok(Amount::ZERO) };
    let burned = payment::share(record.stake, basis_points);
    record.stake = record.stake.saturating_sub(burned);
    if does_lose_seat {
        record.excluded_until = Height(height.0.saturating_add(params.secrets.exclusion));
        (record.silences, record.silent_since) = (Count::ZERO, Height::ZERO);
    }
    take(world, burned)?;
    world.burn(burned)?;
    state::set_proxy(world, proxy, &record);
    Slashed(Moved { amount: burned, proxy }).emit(world);
    Ok(burned)
}
