//! Timers that are due: after the transactions, in their own lane, first in, first out (003 §5.1a), or as they bid (003 §5.1b).
//!
//! Every due timer stands at the front of one of the chain's directories until it fires or is removed, so that none is lost. A block
//! examines `timers.examined_per_block` of them: those that became due first, so that what waits from before delays nobody (decision 653).

use super::auction::Round;
use super::settle::unpaid;
use super::{Execution, Halt, Payment, Source, Turn};
use crate::delivery::{Delivered, Envelope, Work, nested_id};
use crate::fees::{Offer, Offers, Used};
use crate::journal::by_value;
use crate::lanes::{Lane, limits_of};
use cowboy_params::Params;
use cowboy_state::records::{Timer, keys};
use cowboy_state::{Directory, Key, Kind, Miss};
use cowboy_system::auction::Bid;
use cowboy_system::bidding::TippedBy;
use cowboy_system::timers::{self, Unfired, listed};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, Cycles, Height, Price};
use cowboy_types::{Hash, Receipt, Text, keccak256};
use std::sync::Arc;

/// Records that the removal of a timer touches: its own and its payload's, pages of its two directories, and those of who pays for it.
const RECORDS_OF_REMOVAL: u64 = 8;

/// Records that settling the rent of an account's timer touches beside these: the balances of 0x0A, of the treasury and of the account.
const RECORDS_OF_RENT: u64 = 3;

/// The due timers of a block, and how far they are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Due {
    /// Ids, in the order in which they are tried.
    pub(super) ids: Arc<[Hash]>,
    next: usize,
    /// Whether the lane had no room for one: those behind it wait too.
    is_lane_full: bool,
    /// Whether more are due than the block looks at.
    pub(super) is_cut: bool,
    /// Cycles of the cleanup lane that were used.
    pub(super) cleanup_used: u64,
    /// The auction, where timers are auctioned.
    pub(super) round: Option<Arc<Round>>,
}

by_value!(Due);

impl Execution {
    /// Reads which timers are due. Answers the cycles that those of them declare which may fire, up to the lane's budget: so much of the
    /// lane is not spilled to others.
    pub(super) fn find_due(&mut self) -> Result<Cycles, Miss> {
        let (ids, is_cut) = self.examined()?;
        let records: Vec<_> = ids.iter().map(keys::timer).collect();
        self.machine.world.require(&records)?;
        let mut due = Vec::with_capacity(records.len());
        for record in &records {
            due.push(self.machine.world.read::<Timer>(record)?.expect("a listed timer is there"));
        }
        let round = self.open_round(&ids, &due)?;
        let budget = Lane::Timer.budget(&self.machine.environment.params);
        let (mut declared, mut fired) = (Cycles::ZERO, Vec::new());
        for (_, timer) in ids.iter().zip(&due).filter(|(id, timer)| self.may_fire(round.as_deref(), id, timer)) {
            if declared >= budget {
                break;
            }
            let payer = [Key::account(timer.fee_payer), Key::of(Kind::Actor, timer.fee_payer)];
            fired.extend(payer.into_iter().chain([Kind::Actor, Kind::Manifest].map(|kind| Key::of(kind, timer.actor))));
            declared = declared.saturating_add(limits_of(&self.machine.environment.params, timer).cycles).min(budget);
        }
        if due.iter().any(|timer| timer.rent.is_some()) {
            fired.extend(timers::RENT_ACCOUNTS.map(Key::account));
        }
        self.machine.world.require(&fired)?;
        self.due = Due { ids: ids.into(), round, is_cut, ..Due::default() };
        Ok(declared)
    }

    /// Whether a due timer may fire in this block. In an auction it offers the base fee, or its agent is among those that are asked first: who only
    /// waits keeps no part of the block from others (decision 674).
    fn may_fire(&self, round: Option<&Round>, id: &Hash, timer: &Timer) -> bool {
        let Some(round) = round else { return true };
        let params = &self.machine.environment.params;
        let most = usize::try_from(params.timers.bids_per_block).unwrap_or(usize::MAX);
        let does_offer = Bid::of(timer).is_some_and(|bid| round.auction.offered(params, bid).is_some());
        does_offer || timer.bidder.is_some() && round.to_ask.iter().take(most).any(|asked| asked == id)
    }

