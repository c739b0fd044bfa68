//! The records of gateways.

use crate::endpoint::ENDPOINT_BYTES;
use cowboy_params::Params;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, List, Text, record};

/// Base units of a CBY: weights are counted in whole ones.
const CBY: u64 = 1_000_000_000;

record! {
    /// A gateway (004 §9.2).
    pub struct Gateway {
        /// Where it is reached: a host name or an address.
        pub endpoint: Text<ENDPOINT_BYTES>,
        /// The port of its web server.
        pub http_port: u16,
        /// CBY that it staked.
        pub stake: Amount,
        /// The height of its newest heartbeat.
        pub last_heartbeat: Height,
        /// The height at which it registered.
        pub registered_at: Height,
        /// The height up to which its uptime is counted.
        pub counted_to: Height,
        /// Whole CBY staked times blocks up, since the pool was last shared out.
        pub weight: Count,
        /// The height from which its stake is free, where it is leaving.
        pub leaving: Option<Height>,
    }
}

/// The most proposals that a gateway's stake waits for.
pub const MAX_HOLDS: usize = 16;

record! {
    /// A proposal that judges an answer of a gateway.
    pub struct Hold {
        /// Its number.
        pub proposal: Count,
        /// The height until which it takes effect, if it is accepted.
        pub until: Height,
    }
}

record! {
    /// What a gateway's stake waits for (decisions 761, 765).
    pub struct Holds {
        /// The latest height of those that gave way to newer ones: the stake waits for it all the same.
        pub gave_way: Height,
        /// Proposals that are not over, as far as anybody said so; the newest last.
        pub proposals: List<Hold, MAX_HOLDS>,
    }
}

impl Holds {
    /// The height until which the stake waits.
    pub fn until(&self) -> Height {
        self.proposals.iter().map(|hold| hold.until).fold(self.gave_way, Ord::max)
    }
}

record! {
    /// A request that was delivered: what makes a request id count once.
    pub struct Request {
        /// Who brought it.
        pub gateway: Address,
        /// Where to.
        pub target: Address,
        /// The delivery that did it.
        pub delivery: Hash,
        /// The block height.
        pub height: Height,
    }
}

record! {
    /// What an actor paid for its commands in a period.
    pub struct Repaid {
        /// The period: the height divided by `gateways.fee_period`.
        pub period: Count,
        /// Base units paid in it.
        pub amount: Amount,
    }
}

impl Gateway {
    /// What is left of its health (004 §9.2): full at a heartbeat, one less each block.
    pub fn health(&self, params: &Params, height: Height) -> u64 {
        params.gateways.health.saturating_sub(height.0.saturating_sub(self.last_heartbeat.0))
    }

    /// Whether it may dispatch: healthy, staked, and not leaving (004 §8.4).
    pub fn is_active(&self, params: &Params, height: Height) -> bool {
        self.leaving.is_none() && self.health(params, height) > 0 && self.stake.0 >= params.gateways.stake_min
    }

    /// Counts the blocks in which it was up since the last count.
    pub fn count_uptime(&mut self, params: &Params, height: Height) {
        // Health that ran out in between counts as far as it went.
        let up_to = self.last_heartbeat.0.saturating_add(params.gateways.health).min(height.0);
        if self.leaving.is_none() && self.stake.0 >= params.gateways.stake_min {
            let blocks = up_to.saturating_sub(self.counted_to.0);
            self.weight = Count(self.weight.0.saturating_add(blocks.saturating_mul(self.stake.0 / CBY)));
        }
        self.counted_to = Height(self.counted_to.0.max(height.0));
    }
}
