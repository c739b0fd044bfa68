//! What a devnet says: the banner, and a line a block.

use super::state::{Beginning, Devnet};
use cowboy_api::{convert, keystore, traceback, wake::TIMER_HANDLER};
use cowboy_chain::Trace;
use cowboy_console::{amount, output::table};
use cowboy_node::{FinalizedBlock, NodeHandle, traces::failing};
use cowboy_params::Params;
use cowboy_store::View;
use cowboy_types::{Receipt, ReceiptKind, error, signing::PrivateKey};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// About the demo services.
const DEMO: &str = "pages, a model and a shop for the examples, offline; leave them out with --no-demo";

/// What a devnet serves.
pub(crate) struct Links<'a> {
    /// The API's address.
    pub(crate) url: &'a str,
    /// The pattern of names' addresses.
    pub(crate) names: Option<String>,
    /// Whether the runners have the demo services.
    pub(crate) has_demo: bool,
    /// The client's program.
    pub(crate) client: Option<PathBuf>,
}

/// The beginning of the output: where everything is, and who has money.
pub(crate) fn banner(links: Links<'_>, beginning: &Beginning, devnet: &Devnet, state: Option<&Path>) -> String {
    let Links { url, names, has_demo, client } = links;
    let least = Params::GENESIS.fees.base_fee_min;
    let mut lines = vec![
        format!("Cowboy devnet {}", env!("CARGO_PKG_VERSION")),
        String::new(),
        table([
            ("chain id", beginning.chain_id.to_string()),
            ("genesis", devnet.genesis.hash().to_string()),
            ("RPC", url.to_owned()),
            ("names", names.unwrap_or_else(|| "not served".to_owned())),
            ("explorer", format!("{url}{}", cowboy_rpc::EXPLORER_PATH)),
            ("demo", if has_demo { DEMO } else { "none: runners use the real web" }.to_owned()),
            ("swagger", format!("{url}/swagger-ui/")),
            ("state", state.map_or_else(|| "gone at the end; keep it with --state DIR".to_owned(), |path| path.display().to_string())),
            ("base fees", format!("{least} per cycle, {least} per cell (base units; 1 CBY is 10^9)")),
        ]),
        String::new(),
    ];
    lines.extend(accounts(beginning, &devnet.accounts));
    if let Some(client) = client {
        lines.push(String::new());
        let node = if url == keystore::DEFAULT_RPC_URL { String::new() } else { format!(" --rpc-url {url}") };
        lines.push(format!("Client: {}   try: cowboy init local{node}; cowboy wallet create; cowboy faucet", client.display()));
    }
    lines.join("\n")
}

/// The same for programs, as one object.
pub(crate) fn document(links: &Links<'_>, beginning: &Beginning, devnet: &Devnet, state: Option<&Path>) -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"), "chain_id": beginning.chain_id, "genesis": devnet.genesis.hash().to_string(),
        "rpc": links.url, "names": links.names, "explorer": format!("{}{}", links.url, cowboy_rpc::EXPLORER_PATH),
        "has_demo": links.has_demo, "state": state, "balance_cby": beginning.balance_cby, "accounts": rows(beginning, &devnet.accounts),
    })
}

/// Whether everybody has the words of a devnet's accounts. Words of somebody's own, and their keys, are not said.
fn is_public(beginning: &Beginning) -> bool {
    beginning.mnemonic == keystore::DEV_MNEMONIC
}

/// The accounts with CBY, for programs.
fn rows(beginning: &Beginning, keys: &[PrivateKey]) -> Vec<Value> {
    let secret = |key: &PrivateKey| is_public(beginning).then(|| keystore::encode_hex(key));
    keys.iter().map(|key| json!({ "address": key.address().to_string(), "private_key": secret(key) })).collect()
}

/// The accounts with CBY, for people.
fn accounts(beginning: &Beginning, keys: &[PrivateKey]) -> Vec<String> {
    let (is_public, balance) = (is_public(beginning), beginning.balance_cby);
    let mut lines = if is_public {
        let head = format!("Accounts, {balance} CBY each. These keys are public: use them on devnets only.");
        vec![head, format!("Mnemonic: {}   (m/44'/60'/0'/0/i)", beginning.mnemonic)]
    } else {
        vec![format!("Accounts of the given mnemonic (m/44'/60'/0'/0/i), {balance} CBY each.")]
    };
    for (index, key) in keys.iter().enumerate() {
        let shown = if is_public { format!("  {}", keystore::encode_hex(key)) } else { String::new() };
        lines.push(format!("({index}) {}{shown}", key.address()));
    }
    lines
}

/// The most failed deliveries of a block that get a line of their own.
const MAX_FAILURES: usize = 20;

/// The most lines of what a failed delivery printed.
const MAX_PRINTED_LINES: usize = 20;

/// A line for each failed delivery of a block: actor, handler, exception and line of the source; then what it printed, and where to
/// look.
pub(crate) fn failures(node: &NodeHandle, finalized: &FinalizedBlock, url: &str) -> Vec<String> {
    let failed = || finalized.receipts.iter().zip(finalized.traces.iter()).filter(|(receipt, _)| !receipt.is_success());
    let view = node.view().ok();
    let line = |(receipt, trace): (&Receipt, &Trace)| failure(view.as_ref(), receipt, trace, url);
    let mut lines: Vec<String> = failed().take(MAX_FAILURES).map(line).collect();
    let more = failed().count().saturating_sub(MAX_FAILURES);
    lines.extend((more > 0).then(|| format!("  failed: {} in this block", amount::counted(more, "more delivery"))));
    lines
}