    /// The due timers that the block examines, and whether as many are due as it can examine, or more.
    ///
    /// First in, first out, none that becomes due now goes before those from earlier blocks. In the auction the block is to know the new
    /// ones whatever waits from before, since they may bid more.
    fn examined(&self) -> Result<(Vec<Hash>, bool), Miss> {
        let environment = &self.machine.environment;
        let height = environment.height;
        let most = usize::try_from(environment.params.timers.examined_per_block).expect("the row is small");
        let new_from = if environment.rules.has_timer_auction { height } else { height.next() };
        let world = &self.machine.world;
        // Pages of later timers are not read, however many there are (decision 676).
        let due = |from: Height| -> Result<Vec<(Height, Hash)>, Miss> {
            let (first, end) = (from.0.to_be_bytes(), height.next().0.to_be_bytes());
            let names = Directory::timers().list_until(world, &first, &end, most)?;
            Ok(names.iter().map(|name| listed(name)).collect())
        };
        let again: Vec<(Height, Hash)> = Directory::timers_put_off().list(world, &[], most)?.iter().map(|name| listed(name)).collect();
        let mut late = due(Height::ZERO)?;
        let is_full = late.len() == most;
        let mut new = late.split_off(late.partition_point(|(due, _)| *due < new_from));
        if is_full {
            new = due(new_from)?;
        }
        let is_cut = late.len().saturating_add(new.len()).saturating_add(again.len()) >= most;
        let again_due = again.partition_point(|(due, _)| *due <= height);
        let kept = kept_for_waiting(&environment.params, most);
        let [of_new, of_late, of_again] = shares(most, kept, [new.len(), late.len(), again_due]);
        // What is left goes to those whose time has not come again, so that no lane stays empty while timers wait for it.
        let left = most.saturating_sub(of_new).saturating_sub(of_late).saturating_sub(of_again);
        let lines = [(again, of_again.saturating_add(left)), (late, of_late), (new, of_new)];
        let ids = lines.into_iter().flat_map(|(line, share)| line.into_iter().take(share)).map(|(_, id)| id);
        Ok((ids.collect(), is_cut))
    }

    /// Looks at the next due timer: fires it, removes it, or leaves it for the next block.
    pub(super) fn next_timer(&mut self) -> Result<Turn, Halt> {
        if self.ask_agent()? {
            return Ok(Turn::More);
        }
        self.order_due()?;
        let Some(id) = self.due.ids.get(self.due.next).copied() else {
            self.close_round()?;
            return Ok(Turn::Over);
        };
        // A timer may have been cancelled by a transaction of this block, or moved: a paused interval that was resumed.
        let height = self.machine.environment.height;
        let stored: Option<Timer> = self.machine.world.read(&keys::timer(&id))?;
        let Some(timer) = stored.filter(|timer| timers::is_due(timer, height)) else {
            self.due.next += 1;
            return Ok(Turn::More);
        };
        if timer.expires_at < self.machine.environment.height {
            self.clean_up(&id, &timer, Unfired::Expired)?;
        } else if !self.due.is_lane_full {
            let has_fired = self.has_timer_share(&timer) && self.fire(&id, &timer)?;
            if !has_fired && !self.due.is_lane_full {
                self.pass_over(&id, &timer)?;
            }
        }
        self.due.next += 1;
        Ok(Turn::More)
    }

    /// Whether the timer's actor may run in this block; a timer that may not stays, and is looked at in the next.
    fn has_timer_share(&self, timer: &Timer) -> bool {
        let params = &self.machine.environment.params;
        self.block.has_share(params, Lane::Timer, timer.actor, limits_of(params, timer).cycles)
    }

