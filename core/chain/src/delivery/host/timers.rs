//! Timers as actors set them (003 §3.3, §5.1a; 000 §9.8).

use super::{Arguments, length, read};
use crate::delivery::frames::{Price, Reply};
use crate::delivery::{Machine, Step};
use cowboy_state::Stop;
use cowboy_state::records::Payload;
use cowboy_system::auction::{Bid, Tier};
use cowboy_system::storage::rent;
use cowboy_system::timers::{self, Due, Request};
use cowboy_types::instruction::HandlerName;
use cowboy_types::units::{Amount, Cells, Cycles, Height, Price as Fee};
use cowboy_types::{Abort, Address, Hash, error};

/// The handler that runs when a timer fires (decision 11).
const HANDLER: &str = "handle_timer";

/// What a host call says of a timer beside its limits.
struct Asked<'a> {
    due: Due,
    payload: &'a [u8],
    fee_payer: Option<Address>,
    cycles_limit: Option<Cycles>,
    cells_limit: Option<Cells>,
    expires_at: Option<Height>,
    bid: Bid,
}

impl Machine {
    pub(super) fn schedule_timer(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let due = Due::At(Height(read!(arguments.number(0))));
        let payload = read!(arguments.bytes(1));
        let bid = Bid::Agent(Tier::Standard);
        self.schedule(Asked { due, payload, fee_payer: None, cycles_limit: None, cells_limit: None, expires_at: None, bid })
    }

    /// (height, payload, fee payer, gas limit, access limit, last height, bid, agent): absent, empty and zero mean the default.
    pub(super) fn schedule_timer_ex(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let due = Due::At(Height(read!(arguments.number(0))));
        let payload = read!(arguments.bytes(1));
        let fee_payer = match read!(arguments.bytes_or_empty(2)) {
            b"" => None,
            _ => Some(read!(arguments.address(2))),
        };
        let cycles_limit = positive(read!(arguments.number_or_zero(3))).map(Cycles);
        let cells_limit = positive(read!(arguments.number_or_zero(4))).map(Cells);
        let expires_at = positive(read!(arguments.number_or_zero(5))).map(Height);
        let bid = read!(bid(arguments, 6));
        self.schedule(Asked { due, payload, fee_payer, cycles_limit, cells_limit, expires_at, bid })
    }

    /// (blocks, payload, gas limit, cells limit, failures in a row that pause it, bid, agent): zero means the default limit, and no
    /// number of failures.
    pub(super) fn set_interval(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let (blocks, payload) = (read!(arguments.number(0)), read!(arguments.bytes(1)));
        let cycles_limit = positive(read!(arguments.number_or_zero(2))).map(Cycles);
        let cells_limit = positive(read!(arguments.number_or_zero(3))).map(Cells);
        let due = Due::Every { blocks, max_failures: read!(arguments.number_or_zero(4)) };
        let bid = read!(bid(arguments, 5));
        self.schedule(Asked { due, payload, fee_payer: None, cycles_limit, cells_limit, expires_at: None, bid })
    }

    fn schedule(&mut self, asked: Asked<'_>) -> Step<Reply> {
        let grants = self.top().grants.clone();
        let max_timers = grants.require("timer.schedule")?.number("max_timers");
        let kept = timers::occupied(&self.environment.params, 1, length(asked.payload));
        let price = Price::cycles(self.environment.params.costs.timer).with_cells(kept);
        let Some(payload) = Payload::new(asked.payload.to_vec()) else { return Reply::refuse(error::TIMER_PAYLOAD, price) };
        let actor = self.actor_address();
        let handler = HandlerName::new(HANDLER).expect("the handler's name is short");
        let Asked { due, fee_payer, cycles_limit, cells_limit, expires_at, bid, .. } = asked;
        let request = Request { actor, due, handler, payload, fee_payer, cycles_limit, cells_limit, expires_at, max_timers, bid };
        match timers::schedule(&mut self.system_context(actor), request) {
            Ok(id) => {
                // It pays rent.
                let record = self.world.actor(actor)?.expect("the actor that runs exists");
                rent::enlist(&mut self.world, &self.environment.params, self.environment.height, actor, &record)?;
                Reply::bytes(id.0, price)
            }
            Err(Stop::Abort(abort)) if abort == error::ENTITLEMENT_QUOTA => Err(abort.into()),
            Err(stop) => refused(stop, price),
        }
    }

