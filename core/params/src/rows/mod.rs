//! The rows. Numbers are for ever: a removed row's number is never used again.

use crate::table::{Row, parameters};

mod consensus;
mod containers;
mod costs;
mod economics;
mod entitlements;
mod execution;
mod fees;
mod jobs;
mod names;
mod rent;
mod secrets;
mod timers;
mod volumes;

pub use consensus::{Consensus, Governance};
pub use containers::Containers;
pub use costs::{Costs, Weights};
pub use economics::Economics;
pub use entitlements::Entitlements;
pub use execution::{Execution, Mempool};
pub use fees::{Fees, Intrinsic, Lanes};
pub use jobs::Jobs;
pub use names::{Gateways, Names};
pub use rent::Rent;
pub use secrets::Secrets;
pub use timers::Timers;
pub use volumes::Volumes;

parameters! {
    execution: Execution,
    fees: Fees,
    lanes: Lanes,
    intrinsic: Intrinsic,
    costs: Costs,
    timers: Timers,
    consensus: Consensus,
    jobs: Jobs,
    rent: Rent,
    economics: Economics,
    entitlements: Entitlements,
    names: Names,
    gateways: Gateways,
    governance: Governance,
    weights: Weights,
    mempool: Mempool,
    secrets: Secrets,
    volumes: Volumes,
    containers: Containers,
}
