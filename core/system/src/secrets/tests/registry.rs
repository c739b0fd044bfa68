//! Who keeps its place in a full registry of proxies (decision 606).

use super::*;

/// Registers one more proxy with this stake. Answers why it failed, if it did.
fn enter_with(chain: &mut Chain, from: u8, stake: u64) -> Option<Abort> {
    let argument = registration(chain, from);
    ask(chain, from, "register_proxy", argument, stake).abort
}

/// Who has a seat was drawn, and keeps its place. There are more places than seats, so that one of those that were not drawn gives way, to whoever has more
/// stake than these.
#[test]
fn seats_do_not_close_the_registry() {
    let rows = &Params::GENESIS.secrets;
    assert!(rows.members * 3 < rows.proxies, "a key has a committee, the one before it, and the players of a dealing");
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[&quick_rows()[..], &[("secrets.proxies", 5)]].concat()));
    (2..=6).for_each(|number| register(&mut chain, number));
    seat(&mut chain, 1);
    let committee = committee(&chain, 1).expect("it has its seats");
    let mut places: Vec<u8> = committee.members.iter().map(|member| number_of(member.address)).collect();
    places.push(7);
    assert_eq!(enter_with(&mut chain, 7, STAKE + CBY), None);
    assert_eq!(enter_with(&mut chain, 8, STAKE + CBY), Some(error::PROXIES_FULL), "members have less, and stay");
    let listed = |chain: &Chain| {
        let names = chain.names(state::proxies());
        (2..=8).filter(|number| names.iter().any(|name| name[..] == address(*number).0)).collect::<Vec<u8>>()
    };
    places.sort_unstable();
    assert_eq!(listed(&chain), places);
    assert_eq!(enter_with(&mut chain, 8, STAKE + 2 * CBY), None);
    places[4] = 8;
    assert_eq!(listed(&chain), places, "the idle one makes room");
}

/// Decision 606: where governance lowered the limit, a newcomer takes the place of one proxy all the same. The number falls as proxies leave by themselves.
#[test]
fn a_lowered_limit_puts_nobody_out() {
    let rows = [("secrets.proxies", 6), ("secrets.members", 4), ("secrets.unbonding", 5_000)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    (2..=7).for_each(|number| register(&mut chain, number));
    for number in 3..=7 {
        assert!(ask(&mut chain, number, "add_stake", [], 2 * CBY).is_success());
    }
    chain.move_parameter("secrets.proxies", 4);
    let listed = |chain: &Chain| {
        let names = chain.names(state::proxies());
        (1..=8).filter(|number| names.iter().any(|name| name[..] == address(*number).0)).collect::<Vec<u8>>()
    };
    assert_eq!((enter_with(&mut chain, 8, STAKE + CBY), listed(&chain)), (None, vec![3, 4, 5, 6, 7, 8]), "one has less, and goes");
    assert_eq!(enter_with(&mut chain, OWNER, STAKE + CBY), Some(error::PROXIES_FULL), "nobody else has less");
    assert!(ask(&mut chain, 3, "leave", [], 0).is_success());
    chain.height = Height(proxy(&chain, 3).left_at.expect("it left").0 + 5_000);
    assert!(ask(&mut chain, 3, "withdraw", [], 0).is_success());
    assert_eq!((enter_with(&mut chain, OWNER, STAKE + CBY), listed(&chain)), (Some(error::PROXIES_FULL), vec![4, 5, 6, 7, 8]));
}
