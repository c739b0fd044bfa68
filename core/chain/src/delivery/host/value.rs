//! CBY that actors move: gated by econ.transfer, bounded by its quotas (000 §9.7).

use super::{Arguments, read};
use crate::delivery::frames::{Price, Reply};
use crate::delivery::{Machine, Step};
use crate::engine::HostValue;
use cowboy_state::records::Spent;
use cowboy_state::{Key, Kind};
use cowboy_system::rent_rate;
use cowboy_system::storage::rent;
use cowboy_types::units::{Amount, Cycles};
use cowboy_types::{Address, error};

impl Machine {
    /// Whether the handler that runs may send CBY, and that much of it. Counts it against the block's quota.
    pub(super) fn require_transfer(&mut self, amount: Amount) -> Step<()> {
        if amount == Amount::ZERO {
            return Ok(());
        }
        let grants = self.top().grants.clone();
        let grant = grants.require("econ.transfer")?;
        if grant.number("max_amount").is_some_and(|most| amount.0 > most) {
            return Err(error::ENTITLEMENT_QUOTA.into());
        }
        let Some(most) = grant.number("max_per_block") else { return Ok(()) };
        let key = Key::of(Kind::Spent, self.actor_address());
        let height = self.environment.height;
        let fresh = Spent { height, transferred: Amount::ZERO, cycles: Cycles::ZERO };
        let mut spent = self.world.read::<Spent>(&key)?.filter(|spent| spent.height == height).unwrap_or(fresh);
        spent.transferred = spent.transferred.saturating_add(amount);
        if spent.transferred.0 > most {
            return Err(error::ENTITLEMENT_QUOTA.into());
        }
        self.world.write(key, &spent);
        Ok(())
    }

    /// Takes CBY from the actor that runs. Answers whether it had that much. What it keeps for its rent ends the handler.
    pub(super) fn take(&mut self, amount: Amount) -> Step<bool> {
        let actor = self.actor_address();
        if !self.world.debit(actor, amount)? {
            return Ok(false);
        }
        let params = &self.environment.params;
        let record = self.world.actor(actor)?.expect("the actor that runs exists");
        let bytes = rent::billable(params, &record);
        if amount > Amount::ZERO && bytes > 0 {
            let reserve = rent::reserve(params, rent_rate::current(&self.world, params)?, bytes);
            if self.world.account(actor)?.balance < reserve {
                return Err(error::RENT_RESERVE.into());
            }
        }
        Ok(true)
    }

    pub(super) fn transfer_balance(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let (to, amount) = (read!(arguments.address(0)), Amount(read!(arguments.number(1))));
        let price = Price::cycles(self.environment.params.costs.transfer);
        let actor = self.actor_address();
        self.world.require([&Key::account(actor), &Key::account(to), &Key::of(Kind::Actor, to)])?;
        self.require_transfer(amount)?;
        if !self.take(amount)? {
            return Reply::refuse(error::TRANSFER_FAILED, price);
        }
        self.world.credit(to, amount)?;
        self.running().parties.insert(to, ());
        Reply::none(price)
    }

    /// The balance of an address, of the actor itself where none is named.
    pub(super) fn balance(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let address: Address = if arguments.is_absent(0) { self.actor_address() } else { read!(arguments.address(0)) };
        let account = self.world.account(address)?;
        Ok(Reply::Value(HostValue::int(account.balance.0), Price::cycles(self.environment.params.costs.storage_read)))
    }
}
