//! Any bytes are a manifest or are refused, and a manifest says the same again.
#![no_main]

use cowboy_chain::manifest::Grants;
use cowboy_params::Params;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(grants) = Grants::parse(&Params::GENESIS, bytes) {
        assert_eq!(Grants::parse(&Params::GENESIS, bytes).as_ref(), Ok(&grants));
    }
});
