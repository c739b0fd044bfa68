//! Releases: the right to a committee's answers, who gave them, and what happens to who did not (decisions 144 to 146).

use super::api::{Accuse, CloseRelease, Closed, Demand, DemandOver, Demanded, Lapsed, Opened, Paid, ReleaseToOwner, Serve, Served};
use super::forms::Moved;
use super::types::{self, Committee, Indices, Release, Version, bit, first, indices};
use super::{NUMBER, committee, proxies, standing, state};
use crate::actor::{Context, Handle};
use crate::market::{jobs, payment};
use crate::schema::Emit;
use crate::staking::possession;
use crate::standstill::{SECRETS, Standstill};
use commonware_codec::DecodeExt as _;
use cowboy_params::Params;
use cowboy_secrets::dealing::{Outcome, threshold};
use cowboy_secrets::partial::{answer_digest, release_id};
use cowboy_secrets::{Identity, Kind, Partial, PointG1, PointG2, Policy, TransportKey, share_key};
use cowboy_state::{Key, Miss, Step, World};
use cowboy_types::job::JobStatus;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List, error};

/// The transport key, where it is a point and its sender has the secret.
fn checked_transport(context: &mut Context<'_>, key: Fixed<48>, proof: Fixed<96>) -> Step<PointG1> {
    context.spend(0, context.params.weights.possession)?;
    let point = PointG1::new(key.0).ok_or(error::TRANSPORT_KEY)?;
    let proof = PointG2::new(proof.0).ok_or(error::TRANSPORT_KEY)?;
    let transport = TransportKey { key: point, proof };
    if transport.is_possessed() { Ok(point) } else { Err(error::TRANSPORT_KEY.into()) }
}

/// How often 0x04 looks at a release: when its deadline passes, and when its record has been kept long enough.
const LOOKS: u64 = 2;

/// How often 0x04 looks at a demand: when its time is over.
const LOOKS_OF_DEMAND: u64 = 1;

/// Records that a look at a release touches: its own, those of the agenda, what is released or its job, and what counts its recipients.
const RECORDS_OF_LOOK: u64 = 12;

/// What 0x04 does later for a release weighs when it is caused, so that no block causes more than blocks can do, and when it is done.
pub(super) fn weight_of_looks(params: &Params, looks: u64, members: usize) -> u64 {
    let records = looks.saturating_mul(RECORDS_OF_LOOK).saturating_add(u64::try_from(members).unwrap_or(u64::MAX));
    records.saturating_mul(params.weights.record)
}

/// Whether a policy lets a version be released at a height.
pub(super) fn is_open(policy: &Policy, version: &Version, height: Height) -> bool {
    let is_in_time = policy.from <= height && (policy.until == Height::ZERO || height <= policy.until);
    is_in_time && (policy.max_releases == Count::ZERO || version.released < policy.max_releases)
}

/// A release that is to be opened.
pub(crate) struct Opening {
    /// Who pays the fee.
    pub(crate) payer: Address,
    /// Who receives it.
    pub(crate) recipient: Address,
    /// The job, or the delivery in which the owner asks.
    pub(crate) subject: Hash,
    /// The last height at which it is answered.
    pub(crate) deadline: Height,
    /// The key to which answers are encrypted.
    pub(crate) transport: Fixed<48>,
    /// The proof that the recipient has its secret.
    pub(crate) proof: Fixed<96>,
    /// How many runners of the job may have it, where the recipient is one; otherwise nobody counts.
    pub(crate) copies: Option<u8>,
}

/// A version of a secret: the account that keeps it, the hash of its name, and its number.
pub(super) type Numbered = (Address, Hash, Count);

