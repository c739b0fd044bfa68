//! Lists that people browse and search: actors, accounts, tokens, receipts, blocks; and what a transaction changed.

use crate::devnet::Devnet;
use cowboy_api::{Hex, model};
use cowboy_types::{Actor, Address, Amount, Blob, Hash, Instruction, System, Text, cbor};
use serde_json::{Value, json};

const LEDGER: &str = r#"
from cowboy_sdk import actor, public, set_timer, runtime

class Helper:
    pass

@actor
class Ledger:
    @public
    def record_sale(self, amount: int) -> None:
        self.storage["sales"] = self.storage.get("sales", 0) + amount

    @public
    def record_nothing(self) -> None:
        raise ValueError("nothing to record")

    @public
    def wake(self) -> None:
        set_timer(runtime.current_block() + 2, "close_books", {"n": 7}, gas_limit=200_000, cells_limit=20_000)

    def close_books(self, payload) -> None:
        raise ValueError("the books do not close")
"#;

/// An account that has received nothing but one transfer.
const PAYEE: Address = Address([0x11; 20]);

async fn search(devnet: &Devnet, text: &str) -> Vec<(String, String, Address)> {
    let found: model::SearchResults = devnet.client.get(&format!("/search?text={text}")).await.expect("it searches");
    found.results.into_iter().map(|one| (one.kind, one.text, one.address.0)).collect()
}

/// Actors are found by class, handler and the beginning of their address, in any case of letters.
#[tokio::test(flavor = "multi_thread")]
async fn actors_are_found_by_their_words() {
    let devnet = Devnet::start(None).await;
    let ledger = devnet.deploy(&devnet.keys[0], 0, LEDGER).await;
    assert_eq!(search(&devnet, "LEDG").await, [("class".into(), "Ledger".into(), ledger)]);
    assert_eq!(search(&devnet, "helper").await, [("class".into(), "Helper".into(), ledger)]);
    let handlers = ["record_nothing", "record_sale"].map(|name| ("handler".to_owned(), name.to_owned(), ledger));
    assert_eq!(search(&devnet, "record").await, handlers);
    assert_eq!(search(&devnet, &ledger.to_string()[..12]).await, [("actor".into(), ledger.to_string(), ledger)]);
    assert_eq!(search(&devnet, "recordsale").await, []);
    for (text, reason) in [("x", "one letter"), (&*"x".repeat(65), "too many")] {
        let answer = devnet.client.get::<Value>(&format!("/search?text={text}")).await;
        assert_eq!(answer.expect_err(reason).status(), 400, "{reason}");
    }

    let listed: model::Actors = devnet.client.get("/actors").await.expect("actors are listed");
    let row = listed.actors.iter().find(|row| row.address.0 == ledger).expect("it is listed");
    assert_eq!((row.class_name.as_deref(), row.owner.0, row.status.as_str()), (Some("Ledger"), devnet.keys[0].address(), "active"));
    assert_eq!(listed.total_count, u64::try_from(listed.actors.len()).expect("few actors"));
    devnet.stop().await;
}

const SITE: &str = r#"
from cowboy_sdk import actor, http

@actor
class Site:
    @http.get("/")
    def home(self, request):
        return "hello"
"#;

/// The names of an actor come in pages. Each says where the next one begins, and however many names there are, no page has more rows than were asked for.
#[tokio::test(flavor = "multi_thread")]
async fn names_of_an_actor_have_pages() {
    let devnet = Devnet::start(None).await;
    let site = devnet.deploy(&devnet.keys[3], 0, SITE).await;
    for (nonce, name) in (1..).zip(["pages-one", "pages-two", "a-page"]) {
        let argument = cbor::Value::map([
            ("name", cbor::Value::text(name)),
            ("actor_address", cbor::Value::Bytes(site.0.to_vec())),
            ("duration_blocks", cbor::Value::uint(31_536_000)),
        ]);
        let register = Instruction::Actor(Actor::Execute {
            target: Address::system(cowboy_system::names::NUMBER),
            handler: Text::new("register").expect("a short name"),
            payload: Blob::new(argument.encode()).expect("a short argument"),
            value: Amount::from_cby(100).expect("a small amount"),
        });
        devnet.send(&devnet.keys[3], nonce, register).await;
    }
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/actor/{site}/names?limit=2{cursor}");
        let page: model::ActorNames = devnet.client.get(&path).await.expect("names are listed");
        pages.push(page.names.into_iter().map(|name| name.name).collect::<Vec<_>>());
        let Some(next) = page.next_cursor else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(pages, [vec!["a-page", "pages-one"], vec!["pages-two"]]);
    for refused in ["offset=1", &format!("cursor={}", "x".repeat(254))] {
        let answer = devnet.client.get::<Value>(&format!("/actor/{site}/names?{refused}")).await;
        assert_eq!(answer.expect_err("it is no page").status(), 400, "{refused}");
    }
    devnet.stop().await;
}

