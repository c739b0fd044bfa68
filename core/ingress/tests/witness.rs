//! Witnesses have one encoding, and anything else is refused.

use arbitrary::{Arbitrary as _, Unstructured};
use bytes::Bytes;
use commonware_codec::Encode as _;
use cowboy_ingress::{Asked, Trust, Witness, check::NotAsked};
use proptest::prelude::*;

mod formats {
    use cowboy_ingress::witness::{Entry, Line, Witness};

    cowboy_types::format_tests! {
        Entry Line Witness
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn one_witness_is_one_string_of_bytes(seed in proptest::collection::vec(any::<u8>(), 0..4_096), place in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let Ok(witness) = Witness::arbitrary(&mut Unstructured::new(&seed)) else { return Ok(()) };
        let bytes = witness.encode();
        prop_assert_eq!(Witness::read(bytes.clone()).ok(), Some(witness.clone()));
        prop_assert!(Witness::read(bytes.slice(..bytes.len() - 1)).is_err(), "cut short");
        prop_assert!(Witness::read([bytes.as_ref(), &[0]].concat().into()).is_err(), "with something behind");
        let mut changed = bytes.to_vec();
        let place = place.index(changed.len());
        changed[place] ^= 1_u8 << bit;
        // What is another string of bytes is another witness, or none.
        if let Ok(other) = Witness::read(Bytes::from(changed.clone())) {
            prop_assert_eq!(other.encode(), changed);
            prop_assert_ne!(other, witness);
        }
    }

    #[test]
    fn any_bytes_are_taken_calmly(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        if let Ok(witness) = Witness::read(Bytes::from(bytes.clone())) {
            prop_assert_eq!(witness.encode(), bytes.clone());
        }
        let _ = Trust::new(&bytes, &bytes);
        let _ = Asked::of_url(&String::from_utf8_lossy(&bytes), &["localhost"]);
    }
}

/// The name that a URL asks, and the host as it is sent.
#[test]
fn urls_ask_names() {
    let rows: [(&str, Result<(&str, &str), NotAsked>); 13] = [
        ("http://mysite.localhost/", Ok(("mysite", "mysite.localhost"))),
        ("http://mysite.localhost:8080/a?b=c#d", Ok(("mysite", "mysite.localhost:8080"))),
        ("http://mysite.localhost:80/", Ok(("mysite", "mysite.localhost"))),
        ("https://MySite.Cowboy.Network:443", Ok(("mysite", "mysite.cowboy.network"))),
        ("https://a.mysite.cowboy.network:80/", Ok(("a.mysite", "a.mysite.cowboy.network:80"))),
        ("http://mysite.localhost./", Ok(("mysite", "mysite.localhost."))),
        ("http://localhost/", Err(NotAsked::Zone)),
        ("http://mysitelocalhost/", Err(NotAsked::Zone)),
        ("http://example.com/", Err(NotAsked::Zone)),
        ("ftp://mysite.localhost/", Err(NotAsked::Url)),
        ("http://user@mysite.localhost/", Err(NotAsked::Url)),
        ("/page", Err(NotAsked::Url)),
        ("", Err(NotAsked::Url)),
    ];
    for (url, expected) in rows {
        let found = Asked::of_url(url, &cowboy_ingress::request::ZONES);
        assert_eq!(found.as_ref().map(|asked| (asked.name(), asked.host())).map_err(|error| *error), expected, "{url}");
    }
}
