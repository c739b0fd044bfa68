//! How long the views of consensus may take.

use super::{BUFFER, FETCH_TIMEOUT};
use crate::{
    committees::{ByStake, Committees},
    pace::{LEADER_MARGIN, longest_view},
};
use commonware_consensus::{
    simplex::config::{ForwardPolicy, SkipBudget, SkipPolicy},
    types::ViewDelta,
};
use commonware_glue::dkg::orchestrator::SimplexConfig;
use commonware_runtime::buffer::paged::CacheRef;
use commonware_utils::NZDuration;
use std::{num::NonZeroUsize, time::Duration};

/// Far enough away never to come.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 3_600);

/// Short enough to be over soon, and long enough for a proposal.
const SHORT: Duration = Duration::from_millis(500);

/// How much longer than the longest view a validator is silent before it counts as away.
const SKIP_MARGIN: Duration = Duration::from_millis(500);

/// How long views may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// As long as a block needs; for ever on a dev chain with one validator, so that an idle chain has no nullified rounds.
    Normal,
    /// As short as can be, to give up a view that cannot end.
    ///
    /// A lone validator that was killed after it voted for its own proposal, and before the proposal was on the disk, waits
    /// for a block that nobody has. Only giving up the view helps.
    Short,
}

/// How long a view may take.
pub(super) struct Timeouts {
    leader: Duration,
    certification: Duration,
    retry: Duration,
    /// When the turn of a leader that is away is given up at once.
    skip: SkipPolicy,
}

impl Timeouts {
    /// The timeouts where `gap` is between two blocks. `is_alone` says that no other validator can ever join.
    pub(super) fn of(patience: Patience, gap: Option<Duration>, is_alone: bool) -> Self {
        if patience == Patience::Short {
            return Self { leader: SHORT, certification: SHORT + SHORT, retry: SHORT, skip: SkipPolicy::Disabled };
        }
        let retry = Duration::from_secs(1);
        if is_alone {
            return Self { leader: NEVER, certification: NEVER + NEVER, retry, skip: SkipPolicy::Disabled };
        }
        let leader = gap.unwrap_or_default() + LEADER_MARGIN;
        let certification = longest_view(gap);
        // A validator that takes part sends something in every view. One that nobody heard of for longer than a view can last
        // is away, and its turns are given up at once. Without a quorum of others nothing is skipped.
        let skip = SkipPolicy::Enabled { timeout: certification + SKIP_MARGIN, budget: SkipBudget::Participants };
        Self { leader, certification, retry, skip }
    }

    /// The settings of the consensus engine of every epoch.
    pub(super) fn simplex(self, committees: Committees, pages: CacheRef, mailbox_size: NonZeroUsize) -> SimplexConfig<ByStake> {
        SimplexConfig {
            elector: ByStake(committees),
            mailbox_size,
            replay_buffer: BUFFER,
            write_buffer: BUFFER,
            page_cache: pages,
            leader_timeout: self.leader,
            certification_timeout: self.certification,
            timeout_retry: self.retry,
            fetch_timeout: NZDuration!(FETCH_TIMEOUT),
            fetch_retry_delay: Duration::from_millis(500),
            view_retention: ViewDelta::new(64),
            skip: self.skip,
            // Votes that contradict late ones are seen too. Rounds are dropped after `view_retention`.
            track_historical_votes: true,
            forward: ForwardPolicy::Disabled,
        }
    }
}

/// Views that a chain with a quorum may lose in a row: leaders are drawn, and one that is away may be drawn again and again.
const LOST_VIEWS: u32 = 6;

/// The pause of a lone validator that its blocks and its disk explain, beside the block time.
const LONE_PAUSE: Duration = Duration::from_secs(10);

/// The longest time between blocks that absent leaders and the time `gap` between blocks explain, where nothing else is wrong.
pub fn longest_pause(gap: Option<Duration>, validators: usize) -> Duration {
    if validators == 1 {
        return LONE_PAUSE + gap.unwrap_or_default();
    }
    let times = Timeouts::of(Patience::Normal, gap, false);
    times.leader * LOST_VIEWS + times.certification
}
