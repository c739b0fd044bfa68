//! Tests that run again as scenarios.

use crate::chain::with_moved;
use crate::seen::Seen;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// A test as a scenario: its path, and what it does.
pub type Scenario = (&'static str, fn());

/// The scenarios of a test binary. Its folder holds what they show: `recording.txt` and `effects.txt`.
pub struct Suite {
    /// By module.
    pub scenarios: &'static [&'static [Scenario]],
    /// The folder, from the root of the repository.
    pub folder: &'static str,
}

/// How many tests share the work of one table.
pub(crate) const PARTS: usize = 4;

impl Suite {
    /// Every scenario, named by its module and its test without the name of the binary.
    pub(crate) fn all(&self) -> impl Iterator<Item = Scenario> {
        let short = |(name, run): &Scenario| (name.split_once("::").map_or(*name, |(_, rest)| rest), *run);
        self.scenarios.iter().flat_map(|module| module.iter()).map(short)
    }

    /// A file of the suite's folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        root().join(self.folder).join(name)
    }
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// What comes of a scenario: whether it finds what it looks for, and its blocks.
pub(crate) fn outcome(run: fn(), moved: Option<(u16, u64)>) -> (bool, Vec<Seen>) {
    with_moved(moved, || catch_unwind(AssertUnwindSafe(run)).is_ok())
}

/// Tests of the module as scenarios.
#[macro_export]
macro_rules! scenarios {
    ($($name:ident),+ $(,)?) => { &[$((concat!(module_path!(), "::", stringify!($name)), $name as fn())),+] };
}

/// The tests that a suite's folder and modules make: its recording, and the effects of parameters.
#[macro_export]
macro_rules! suite {
    ($folder:literal: $($($module:ident)::+),+ $(,)?) => {
        /// Every test that is a scenario.
        const SUITE: $crate::Suite = $crate::Suite { scenarios: &[$($($module::)+SCENARIOS),+], folder: $folder };

        $crate::parts! { SUITE: 0 the_chain_does_what_it_did_0 every_active_parameter_has_an_effect_0 }
        $crate::parts! { SUITE: 1 the_chain_does_what_it_did_1 every_active_parameter_has_an_effect_1 }
        $crate::parts! { SUITE: 2 the_chain_does_what_it_did_2 every_active_parameter_has_an_effect_2 }
        $crate::parts! { SUITE: 3 the_chain_does_what_it_did_3 every_active_parameter_has_an_effect_3 }

        /// Chooses scenarios that together show all that any of them shows, and writes the recording.
        #[test]
        fn a_recording_is_made() {
            SUITE.record();
        }

        /// Looks for lines of the rows that have none, and writes the table.
        #[test]
        fn lines_are_found() {
            SUITE.find_effects();
        }
    };
}

/// One part of the tests of a suite. Parts run side by side.
#[doc(hidden)]
#[macro_export]
macro_rules! parts {
    ($suite:ident: $part:literal $did:ident $effect:ident) => {
        #[test]
        fn $did() {
            $suite.check_recording($part);
        }

        #[test]
        fn $effect() {
            $suite.check_effects($part);
        }
    };
}
