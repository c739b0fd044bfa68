//! The records of timers (003 §5.1a, §5.1b).

use cowboy_types::instruction::HandlerName;
use cowboy_types::units::{Amount, Cells, Count, Cycles, Height, Price};
use cowboy_types::{Address, record, variants};

record! {
    /// A promise to run a handler at a height (003 §5.1a).
    pub struct Timer {
        /// The actor whose handler runs.
        pub actor: Address,
        /// The height at which it is due.
        pub height: Height,
        /// The height for which it was scheduled, before an auction put it off.
        pub trigger: Height,
        /// Its place among all timers, which breaks ties of height.
        pub sequence: Count,
        /// The handler to run.
        pub handler: HandlerName,
        /// Bytes of the handler's argument, which has a record of its own.
        pub payload_bytes: Count,
        /// Who scheduled it, and pays: the actor itself, or the account of a `TimerSchedule` transaction.
        pub fee_payer: Address,
        /// Cycles of the fire.
        pub cycles_limit: Cycles,
        /// Cells of the fire.
        pub cells_limit: Cells,
        /// The last height at which it may fire.
        pub expires_at: Height,
        /// The height at which it was scheduled.
        pub created_at: Height,
        /// The bid for a cycle in the auction phase; zero before it.
        pub max_fee_per_cycle: Price,
        /// The tip for a cycle in the auction phase; zero before it.
        pub priority_per_cycle: Price,
        /// Who is asked for the bid in the auction phase, where the scheduler named an agent.
        pub bidder: Option<Address>,
        /// When that agent was asked last, and its answer; before the first question, the height of scheduling and no answer. Absent where no agent is named.
        pub asked: Option<Asked>,
        /// How it repeats after a fire; absent if it fires once.
        pub interval: Option<Interval>,
        /// Rent that is paid ahead, up to its last height; absent where an actor scheduled it, which pays rent by epochs (decision 743).
        pub rent: Option<TimerRent>,
    }
}

record! {
    /// Rent of a timer that an account scheduled. What is not used comes back.
    pub struct TimerRent {
        /// What 0x0A holds of it.
        pub held: Amount,
        /// The height from which it is paid.
        pub since: Height,
    }
}

record! {
    /// A question to a timer's bidding agent, and its answer (decision 614).
    pub struct Asked {
        /// The height of the question; of scheduling, before the first one. A fire does not move it, so that an interval whose agent was never asked waits
        /// for its turn all the same (decision 613).
        pub height: Height,
        /// What the agent answered.
        pub answer: Answer,
    }
}

variants! {
    /// What a bidding agent answers.
    pub enum Answer {
        /// It was not asked yet, failed, or returned something that is no answer: the default agent bids.
        0 Nothing,
        /// The timer waits.
        1 Wait,
        /// A bid.
        2 Bid {
            /// The most for a cycle, tip included; above zero.
            max_fee: Price,
            /// The tip for a cycle.
            priority: Price,
        },
    }
}

record! {
    /// What makes a timer an interval (003 §3.3; decision 170).
    pub struct Interval {
        /// Blocks from one fire to the next.
        pub every: Count,
        /// Fires in a row that failed.
        pub failures: Count,
        /// As many failures in a row pause it; zero for no number.
        pub max_failures: Count,
        /// Whether it fires no more until its actor resumes it. Its height is then one past its expiry.
        pub is_paused: bool,
    }
}

record! {
    /// The timers of the whole chain.
    pub struct TimerBook {
        /// Timers ever scheduled; the next one's place.
        pub sequence: Count,
        /// Timers that are live.
        pub live: Count,
    }
}
