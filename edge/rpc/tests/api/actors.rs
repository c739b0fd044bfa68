//! Actors that do something by themselves: messages, timers, failures.

use crate::devnet::Devnet;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use cowboy_api::{cbor, model};
use serde_json::{Value, json};

const TELLER: &str = r#"
from cowboy_sdk import actor, deferred, public, send, set_interval, set_timer, runtime

@actor
class Teller:
    @public
    @deferred
    def tell(self, peer: str) -> None:
        send(peer, {"word": "hello"}, handler="hear")

    @public
    @deferred
    def hear(self, payload) -> None:
        if payload["word"] == "hello":
            send(self.sender, {"word": "bye"}, handler="hear")
        self.storage["heard"] = payload["word"]

    @public
    def wake(self) -> None:
        set_interval(3, "beat", gas_limit=200_000, cells_limit=20_000)
        set_timer(runtime.current_block() + 2, "once", {"n": 7}, gas_limit=200_000, cells_limit=20_000)

    def beat(self) -> None:
        self.storage["beats"] = self.storage.get("beats", 0) + 1

    def once(self, payload) -> None:
        raise ValueError("not seven")
"#;

/// What a transaction sets off is a tree: each receipt names its parent, its own handler and argument (A-354).
#[tokio::test(flavor = "multi_thread")]
async fn messages_name_what_sent_them() {
    let devnet = Devnet::start(None).await;
    let (client, key) = (&devnet.client, &devnet.keys[0]);
    let one = devnet.deploy(key, 0, TELLER).await;
    let other = devnet.deploy(&devnet.keys[1], 0, TELLER).await;
    let told = devnet.execute(key, 1, one, "tell", json!(other.to_string())).await;
    assert_eq!((told.parent, told.payload), (None, None), "a transaction is the beginning, and says its payload itself");
    // Both messages arrive before an instant chain comes to rest.
    client.post::<model::Height>("/dev/mine", &model::Mine { blocks: 3 }).await.expect("blocks are mined");
    let root = client.receipt(&told.tx_hash).await.expect("the receipt is known");
    assert_eq!(root.deliveries.len(), 2, "{root:?}");
    let hello = client.receipt(&root.deliveries[0]).await.expect("the first message arrived");
    let bye = client.receipt(&root.deliveries[1]).await.expect("the second message arrived");
    let seen = |receipt: &model::Receipt| (receipt.kind.clone(), receipt.handler.clone(), receipt.parent, receipt.payload_value.clone());
    assert_eq!(seen(&hello), ("message".into(), "hear".into(), Some(told.tx_hash), Some(json!({ "word": "hello" }))));
    assert_eq!(seen(&bye), ("message".into(), "hear".into(), Some(hello.tx_hash), Some(json!({ "word": "bye" }))));
    assert_eq!((bye.sender.0, bye.target.0, bye.origin), (other, one, told.tx_hash));
    devnet.stop().await;
}

const WATCH: &str = r#"
from cowboy_sdk import actor, public, set_interval, set_timer, runtime

@actor
class Watch:
    @public
    def wind(self) -> None:
        set_interval(2, "tick", gas_limit=200_000, cells_limit=20_000)
        set_timer(runtime.current_block() + 2, "ring", {"n": 7}, gas_limit=200_000, cells_limit=20_000)

    def tick(self) -> None:
        raise ValueError("never reached")

    def ring(self, payload) -> None:
        raise ValueError("it rings")

    def handle_timer(self, payload) -> None:
        raise ValueError("every interval comes here")
"#;

/// An actor's own `handle_timer` gets the fires of its intervals, and not those of timers that name a handler: receipts and lists of
/// timers say which handler it is.
#[tokio::test(flavor = "multi_thread")]
async fn intervals_of_an_actor_with_a_timer_handler_name_that() {
    let devnet = Devnet::start(None).await;
    let (client, key) = (&devnet.client, &devnet.keys[0]);
    let actor = devnet.deploy(key, 0, WATCH).await;
    devnet.execute(key, 1, actor, "wind", Value::Null).await;
    let waiting: model::Timers = client.get(&format!("/timers/{actor}")).await.expect("the timers are known");
    let mut handlers: Vec<&str> = waiting.timers.iter().map(|timer| timer.handler.as_str()).collect();
    handlers.sort_unstable();
    assert_eq!(handlers, ["handle_timer", "ring"]);
    client.post::<model::Height>("/dev/mine", &model::Mine { blocks: 3 }).await.expect("blocks are mined");
    let failed: model::History = client.get(&format!("/account/{actor}/history?kind=timer&status=failed")).await.expect("it is known");
    let mut ran = Vec::new();
    for entry in &failed.entries {
        let receipt = client.receipt(&entry.id).await.expect("the receipt is known");
        let trace = receipt.error.expect("it failed").context["trace"].as_str().unwrap_or_default().to_owned();
        assert_eq!(receipt.handler, entry.handler);
        ran.push((receipt.handler, trace.lines().last().unwrap_or_default().to_owned()));
    }
    ran.sort_unstable();
    ran.dedup();
    let row = |handler: &str, said: &str| (handler.to_owned(), format!("ValueError: {said}"));
    assert_eq!(ran, [row("handle_timer", "every interval comes here"), row("ring", "it rings")]);
    devnet.stop().await;
}

