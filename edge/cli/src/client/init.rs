//! `cowboy init`.

use super::session::Session;
use clap::Args;
use cowboy_api::keystore::{Config, DEFAULT_RPC_URL};
use cowboy_console::failure::Failure;
use cowboy_devtools::template;
use serde_json::json;

/// Sets up this folder for a network, or makes a project.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboy init myagent                      # a project: actor, tests, manifest, README, CI
  cowboy init local                        # this folder, for a devnet on this machine
  cowboy init dev --rpc-url http://host:4000")]
pub(crate) struct Init {
    /// The project to create; or, for this folder, `local` (a devnet on this computer) or `dev` (a devnet elsewhere)
    #[arg(default_value = "local")]
    name: String,
}

impl Init {
    pub(crate) fn run(self, session: &Session) -> Result<(), Failure> {
        let local = || session.rpc_url.clone().unwrap_or_else(|| DEFAULT_RPC_URL.into());
        let (network, url, folder) = match self.name.as_str() {
            "local" => ("local", local(), None),
            "dev" => {
                let missing = || Failure::argument("init dev needs the node's address", "cowboy init dev --rpc-url http://host:4000");
                ("dev", session.rpc_url.clone().ok_or_else(missing)?, None)
            }
            name => ("local", local(), Some(template::project(session.output, name)?)),
        };
        let here = std::env::current_dir().map_err(Failure::file("."))?;
        let config = match &folder {
            Some(_) => Config { network: Some(network.into()), rpc_url: Some(url.clone()), ..Config::default() },
            None => Config { network: Some(network.into()), rpc_url: Some(url.clone()), ..session.config.clone() },
        };
        let path = config.save(&folder.as_ref().map_or(here.clone(), |folder| here.join(folder)))?;
        let next = match &folder {
            Some(folder) => format!("cd {}, then cowboy test", folder.display()),
            None => "cowboy wallet create, then on a dev chain cowboy faucet".to_owned(),
        };
        session.output.result(
            &json!({ "network": network, "rpc_url": url, "config": path, "project": folder }),
            format_args!("Set up for {network} at {url} in {}\nNext: {next}", path.display()),
        );
        Ok(())
    }
}
