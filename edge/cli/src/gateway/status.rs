//! `cowboy-gateway status`: what the chain and the running gateway know of it.

use super::{Settings, running};
use crate::{client::gateway::describe, daemon::doctor::reached};
use cowboy_api::{Client, error::NOT_FOUND, keystore, model};
use cowboy_console::{amount, failure::Failure, output::Output};
use cowboy_types::Address;
use serde_json::{Value, json};

/// Prints the record on the chain, and how far the gateway is that runs.
pub(super) async fn run(settings: &Settings, output: Output) -> Result<(), Failure> {
    let key = settings.key_file.as_deref().map(keystore::read).transpose()?;
    let client = Client::new(&settings.node)?;
    let height = client.height().await?;
    let own = key.map(|key| key.address());
    let record = match own {
        Some(address) => record(&client, address).await?,
        None => None,
    };
    let running = running(settings).await;
    let of_chain = match (&record, own) {
        (Some(record), _) => describe(record),
        (None, Some(address)) => format!("gateway   {address} is not registered yet"),
        (None, None) => "gateway   it has no key: it reads, and takes no commands".to_owned(),
    };
    let listen = reached(settings.http.listen);
    let text = format!("{of_chain}\nprocess   {}", process(running.as_ref(), height, &format!("http://{listen}")));
    output.result(&json!({ "gateway": record, "height": height, "process": running }), text);
    Ok(())
}

/// The record of an account; none where it has none.
async fn record(client: &Client, address: Address) -> Result<Option<model::Gateway>, Failure> {
    match client.get(&format!("/gateways/{address}")).await {
        Ok(record) => Ok(Some(record)),
        Err(error) if error.code == NOT_FOUND.code => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// How the gateway does that listens at a URL of this computer.
fn process(info: Option<&Value>, height: u64, url: &str) -> String {
    let Some(info) = info else { return format!("does not answer at {url}") };
    let behind = match height.saturating_sub(info["block_height"].as_u64().unwrap_or(0)) {
        0 => "with its node".to_owned(),
        blocks => format!("{} behind its node", amount::counted(blocks, "block")),
    };
    let zones: Vec<&str> = info["zones"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    format!("runs at {url}, version {}, {behind}, for {}", info["version"].as_str().unwrap_or("?"), zones.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who looks sees whether the gateway runs, and whether it keeps up.
    #[test]
    fn a_process_says_how_far_it_is() {
        assert_eq!(process(None, 9, "http://127.0.0.1:8080"), "does not answer at http://127.0.0.1:8080");
        let info = json!({ "version": "1.0.0", "block_height": 7, "zones": ["cowboy.network", "localhost"] });
        let said = |height| process(Some(&info), height, "http://a");
        assert_eq!(said(9), "runs at http://a, version 1.0.0, 2 blocks behind its node, for cowboy.network, localhost");
        assert!(said(7).contains("with its node") && said(6).contains("with its node"), "it may be ahead of what the node says");
    }
}
