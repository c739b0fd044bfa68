//! What a program outside the chain must compute as the market does, in one place: nothing else of this crate is meant for runners.
//!
//! - [`lower`], [`request`]: the reading of a submission, and [`JobNeeds`], the entitlements that it needs.
//! - [`container`], [`classes`]: what a job says of its container. [`address`], [`extraction`]: where a page is, and what the
//!   job wants of it.
//! - [`judge`], [`schema`], [`json`], [`similarity`]: whether a result passes. [`payment`]: what it costs.
//! - [`statement`], [`binding`]: what a trusted environment signs and proves, under the names of [`environment`].
//! - [`required_stake`]: what a runner stakes for jobs of a value. The faults that a report may name.

pub use crate::dispatcher::lower;
pub use crate::entitlements::needs::JobNeeds;
pub use crate::market::{
    FAULT_ACTOR, FAULT_EXTERNAL, FAULT_IMPOSSIBLE, address, classes, container, extraction, json, judge, payment, request, schema,
    similarity,
};
pub use crate::runners::environments::ENVIRONMENTS;
pub use crate::runners::handlers::required_stake;
pub use crate::tee::{DEV_NAME, environment, handlers::binding, statement};