const HATCHERY: &str = r#"
from cowboy_sdk import ActorCallError, actor, call, deferred, public, spawn

EGG = '''
from cowboy_sdk import actor, public

@actor
class Hatchling:
    @public
    def chirp(self) -> str:
        return "cheep"
'''

@actor
class Hatchery:
    @public
    @deferred
    def hatch(self):
        spawn(EGG, b"kept")

    @public
    @deferred
    def drop(self):
        spawn(EGG, b"lost")
        raise ValueError("it fell")

    @public
    @deferred
    def fumble(self):
        try:
            call(self.address, "drop")
        except ActorCallError:
            self.storage["fallen"] = 1
"#;

/// An actor that another actor deployed is found like any other, though no transaction has its source; one that was undone is not.
#[tokio::test(flavor = "multi_thread")]
async fn actors_of_actors_are_found_by_their_words() {
    let devnet = Devnet::start(None).await;
    let (client, key) = (&devnet.client, &devnet.keys[0]);
    let hatchery = devnet.deploy(key, 0, HATCHERY).await;
    devnet.execute(key, 1, hatchery, "fumble", json!(null)).await;
    assert_eq!(search(&devnet, "hatchl").await, [("class".into(), "Hatchling".into(), hatchery)], "its source names the class");
    let hatched = devnet.execute(key, 2, hatchery, "hatch", json!(null)).await;
    assert_eq!(hatched.status, "success", "{hatched:?}");
    let listed: model::Actors = client.get("/actors").await.expect("actors are listed");
    let row = listed.actors.iter().find(|row| row.owner.0 == hatchery).expect("it is listed");
    assert_eq!(row.class_name.as_deref(), Some("Hatchling"));
    let found: Vec<Address> = search(&devnet, "hatchl").await.into_iter().map(|(_, _, address)| address).collect();
    assert!(found.len() == 2 && found.contains(&row.address.0), "{found:?}");
    assert_eq!(search(&devnet, "CHIRP").await.len(), 2);
    devnet.stop().await;
}

/// Pages of one row each are the whole list; the rows of accounts are those of every receipt, without gaps.
#[tokio::test(flavor = "multi_thread")]
async fn accounts_are_paged_by_address() {
    let devnet = Devnet::start(None).await;
    let key = &devnet.keys[0];
    devnet.send(key, 0, Instruction::System(System::Transfer { to: PAYEE, amount: Amount(5) })).await;
    let ledger = devnet.deploy(key, 1, LEDGER).await;
    let whole: model::Accounts = devnet.client.get("/accounts?limit=1000").await.expect("accounts are listed");
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let page: model::Accounts = devnet.client.get(&format!("/accounts?limit=1{cursor}")).await.expect("a page is answered");
        paged.extend(page.accounts);
        let Some(next) = page.next_cursor else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(paged, whole.accounts);
    assert!(paged.is_sorted_by(|one, other| one.address.0 < other.address.0));
    let row = |address: Address| paged.iter().find(|row| row.address.0 == address).expect("it has a receipt");
    assert_eq!((row(PAYEE).balance, row(PAYEE).nonce, row(PAYEE).is_actor), (5, 0, false));
    assert_eq!((row(key.address()).nonce, row(ledger).is_actor), (2, true));
    let begin: model::Accounts = devnet.client.get("/accounts?prefix=0x1111").await.expect("a prefix is taken");
    assert_eq!(begin.accounts.iter().map(|row| row.address.0).collect::<Vec<_>>(), [PAYEE]);
    assert_eq!(devnet.client.get::<Value>("/accounts?prefix=0xgg").await.expect_err("no hex").status(), 400);
    devnet.stop().await;
}