/// Opens a release of a version of a secret that was paused so often, and counts it.
pub(super) fn open(context: &mut Context<'_>, mut version: Version, of: Numbered, pauses: Count, opening: Opening) -> Step<Hash> {
    let (account, name, number) = of;
    if !is_open(&version.policy, &version, context.height) {
        return Err(error::RELEASE_REFUSED.into());
    }
    let policy_hash = version.policy.hash();
    let (genesis, key_id) = (context.genesis, version.key_id);
    let identity = Identity { kind: Kind::Secret, genesis, key_id, account, name_hash: name, version: number.0, policy_hash };
    let id = hold(context, identity, pauses, opening)?;
    version.released = Count(version.released.0.saturating_add(1));
    context.world.write(state::version_key(account, &name, number), &version);
    Ok(id)
}

/// Opens a release of what the committee makes for an identity. Nobody pauses it.
pub(crate) fn grant(context: &mut Context<'_>, identity: Identity, opening: Opening) -> Step<Hash> {
    hold(context, identity, Count::ZERO, opening)
}

/// The record that counts the runners of a job that a secret was released to.
fn given_key(subject: &Hash, identity: &Identity) -> Key {
    state::given_key(subject, identity.account, &identity.name_hash, Count(identity.version))
}

/// Opens a release of what is sealed to an identity: holds its fee, and has it answered until its deadline.
fn hold(context: &mut Context<'_>, identity: Identity, pauses: Count, opening: Opening) -> Step<Hash> {
    let Opening { payer, recipient, subject, deadline, transport, proof, copies } = opening;
    let (params, still, height) = (context.params, SECRETS.read(context.world)?, context.height);
    let (key, _) = committee::seated(context.world, identity.key_id)?
        .filter(|(key, _)| !key.is_over(params, &still, height))
        .ok_or(error::NO_RELEASE_KEY)?;
    let id = release_id(&subject, recipient, &identity);
    if state::release(context.world, &id)?.is_some() {
        return Err(error::RELEASE_STATE.into());
    }
    let given_key = given_key(&subject, &identity);
    let given = context.world.read::<Count>(&given_key)?.unwrap_or(Count::ZERO);
    if copies.is_some_and(|copies| given.0 >= u64::from(copies)) {
        return Err(error::RELEASE_REFUSED.into());
    }
    checked_transport(context, transport, proof)?;
    let fee = Amount(context.params.secrets.release_fee);
    if !context.world.debit(payer, fee)? {
        return Err(error::SECRET_DEPOSIT.into());
    }
    context.world.credit(Address::system(NUMBER), fee)?;
    if copies.is_some() {
        context.world.write(given_key, &Count(given.0.saturating_add(1)));
    }
    let (account, name_hash, version) = (identity.account, identity.name_hash, Count(identity.version));
    let release = Release {
        identity,
        recipient,
        transport,
        subject,
        epoch: key.epoch,
        pauses,
        opened: height,
        deadline,
        fee,
        served: None,
        accused: 0,
        demand: None,
        next_look: deadline,
    };
    context.charge_kept(&release);
    context.charge(0, weight_of_looks(context.params, LOOKS, 0));
    state::set_release(context.world, &id, None, &release)?;
    Opened { account, deadline, name_hash, recipient, release_id: id, subject, version }.emit(context.world);
    Ok(id)
}

impl Handle for ReleaseToOwner {
    fn handle(self, context: &mut Context<'_>) -> Step<Hash> {
        let (account, name) = (context.sender, self.name_hash);
        let secret = state::secret(context.world, account, &name)?.ok_or(error::SECRET_NOT_FOUND)?;
        let number = self.version.map_or(secret.latest, Count);
        let version = state::version(context.world, account, &name, number)?.ok_or(error::SECRET_NOT_FOUND)?;
        if secret.is_paused {
            return Err(error::SECRET_PAUSED.into());
        }
        let deadline = Height(context.height.0.saturating_add(context.params.secrets.release_window));
        let (recipient, subject) = (account, context.id);
        let (transport, proof) = (self.transport, self.proof);
        let opening = Opening { payer: account, recipient, subject, deadline, transport, proof, copies: None };
        open(context, version, (account, name, number), secret.pauses, opening)
    }
}

