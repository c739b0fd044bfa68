//! Which gateways a reader takes that does not take all (decision 723).

use super::*;
use cowboy_state::World;
use std::cmp::Reverse;

/// The accounts of the gateways that come first, where `limit` are taken.
fn foremost(chain: &Chain, limit: usize) -> Vec<u8> {
    let mut world = World::default();
    let found = loop {
        match state::foremost(&world, &Params::GENESIS, chain.height, limit) {
            Ok(found) => break found,
            Err(miss) => {
                for key in world.want(miss) {
                    world.fill(&key, chain.state.get(&key).cloned());
                }
            }
        }
    };
    let number = |of: Address| (1..=9).find(|number| address(*number) == of).expect("one of the nine");
    found.into_iter().map(|(address, _)| number(address)).collect()
}

/// Attack: somebody registers gateways with low addresses, which cost nothing but tries, so that a name server that lists few of them lists only these.
/// It takes those with the most stake, and of equals those that came first, whatever their addresses are.
#[test]
fn low_addresses_come_first_nowhere() {
    let mut chain = Chain::new();
    let mut by_address: Vec<u8> = (1..=6).collect();
    by_address.sort_by_key(|number| Reverse(address(*number)));
    // The later one comes, the lower its address; the last has more stake, and so has the second.
    for (place, number) in by_address.iter().enumerate() {
        register(&mut chain, *number, if [1, 5].contains(&place) { STAKE + CBY } else { STAKE });
    }
    let expected = [1, 5, 0, 2, 3, 4].map(|place| by_address[place]);
    assert_eq!(foremost(&chain, usize::MAX), expected);
    assert_eq!(foremost(&chain, 3), expected[..3]);
    // One that is not heard of takes nobody's place.
    chain.height = Height(gateway(&chain, expected[0]).last_heartbeat.0 + Params::GENESIS.gateways.health - 1);
    assert_eq!(foremost(&chain, 3).len(), 3);
    assert!(ask(&mut chain, expected[3], "heartbeat", [], 0).is_success());
    chain.height = Height(gateway(&chain, expected[1]).last_heartbeat.0 + Params::GENESIS.gateways.health);
    assert_eq!(foremost(&chain, 3), [expected[3]]);
}
