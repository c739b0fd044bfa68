//! Releases of a secret to its owner, one after the other: the time of each from the moment that it is final until the value is open. Prints JSON.
//!
//! Arguments: the node's URL, the file of the owner's key, the name of the secret, how many, and `ask` or `open`. With `open` nobody is asked, and the ids
//! are printed.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what is measured is printed, and how far it is")]

use cowboy_api::keystore;
use cowboy_proxy::collect;
use cowboy_sealing::{TransportSecret, open};
use cowboy_secrets::{Name, Sealed};
use cowboy_service::Chain;
use cowboy_system::secrets::{NUMBER, state};
use cowboy_types::cbor::Value;
use cowboy_types::instruction::Actor;
use cowboy_types::signing::PrivateKey;
use cowboy_types::units::{Amount, Cells, ChainId, Count, Cycles, Nonce, Price};
use cowboy_types::{Address, Blob, Hash, Instruction, Text, Transaction};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a receipt is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Releases between two lines that say how far it is.
const SHOWN: u64 = 50;

/// The owner of a secret with one version.
struct Owner {
    chain: Chain,
    key: PrivateKey,
    name_hash: Hash,
}

impl Owner {
    /// Opens a release for a transport key, and waits until it is final.
    async fn release(&self, transport: &TransportSecret) -> Hash {
        let public = transport.key();
        let argument = Value::dict([
            ("name_hash", Value::Bytes(self.name_hash.0.to_vec())),
            ("transport", Value::Bytes(public.key.bytes().to_vec())),
            ("proof", Value::Bytes(public.proof.bytes().to_vec())),
        ]);
        let instruction = Instruction::Actor(Actor::Execute {
            target: Address::system(NUMBER),
            handler: Text::new("release_to_owner").expect("a short name"),
            payload: Blob::new(argument.encode()).expect("a short argument"),
            value: Amount::ZERO,
        });
        let (client, address) = (&self.chain.client, self.key.address());
        let mut transaction = Transaction::unsigned(address, instruction);
        transaction.chain_id = ChainId(self.chain.chain_id);
        transaction.nonce = Nonce(client.account_or_empty(&address).await.expect("the account is read").nonce);
        let tried = client.simulate(&transaction).await.expect("it is tried out");
        (transaction.cycles_limit, transaction.cells_limit) = (Cycles(tried.cycles_limit), Cells(tried.cells_limit));
        (transaction.max_fee_per_cycle, transaction.max_fee_per_cell) = (Price(tried.max_fee_per_cycle), Price(tried.max_fee_per_cell));
        self.key.sign_transaction(&mut transaction);
        let receipt = client.submit_wait(&transaction, PATIENCE).await.expect("it is final");
        let event = receipt.events.iter().find(|event| event.name == "release.opened");
        let id = event.and_then(|event| event.value["release_id"].as_str()).expect("the release is open");
        id.parse().expect("the id of a release is a hash")
    }

    /// Asks the members for their answers, and opens the value.
    async fn open(&self, release: &Hash, transport: &TransportSecret) {
        let collected = collect(&self.chain, release, transport).await.expect("enough members answer");
        let records =
            self.chain.read(&[state::sealed_key(self.key.address(), &self.name_hash, Count(1))]).await.expect("the chain is read");
        let sealed = records.bytes(0).expect("the version is there");
        let sealed = Sealed::parse(&sealed).expect("the chain keeps sealed secrets");
        open(&sealed, &collected.signature).expect("the committee's signature opens it");
    }
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [node, key_file, name, count, what] = &arguments[..] else { panic!("give a URL, a file, a name, a number, and ask or open") };
    let key = keystore::read(Path::new(key_file)).expect("a key");
    let name_hash = Name::new(name.as_str()).expect("a name").hash(key.address());
    let owner = Owner { chain: Chain::connect(node, None).await.expect("a node"), key, name_hash };
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).expect("random bytes");
    let mut rng = ChaCha20Rng::from_seed(seed);
    let (mut times, mut ids) = (Vec::new(), Vec::new());
    for number in 1..=count.parse::<u64>().expect("a number") {
        let transport = TransportSecret::random(&mut rng);
        let release = owner.release(&transport).await;
        if what == "ask" {
            let began = Instant::now();
            owner.open(&release, &transport).await;
            times.push(u64::try_from(began.elapsed().as_micros()).expect("a short time"));
        }
        ids.push(release.to_string());
        if number % SHOWN == 0 {
            eprintln!("{number} of {count} releases");
        }
    }
    println!("{}", json!({ "times_us": times, "releases": ids }));
}
