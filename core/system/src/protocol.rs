//! The versions of the protocol that this build executes (003 §11; decision 370).
//!
//! Governance schedules a version for a height. From that height on the rules of the version apply, and headers carry its number. A
//! build executes every version in its table, so that it can also replay the blocks of older ones.

pub use cowboy_types::block::FIRST_VERSION;

/// The rules of a version, where they differ between versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The version.
    pub version: u8,
    /// What it changed, in a sentence.
    pub about: &'static str,
    /// Whether timers are auctioned (003 §5.1b; decision 330).
    pub has_timer_auction: bool,
}

/// Every version, ascending without a gap: a version is the one before it with changes.
const RULES: &[Rules] = &[
    Rules { version: 1, about: "The protocol of genesis.", has_timer_auction: false },
    Rules { version: 2, about: "Timers are auctioned.", has_timer_auction: true },
];

/// Versions that a build executes, from [`FIRST_VERSION`] on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions(&'static [Rules]);

impl Versions {
    /// Those of this build.
    pub const ALL: Self = Self(RULES);

    /// Those of an older build, whose newest version is this one.
    pub fn up_to(newest: u8) -> Self {
        Self(&RULES[..usize::from(newest).clamp(1, RULES.len())])
    }

    /// The newest version.
    pub fn newest(self) -> u8 {
        self.0.last().map_or(FIRST_VERSION, |rules| rules.version)
    }

    /// All of them, ascending.
    pub fn all(self) -> &'static [Rules] {
        self.0
    }

    /// The rules of a version; nothing where the build does not know it.
    pub fn rules(self, version: u8) -> Option<&'static Rules> {
        self.0.iter().find(|rules| rules.version == version)
    }

    /// The rules of the newest known version that is no newer than this one, for questions about a state whose next block this build
    /// cannot execute.
    pub fn nearest(self, version: u8) -> &'static Rules {
        self.rules(version.min(self.newest())).unwrap_or(&self.0[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Versions have no gaps, and older builds know the beginning of the table.
    #[test]
    fn versions_follow_each_other() {
        let numbers: Vec<u8> = Versions::ALL.all().iter().map(|rules| rules.version).collect();
        assert_eq!(numbers, (FIRST_VERSION..=Versions::ALL.newest()).collect::<Vec<_>>());
        let old = Versions::up_to(1);
        assert_eq!((old.newest(), old.rules(2), old.nearest(7).version), (1, None, 1));
        assert_eq!((Versions::up_to(0).newest(), Versions::up_to(255)), (1, Versions::ALL));
    }
}