/// A release to the sender that is neither closed nor over.
fn open_release(context: &Context<'_>, id: &Hash) -> Step<Release> {
    let release = state::release(context.world, id)?.ok_or(error::RELEASE_NOT_FOUND)?;
    if release.recipient != context.sender {
        return Err(error::RELEASE_FOREIGN.into());
    }
    let is_late = context.height > release.answered_until(&SECRETS.read(context.world)?);
    if release.served.is_some() || is_late { Err(error::RELEASE_STATE.into()) } else { Ok(release) }
}

/// The committee that holds the key of a release now, and its number.
fn holders(world: &World, release: &Release) -> Step<(Count, Committee)> {
    let (key, committee) = committee::seated(world, release.identity.key_id)?.ok_or(error::NO_RELEASE_KEY)?;
    Ok((key.epoch, committee))
}

impl Handle for CloseRelease {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { release_id, epoch, served } = self;
        let epoch = Count(epoch);
        let mut release = open_release(context, &release_id)?;
        if release.demand.as_ref().is_some_and(|demand| !demand.is_over) {
            return Err(error::RELEASE_STATE.into());
        }
        let committee = state::committee(context.world, release.identity.key_id, epoch)?.ok_or(error::RELEASE_SERVED)?;
        let members = committee.members.len();
        let count = usize::try_from(served.count_ones()).unwrap_or(0);
        if served & !first(members) != 0 || count < threshold(members) {
            return Err(error::RELEASE_SERVED.into());
        }
        let addresses: Vec<Address> =
            indices(served).filter_map(|place| committee.members.get(place)).map(|member| member.address).collect();
        pay(context.world, context.params, release.fee, &addresses)?;
        (release.served, release.epoch, release.fee) = (Some(served), epoch, Amount::ZERO);
        context.world.write(state::release_record_key(&release_id), &release);
        let Release { identity, recipient, subject, .. } = release;
        let (name_hash, version) = (identity.name_hash, Count(identity.version));
        Closed { epoch, name_hash, recipient, release_id, served, subject, version }.emit(context.world);
        Ok(())
    }
}

/// Shares a fee among those who answered, as the price of a job is split. What does not divide is burned.
fn pay(world: &mut World, params: &Params, fee: Amount, to: &[Address]) -> Result<(), Miss> {
    let rows = &params.jobs;
    let each = payment::part_of_each(payment::of_payout(rows, fee, rows.payout_runners), to.len());
    let treasury = payment::of_payout(rows, fee, rows.payout_treasury);
    let mut rest = fee.saturating_sub(treasury);
    proxies::take(world, fee)?;
    for proxy in to {
        world.credit(*proxy, each)?;
        rest = rest.saturating_sub(each);
        Paid(Moved { amount: each, proxy: *proxy }).emit(world);
    }
    world.credit(Address::system(cowboy_types::actors::TREASURY), treasury)?;
    world.burn(rest)
}

/// Whom a demand asks: as many as are missing to the threshold, of those that have a share, did not answer, and can serve one more demand in time.
/// Those that are up come first, from a place on that the release decides.
fn asked(context: &mut Context<'_>, committee: &Committee, id: &Hash, served: Indices) -> Step<Indices> {
    let members = committee.members.len();
    let answered = usize::try_from(served.count_ones()).unwrap_or(usize::MAX);
    let missing = threshold(members).saturating_sub(answered);
    if served & !first(members) != 0 || missing == 0 {
        return Err(error::RELEASE_SERVED.into());
    }
    let keys: Vec<_> = committee.members.iter().map(|member| state::proxy_key(member.address)).collect();
    context.world.require(&keys)?;
    context.charge_records(members);
    let still = SECRETS.read(context.world)?;
    let room = usize::try_from(context.params.secrets.demands).unwrap_or(usize::MAX).min(types::MAX_DEMANDS);
    let turn = id.0.first().map_or(0, |byte| usize::from(*byte)).checked_rem(members).unwrap_or(0);
    let (mut able, mut is_full) = (Vec::new(), false);
    for (place, member) in committee.members.iter().enumerate().filter(|(place, _)| committee.confirmed & !served & bit(*place) != 0) {
        let Some(proxy) = state::proxy(context.world, member.address)? else { continue };
        if proxy.demands.len() >= room {
            is_full = true;
            continue;
        }
        able.push((!proxy.is_alive(context.params, &still, context.height), place < turn, place));
    }
    if able.is_empty() || is_full && able.len() < missing {
        return Err(if is_full { error::RELEASE_DEMANDS } else { error::RELEASE_SERVED }.into());
    }
    able.sort_unstable();
    Ok(able.into_iter().take(missing).fold(0, |due, (_, _, place)| due | bit(place)))
}