/// Timers are listed over all actors, the next one first, under the names of their handlers; and so are their fires (A-354).
#[tokio::test(flavor = "multi_thread")]
async fn timers_name_what_they_run() {
    let devnet = Devnet::start(None).await;
    let (client, key) = (&devnet.client, &devnet.keys[0]);
    let actor = devnet.deploy(key, 0, TELLER).await;
    devnet.execute(key, 1, actor, "wake", Value::Null).await;
    let waiting: model::Timers = client.get(&format!("/timers/{actor}")).await.expect("the timers are known");
    let shown = |timer: &model::Timer| (timer.handler.clone(), timer.every, timer.actor.0);
    let expected = [("once".to_owned(), None, actor), ("beat".to_owned(), Some(3), actor)];
    assert_eq!(waiting.timers.iter().map(shown).collect::<Vec<_>>(), expected, "an instant chain waits for later timers");
    for offset in 0..2 {
        let all: model::Timers = client.get(&format!("/timers?limit=1&offset={offset}")).await.expect("the timers are known");
        assert_eq!((all.timers.as_slice(), all.total_count), (&waiting.timers[offset..=offset], 2));
    }
    let beyond: model::Timers = client.get("/timers?offset=2").await.expect("the timers are known");
    assert!(beyond.timers.is_empty());

    client.post::<model::Height>("/dev/mine", &model::Mine { blocks: 5 }).await.expect("blocks are mined");
    let history: model::History = client.get(&format!("/account/{actor}/history")).await.expect("the actor has a history");
    let fires: Vec<&str> = history.entries.iter().filter(|entry| entry.kind == "timer").map(|entry| entry.handler.as_str()).collect();
    assert_eq!((fires.last(), fires.first()), (Some(&"once"), Some(&"beat")), "newest first: {fires:?}");
    let failed = history.entries.iter().find(|entry| entry.handler == "once").expect("it fired");
    let receipt = client.receipt(&failed.id).await.expect("its receipt is known");
    let error = receipt.error.expect("it raises");
    let trace = error.context["trace"].as_str().unwrap_or_default();
    assert!(trace.ends_with("ValueError: not seven") && trace.contains("in once"), "{trace}");
    let told = receipt.events.iter().find(|event| event.name == "timer.failed").expect("a fire that fails is an event");
    assert_eq!(told.value["handler"], "once", "{told:?}");
    assert_eq!((receipt.payload_value, receipt.parent), (Some(json!({ "n": 7 })), None));
    let blocks: model::Blocks = client.get("/blocks").await.expect("the blocks are known");
    let used = |block: &model::BlockSummary| (block.usage.timer.cycles, block.usage.user.cycles);
    assert!(blocks.blocks.iter().any(|block| used(block).0 > 0 && used(block).1 == 0), "a fire uses the timer lane");
    assert!(blocks.blocks.iter().all(|block| used(block).0 + used(block).1 <= block.cycles_used));
    devnet.stop().await;
}

const BOOK: &str = r#"
from cowboy_sdk import actor, public

@actor
class Book:
    @public
    def write(self, word: str) -> int:
        self.storage["words"] = self.storage.get("words", []) + [word]
        return len(self.storage["words"])

    @public
    def read(self, at: int) -> str:
        return self.storage["words"][at]
"#;

/// A handler is invoked by a transaction, and asked without one: the answer says its height and its cycles, costs nothing, and a
/// question that writes is refused by name (A-355).
#[tokio::test(flavor = "multi_thread")]
async fn an_actor_is_invoked_and_asked() {
    let devnet = Devnet::start(None).await;
    let (client, key) = (&devnet.client, &devnet.keys[0]);
    let book = devnet.deploy(key, 0, BOOK).await;
    let written = devnet.execute(key, 1, book, "write", json!("first")).await;
    assert_eq!((written.return_value, written.handler.as_str()), (json!(1), "write"));
    let account = client.account(&key.address()).await.expect("the account is known");
    let ask = |selector: &str, argument: Value, min_block| model::ReadHandler {
        selector: selector.into(),
        payload: BASE64_STANDARD.encode(cbor::encode(&argument)),
        max_cycles: None,
        min_block,
    };
    let answer = client.read_handler(&book, &ask("read", json!(0), Some(written.block_height))).await.expect("the book answers");
    let result = BASE64_STANDARD.decode(&answer.result).expect("base64");
    assert_eq!(cbor::decode(&result), Some(json!("first")));
    assert!(answer.block_height >= written.block_height && answer.cycles_used > 0, "{answer:?}");
    assert_eq!(client.account(&key.address()).await.ok(), Some(account), "a question costs nothing");
    let refused = client.read_handler(&book, &ask("write", json!("second"), None)).await.expect_err("a question writes nothing");
    assert_eq!((refused.context["error"].as_str(), refused.status()), (Some("ERR_QUERY_NO_SIDE_EFFECTS"), 400), "{refused}");
    let raised = client.read_handler(&book, &ask("read", json!(7), None)).await.expect_err("there is one word");
    let trace = raised.context["trace"].as_str().unwrap_or_default();
    assert!(trace.contains("in read") && trace.ends_with("IndexError: list index out of range"), "{raised}");
    devnet.stop().await;
}
