//! `genesis.toml`: what a network begins with, read into a genesis and printed from one.
//!
//! A section of calls lists arguments of one method of a system actor, as docs/nodes.md names them: governance calls it at height 0,
//! except a model, which its publisher calls.

use crate::address;
use cowboy_api::cbor;
use cowboy_chain::{
    GenesisConfig,
    genesis::{Funded, GenesisCall},
};
use cowboy_console::{failure::Failure, payload};
use cowboy_params::Params;
use cowboy_state::records::{GenesisValidator, ParameterChange};
use cowboy_types::{Address, Amount, Blob, ChainId, List, Text, TimestampMs};
use serde_json::Value;
use std::{fmt::Write as _, path::Path};

/// The sections of calls in the order in which they are made: name, system actor, method.
const CALLS: &[(&str, u8, &str)] = &[
    (MODEL, 0x01, "publish_model"),
    ("embedding_model", 0x03, "set_embedding_model"),
    ("tee_root", 0x05, "set_roots"),
    ("tee_policy", 0x05, "set_policy"),
    ("domain_set", 0x07, "set_domain_set"),
    ("beneficiary", 0x08, "set_beneficiary"),
    ("upgrade", 0x09, "schedule_upgrade"),
    ("image", 0x11, "set_image"),
];

/// The section whose entries name who calls.
const MODEL: &str = "model";

/// Who calls for governance.
const GOVERNANCE: Address = Address::system(cowboy_types::actors::GOVERNANCE);

/// What the file says beside the calls: a genesis without validators.
#[derive(Debug, Default)]
pub(super) struct GenesisSettings {
    /// The chain id in every signature.
    pub(super) chain_id: Option<ChainId>,
    /// How many validators.
    pub(super) validators: Option<u32>,
    /// Accounts with what they begin with.
    pub(super) accounts: Vec<Funded>,
    /// System deployers, ascending.
    pub(super) deployers: Vec<Address>,
    /// The security council, ascending.
    pub(super) council: Vec<Address>,
    /// Parameters, ascending by row.
    pub(super) parameters: Vec<ParameterChange>,
    /// Calls, in the order of the sections.
    pub(super) calls: Vec<GenesisCall>,
}

fn wrong(name: &str, why: impl std::fmt::Display) -> Failure {
    Failure::argument(format!("{name} of the genesis file {why}"), "see docs/nodes.md for the format of the file")
}

impl GenesisSettings {
    /// Reads a file.
    pub(super) fn of_file(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path).map_err(Failure::file(path))?;
        Self::of_toml(&text)
    }

    /// The genesis with these validators at this time.
    pub(super) fn config(self, validators: Vec<GenesisValidator>, timestamp_ms: TimestampMs) -> Result<GenesisConfig, Failure> {
        Ok(GenesisConfig {
            chain_id: self.chain_id.unwrap_or(ChainId(1)),
            is_dev: false,
            timestamp_ms,
            accounts: listed("account", self.accounts)?,
            deployers: listed("deployers", self.deployers)?,
            validators: listed("validators", validators)?,
            parameters: listed("parameters", self.parameters)?,
            council: listed("council", self.council)?,
            calls: listed("calls", self.calls)?,
        })
    }

    fn of_toml(text: &str) -> Result<Self, Failure> {
        let file: toml::Table = toml::from_str(text).map_err(|error| wrong("the TOML", error))?;
        let Ok(Value::Object(mut file)) = serde_json::to_value(file) else { return Err(wrong("the TOML", "is not a table")) };
        let mut settings = Self::default();
        let mut sections = Vec::new();
        for (name, value) in std::mem::take(&mut file) {
            match name.as_str() {
                "chain_id" => settings.chain_id = Some(ChainId(number(&name, &value)?)),
                "validators" => {
                    settings.validators = Some(u32::try_from(number(&name, &value)?).map_err(|_| wrong(&name, "is too large"))?);
                }
                "deployers" => settings.deployers = addresses(&name, &value)?,
                "council" => settings.council = addresses(&name, &value)?,
                "parameters" => settings.parameters = parameters(&value)?,
                "account" => settings.accounts = entries(&name, &value)?.map(account).collect::<Result<_, _>>()?,
                _ if CALLS.iter().any(|(section, ..)| *section == name) => sections.push((name, value)),
                _ => return Err(wrong(&name, "is unknown")),
            }
        }
        for (section, actor, method) in CALLS {
            let Some((_, value)) = sections.iter().find(|(name, _)| name == section) else { continue };
            for entry in entries(section, value)? {
                settings.calls.push(call(&settings.parameters, (section, *actor, method), entry)?);
            }
        }
        Ok(settings)
    }
}

