//! Load on a chain, the same on each: `load cowboy|anvil --address 127.0.0.1:4000 WHAT`. Prints one line of JSON.
//!
//! The client is the same small one for every chain (`http`), transactions are signed before the clock starts, and a run that
//! did not have its effect is an error. `./bench chain` starts the nodes and calls this.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its report is its purpose")]

mod anvil;
mod chain;
mod cowboy;
mod http;
mod measure;

use clap::{Parser, Subcommand, ValueEnum};
use cowboy_api::keystore::{DEV_MNEMONIC, Mnemonic};
use cowboy_types::{Address, signing::PrivateKey};
use serde_json::{Value, json};
use std::{io, process::ExitCode};

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Cowboy,
    Anvil,
}

/// Measures a chain under load
#[derive(Debug, Parser)]
struct Arguments {
    /// Which chain answers
    chain: Kind,
    /// Where it answers
    #[arg(long)]
    address: String,
    /// The counter, where it is deployed already
    #[arg(long)]
    counter: Option<Address>,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Deploys the counter and prints its address
    Deploy,
    /// Transfers a second
    Transfers(Amounts),
    /// Transfers a second, each to an account that nobody has used
    Accounts(Amounts),
    /// Counter calls a second
    Calls(Amounts),
    /// Delay and rate of read-only calls
    Reads {
        /// How many calls
        #[arg(long, default_value_t = 20_000)]
        count: usize,
        /// How many connections
        #[arg(long, default_value_t = 1)]
        connections: usize,
    },
    /// Delay from a submission to its final receipt
    Settling {
        /// How many transfers, one after the other
        #[arg(long, default_value_t = 300)]
        count: usize,
    },
}

#[derive(clap::Args, Clone, Debug)]
struct Amounts {
    /// How many transactions
    #[arg(long, default_value_t = 40_000)]
    count: usize,
    /// How many in one request
    #[arg(long, default_value_t = 100)]
    batch: usize,
    /// How many connections, each with its own sender
    #[arg(long, default_value_t = 10)]
    connections: usize,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> io::Result<Value> {
    let words = Mnemonic::parse(DEV_MNEMONIC, "").map_err(io::Error::other)?;
    let keys: Vec<PrivateKey> = (0..10).map(|index| words.key(index)).collect::<Result<_, _>>().map_err(io::Error::other)?;
    let mut connection = http::Connection::open(&arguments.address)?;
    let counter = arguments.counter;
    let (chain, counter): (Box<dyn chain::Chain>, Address) = match arguments.chain {
        Kind::Cowboy => {
            let is_counting = matches!(arguments.what, What::Deploy | What::Calls(_) | What::Reads { .. });
            let cowboy = cowboy::Cowboy::open(&mut connection, &keys[0], counter, is_counting)?;
            let counter = cowboy.counter();
            (Box::new(cowboy), counter)
        }
        Kind::Anvil => {
            let anvil = anvil::Anvil::open(&mut connection, &keys[0], counter)?;
            let counter = anvil.counter();
            (Box::new(anvil), counter)
        }
    };
    let (chain, address) = (chain.as_ref(), arguments.address.as_str());
    let throughput = |amounts: &Amounts, work| {
        let senders = keys.get(..amounts.connections).ok_or_else(|| io::Error::other("there are ten senders"))?;
        measure::throughput(chain, address, senders, work, amounts.count, amounts.batch)
    };
    match &arguments.what {
        What::Deploy => Ok(json!({ "counter": counter.to_string() })),
        What::Transfers(amounts) => throughput(amounts, chain::Work::Transfer),
        What::Accounts(amounts) => throughput(amounts, chain::Work::Open),
        What::Calls(amounts) => throughput(amounts, chain::Work::Count),
        What::Reads { count, connections } => measure::reads(chain, address, *connections, *count),
        What::Settling { count } => measure::settling(chain, address, &keys[0], *count),
    }
}