/// A text of others on one line, so that no part of it looks like a line of the devnet.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() {
            line.extend(letter.escape_default());
        } else {
            line.push(letter);
        }
    }
    line
}

fn failure(view: Option<&View>, receipt: &Receipt, trace: &Trace, url: &str) -> String {
    let kind = convert::kind(&receipt.kind);
    let called = failing(trace);
    let takes_timers = || view.is_some_and(|view| view.has_handler(&receipt.target, TIMER_HANDLER).unwrap_or(false));
    // The receipt of a deployment that failed has no address, and none of a source whose body fails has a handler: the trace has both.
    let (target, handler) = match (&receipt.kind, called) {
        // What a system actor hands on fails at another actor.
        (ReceiptKind::Transaction, Some(call)) => (call.target, call.handler.clone()),
        _ => (receipt.target, convert::handler(receipt, &trace.payload, takes_timers())),
    };
    let exception = called.and_then(|call| call.exception.as_ref());
    let code = receipt.abort.as_ref().map_or(0, |abort| abort.code);
    let why = exception.map_or_else(|| error::row(code).what.to_owned(), |one| format!("{}: {}", one.name, one.message));
    let line = exception.and_then(|one| traceback::place(&one.traceback)).map_or_else(String::new, |place| format!(", {place}"));
    let explorer = format!("{url}{}#/tx/{}", cowboy_rpc::EXPLORER_PATH, receipt.id);
    let printed = trace.calls.iter().flat_map(|call| call.printed.lines()).take(MAX_PRINTED_LINES);
    let printed: String = printed.map(|line| format!("\n          printed: {}", one_line(line))).collect();
    let failed = one_line(&format!("{kind} {target}.{handler}: {why}{line}"));
    format!("  failed: {failed}{printed}\n          {explorer}")
}

/// One line about a block.
pub(crate) fn block(finalized: &FinalizedBlock) -> String {
    let (header, hash) = (finalized.block.header(), finalized.block.hash().to_string());
    let sent = finalized.block.block().transactions.len();
    let delivered = finalized.receipts.len().saturating_sub(sent);
    let failed = finalized.receipts.iter().filter(|receipt| !receipt.is_success()).count();
    let burned = finalized.receipts.iter().fold(0u64, |sum, receipt| sum.saturating_add(receipt.fee.burned.get()));
    let usage = &header.usage;
    let cycles =
        [&usage.system, &usage.timer, &usage.runner, &usage.user].iter().fold(0u64, |sum, lane| sum.saturating_add(lane.cycles.get()));
    let mut line = format!("block {:>6}  {}…  {sent} tx", header.height(), &hash[..10]);
    if delivered > 0 {
        line.push_str(&format!(", {delivered} delivered"));
    }
    if failed > 0 {
        line.push_str(&format!(", {failed} failed"));
    }
    if cycles > 0 {
        line.push_str(&format!(", {cycles} cycles, {} burned", amount::cby(burned)));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::{Address, Hash, wire::Text};
    use std::collections::BTreeMap;

    /// What an actor raises, prints or is asked for makes no line that looks like one of the devnet.
    #[test]
    fn texts_of_others_make_no_lines() {
        let (ids, addresses) = ((Hash([9; 32]), Hash([9; 32])), (Address([1; 20]), Address([2; 20])));
        let receipt = Receipt {
            handler: Text::new("go").expect("a short name"),
            abort: Some(error::HANDLER_RAISED),
            ..Receipt::unpaid(ReceiptKind::Transaction, ids, addresses, Address([1; 20]))
        };
        let mut trace = cowboy_node::traces::plain(&receipt);
        let call = &mut trace.calls[0];
        call.handler = "go\nblock 7".into();
        call.printed = "n = 5\r\u{1b}[2K\nnext\n".into();
        let exception = call.exception.get_or_insert_default();
        (exception.name, exception.message) = ("ValueError".into(), "no\n  failed: forged".into());
        let said = failure(None, &receipt, &trace, "http://a");
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), 4, "{said}");
        assert!(lines[0].ends_with(".go\\nblock 7: ValueError: no\\n  failed: forged"), "{said}");
        assert_eq!(lines[1..3], ["          printed: n = 5\\r\\u{1b}[2K", "          printed: next"]);
    }

    /// The public words of devnets are shown with their keys; of somebody's own there are only the addresses.
    #[test]
    fn keys_of_others_are_not_shown() {
        let own = "legal winner thank year wave sausage worth useful legal winner thank yellow";
        for (mnemonic, is_shown) in [(keystore::DEV_MNEMONIC, true), (own, false)] {
            let keys = [keystore::Mnemonic::parse(mnemonic, "").and_then(|words| words.key(0)).expect("the words are good")];
            let beginning = Beginning {
                chain_id: 1,
                timestamp_ms: 0,
                mnemonic: mnemonic.to_owned(),
                accounts: 1,
                balance_cby: 10,
                parameters: BTreeMap::new(),
                runners: 0,
                proxies: 0,
                relays: 0,
            };
            let said = accounts(&beginning, &keys).join("\n");
            assert!(said.contains(&keys[0].address().to_string()), "{said}");
            assert_eq!((said.contains(mnemonic), said.contains(&keystore::encode_hex(&keys[0]))), (is_shown, is_shown), "{said}");
            let listed = rows(&beginning, &keys);
            assert_eq!(listed[0]["address"], keys[0].address().to_string());
            assert_eq!(listed[0]["private_key"].is_string(), is_shown, "{listed:?}");
        }
    }
}
