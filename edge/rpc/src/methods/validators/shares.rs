//! How far validators are on their way to a share (decision 367).

use crate::App;
use cowboy_api::model::ShareProgress;
use cowboy_node::{committees::Term, epoch};
use cowboy_state::{Miss, World};
use cowboy_system::staking::{
    state,
    types::{Status, ValidatorSet},
};
use cowboy_types::wire::Fixed;

/// Epochs after the present one whose players may be fixed already.
const AHEAD: u64 = 2;

/// Who receives shares in the present epoch and the next ones.
pub(super) struct Players {
    /// Blocks of an epoch.
    length: u64,
    /// The epoch of the next block.
    epoch: u64,
    /// The newest height.
    height: u64,
    /// The players by epoch, as far as they are fixed.
    sets: Vec<(u64, ValidatorSet)>,
}

impl Players {
    /// The players that the state at this height has fixed. None on a dev chain, whose validators never change.
    pub(super) fn fixed(world: &World, app: &App, term: &Term, height: u64) -> Result<Self, Miss> {
        let (length, epoch) = (epoch::length(&app.chain).get(), term.info.epoch.get());
        let mut sets = Vec::new();
        for epoch in (epoch..=epoch.saturating_add(AHEAD)).filter(|_| !app.chain.is_dev) {
            if let Some(set) = world.read::<ValidatorSet>(&state::players_key(epoch))? {
                sets.push((epoch, set));
            }
        }
        Ok(Self { length, epoch, height, sets })
    }

    /// How far the validator with this network key is.
    pub(super) fn progress(&self, key: &Fixed<32>, is_signing: bool, status: Status) -> ShareProgress {
        if is_signing {
            return signing();
        }
        let has = |set: &ValidatorSet| set.members.iter().any(|member| member.network_key == *key);
        let first_of = |epoch: u64| epoch.checked_mul(self.length);
        if let Some((epoch, _)) = self.sets.iter().find(|(_, set)| has(set)) {
            return ShareProgress {
                stage: if *epoch == self.epoch { "receiving" } else { "chosen" }.into(),
                chosen_at: state::players_fixed_at(self.length, *epoch),
                receives_from: first_of(*epoch),
                signs_from: first_of(epoch.saturating_add(1)),
            };
        }
        match status {
            Status::Waiting | Status::Active => {
                let fixed = |epoch| state::players_fixed_at(self.length, epoch).filter(|height| *height > self.height);
                let chosen_at = (self.epoch..=self.epoch.saturating_add(AHEAD + 1)).find_map(fixed);
                ShareProgress { stage: "bonded".into(), chosen_at, receives_from: None, signs_from: None }
            }
            Status::Leaving { .. } | Status::Jailed { .. } => at("none"),
        }
    }
}

/// The progress of a validator that has a share.
pub(super) fn signing() -> ShareProgress {
    at("signing")
}

fn at(stage: &str) -> ShareProgress {
    ShareProgress { stage: stage.into(), chosen_at: None, receives_from: None, signs_from: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_system::staking::types::Member;
    use cowboy_types::{
        Address,
        units::{Amount, Count},
        wire::List,
    };

    fn set(epoch: u64, key: u8) -> (u64, ValidatorSet) {
        let member = Member {
            address: Address([key; 20]),
            signing_key: Fixed([key; 33]),
            network_key: Fixed([key; 32]),
            vrf_key: Fixed([key; 96]),
            stake: Amount(1),
            endpoint: Fixed([0; 18]),
        };
        (epoch, ValidatorSet { epoch: Count(epoch), members: List::new(vec![member]).expect("one fits") })
    }

    /// A newcomer is chosen in the middle of an epoch, receives its share two epochs later, and signs in the one after.
    #[test]
    fn newcomers_come_step_by_step() {
        let key = |key: u8| Fixed([key; 32]);
        let players = |epoch, height, sets| Players { length: 40, epoch, height, sets };
        let row =
            |stage: &str, chosen_at, receives_from, signs_from| ShareProgress { stage: stage.into(), chosen_at, receives_from, signs_from };
        // Epoch 5 has the heights 200 to 239; its middle fixes the players of epoch 7.
        let bonded = players(5, 210, vec![set(5, 1), set(6, 1)]);
        assert_eq!(bonded.progress(&key(2), false, Status::Waiting), row("bonded", Some(219), None, None));
        assert_eq!(players(5, 219, vec![]).progress(&key(2), false, Status::Active), row("bonded", Some(259), None, None));
        let chosen = row("chosen", Some(219), Some(280), Some(320));
        assert_eq!(players(5, 219, vec![set(5, 1), set(6, 1), set(7, 2)]).progress(&key(2), false, Status::Active), chosen);
        let receiving = row("receiving", Some(219), Some(280), Some(320));
        assert_eq!(players(7, 290, vec![set(7, 2), set(8, 2)]).progress(&key(2), false, Status::Active), receiving);
        assert_eq!(bonded.progress(&key(1), true, Status::Active), signing());
        let until = cowboy_types::units::Height(9);
        assert_eq!(bonded.progress(&key(2), false, Status::Jailed { until }), at("none"));
    }
}
