//! Messages of earlier blocks: first in, first out, before new transactions, in their share of the user lane (decision 125).

use super::trials::Trial;
use super::{Execution, Halt, Payment, Source, Turn};
use crate::delivery::{Delivered, Envelope, Work, mailbox_bytes, nested_id};
use crate::fees::{Cost, Offer, Offers, Used};
use crate::lanes::Lane;
use cowboy_state::records::{Mailbox, Message, Origin, Queue, Seen, keys};
use cowboy_state::{Directory, Key, Kind, Miss};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, Cells, Count, Cycles};
use cowboy_types::{Address, Hash, error};

/// A message that is being delivered.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    message: Message,
    origin: Origin,
    /// What becomes of it where the lane gives it less than its origin has.
    pub(super) trial: Trial,
}

impl Execution {
    /// Cycles of the user lane that deliveries may take, as far as they have not.
    fn deliveries_left(&self) -> Cycles {
        let params = &self.machine.environment.params;
        let share = u128::from(params.lanes.user_cycles) * u128::from(params.lanes.delivery_share) / 10_000;
        let share = Cycles(u64::try_from(share).expect("a share is less than the whole"));
        share.saturating_sub(self.block.space.usage().user.cycles)
    }

    /// Takes the oldest message, or continues with the callbacks if none is pending or no room is left.
    pub(super) fn next_message(&mut self) -> Result<Turn, Halt> {
        let params = &self.machine.environment.params;
        let queue = self.machine.world.read::<Queue>(&keys::queue())?;
        let left = Used { cycles: self.deliveries_left(), cells: self.block.space.delivery_cells(params, Lane::User) };
        let waiting = queue.filter(|queue| queue.head < queue.tail && queue.head.0 < self.last_place(queue));
        let Some(queue) = waiting.filter(|_| left.cycles > Cycles::ZERO && left.cells > Cells::ZERO && self.has_time()) else {
            return Ok(Turn::Over);
        };
        let place = queue.head.0;
        self.fetch_ahead(place, self.last_place(&queue))?;
        let message: Message = self.machine.world.read(&keys::message(place))?.expect("every place of the queue holds a message");
        let target = message.target;
        self.machine.world.require([
            &keys::origin(&message.origin),
            &keys::seen(target, &message.id),
            &Key::account(target),
            &Key::of(Kind::Actor, target),
        ])?;
        let origin: Origin =
            self.machine.world.read(&keys::origin(&message.origin))?.expect("a message's origin lives until it is delivered");
        self.machine.world.require([&Key::account(message.sender), &Key::account(origin.payer)])?;
        let trial = self.begin_trial(keys::tried_message(), self.is_untouched())?;
        let was_seen = self.machine.world.read::<Seen>(&keys::seen(target, &message.id))?.is_some();
        self.dequeue(place, queue, &message)?;
        self.begin_message(Delivery { message, origin, trial }, left, was_seen);
        Ok(Turn::More)
    }

    /// Whether the block has used nothing yet that messages could use. A message that was put back is then the first.
    fn is_untouched(&self) -> bool {
        self.block.space.usage().user.cycles == Cycles::ZERO && self.block.space.cells() == Cells::ZERO
    }

    /// Asks for the next messages together, and then for what their deliveries obviously need: two rounds instead of
    /// several for each.
    fn fetch_ahead(&mut self, place: u64, end: u64) -> Result<(), Miss> {
        if place < self.fetched_ahead {
            return Ok(());
        }
        let end = end.min(place.saturating_add(FETCH_AHEAD));
        let world = &self.machine.world;
        let messages: Vec<Key> = (place..end).map(keys::message).collect();
        world.require(&messages)?;
        let mut wanted = vec![Directory::seen().first_key()];
        for key in &messages {
            let message: Message = world.read(key)?.expect("every place of the queue holds a message");
            let target = message.target;
            wanted.extend([Kind::Account, Kind::Actor, Kind::Manifest, Kind::Mailbox].map(|kind| Key::of(kind, target)));
            wanted.extend([keys::origin(&message.origin), keys::seen(target, &message.id), Key::account(message.sender)]);
            wanted.push(Directory::mailbox(target).first_key());
        }
        world.require(&wanted)?;
        self.fetched_ahead = end;
        Ok(())
    }