impl Handle for Demand {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { release_id, served } = self;
        let mut release = open_release(context, &release_id)?;
        let rows = &context.params.secrets;
        if release.demand.is_some() || standing::over_now(context.world, &release, context.height)?.is_some() {
            return Err(error::RELEASE_STATE.into());
        }
        if context.value.0 < rows.demand_bond {
            return Err(error::DEMAND_BOND.into());
        }
        let (epoch, committee) = holders(context.world, &release)?;
        let due = asked(context, &committee, &release_id, served)?;
        let later = weight_of_looks(context.params, LOOKS_OF_DEMAND, committee.members.len());
        context.charge(0, later);
        let members: Vec<Address> = committee.members.iter().map(|member| member.address).collect();
        for proxy in indices(due).filter_map(|place| members.get(place)) {
            proxies::ask(context.world, *proxy, release_id)?;
        }
        let members = List::new(members).expect("as many as members");
        let until = Height(context.height.0.saturating_add(rows.demand_window));
        let before = release.next_look;
        release.epoch = epoch;
        release.demand = Some(types::Demand { bond: context.value, made_at: context.height, until, due, members, is_over: false });
        // After the demand there is as much time as after the opening to say who answered.
        let wanted = Height(until.0.saturating_add(rows.demand_window));
        let still = SECRETS.read(context.world)?;
        release.deadline = release.deadline.max(still.moving_to(release.opened, context.height, wanted));
        release.next_look = until;
        state::set_release(context.world, &release_id, Some(before), &release)?;
        Demanded { due, release_id, until }.emit(context.world);
        Ok(())
    }
}

/// Whether an answer is the one of a member of a committee, for a release.
fn holds(context: &mut Context<'_>, release: &Release, committee: &Committee, place: usize, answer: &Partial) -> Step<bool> {
    let needed = u64::try_from(threshold(committee.members.len())).unwrap_or(u64::MAX);
    let points = needed.saturating_mul(context.params.weights.point);
    context.spend(0, context.params.weights.partial.saturating_add(points))?;
    let outcome = Outcome::decode(committee.outcome.bytes().clone()).expect("the outcome was checked when it was accepted");
    let share = u16::try_from(place).ok().and_then(|place| share_key(&outcome.polynomial, place));
    let transport = PointG1::new(release.transport.0).expect("the key was checked when the release was opened");
    Ok(share.is_some_and(|share| answer.is_valid(&release.identity, &transport, &share)))
}

