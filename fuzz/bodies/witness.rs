//! Any bytes are a witness, or are refused; none is believed, and none stops the checker.

use commonware_codec::Encode as _;
use cowboy_chain::GenesisConfig;
use cowboy_ingress::{Trust, Witness, check::check};
use std::sync::LazyLock;

/// The group key of a chain that was.
const KEY: &str = "8340eb4f826508bfb72a5aa5a7b0e751eefb3c921c84adb5f22c4b023f623be5bd7dc9bebe6191765bb1f0811e21357a\
                   1925fd6c1bd9584f998806e9c6c539423a3705cb52a03c1366c3cf057e24076af1fd52acb4349d2a634eb6f52069bc96";

static TRUST: LazyLock<Trust> = LazyLock::new(|| {
    let genesis = GenesisConfig {
        chain_id: cowboy_types::ChainId(1),
        is_dev: false,
        timestamp_ms: cowboy_types::TimestampMs(0),
        accounts: Default::default(),
        deployers: Default::default(),
        validators: Default::default(),
        parameters: Default::default(),
        council: Default::default(),
        calls: Default::default(),
    };
    let key: Vec<u8> = (0..96).map(|place| u8::from_str_radix(&KEY[2 * place..2 * place + 2], 16).expect("hex")).collect();
    Trust::new(&genesis.encode(), &key).expect("the key is one")
});

pub(crate) fn body(bytes: &[u8]) {
    if let Ok(witness) = Witness::read(bytes.to_vec().into()) {
        assert_eq!(witness.encode(), bytes);
        let _ = witness.answer();
    }
    let _ = Trust::new(bytes, bytes);
    assert!(check(bytes.to_vec().into(), &TRUST, None, 0).is_err());
}
