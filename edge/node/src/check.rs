//! Checks the state of a stopped node against its ledger, and what its engine keeps.

mod engine;

pub(crate) use engine::own_votes;
pub use engine::{Damage, discard_votes, engine};

use crate::{
    failing::{self, Phase},
    follow,
    reader::MAX_OPERATIONS,
};
use commonware_runtime::{Runner as _, Supervisor as _, tokio as runtime};
use commonware_storage::{
    merkle::Location,
    qmdb::sync::{Request, Source as _},
};
use cowboy_store::{
    Directory, Ledger,
    state::{self, Db},
};
use cowboy_types::Header;
use std::{num::NonZeroU64, path::PathBuf};

/// Blocks by which the state and the ledger may differ: a node that was stopped between the two executes them again.
const AHEAD: u64 = 16;

/// The stack of the thread that reads: unoptimised, its futures are large.
const STACK_BYTES: usize = 32 * 1024 * 1024;

/// What the partitions of a validator's engine begin with.
pub(crate) const VALIDATOR: &str = "cowboy";

/// Opens the state in this folder, reads every operation that it consists of, and compares its root with the newest headers of the
/// ledger. Answers the block whose state it is; `None` where the chain has no block yet. The error says what is damaged.
pub fn state(directory: &Directory, ledger: &Ledger) -> Result<Option<u64>, String> {
    let view = ledger.view().map_err(|error| error.to_string())?;
    let Some(tip) = view.tip().map_err(|error| error.to_string())? else { return Ok(None) };
    let newest = (tip.saturating_sub(AHEAD)..=tip).rev().filter_map(|number| view.block(number).ok().flatten());
    let headers: Vec<Header> = newest.map(|block| block.header).collect();
    let engine = directory.engine();
    let prefix = [VALIDATOR, follow::STATE].into_iter().find(|prefix| engine.join(format!("{prefix}-state-log_data")).exists());
    let prefix = prefix.ok_or("the folder of the engine has no state")?;
    in_runtime(engine, move |context| walk(context, prefix, headers))
}

/// Runs a task over the files of a stopped engine, in a thread and a runtime of its own. A panic is an error.
pub(crate) fn in_runtime<T, F>(engine: PathBuf, task: impl FnOnce(runtime::Context) -> F + Send + 'static) -> Result<T, String>
where
    F: Future<Output = Result<T, String>>,
    T: Send + 'static,
{
    let phase = Phase::default();
    phase.run();
    let task = move || {
        let _thread = phase.of_thread();
        let config = runtime::Config::new().with_storage_directory(engine).with_worker_threads(2).with_thread_stack_size(STACK_BYTES);
        runtime::Runner::new(config).start(|context| async move {
            phase.of_runtime();
            task(context).await
        })
    };
    let thread = std::thread::Builder::new().name("check".into()).stack_size(STACK_BYTES).spawn(task);
    let ended = thread.map_err(|error| error.to_string())?.join();
    ended.unwrap_or_else(|payload| Err(failing::last_words(&*payload)))
}

async fn walk(context: runtime::Context, prefix: &str, headers: Vec<Header>) -> Result<Option<u64>, String> {
    let pages = state::page_cache(&context, prefix).await;
    let opened = Db::<runtime::Context>::init(context.child("check"), state::config(prefix, pages), None).await;
    let db = opened.map_err(|error| format!("the state does not open: {error}"))?;
    let root = state::hash(db.root());
    let header = headers.iter().find(|header| header.state_root == root);
    let header = header.ok_or("the state is that of none of the newest blocks")?;
    let end = Location::new(header.ops_end.0);
    let mut start = header.ops_start.0;
    while start < header.ops_end.0 {
        let max_ops = NonZeroU64::new(MAX_OPERATIONS.min(header.ops_end.0 - start)).expect("there is one more");
        let request = Request::Operations { size: end, start: Location::new(start), max_ops };
        db.serve(request).await.map_err(|error| format!("operation {start} of the state cannot be read: {error}"))?;
        start += max_ops.get();
    }
    Ok(Some(header.number.0))
}
