//! The schedule of protocol versions (003 §11; decision 370): which version applies from which height on.
//!
//! The version of a block follows from the state before it, so every node that executes the block before knows it. An entry that
//! applies already is never changed.

use super::api::{CancelUpgrade, GetUpgrades, ScheduleUpgrade, ScheduledUpgrade, UpgradeCancelled, UpgradeScheduled};
use super::types::{Upgrade, Upgrades};
use super::{NUMBER, state};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use cowboy_state::Step;
use cowboy_types::units::Height;
use cowboy_types::{Address, List, error};

/// The schedule with another version, from a height on; refused where the version does not follow the others, or the height is too near.
pub(super) fn with(context: &Context<'_>, upgrades: Upgrades, version: u8, height: Height) -> Step<Upgrades> {
    let Upgrades { scheduled, highest } = upgrades;
    let newest = scheduled.last();
    let is_next = newest.map_or(crate::FIRST_VERSION, |newest| newest.version) < version && version <= highest.saturating_add(1);
    // At genesis nobody has to install anything.
    let notice = if context.height == Height::ZERO { 1 } else { context.params.governance.upgrade_notice };
    let is_later = newest.is_none_or(|newest| newest.height < height);
    if !is_next || !is_later || height.0 < context.height.0.saturating_add(notice) {
        return Err(error::UPGRADE_REFUSED.into());
    }
    let scheduled = scheduled.into_vec().into_iter().chain([Upgrade { version, height }]).collect();
    Ok(Upgrades { scheduled: List::new(scheduled).ok_or(error::UPGRADE_REFUSED)?, highest: highest.max(version) })
}

/// The schedule without a version; refused where the version is not in it, or applies already.
pub(super) fn without(context: &Context<'_>, upgrades: Upgrades, version: u8) -> Step<Upgrades> {
    let Upgrades { scheduled, highest } = upgrades;
    let is_pending = |upgrade: &Upgrade| upgrade.version == version && upgrade.height > context.height;
    let mut scheduled = scheduled.into_vec();
    let place = scheduled.iter().position(is_pending).ok_or(error::UPGRADE_REFUSED)?;
    scheduled.remove(place);
    Ok(Upgrades { scheduled: List::new(scheduled).expect("it was longer"), highest })
}

/// Fails unless a decision, or genesis, calls: system deployers do not replace the protocol.
fn require_decision(context: &Context<'_>) -> Step<()> {
    if context.sender == Address::system(NUMBER) { Ok(()) } else { Err(error::SYSTEM_UNAUTHORIZED.into()) }
}

impl Handle for ScheduleUpgrade {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { version, height } = self;
        require_decision(context)?;
        let upgrades = with(context, state::upgrades(context.world)?, version, height)?;
        context.world.write(state::upgrades_key(), &upgrades);
        UpgradeScheduled { height, version }.emit(context.world);
        Ok(())
    }
}

impl Handle for CancelUpgrade {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { version } = self;
        require_decision(context)?;
        let upgrades = without(context, state::upgrades(context.world)?, version)?;
        context.world.write(state::upgrades_key(), &upgrades);
        UpgradeCancelled { version }.emit(context.world);
        Ok(())
    }
}

impl Handle for GetUpgrades {
    fn handle(self, context: &mut Context<'_>) -> Step<List<ScheduledUpgrade, 255>> {
        let upgrades = state::upgrades(context.world)?;
        let shown = |upgrade: &Upgrade| ScheduledUpgrade { height: upgrade.height, version: upgrade.version };
        Ok(List::new(upgrades.scheduled.iter().map(shown).collect()).expect("the schedule has as many"))
    }
}