impl Handle for Serve {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { release_id, answer } = self;
        let mut release = state::release(context.world, &release_id)?.ok_or(error::RELEASE_NOT_FOUND)?;
        let mut demand = release.demand.clone().filter(|demand| !demand.is_over).ok_or(error::RELEASE_STATE)?;
        let until = demand.answered_until(&SECRETS.read(context.world)?);
        if standing::over_now(context.world, &release, until)?.is_some() {
            return Err(error::RELEASE_STATE.into());
        }
        let committee = state::committee(context.world, release.identity.key_id, release.epoch)?.ok_or(error::RELEASE_STATE)?;
        let place = committee.members.iter().position(|member| member.address == context.sender).ok_or(error::ANSWER_INVALID)?;
        if demand.due & bit(place) == 0 {
            return Err(error::ANSWER_INVALID.into());
        }
        let partial = Partial::decode(answer.0.to_vec()).map_err(|_| error::ANSWER_INVALID)?;
        if !holds(context, &release, &committee, place, &partial)? {
            return Err(error::ANSWER_INVALID.into());
        }
        demand.due &= !bit(place);
        proxies::excuse(context.world, context.sender, &release_id)?;
        release.demand = Some(demand);
        context.world.write(state::release_record_key(&release_id), &release);
        Served { answer, index: u64::try_from(place).unwrap_or(u64::MAX), release_id }.emit(context.world);
        context.is_due = true;
        Ok(())
    }
}

impl Handle for Accuse {
    /// Slashes a member that signed an answer which does not hold, or is none.
    fn handle(self, context: &mut Context<'_>) -> Step<Moved> {
        let Self { release_id, epoch, index, answer, signature } = self;
        let mut release = state::release(context.world, &release_id)?.ok_or(error::RELEASE_NOT_FOUND)?;
        let id = release.identity.key_id;
        let place = usize::from(index);
        let committee = state::committee(context.world, id, Count(epoch))?.ok_or(error::ACCUSATION_FALSE)?;
        let member = committee.members.get(place).cloned().ok_or(error::ACCUSATION_FALSE)?;
        context.charge(context.params.costs.verify_ed25519, context.params.weights.verify_ed25519);
        let digest = answer_digest(&release_id, epoch, index, &answer.0);
        let is_signed = possession::network_key_signs(&member.key, &digest.0, signature.0);
        // A member of two committees is accused once for a release: places differ, and one suffices.
        if !is_signed || release.accused & bit(place) != 0 {
            return Err(error::ACCUSATION_FALSE.into());
        }
        let is_true = match Partial::decode(answer.0.to_vec()) {
            Ok(partial) => holds(context, &release, &committee, place, &partial)?,
            Err(_) => false,
        };
        if is_true {
            return Err(error::ACCUSATION_FALSE.into());
        }
        release.accused |= bit(place);
        context.world.write(state::release_record_key(&release_id), &release);
        let (params, height) = (context.params, context.height);
        let amount = proxies::punish(context.world, (params, height), member.address, params.secrets.answer_slash, true)?;
        committee::hasten(context.world, params, height, id)?;
        Ok(Moved { amount, proxy: member.address })
    }
}

/// When 0x04 looks at a release: the block's parameters, for how long its clock stood still, and the height.
type Now<'a> = (&'a Params, &'a Standstill, Height);

/// Looks at a release that is due: a demand is over, its deadline passed, or its record has been kept long enough: for the parameter's blocks, and while its
/// job is under way. Where a pause moved that, it is looked at then.
pub(super) fn look(world: &mut World, now: Now<'_>, id: &Hash) -> Result<(), Miss> {
    let (params, still, height) = now;
    let mut release = state::release(world, id)?.expect("the agenda names releases that are there");
    let (before, deadline) = (release.next_look, release.answered_until(still));
    if let Some(demand) = release.demand.clone().filter(|demand| !demand.is_over) {
        let until = demand.answered_until(still);
        release.next_look = until;
        if height >= until {
            end_demand(world, now, id, &mut release, demand)?;
            release.next_look = deadline;
        }
        return state::set_release(world, id, Some(before), &release);
    }
    if height < deadline {
        release.next_look = deadline;
        return state::set_release(world, id, Some(before), &release);
    }
    if release.served.is_none() && release.fee > Amount::ZERO {
        // Whoever recovers nothing from silence has no reason to be silent, on either side (decision 504).
        proxies::take(world, release.fee)?;
        world.burn(release.fee)?;
        Lapsed { amount: release.fee, release_id: *id }.emit(world);
        release.fee = Amount::ZERO;
    }
    let kept_until = Height(deadline.0.saturating_add(params.secrets.receipts));
    if height < kept_until {
        release.next_look = kept_until;
        return state::set_release(world, id, Some(before), &release);
    }
    if may_open_again(world, &release.subject)? {
        release.next_look = Height(height.0.saturating_add(params.secrets.receipts));
        return state::set_release(world, id, Some(before), &release);
    }
    state::reschedule(world, state::Subject::Release(*id), Some(before), None)?;
    world.remove(state::release_record_key(id));
    // Nobody counts the recipients of a volume's key.
    if release.identity.kind == Kind::Partition {
        return Ok(());
    }
    let given_key = given_key(&release.subject, &release.identity);
    match world.read::<Count>(&given_key)? {
        Some(Count(0 | 1)) | None => world.remove(given_key),
        Some(Count(given)) => world.write(given_key, &Count(given.saturating_sub(1))),
    }
    Ok(())
}