    /// Lets a paused interval of the actor fire again.
    pub(super) fn resume_interval(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let id = read!(hash(arguments));
        let price = Price::cycles(self.environment.params.costs.timer);
        let actor = self.actor_address();
        let resumed = own_timer(self, actor, &id).and_then(|timer| timers::resume(&mut self.system_context(actor), &id, timer));
        match resumed {
            Ok(()) => Reply::none(price),
            Err(stop) => refused(stop, price),
        }
    }

    pub(super) fn extend_timer(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let (id, expires_at) = (read!(hash(arguments)), Height(read!(arguments.number(1))));
        let price = Price::cycles(self.environment.params.costs.timer);
        let actor = self.actor_address();
        let extended =
            own_timer(self, actor, &id).and_then(|timer| timers::extend(&mut self.system_context(actor), &id, timer, expires_at));
        match extended {
            Ok(()) => Reply::none(price),
            Err(stop) => refused(stop, price),
        }
    }

    /// Cancelling a timer that is gone changes nothing; another actor's is refused.
    pub(super) fn cancel_timer(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let id = read!(hash(arguments));
        let price = Price::cycles(self.environment.params.costs.timer);
        let actor = self.actor_address();
        match own_timer(self, actor, &id) {
            Ok(timer) => {
                timers::remove(&mut self.world, self.environment.height, &id, &timer)?;
                Reply::none(price)
            }
            Err(Stop::Abort(abort)) if abort == error::TIMER_NOT_FOUND => Reply::none(price),
            Err(stop) => refused(stop, price),
        }
    }

    /// The system actors' view of the block, for a sender.
    pub(in crate::delivery) fn system_context(&mut self, sender: Address) -> cowboy_system::Context<'_> {
        let id = self.running().envelope.id;
        let environment = &self.environment;
        cowboy_system::Context {
            world: &mut self.world,
            params: &environment.params,
            genesis_params: &environment.chain.params,
            deployers: &environment.deployers,
            rules: environment.rules,
            actors: cowboy_system::ACTORS,
            paused: &environment.paused,
            height: environment.height,
            timestamp: environment.timestamp,
            is_dev: environment.chain.is_dev,
            sender,
            value: Amount::ZERO,
            id,
            draw: cowboy_system::Draw { beacon: environment.beacon.clone(), epoch: environment.proposed.0, view: environment.proposed.1 },
            work: cowboy_system::Work::default(),
            budget: cowboy_system::Work::default(),
            chain_id: environment.chain.chain_id,
            genesis: environment.chain.genesis,
            forward: None,
            is_due: false,
            refused: None,
            explanation: None,
        }
    }
}

/// The bid for the auction, from an argument on: the most for a cycle, the tip for one, the default agent's tier where there is no
/// maximum, and an agent of its own where there is none of these.
fn bid(arguments: Arguments<'_>, first: usize) -> Result<Bid, Abort> {
    let max_fee = Fee(arguments.number_or_zero(first)?);
    let priority = Fee(arguments.number_or_zero(first + 1)?);
    let tier = arguments.number_or_zero(first + 2)?;
    if !arguments.bytes_or_empty(first + 3)?.is_empty() {
        let is_alone = max_fee == Fee::ZERO && priority == Fee::ZERO && tier == 0;
        return if is_alone { arguments.address(first + 3).map(Bid::Custom) } else { Err(error::INVALID_ARGUMENT) };
    }
    match max_fee {
        Fee::ZERO if priority == Fee::ZERO => Tier::of(tier).map(Bid::Agent).ok_or(error::INVALID_ARGUMENT),
        Fee::ZERO => Err(error::INVALID_ARGUMENT),
        _ if tier == 0 => Ok(Bid::Fixed { max_fee, priority }),
        _ => Err(error::INVALID_ARGUMENT),
    }
}

fn positive(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}

fn own_timer(machine: &Machine, actor: Address, id: &Hash) -> Step<cowboy_state::records::Timer> {
    let timer = timers::read(&machine.world, id)?;
    if timer.fee_payer == actor { Ok(timer) } else { Err(error::TIMER_NOT_OWNED.into()) }
}

fn hash(arguments: Arguments<'_>) -> Result<Hash, Abort> {
    Ok(Hash(arguments.bytes(0)?.try_into().map_err(|_| error::INVALID_ARGUMENT)?))
}

/// A failure that the actor may catch.
fn refused(stop: Stop, price: Price) -> Step<Reply> {
    match stop {
        Stop::Abort(abort) => Reply::refuse(abort, price),
        Stop::Miss(miss) => Err(miss.into()),
    }
}