    /// Messages that were sent in this very block wait for the next: one past the last place that may be delivered.
    fn last_place(&self, queue: &Queue) -> u64 {
        self.queue_end.unwrap_or(queue.tail.0)
    }

    /// How an origin pays for a message in this block: with all that it holds.
    fn payment_of(&self, origin: &Origin) -> Payment {
        let burned = Lane::User.base_fees(&self.machine.environment.params, self.block.base_fees);
        let offers = Offers {
            cycle: Offer { max: origin.max_fee_per_cycle, priority: origin.priority_per_cycle },
            cell: Offer { max: origin.max_fee_per_cell, priority: origin.priority_per_cell },
        };
        let prices = offers.at(burned.cycle, burned.cell);
        Payment { lane: Lane::User, payer: origin.payer, offers, prices, reserve: origin.held }
    }

    /// Takes a message out of queue and mailbox, and remembers that it was received.
    fn dequeue(&mut self, place: u64, mut queue: Queue, message: &Message) -> Result<(), Miss> {
        let world = &mut self.machine.world;
        let mailbox_key = Key::of(Kind::Mailbox, message.target);
        let mut mailbox: Mailbox = world.read(&mailbox_key)?.expect("a waiting message is counted by its mailbox");
        mailbox.count = Count(mailbox.count.0 - 1);
        mailbox.bytes = Count(mailbox.bytes.0 - mailbox_bytes(&message.handler, &message.payload));
        if mailbox.count == Count::ZERO {
            world.remove(mailbox_key)
        } else {
            world.write(mailbox_key, &mailbox)
        }
        Directory::mailbox(message.target).remove(world, &place.to_be_bytes())?;
        world.remove(keys::message(place));
        queue.head = Count(place + 1);
        world.write(keys::queue(), &queue);
        let height = self.machine.environment.height;
        world.write(keys::seen(message.target, &message.id), &Seen { height });
        Directory::seen().insert(world, &[&height.0.to_be_bytes()[..], &message.target.0, &message.id.0].concat())?;
        Ok(())
    }

    fn begin_message(&mut self, mut delivery: Delivery, left: Used, was_seen: bool) {
        let (message, origin) = (&delivery.message, &delivery.origin);
        let params = &self.machine.environment.params;
        let intrinsic = Used { cycles: Cycles(params.costs.call), cells: Cells::ZERO };
        let limits = Used { cycles: origin.cycles.min(left.cycles), cells: origin.cells.min(left.cells) };
        let failure =
            if was_seen { Some(error::DUPLICATE_MESSAGE) } else { (origin.cycles < intrinsic.cycles).then_some(error::ORIGIN_EXHAUSTED) };
        let is_first = self.is_untouched();
        delivery.trial.give(is_first, Used { cycles: origin.cycles, cells: origin.cells }, limits);
        let work = Work::Handler {
            target: message.target,
            handler: message.handler.to_string(),
            payload: message.payload.bytes().clone(),
            value: message.value,
        };
        let ids = (message.origin, nested_id(&message.origin, message.index.0));
        let envelope = Envelope {
            parent: message.parent,
            depth: message.depth.0,
            sent_before: origin.sent.0,
            intrinsic: if failure.is_some() { Used::default() } else { intrinsic },
            failure,
            ..Envelope::new(ReceiptKind::Message, ids, message.sender, work, limits)
        };
        let payment = self.payment_of(origin);
        self.deliver(envelope, payment, Source::Message(Box::new(delivery)));
    }