/// Whether a release with the same id could be opened, were the record of this one gone: its job is under way, as the market stood still. Answers name the
/// release and not the key that they are encrypted to, so those to the first one would seem false to the second (decision 750).
fn may_open_again(world: &World, subject: &Hash) -> Result<bool, Miss> {
    let job = jobs::find(world, subject)?;
    Ok(job.is_some_and(|job| matches!(job.status, JobStatus::Drawing | JobStatus::Waiting | JobStatus::Assigned | JobStatus::Revealing)))
}

/// Slashes who was silent. The bond is returned where somebody was, and burned where nobody was, or where what was to be answered ended before.
fn end_demand(world: &mut World, now: Now<'_>, id: &Hash, release: &mut Release, demand: types::Demand) -> Result<(), Miss> {
    let ((params, still, height), until) = (now, demand.answered_until(now.1));
    // A committee that is gone can neither answer nor be blamed.
    let committee = state::committee(world, release.identity.key_id, release.epoch)?;
    let could_answer = committee.is_some_and(|committee| committee.does_answer(params, still, until));
    let is_over = standing::over_now(world, release, until)?.is_some();
    let is_burned = is_over || demand.due == 0;
    let silent: Indices = if could_answer && !is_over { demand.due } else { 0 };
    let proxies_of = |places: Indices| indices(places).filter_map(|place| demand.members.get(place)).copied().collect::<Vec<_>>();
    for proxy in proxies_of(demand.due) {
        proxies::excuse(world, proxy, id)?;
    }
    for proxy in proxies_of(silent) {
        let does_lose_seat = count_silence(world, now, proxy)?;
        proxies::punish(world, (params, height), proxy, params.secrets.silence_slash, does_lose_seat)?;
        if does_lose_seat {
            committee::hasten(world, params, height, release.identity.key_id)?;
        }
    }
    proxies::take(world, demand.bond)?;
    if is_burned {
        world.burn(demand.bond)?
    } else {
        world.credit(release.recipient, demand.bond)?
    }
    DemandOver { bond: demand.bond, release_id: *id, silent }.emit(world);
    release.demand = Some(types::Demand { bond: Amount::ZERO, is_over: true, ..demand });
    Ok(())
}

/// Counts a demand that a proxy did not serve. Answers whether these are too many.
fn count_silence(world: &mut World, (params, still, height): Now<'_>, address: Address) -> Result<bool, Miss> {
    let rows = &params.secrets;
    let Some(mut proxy) = state::proxy(world, address)? else { return Ok(false) };
    let kept = rows.term.saturating_mul(rows.silence_terms);
    if proxy.silences == Count::ZERO || still.ran(proxy.silent_since, height) > kept {
        (proxy.silences, proxy.silent_since) = (Count::ZERO, height);
    }
    proxy.silences = Count(proxy.silences.0.saturating_add(1));
    state::set_proxy(world, address, &proxy);
    Ok(proxy.silences.0 >= rows.silences)
}
