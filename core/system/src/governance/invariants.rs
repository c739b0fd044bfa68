//! What holds between the records of decisions.

use super::types::{Council, Pauses, Proposal, Stage, Upgrades};
use super::{NUMBER, state};
use crate::records::{Broken, Records, ascending, equal, holds};
use cowboy_params::Params;
use cowboy_state::records::{ParameterChanges, keys};
use cowboy_types::Address;
use cowboy_types::units::{Amount, Count};

/// Proposals are counted, and their ballots ordered; 0x09 has the deposits of those that are voted on, and there are no others; the lists of
/// the council, pauses, versions and moved parameters ascend.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    let count = records.record::<Count>(&state::count_key())?.unwrap_or_default();
    let proposals = records.of::<Proposal>(NUMBER, "system:gov:proposal:")?;
    equal("proposals are counted", &count.0, &u64::try_from(proposals.len()).unwrap_or(u64::MAX))?;
    let mut owed = 0;
    for (name, proposal) in &proposals {
        let id = std::str::from_utf8(name).ok().and_then(|id| id.parse::<u64>().ok());
        holds("a proposal's number is below their count", id.is_some_and(|id| id < count.0), name)?;
        let is_open = matches!(proposal.stage, Stage::Voting { .. });
        holds("a proposal has a deposit only while it is voted on", is_open || proposal.deposit == Amount::ZERO, proposal)?;
        let voters: Vec<Address> = proposal.ballots.iter().map(|ballot| ballot.voter).collect();
        ascending("ballots ascend by voter", &voters)?;
        owed += u128::from(proposal.deposit.0);
    }
    records.covers("0x09 has the deposits of proposals", Address::system(NUMBER), owed)?;
    if let Some(council) = records.record::<Council>(&state::council_key())? {
        ascending("the council ascends", &council.members)?;
    }
    if let Some(pauses) = records.record::<Pauses>(&state::pauses_key())? {
        ascending("pauses ascend by actor", &pauses.pauses.iter().map(|pause| pause.actor).collect::<Vec<_>>())?;
    }
    if let Some(Upgrades { scheduled, highest }) = records.record::<Upgrades>(&state::upgrades_key())? {
        ascending("versions ascend", &scheduled.iter().map(|upgrade| upgrade.version).collect::<Vec<_>>())?;
        ascending("heights of versions ascend", &scheduled.iter().map(|upgrade| upgrade.height).collect::<Vec<_>>())?;
        let newest = scheduled.last().map_or(0, |upgrade| upgrade.version);
        holds("no version is above the highest that was scheduled", newest <= highest, &(newest, highest))?;
    }
    if let Some(ParameterChanges { changes }) = records.record::<ParameterChanges>(&keys::parameters())? {
        let rows: Vec<u16> = changes.iter().map(|change| change.row).collect();
        ascending("moved parameters ascend by row", &rows)?;
        let is_known = |row: &u16| Params::ROWS.iter().any(|known| known.id == *row);
        holds("moved parameters are rows", rows.iter().all(is_known), &rows)?;
    }
    Ok(())
}