    /// Draws what a message used from its origin. Answers what the origin holds for the messages that are left; without any it is closed.
    pub(super) fn draw(&mut self, delivery: &Delivery, delivered: &Delivered, cost: &Cost) -> Amount {
        let mut origin = delivery.origin.clone();
        origin.cycles = origin.cycles.saturating_sub(delivered.used.cycles);
        origin.cells = origin.cells.saturating_sub(delivered.used.cells);
        origin.held = origin.held.checked_sub(cost.total()).expect("an origin holds its limits at the maximum prices");
        origin.sent = Count(origin.sent.0 + delivered.sent);
        origin.outstanding = Count(origin.outstanding.0 + delivered.sent - 1);
        let (world, key) = (&mut self.machine.world, keys::origin(&delivery.message.origin));
        if origin.outstanding > Count::ZERO {
            world.write(key, &origin);
            return origin.held;
        }
        world.remove(key);
        Amount::ZERO
    }

    /// Gives the value of a message that failed back to its sender.
    pub(super) fn follow_message(&mut self, delivery: &Delivery, delivered: &Delivered) -> Result<(), Miss> {
        if delivered.result.is_err() {
            self.machine.world.credit(delivery.message.sender, delivery.message.value)?;
        }
        Ok(())
    }

    /// What a delivery that may use this much has left for its messages, held until they are delivered. Nothing where it sent none.
    pub(super) fn open_origin(&mut self, payment: &Payment, limits: Used, delivered: &Delivered, cost: &Cost) -> Amount {
        if delivered.sent == 0 {
            return Amount::ZERO;
        }
        let &Payment { payer, offers, reserve, .. } = payment;
        let left =
            Used { cycles: limits.cycles.saturating_sub(delivered.used.cycles), cells: limits.cells.saturating_sub(delivered.used.cells) };
        let held = offers.reserve(left).expect("less than the reserve fits").min(reserve.saturating_sub(cost.total()));
        let origin = Origin {
            payer,
            held,
            cycles: left.cycles,
            cells: left.cells,
            max_fee_per_cycle: offers.cycle.max,
            max_fee_per_cell: offers.cell.max,
            priority_per_cycle: offers.cycle.priority,
            priority_per_cell: offers.cell.priority,
            sent: Count(delivered.sent),
            outstanding: Count(delivered.sent),
        };
        self.machine.world.write(keys::origin(&delivered.envelope.origin), &origin);
        held
    }

    /// Forgets marks of messages that are older than the dedup window.
    pub(super) fn forget_seen(&mut self) -> Result<(), Miss> {
        let window = self.machine.environment.params.execution.dedup_window;
        let height = self.machine.environment.height.0;
        for _ in 0..FORGET_PAGES {
            let names = Directory::seen().list(&self.machine.world, &[], FORGET_PAGE)?;
            let old: Vec<_> = names
                .into_iter()
                .map(|name| (seen_at(&name), name))
                .take_while(|((at, _), _)| at.saturating_add(window) < height)
                .collect();
            let keys: Vec<Key> = old.iter().map(|((_, key), _)| key.clone()).collect();
            self.machine.world.require(&keys)?;
            for ((_, key), name) in &old {
                Directory::seen().remove(&mut self.machine.world, name)?;
                self.machine.world.remove(key.clone());
            }
            if old.len() < FORGET_PAGE {
                break;
            }
        }
        Ok(())
    }
}

/// Messages that are asked for together. They may be large, so not all that wait.
const FETCH_AHEAD: u64 = 64;

/// Marks that are looked at together.
const FORGET_PAGE: usize = 64;

/// Pages of marks that one block forgets at most: more than a block can make.
const FORGET_PAGES: usize = 1_024;

/// When a message was received, and the key of its mark, out of a name of the directory.
fn seen_at(name: &[u8]) -> (u64, Key) {
    let (height, rest) = name.split_at(8);
    let (receiver, id) = rest.split_at(20);
    let height = u64::from_be_bytes(height.try_into().expect("a mark begins with a height"));
    let receiver = Address(receiver.try_into().expect("an address follows"));
    (height, keys::seen(receiver, &Hash(id.try_into().expect("an id follows"))))
}