/// A genesis as its file would say it, without its validators' keys and its time.
pub(super) fn print(config: &GenesisConfig) -> String {
    let mut text = format!("chain_id = {}\nvalidators = {}\n", config.chain_id.get(), config.validators.len());
    let listed = |addresses: &[Address]| Value::from(addresses.iter().map(ToString::to_string).collect::<Vec<_>>());
    let _ = writeln!(text, "deployers = {}\ncouncil = {}", listed(&config.deployers), listed(&config.council));
    if !config.parameters.is_empty() {
        text.push_str("\n[parameters]\n");
    }
    for change in config.parameters.iter() {
        let row = Params::ROWS.iter().find(|row| row.id == change.row);
        let _ = writeln!(text, "{} = {}", Value::from(row.map_or("unknown", |row| row.name)), change.value);
    }
    for funded in config.accounts.iter() {
        let _ = writeln!(text, "\n[[account]]\naddress = \"{}\"\nbase_units = {}", funded.address, funded.amount.get());
    }
    for one in config.calls.iter() {
        let section = CALLS.iter().find(|(_, actor, method)| *actor == one.actor && **method == one.method[..]);
        let _ = writeln!(text, "\n[[{}]]", section.map_or("unknown", |(name, ..)| name));
        if one.sender != GOVERNANCE {
            let _ = writeln!(text, "publisher = \"{}\"", one.sender);
        }
        // JSON's texts, numbers, truth values and lists of them are TOML's.
        for (name, value) in cbor::decode_or_hex(&one.argument).as_object().into_iter().flatten() {
            let _ = writeln!(text, "{name} = {value}");
        }
    }
    text
}

fn number(name: &str, value: &Value) -> Result<u64, Failure> {
    value.as_u64().ok_or_else(|| wrong(name, "is not an integer"))
}

fn address(name: &str, value: &Value) -> Result<Address, Failure> {
    let text = value.as_str().ok_or_else(|| wrong(name, format_args!("has {value}, which is not an address")))?;
    address::parse(text).map_err(|why| wrong(name, format_args!("has an address that cannot be used: {why}")))
}

fn addresses(name: &str, value: &Value) -> Result<Vec<Address>, Failure> {
    let items = value.as_array().ok_or_else(|| wrong(name, "is not a list"))?;
    let mut addresses = items.iter().map(|item| address(name, item)).collect::<Result<Vec<_>, _>>()?;
    addresses.sort();
    Ok(addresses)
}

fn parameters(value: &Value) -> Result<Vec<ParameterChange>, Failure> {
    let rows = value.as_object().ok_or_else(|| wrong("parameters", "is not a table"))?;
    let change = |(name, value): (&String, &Value)| {
        let row = Params::row(name).ok_or_else(|| wrong(name, "is not a parameter; `cowboy gov params` lists them"))?;
        Ok(ParameterChange { row: row.id, value: number(name, value)? })
    };
    let mut changes = rows.iter().map(change).collect::<Result<Vec<_>, Failure>>()?;
    changes.sort_by_key(|change| change.row);
    Ok(changes)
}

/// The tables of a section.
fn entries<'a>(name: &str, value: &'a Value) -> Result<impl Iterator<Item = &'a serde_json::Map<String, Value>> + use<'a>, Failure> {
    let items = value.as_array().filter(|items| items.iter().all(Value::is_object));
    let items = items.ok_or_else(|| wrong(name, format_args!("is not a list of tables; write [[{name}]]")))?;
    Ok(items.iter().filter_map(Value::as_object))
}

fn account(entry: &serde_json::Map<String, Value>) -> Result<Funded, Failure> {
    let (mut owner, mut amount) = (None, None);
    for (name, value) in entry {
        let given = match name.as_str() {
            "address" => {
                owner = Some(address("account", value)?);
                continue;
            }
            "cby" => Amount::from_cby(number(name, value)?).ok_or_else(|| wrong(name, "is more than the total supply of CBY"))?,
            "base_units" => Amount(number(name, value)?),
            _ => return Err(wrong("account", format_args!("has {name:?}; allowed are address, and cby or base_units"))),
        };
        if amount.replace(given).is_some() {
            return Err(wrong("account", "has both cby and base_units; give one"));
        }
    }
    match (owner, amount) {
        (Some(address), Some(amount)) => Ok(Funded { address, amount }),
        _ => Err(wrong("account", "needs an address, and cby or base_units")),
    }
}