    /// Charges the most that the fire can cost, and begins it; removes the timer where nobody pays that. Answers false where it has
    /// to wait.
    fn fire(&mut self, id: &Hash, timer: &Timer) -> Result<bool, Miss> {
        let params = &self.machine.environment.params;
        let space = &self.block.space;
        let limits = limits_of(params, timer);
        let fits = limits.cycles <= space.left(params, Lane::Timer) && limits.cells <= space.cells_left(params) && self.has_time();
        if !fits {
            // First in, first out: those behind it wait too. In an auction a smaller one may fit.
            self.due.is_lane_full = self.due.round.is_none();
            return Ok(false);
        }
        let fees = Lane::Timer.base_fees(params, self.block.base_fees);
        let (offered, tipped_by) = match &self.due.round {
            Some(round) => {
                let bid = round.bid_of(id, timer);
                (bid.and_then(|bid| self.offers_of(round, bid)), TippedBy::of(timer, bid))
            }
            None => {
                let exactly = |price: Price| Offer { max: price, priority: Price::ZERO };
                (Some((Offers { cycle: exactly(fees.cycle), cell: exactly(fees.cell) }, fees.cycle)), TippedBy::Default)
            }
        };
        let Some((offers, cycle)) = offered else { return Ok(false) };
        // A maximum beyond all CBY is one that nobody can pay.
        let reserve = offers.reserve(limits).unwrap_or(Amount::MAX);
        let world = &mut self.machine.world;
        let available = world.account(timer.fee_payer)?.balance;
        if !world.debit(timer.fee_payer, reserve)? {
            self.clean_up(id, timer, Unfired::Unfunded { required: reserve, available })?;
            return Ok(true);
        }
        let payload = timers::payload(world, id, timer)?;
        // Before the fire's checkpoint, so that nothing that the fire does undoes it (decision 170).
        let is_interval = timers::rearm(world, params, self.machine.environment.height, id, timer)?;
        if is_interval {
            // What a failed fire changes is read before the fire begins.
            let checkpoint = world.checkpoint();
            timers::fail(world, id)?;
            world.rollback(&checkpoint);
        } else {
            timers::remove(world, self.machine.environment.height, id, timer)?;
        }
        let fire = if is_interval { fire_of(id, self.machine.environment.height) } else { *id };
        let (cycles, cells) = timers::intrinsic(params, is_interval, payload.len());
        let work = Work::Handler { target: timer.actor, handler: timer.handler.to_string(), payload, value: Amount::ZERO };
        let envelope = Envelope::new(ReceiptKind::Timer, (fire, nested_id(&fire, 0)), timer.fee_payer, work, limits);
        let payment = Payment { lane: Lane::Timer, payer: timer.fee_payer, offers, prices: offers.at(cycle, fees.cell), reserve };
        self.deliver(Envelope { intrinsic: Used { cycles, cells }, ..envelope }, payment, Source::Timer { id: *id, tipped_by });
        Ok(true)
    }

    /// Counts a fire, and whether it failed: that is emitted as an event, and charged all the same.
    pub(super) fn follow_timer(
        &mut self,
        (id, tipped_by): (&Hash, TippedBy),
        payment: &Payment,
        delivered: &mut Delivered,
    ) -> Result<(), Miss> {
        match &delivered.result {
            Ok(_) => timers::succeed(&mut self.machine.world, id)?,
            Err(abort) => {
                let failed = timers::fail(&mut self.machine.world, id)?;
                delivered.events.extend(timers::failure(id, payment.payer, &delivered.handler, abort, failed));
            }
        }
        self.count_fire(payment.payer, (tipped_by, payment.prices.cycle.tip), delivered.used.cycles);
        let read = count_of(delivered.trace.payload.len()).saturating_mul(self.machine.environment.params.weights.payload_byte);
        delivered.weight = delivered.weight.saturating_add(read);
        Ok(())
    }

    /// Removes a timer without firing it, in the cleanup lane: a storm of these takes no cycles from others.
    /// Where that lane or the time of timers is used up the timer stays, and is looked at in the next block (decision 722).
    pub(super) fn clean_up(&mut self, id: &Hash, timer: &Timer, why: Unfired) -> Result<(), Miss> {
        let params = &self.machine.environment.params;
        let used = self.due.cleanup_used.saturating_add(params.timers.cleanup_cost);
        if used > params.timers.cleanup_cycles || !self.has_time() {
            return Ok(());
        }
        let records = RECORDS_OF_REMOVAL.saturating_add(if timer.rent.is_some() { RECORDS_OF_RENT } else { 0 });
        let weight = params.weights.record.saturating_mul(records);
        timers::remove(&mut self.machine.world, self.machine.environment.height, id, timer)?;
        self.due.cleanup_used = used;
        self.block.weight = self.block.weight.saturating_add(weight);
        self.record_unpaid(unfired(id, timer, why));
        Ok(())
    }

