//! The seed of a job's draw, out of the headers.

use super::{Session, wrong};
use cowboy_api::model;
use cowboy_chain::input::epoch_beacon;
use cowboy_console::failure::Failure;
use cowboy_system::dispatcher::selection;
use cowboy_types::Height;
use cowboy_types::block::MAX_SEEDS;

/// The seed of the round that the job named, out of the headers; the one from which the chain says it drew.
pub(super) async fn of_round(session: &Session, job: &model::Job) -> Result<Vec<u8>, Failure> {
    let submitted_at = job.summary.submitted_at;
    let history = u64::try_from(MAX_SEEDS).expect("a small constant");
    // Seeds of older rounds cannot be read, so that no draw takes longer (decision 628).
    for height in submitted_at..=submitted_at.saturating_add(history) {
        // A dev chain skips heights; what is not there yet has no seeds.
        let Ok(block) = session.client.block(&height.to_string()).await else { continue };
        let header = &block.header;
        let epoch_seed = epoch_beacon(&header.parent.0).0.to_vec();
        let first = header.seeds.is_empty().then_some(epoch_seed);
        for seed in header.seeds.iter().map(|seed| seed.0.clone()).chain(first) {
            if selection::seed(&seed, &job.summary.job_id.0, Height(submitted_at)) == job.seed.0 {
                return Ok(seed);
            }
        }
        if is_past((job.draw_epoch, job.draw_view), (header.epoch, header.view)) {
            break;
        }
    }
    Err(wrong("no seed in the headers after the submission gives the seed of the draw"))
}

/// Whether a block of the second round has the seed of the first in its header, or in one before it. Where the epoch ended before the round
/// that draws, the first round of the next one does.
fn is_past(drawn: (u64, u64), (epoch, view): (u64, u64)) -> bool {
    if epoch == drawn.0 { view > drawn.1 } else { epoch > drawn.0 && view > 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_stands_in_the_first_block_after_its_round() {
        let cases = [
            ("before", (3, 8), false),
            ("the round itself", (3, 9), false),
            ("the next one", (3, 10), true),
            ("a later epoch's first view, which has no seed", (4, 1), false),
            ("its second", (4, 2), true),
            ("an earlier epoch", (2, 90), false),
        ];
        for (case, round, expected) in cases {
            assert_eq!(is_past((3, 9), round), expected, "{case}");
        }
        assert!(is_past((0, 0), (1, 7)), "a draw by the submission's own beacon");
    }
}
