//! `cowboy timer`: calls that the chain makes by itself at a height.

use super::listing::Rows;
use super::session::Session;
use crate::send::{self, Terms};
use clap::{Args, Subcommand};
use cowboy_api::{HexHash, model};
use cowboy_console::{amount, failure::Failure, output::table, payload};
use cowboy_types::{Address, Blob, Cells, Cycles, Hash, Height, Instruction, System, Text};
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum Timer {
    /// Schedule one call of a handler by your account, which pays for it when it runs
    Schedule(Box<Schedule>),
    /// Print the timers of an account or an actor, the next to fire first
    List {
        /// The owner: an address, or an actor of this folder [default: your account]
        owner: Option<String>,
        #[command(flatten)]
        rows: Rows,
    },
    /// Cancel a timer that you scheduled
    Cancel(Cancel),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboy timer schedule escrow release --in 3600 --payload '{\"deal\": 7}'
  cowboy timer schedule 0x5754… wake --at 120000 --expires-at 130000 --json")]
pub(crate) struct Schedule {
    /// The actor to call: an address, or an actor of this folder
    actor: String,
    /// The handler's name
    handler: String,
    /// The height at which it runs
    #[arg(long, value_name = "HEIGHT", required_unless_present = "blocks", conflicts_with = "blocks")]
    at: Option<u64>,
    /// The same, as a number of blocks from now
    #[arg(long = "in", value_name = "BLOCKS")]
    blocks: Option<u64>,
    /// The argument: JSON, which is encoded as the handler expects it, or raw bytes as hex with 0x or @FILE
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    payload: String,
    /// The maximum number of cycles of the call [default: the chain's limit for a fire]
    #[arg(long, value_name = "CYCLES")]
    call_cycles: Option<u64>,
    /// The maximum number of cells of the call [default: the chain's limit for a fire]
    #[arg(long, value_name = "CELLS")]
    call_cells: Option<u64>,
    /// The last height at which it may run; you pay rent up to it, and get back what is not used [default: as late as the chain allows]
    #[arg(long, value_name = "HEIGHT")]
    expires_at: Option<u64>,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Args, Debug)]
pub(crate) struct Cancel {
    /// The timer's id, as `schedule` and `list` print it
    timer: HexHash,
    #[command(flatten)]
    terms: Terms,
}

impl Timer {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Schedule(schedule) => schedule.run(session).await,
            Self::List { owner, rows } => list(session, &session.address_or_own(owner.as_deref())?, &rows).await,
            Self::Cancel(cancel) => cancel.run(session).await,
        }
    }
}

impl Schedule {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        let too_long = |what: &str| Failure::argument(format!("{what} is too long"), "shorten it");
        let actor = session.address(&self.actor)?;
        let code = payload::source_of(&session.client, &actor).await;
        let height = match (self.at, self.blocks) {
            (Some(height), _) => height,
            (None, blocks) => session.client.health().await?.height.saturating_add(blocks.unwrap_or_default()),
        };
        let instruction = Instruction::System(System::TimerSchedule {
            actor,
            height: Height(height),
            handler: Text::new(self.handler.as_str()).ok_or_else(|| too_long("the handler's name"))?,
            payload: Blob::new(payload::argument(&self.payload, &code, &self.handler)?).ok_or_else(|| too_long("the payload"))?,
            cycles_limit: self.call_cycles.map(Cycles),
            cells_limit: self.call_cells.map(Cells),
            expires_at: self.expires_at.map(Height),
        });
        let sent = send::send(&session.client, &session.key()?, instruction, &self.terms).await?;
        let timer = sent.receipt.as_ref().and_then(|receipt| <[u8; 32]>::try_from(receipt.return_data.0.as_slice()).ok());
        let timer = timer.map(|id| Hash(id).to_string());
        let name = timer.clone().unwrap_or_else(|| "known once the transaction is final".to_owned());
        session.output.result(
            &json!({ "tx_hash": sent.tx_hash, "timer": timer, "height": height, "receipt": sent.receipt }),
            format_args!("Transaction hash: {}\nTimer:  {name}\nRuns:   {} of {actor} at height {height}", sent.tx_hash, self.handler),
        );
        Ok(())
    }
}

impl Cancel {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        let owner = session.key()?.address();
        // The chain takes it for a timer that has fired, and charges for it.
        let timers: model::Timers = session.client.all(&format!("/timers/{owner}")).await?;
        if timers.timers.iter().all(|timer| timer.id != self.timer) && !self.terms.force {
            return Err(Failure::refused(
                format!("{owner} has no timer {}: it has fired, was cancelled, or belongs to another account", self.timer),
                "list them: cowboy timer list",
            ));
        }
        let instruction = Instruction::System(System::CancelTimer { timer: self.timer.0 });
        session.submit(instruction, &self.terms).await
    }
}

/// How many timers of an actor wait, and how many of its intervals are paused.
pub(super) async fn waiting(session: &Session, actor: &model::Actor) -> Result<String, Failure> {
    let timers: model::Timers = session.client.all(&format!("/timers/{}", actor.address)).await?;
    let paused = timers.timers.iter().filter(|timer| timer.is_paused).count();
    let paused = if paused > 0 { format!(", {paused} of them paused") } else { String::new() };
    Ok(format!("{}{paused}", amount::counted(actor.timer_count, "timer")))
}

/// How often a timer fires, after its height.
fn interval(every: u64) -> String {
    if every == 1 { " every block".to_owned() } else { format!(" every {every} blocks") }
}

/// Prints the timers that this address has set.
pub(super) async fn list(session: &Session, owner: &Address, rows: &Rows) -> Result<(), Failure> {
    let line = |timer: &model::Timer| {
        let handler = if timer.actor.0 == *owner { timer.handler.clone() } else { format!("{} of {}", timer.handler, timer.actor) };
        let when = if timer.is_paused { "paused".to_owned() } else { format!("at {}", timer.height) };
        let every = timer.every.map_or_else(String::new, interval);
        let failures =
            if timer.failures > 0 { format!(", {} in a row", amount::counted(timer.failures, "failure")) } else { String::new() };
        (timer.id.to_string(), format!("{handler} {when}{every}{failures}"))
    };
    let text = |timers: &[model::Timer]| {
        let lines: Vec<(String, String)> = timers.iter().map(line).collect();
        if lines.is_empty() { "no timers".to_owned() } else { table(lines.iter().map(|(id, line)| (id.as_str(), line.clone()))) }
    };
    rows.print::<model::Timers>(session, &format!("/timers/{owner}"), text).await
}