/// Receipts of the whole chain and of one address, by kind, status and handler. The failed fire of a timer has the handler's name.
#[tokio::test(flavor = "multi_thread")]
async fn receipts_are_filtered() {
    let devnet = Devnet::start(None).await;
    let (client, key) = (&devnet.client, &devnet.keys[0]);
    devnet.send(key, 0, Instruction::System(System::Transfer { to: PAYEE, amount: Amount(5) })).await;
    let ledger = devnet.deploy(key, 1, LEDGER).await;
    devnet.execute(key, 2, ledger, "record_sale", json!(3)).await;
    devnet.execute(key, 3, ledger, "wake", json!(null)).await;
    client.post::<model::Height>("/dev/mine", &model::Mine { blocks: 4 }).await.expect("blocks are mined");
    let list = async |path: &str| -> Vec<(String, String)> {
        let found: model::History = client.get(path).await.expect("receipts are listed");
        found.entries.into_iter().map(|row| (row.handler, row.instruction.unwrap_or_default())).collect()
    };
    let row = |handler: &str, instruction: &str| (handler.to_owned(), instruction.to_owned());
    let all = [row("wake", "Execute"), row("record_sale", "Execute"), row("", "Deploy"), row("", "Transfer")];
    assert_eq!(list("/transactions?kind=transaction").await, all);
    assert_eq!(list("/transactions?handler=record_sale").await, [row("record_sale", "Execute")]);
    assert_eq!(list("/transactions?kind=timer&status=failed").await, [row("close_books", "")]);
    assert_eq!(list(&format!("/account/{ledger}/history?status=failed")).await, [row("close_books", "")]);
    assert_eq!(list(&format!("/account/{ledger}/history?handler=close_books")).await, [row("close_books", "")]);
    assert_eq!(list(&format!("/account/{PAYEE}/history?status=failed")).await, []);
    // Two rows a page, to the end of the ledger.
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let page: model::History = client.get(&format!("/transactions?kind=transaction&limit=2{cursor}")).await.expect("a page");
        assert!(page.entries.len() <= 2);
        paged.extend(page.entries.into_iter().map(|row| (row.handler, row.instruction.unwrap_or_default())));
        let Some(next) = page.next_cursor else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(paged, all);

    let busy: model::Blocks = client.get("/blocks?busy=true").await.expect("blocks are listed");
    assert!(busy.blocks.len() >= 5 && busy.blocks.iter().all(|block| block.receipt_count > 0), "{busy:?}");
    let before = busy.blocks[1].height;
    let older: model::Blocks = client.get(&format!("/blocks?busy=true&before={before}&limit=1")).await.expect("older blocks are listed");
    assert_eq!(older.blocks, busy.blocks[2..3]);
    let all: model::Blocks = client.get(&format!("/blocks?before={}", u64::MAX)).await.expect("every block is below that height");
    assert!(all.blocks[0].height >= busy.blocks[0].height, "the newest block is among them");
    devnet.stop().await;
}

/// What a call changed: the entry before and after, and balances of a transfer. What failed changed nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_says_what_it_changed() {
    let devnet = Devnet::start(None).await;
    let (client, key) = (&devnet.client, &devnet.keys[0]);
    let ledger = devnet.deploy(key, 0, LEDGER).await;
    let sold = [(1, 3), (2, 4)];
    let mut entries = Vec::new();
    for (nonce, amount) in sold {
        let receipt = devnet.execute(key, nonce, ledger, "record_sale", json!(amount)).await;
        let found: model::StateChanges = client.get(&format!("/transaction/{}/changes", receipt.tx_hash)).await.expect("it is known");
        entries.extend(found.changes.into_iter().filter(|change| change.key_bytes == Some(Hex(b"sales".to_vec()))));
    }
    let seen: Vec<_> = entries.iter().map(|change| (change.address.0, change.before.clone(), change.after.clone())).collect();
    assert_eq!(seen, [(ledger, None, Some(Hex(vec![3]))), (ledger, Some(Hex(vec![3])), Some(Hex(vec![7])))]);
    let paid = devnet.send(key, 3, Instruction::System(System::Transfer { to: PAYEE, amount: Amount(5) })).await;
    let found: model::StateChanges = client.get(&format!("/transaction/{}/changes", paid.tx_hash)).await.expect("it is known");
    let payee = found.changes.iter().find(|change| change.address.0 == PAYEE).expect("its balance changed");
    assert_eq!((payee.balance_before, payee.balance_after, &payee.key_bytes), (Some(0), Some(5), &None));
    devnet.execute(key, 4, ledger, "wake", json!(null)).await;
    client.post::<model::Height>("/dev/mine", &model::Mine { blocks: 4 }).await.expect("blocks are mined");
    let failed: model::History = client.get("/transactions?kind=timer&status=failed").await.expect("it failed");
    let found: model::StateChanges = client.get(&format!("/transaction/{}/changes", failed.entries[0].id)).await.expect("it is known");
    assert_eq!(found.changes, []);
    let unknown = client.get::<Value>(&format!("/transaction/{}/changes", Hash::ZERO)).await.expect_err("there is none");
    assert_eq!(unknown.status(), 404);
    devnet.stop().await;
}

