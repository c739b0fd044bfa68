//! The names of an actor, page by page (decision 639).

use super::{CBY, YEAR, ask, lookup, read, register, site};
use cowboy_testkit::chain::{Chain, parameters};
use cowboy_types::cbor::Value;
use cowboy_types::units::Height;
use cowboy_types::{Address, error};

/// A page of the names of an actor from `first` on, and where the next one begins.
fn page(chain: &mut Chain, actor: Address, first: Option<&str>) -> (Vec<String>, Option<String>) {
    let first = first.map_or(Value::Null, Value::text);
    let page = read(chain, "list_names", [("actor_address", Value::Bytes(actor.0.to_vec())), ("first", first)]);
    let text = |value: &Value| value.as_text().map(str::to_owned);
    let Some(Value::Array(names)) = page.get("names") else { unreachable!("a list") };
    (names.iter().filter_map(text).collect(), page.get("next").and_then(text))
}

/// Every name is on one page, also behind a page whose names count no more.
#[test]
fn names_have_pages() {
    let rows = [("names.lookup_max", 2), ("names.duration_min", 1), ("names.renewal_min", 1)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    let site = site(&mut chain, 2);
    for (name, blocks) in [("site-a", 500), ("site-b", 500), ("site-c", YEAR), ("site-d", YEAR)] {
        assert_eq!(register(&mut chain, 2, name, site, blocks, 50 * CBY), None);
    }
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(page(&mut chain, site, None), (names(&["site-a", "site-b"]), Some("site-c".into())));
    assert_eq!(page(&mut chain, site, Some("site-c")), (names(&["site-c", "site-d"]), None));
    assert_eq!(page(&mut chain, site, Some("site-bb")), (names(&["site-c", "site-d"]), None), "also where there is no such name");
    assert_eq!(lookup(&mut chain, site), names(&["site-a", "site-b"]));
    chain.height = Height(chain.height.0 + 600);
    assert_eq!(page(&mut chain, site, None), (Vec::new(), Some("site-c".into())), "an empty page is not the last one");
    assert_eq!(page(&mut chain, site, Some("site-d")), (names(&["site-d"]), None));
    let long = Value::map([("actor_address", Value::Bytes(site.0.to_vec())), ("first", Value::text("x".repeat(254)))]);
    assert_eq!(ask(&mut chain, 1, "list_names", &long, 0).abort, Some(error::INVALID_ARGUMENT));
}
