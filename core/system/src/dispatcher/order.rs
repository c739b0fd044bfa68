//! Which job advances next: what is due, and draws of committees, share a block's steps of jobs (decisions 304 and 762).

use super::{state, waiting};
use cowboy_state::{Miss, World};
use cowboy_types::Hash;
use cowboy_types::units::Height;

/// Draws have a sixteenth of the time that a block's steps take, however much is due. It is small, since every draw causes several steps that are due later.
/// A draw that has waited until its `timeout_blocks` are over is due, too.
const PART_OF_DRAWS: u64 = 16;

/// Finds a job that waits for its draw, where there is one.
type Source = fn(&World, Height) -> Result<Option<Hash>, Miss>;

/// Where draws come from. They take turns, so that none waits for all of another.
const SOURCES: [Source; 3] = [immediate, seeded, waiting::next];

/// What a block's steps of jobs have taken so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTime {
    /// How many of them were draws.
    draws: usize,
    /// The modelled time of draws, in ns.
    drawing: u64,
    /// The modelled time of all of them, in ns.
    all: u64,
}

/// A job that advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The job.
    pub job: Hash,
    /// Whether it waits for a draw, and not for a height.
    pub is_draw: bool,
}

impl StepTime {
    /// Counts a step, which took `weight` ns.
    pub fn count(&mut self, is_draw: bool, weight: u64) {
        self.all = self.all.saturating_add(weight);
        if is_draw {
            self.draws = self.draws.saturating_add(1);
            self.drawing = self.drawing.saturating_add(weight);
        }
    }

    /// Whether draws have had less than their part.
    fn is_turn_of_draws(self) -> bool {
        self.drawing.saturating_mul(PART_OF_DRAWS) < self.all
    }
}

/// The job with which something happens next, where anything does in this block: what is due, oldest first, and draws as far as they have a part of the
/// time, or nothing is due. Draws happen after everything in the block that could look at them (decision 304).
pub fn next_due(world: &World, height: Height, time: StepTime) -> Result<Option<Next>, Miss> {
    let due = due(world, height)?;
    if (due.is_none() || time.is_turn_of_draws())
        && let Some(job) = draw(world, height, time.draws)?
    {
        return Ok(Some(Next { job, is_draw: true }));
    }
    Ok(due.map(|job| Next { job, is_draw: false }))
}

/// The job to which something happens without anybody asking, where it has come to its height.
fn due(world: &World, height: Height) -> Result<Option<Hash>, Miss> {
    let first = state::agenda().list(world, &[], 1)?;
    Ok(first.first().filter(|name| state::number_of(name) <= height.0).map(|name| state::job_of(name)))
}

/// The job that is drawn next, after this number of draws of the block.
fn draw(world: &World, height: Height, draws: usize) -> Result<Option<Hash>, Miss> {
    for source in SOURCES.iter().cycle().skip(draws % SOURCES.len()).take(SOURCES.len()) {
        if let Some(job) = source(world, height)? {
            return Ok(Some(job));
        }
    }
    Ok(None)
}

/// The first job of one runner that was submitted and not drawn yet, in the order of submissions.
fn immediate(world: &World, _: Height) -> Result<Option<Hash>, Miss> {
    Ok(state::immediate().list(world, &[], 1)?.first().map(|name| state::job_of(name)))
}

/// The first job whose round's seed is known.
fn seeded(world: &World, _: Height) -> Result<Option<Hash>, Miss> {
    let Some(newest) = world.newest_round()? else { return Ok(None) };
    let waiting = state::draws().list(world, &[], 1)?;
    let is_known = |name: &[u8]| (state::number_of(name), state::number_of(&name[8..])) <= newest;
    Ok(waiting.first().filter(|name| is_known(name)).map(|name| state::job_of(name)))
}

/// The height of the agenda's first entry, where there is one.
pub fn first_due(world: &World) -> Result<Option<Height>, Miss> {
    let first = state::agenda().list(world, &[], 1)?;
    Ok(first.first().map(|name| Height(state::number_of(name))))
}

/// Whether the next block may draw a committee: one waits for its turn or a seed, or for runners of which one got a free slot.
pub fn is_drawing(world: &World, height: Height) -> Result<bool, Miss> {
    Ok(state::immediate().count(world)? > 0 || state::draws().count(world)? > 0 || waiting::is_due(world, height)?)
}