    /// The height of the first timer in the book, where there is one. Those that were put off are due in the next block.
    pub(super) fn first_timer(&self) -> Result<Option<Height>, Miss> {
        let world = &self.machine.world;
        let has_put_off = Directory::timers_put_off().count(world)? > 0;
        let first = Directory::timers().list(world, &[], 1)?.first().map(|name| listed(name).0);
        Ok(first.into_iter().chain(has_put_off.then(|| self.machine.environment.height.next())).min())
    }
}

/// How many of the timers that a block examines are kept for each of the two kinds that wait.
fn kept_for_waiting(params: &Params, most: usize) -> usize {
    let kept = u128::from(params.timers.waiting_share).saturating_mul(count_of(most).into()) / 10_000;
    usize::try_from(kept).expect("a share is at most the whole")
}

/// How many timers a block examines of those that become due in it, of those that became due before and were not put off, and of those whose time has come
/// again, where it examines this many. The first have what the others leave, and each of the others at least as many as are kept for it (decision 653).
fn shares(most: usize, kept: usize, [new, late, again]: [usize; 3]) -> [usize; 3] {
    let least = |waiting: usize| waiting.min(kept);
    let new = new.min(most.saturating_sub(least(late)).saturating_sub(least(again)));
    let late = late.min(most.saturating_sub(new).saturating_sub(least(again)));
    [new, late, again.min(most.saturating_sub(new).saturating_sub(late))]
}

fn count_of(number: usize) -> u64 {
    u64::try_from(number).expect("a length fits")
}

/// What an interval's fire is called at a height: its messages and receipts are apart from those of its other fires.
fn fire_of(id: &Hash, height: Height) -> Hash {
    keccak256(&[&id.0, &height.0.to_be_bytes()])
}

/// The receipt of a timer that was removed without firing: it cost nothing.
fn unfired(id: &Hash, timer: &Timer, why: Unfired) -> Receipt {
    let parties = (timer.fee_payer, timer.actor);
    let receipt = unpaid(ReceiptKind::Timer, (*id, nested_id(id, 0)), parties, timer.fee_payer, why.events(id, timer));
    let handler = Text::new(timer.handler.to_string()).expect("a timer's handler has a handler's name");
    Receipt { handler, abort: Some(why.abort()), ..receipt }
}

#[cfg(test)]
mod tests {
    use super::{kept_for_waiting, shares};
    use cowboy_params::Params;

    /// Decision 653: what waits takes nothing from new timers but its shares, however much it is, and has what they leave.
    #[test]
    fn waiting_timers_have_their_shares_and_what_is_left() {
        let with = |share: u64| {
            let mut params = Params::GENESIS;
            params.timers.waiting_share = share;
            kept_for_waiting(&params, 64)
        };
        assert_eq!([0, 1, 2_500, 5_000].map(with), [0, 0, 16, 32]);
        let rows = [
            ([0, 0, 0], [0, 0, 0]),
            ([10, 20, 30], [10, 20, 30]),
            ([40, 0, 1_000_000], [40, 0, 24]),
            ([40, 1_000_000, 0], [40, 24, 0]),
            ([1_000_000, 0, 0], [64, 0, 0]),
            ([1_000_000, 5, 0], [59, 5, 0]),
            ([1_000_000, 1_000_000, 1_000_000], [32, 16, 16]),
            ([0, 1_000_000, 1_000_000], [0, 48, 16]),
            ([0, 5, 1_000_000], [0, 5, 59]),
        ];
        for (due, expected) in rows {
            assert_eq!(shares(64, with(2_500), due), expected, "{due:?}");
        }
        assert_eq!(shares(64, with(0), [1_000_000; 3]), [64, 0, 0], "governance may keep nothing");
        assert_eq!(shares(64, with(5_000), [1_000_000; 3]), [0, 32, 32], "or all");
    }
}