/// Holders of a token and what happened to it, from its creation on; whoever gave all of it away is no holder.
#[tokio::test(flavor = "multi_thread")]
async fn tokens_have_holders_and_events() {
    let devnet = Devnet::start(None).await;
    let (client, key) = (&devnet.client, &devnet.keys[0]);
    let (tokens, owner) = (Address::system(6), key.address());
    let wish =
        json!({ "name": "<img src=x>", "symbol": "IMG", "initial_supply": 100, "max_supply": 1000, "decimals": 0, "metadata_uri": "" });
    devnet.execute(key, 0, tokens, "token_create", wish).await;
    let listed: model::Tokens = client.get("/tokens").await.expect("tokens are listed");
    let id = listed.tokens[0].token_id;
    let give = |amount: u64| {
        let bytes = |bytes: &[u8]| cbor::Value::Bytes(bytes.to_vec());
        let argument = [("amount", cbor::Value::uint(amount)), ("to", bytes(&PAYEE.0)), ("token_id", bytes(&id.0.0))];
        Instruction::Actor(Actor::Execute {
            target: tokens,
            handler: Text::new("token_transfer").expect("a short name"),
            payload: Blob::new(cbor::Value::map(argument).encode()).expect("a short argument"),
            value: Amount::ZERO,
        })
    };
    devnet.send(key, 1, give(40)).await;
    let holders = async || -> Vec<(Address, String)> {
        let found: model::TokenHolders = client.get(&format!("/token/{id}/holders")).await.expect("holders are listed");
        found.holders.into_iter().map(|row| (row.account.0, row.amount)).collect()
    };
    let mut expected = vec![(PAYEE, "40".to_owned()), (owner, "60".to_owned())];
    expected.sort();
    assert_eq!(holders().await, expected);
    devnet.send(key, 2, give(60)).await;
    assert_eq!(holders().await, [(PAYEE, "100".to_owned())]);

    let (mut names, mut cursor) = (Vec::new(), String::new());
    loop {
        let page: model::TokenEvents = client.get(&format!("/token/{id}/events?limit=1{cursor}")).await.expect("events are listed");
        names.extend(page.events.into_iter().map(|log| log.event.name));
        let Some(next) = page.next_cursor else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(names, ["TokenTransferred", "TokenTransferred", "TokenCreated"]);
    let held: model::AccountTokens = client.get(&format!("/account/{PAYEE}/tokens")).await.expect("tokens are listed");
    assert_eq!(held.tokens.iter().map(|row| (row.token.symbol.as_str(), row.amount.as_str())).collect::<Vec<_>>(), [("IMG", "100")]);
    let left: model::AccountTokens = client.get(&format!("/account/{owner}/tokens")).await.expect("tokens are listed");
    assert_eq!(left.tokens, []);
    devnet.stop().await;
}

/// Cursors of strangers are refused, and no page of a list fails.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_cursors_are_refused() {
    let devnet = Devnet::start(None).await;
    let zeros = Hash::ZERO;
    let lists = [
        "/transactions",
        "/accounts",
        "/actors",
        &format!("/token/{zeros}/holders"),
        &format!("/token/{zeros}/events"),
        &format!("/account/{PAYEE}/tokens"),
        &format!("/account/{PAYEE}/history"),
    ];
    for list in lists {
        for cursor in ["", "-", "--", "x-y-z", "18446744073709551616-0-0", "0xzz", "1-2-3-4", "%F0%9F%92%A9"] {
            let refused = devnet.client.get::<Value>(&format!("{list}?cursor={cursor}")).await;
            // The beginning of a directory may be empty.
            if !(list == "/actors" && cursor.is_empty()) {
                assert_eq!(refused.expect_err(cursor).status(), 400, "{list} {cursor}");
            }
        }
        let found: Value = devnet.client.get(&format!("{list}?limit=18446744073709551615")).await.expect("a limit is bounded");
        assert!(found.is_object());
    }
    let blocks: Value = devnet.client.get("/blocks?busy=true&offset=18446744073709551615&before=0").await.expect("no blocks are a list");
    assert_eq!(blocks["blocks"], json!([]));
    devnet.stop().await;
}