fn call(
    parameters: &[ParameterChange],
    (section, actor, method): (&str, u8, &str),
    entry: &serde_json::Map<String, Value>,
) -> Result<GenesisCall, Failure> {
    let mut argument = entry.clone();
    let (mut sender, mut value) = (GOVERNANCE, Amount::ZERO);
    if section == MODEL {
        let publisher = argument.remove("publisher").ok_or_else(|| wrong(section, "needs a publisher that is an account of the file"))?;
        sender = address(section, &publisher)?;
        let row = Params::row("jobs.model_deposit").expect("a row of the table");
        value = Amount(parameters.iter().find(|change| change.row == row.id).map_or(row.genesis, |change| change.value));
    }
    let argument = payload::method_argument(&Value::Object(argument))?;
    Ok(GenesisCall {
        sender,
        actor,
        method: Text::new(method).expect("names of methods are short"),
        argument: Blob::new(argument).ok_or_else(|| wrong(section, "is too long"))?,
        value,
    })
}

/// As many as fit a list of a genesis.
pub(super) fn listed<T, const N: usize>(name: &str, items: Vec<T>) -> Result<List<T, N>, Failure> {
    List::new(items).ok_or_else(|| wrong(name, format_args!("has more than {N} entries")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
chain_id = 7
validators = 4
council = []
deployers = ["0x1100000000000000000000000000000000000011"]

[parameters]
"governance.timelock" = 3600
"consensus.block_time" = 200

[[account]]
address = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
cby = 5000

[[image]]
digest = "0x0707070707070707070707070707070707070707070707070707070707070707"
allowed = true
name = "alpine \"3\""

[[domain_set]]
name = "weather"
domains = ["api.weather.gov"]

[[beneficiary]]
bucket = "team"
beneficiary = "0x1100000000000000000000000000000000000011"

[[upgrade]]
version = 2
height = 1

[[model]]
publisher = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
name = "a model"
weights = "0x0101010101010101010101010101010101010101010101010101010101010101"
arch = "0x0202020202020202020202020202020202020202020202020202020202020202"
tokenizer = "0x0303030303030303030303030303030303030303030303030303030303030303"
license = "0x0404040404040404040404040404040404040404040404040404040404040404"
"#;

    fn config(text: &str) -> GenesisConfig {
        GenesisSettings::of_toml(text).and_then(|settings| settings.config(Vec::new(), TimestampMs(0))).expect("the file is right")
    }

    /// What is printed of a genesis makes the same genesis, and the genesis makes a chain.
    #[test]
    fn a_file_makes_a_genesis_and_back() {
        let made = config(FILE);
        assert_eq!((made.calls.len(), made.parameters.len(), made.deployers.len()), (5, 2, 1));
        cowboy_chain::genesis(&made).expect("the calls succeed at height 0");
        let printed = print(&made);
        assert_eq!(config(&printed), made, "{printed}");
        assert_eq!(print(&config(&printed)), printed);
    }

    /// What the file should not say is refused by name.
    #[test]
    fn wrong_files_are_refused_by_name() {
        let rows = [
            ("chain = 7", "chain "),
            ("[parameters]\n\"rent.rates\" = 7", "rent.rates"),
            ("council = [\"0x11\"]", "0x11"),
            ("[[account]]\naddress = \"0x1100000000000000000000000000000000000011\"\neth = 1", "eth"),
            ("[[account]]\naddress = \"0x1100000000000000000000000000000000000011\"\ncby = 1\nbase_units = 2", "both"),
            ("[[account]]\naddress = \"0x1100000000000000000000000000000000000011\"\ncby = 18446744073710", "more than"),
            ("[[account]]\naddress = \"0x70997970C51812dc3A010C7d01b50e0d17dc79c8\"\ncby = 1", "EIP-55"),
            ("council = [\"0x70997970C51812dc3A010C7d01b50e0d17dc79c8\"]", "EIP-55"),
            ("image = 7", "[[image]]"),
            ("[[model]]\nname = \"a model\"", "publisher"),
        ];
        for (text, named) in rows {
            let refused = GenesisSettings::of_toml(text).expect_err(text);
            assert!(format!("{refused:?}").contains(named), "{text}: {refused:?}");
        }
    }
}
