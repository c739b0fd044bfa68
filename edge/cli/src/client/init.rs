//! `cowboy init`.

use super::session::Session;
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use cowboy_api::keystore::{Config, DEFAULT_RPC_URL};

/// Networks that a folder can be set up for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Network {
    /// A devnet on this machine
    #[default]
    Local,
    /// A devnet elsewhere; name it with --rpc-url
    Dev,
}

#[derive(Args, Debug)]
pub(crate) struct Init {
    /// Which network
    #[arg(value_enum, default_value_t)]
    network: Network,
}

impl Init {
    pub(crate) fn run(self, session: &Session) -> Result<(), Failure> {
        let (name, url) = match (self.network, &session.rpc_url) {
            (Network::Local, url) => ("local", url.clone().unwrap_or_else(|| DEFAULT_RPC_URL.into())),
            (Network::Dev, Some(url)) => ("dev", url.clone()),
            (Network::Dev, None) => {
                return Err(Failure::argument("init dev needs the node's address", "cowboy init dev --rpc-url http://host:4000"));
            }
        };
        let config = Config { network: Some(name.into()), rpc_url: Some(url.clone()), ..session.config.clone() };
        let here = std::env::current_dir().map_err(Failure::file("."))?;
        let path = config.save(&here)?;
        session.output.result(
            &serde_json::json!({ "network": name, "rpc_url": url, "config": path }),
            format_args!("Set up for {name} at {url} in {}\nNext: cowboy wallet create, then cowboy faucet", path.display()),
        );
        Ok(())
    }
}
