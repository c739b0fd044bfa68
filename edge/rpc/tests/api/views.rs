//! Views of system actors, by their tables.

use crate::devnet::Devnet;
use cowboy_types::Address;
use serde_json::{Value, json};

/// Every view answers with the arguments that its table names, and a wrong one is refused with the field's name.
#[tokio::test(flavor = "multi_thread")]
async fn views_take_and_give_typed_json() {
    let devnet = Devnet::start(None).await;
    let (client, names) = (&devnet.client, Address::system(0x0e));
    let quoted = client.view(&names, "quote", &json!({ "name": "mysite", "duration_blocks": 31_536_000_u64 })).await.expect("a quote");
    assert_eq!(quoted.result, json!({ "fee": 10_000_000_000_u64, "stage": "free" }));
    assert!(quoted.cycles_used > 0);
    let none = client.view(&names, "get_name", &json!({ "name": "mysite" })).await.expect("an answer");
    assert_eq!(none.result, Value::Null);
    let owed = client.view(&Address::system(0x06), "token_balance_of", &json!({ "token_id": "0x11", "account": names.to_string() })).await;
    let rows = [
        (owed, "argument `token_id`: expected a hash"),
        (client.view(&names, "quote", &json!({ "name": "mysite" })).await, "argument `duration_blocks`: missing, expected an integer"),
        (client.view(&names, "resolve", &json!({ "nam": "mysite" })).await, "argument `nam` is unknown; the method takes name"),
        (client.view(&names, "resolve", &json!([])).await, "argument: expected a map {name}"),
    ];
    for (answer, expected) in rows {
        let error = answer.expect_err(expected);
        assert_eq!((error.status(), error.context["argument"].as_str()), (400, Some(expected)));
    }
    let refused = client.view(&names, "transfer", &json!({})).await.expect_err("it is not a view");
    assert_eq!(refused.context["method"], "transfer is not a view; send a transaction");
    for (address, method) in [(names, "nothing"), (devnet.keys[0].address(), "resolve")] {
        assert_eq!(client.view(&address, method, &json!({})).await.expect_err("there is none").status(), 404);
    }
    devnet.stop().await;
}

/// The tables for machines name every method of the chain.
#[tokio::test(flavor = "multi_thread")]
async fn methods_are_listed() {
    let devnet = Devnet::start(None).await;
    let listed: Value = devnet.client.get("/methods").await.expect("they are listed");
    let actors = listed["actors"].as_array().expect("a list of actors");
    for (actor, shown) in cowboy_system::ACTORS.iter().zip(actors) {
        let names: Vec<&str> = shown["methods"].as_array().expect("a list").iter().filter_map(|method| method["name"].as_str()).collect();
        assert_eq!(names, actor.methods().map(|method| method.name).collect::<Vec<_>>(), "{}", actor.name);
    }
    devnet.stop().await;
}
