//! Computations that stop where they need records of the state, and the loops that drive them.
//!
//! A computation does no I/O: it returns the keys of the records that it needs, and continues once it has them. [`run`] drives it over a
//! store that answers at once, [`run_async`] over one that is awaited.

use bytes::Bytes;
use cowboy_state::StateKey;

/// Records of the state by key; `None` where there is none.
pub type Records = Vec<(StateKey, Option<Bytes>)>;

/// What a computation needs next.
#[derive(Debug)]
pub enum Need<T> {
    /// These records, in any order. It asks again for what it does not get.
    Keys(Vec<StateKey>),
    /// Nothing: it is done.
    Done(T),
}

/// A computation over the state: one owned value, synchronous, without I/O. It may be dropped at any time.
pub trait Resume {
    /// What it results in.
    type Output;

    /// Takes the requested records and continues until it needs more or is done.
    fn advance(&mut self, records: Records) -> Need<Self::Output>;
}

/// Runs a computation to its end.
pub fn run<R: Resume, E>(computation: &mut R, mut read: impl FnMut(Vec<StateKey>) -> Result<Records, E>) -> Result<R::Output, E> {
    let mut records = Vec::new();
    loop {
        match computation.advance(records) {
            Need::Keys(keys) => records = read(keys)?,
            Need::Done(output) => return Ok(output),
        }
    }
}

/// Runs a computation to its end, awaiting its records.
pub async fn run_async<R: Resume, E, F: Future<Output = Result<Records, E>>>(
    computation: &mut R,
    mut read: impl FnMut(Vec<StateKey>) -> F,
) -> Result<R::Output, E> {
    let mut records = Vec::new();
    loop {
        match computation.advance(records) {
            Need::Keys(keys) => records = read(keys).await?,
            Need::Done(output) => return Ok(output),
        }
    }
}
