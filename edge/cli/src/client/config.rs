//! `cowboy config`: the networks of a folder, and which one its commands use.

use super::{
    networks::{Network, Networks, is_url, named_by_url},
    session::Session,
};
use clap::Subcommand;
use cowboy_api::{
    Client,
    keystore::{Config as Folder, DEFAULT_RPC_URL},
};
use cowboy_console::{failure::Failure, output::table};
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  cowboy config add test https://rpc.test.example.com --key-file ~/keys/test
  cowboy config use test
  cowboy --network test status
  cowboy config show")]
pub(crate) enum Config {
    /// Print the node, the key and the networks that commands in this folder use
    Show,
    /// Add a network, or change its address
    Add {
        /// The name
        name: String,
        /// Its node's address
        url: String,
        /// The file of the key for this network [default: the folder's key]
        #[arg(long, value_name = "FILE")]
        key_file: Option<PathBuf>,
    },
    /// Make a network the default
    Use {
        /// The network's name, as given to `config add`
        name: String,
    },
    /// Remove a network
    Remove {
        /// The network's name
        name: String,
    },
}

impl Config {
    pub(crate) fn run(self, session: &Session) -> Result<(), Failure> {
        let mut networks = Networks::load(&session.project)?;
        match self {
            Self::Show => return show(session, &networks),
            Self::Add { name, url, key_file } => {
                if is_url(&name) {
                    return Err(named_by_url(&name, "config add takes a name before the address"));
                }
                // A bad address is refused now, and not by the first command that uses it.
                Client::new(&url)?;
                networks.0.insert(name, Network { rpc_url: url, key_file });
                session.config.save(&session.project)?;
                networks.save(&session.project)?;
            }
            Self::Use { name } => {
                networks.named(&name)?;
                Folder { network: Some(name), ..session.config.clone() }.save(&session.project)?;
            }
            Self::Remove { name } => {
                networks.named(&name)?;
                networks.0.remove(&name);
                networks.save(&session.project)?;
            }
        }
        show(&Session::open(&session.globals, session.output)?, &networks)
    }
}

fn show(session: &Session, networks: &Networks) -> Result<(), Failure> {
    let key = session.key_source().unwrap_or_else(|_| "none yet: cowboy wallet create".to_owned());
    let used = session.config.network.clone().unwrap_or_default();
    let mut rows = vec![("node", session.client.url().to_owned()), ("key", key.clone())];
    rows.extend(networks.0.iter().map(|(name, network)| {
        let mark = if *name == used { " (in use)" } else { "" };
        (name.as_str(), format!("{}{mark}", network.rpc_url))
    }));
    let value = json!({ "rpc_url": session.client.url(), "default": DEFAULT_RPC_URL, "key": key, "network": used, "networks": networks });
    session.output.result(&value, table(rows));
    Ok(())
}
