//! `cowboyd ceremony`: a genesis whose group key nobody ever had (decision 443).
//!
//! The founders pass files to each other by any means. Each run of the command reads what is there, and writes this founder's next
//! message. What a founder sent is written to its own disk first, so a crash at any point changes nothing.

mod exchange;

use super::{
    genesis_file::{GenesisSettings, listed},
    network::{STAKE_CBY, short_epoch},
    node_failure,
    node_files::{GenesisFile, Peer, Secrets, ValidatorFile, default_listening_ms, read, read_genesis, replace},
};
use crate::address::{self, HostPort};
use clap::Args;
use commonware_codec::Encode as _;
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use cowboy_api::{Hex, HexAddress, HexBytes, keystore::random_key};
use cowboy_chain::GenesisConfig;
use cowboy_console::{failure::Failure, output::Output};
use cowboy_host::clock;
use cowboy_node::{
    Genesis,
    committee::ValidatorKeys,
    founding::{self, Cheat, Messages},
};
use cowboy_state::records::GenesisValidator;
use cowboy_system::staking::possession::Registration;
use cowboy_types::{Address, Amount, Hash, TimestampMs, blake3, signing::address_of_public_key, wire::Fixed};
use exchange::{Exchange, Kind};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{
    collections::BTreeSet,
    net::SocketAddr,
    path::{Path, PathBuf},
};

/// Makes a genesis together with the other founders: the group key comes out, and no one ever had it.
#[derive(Args, Debug)]
#[command(
    after_help = "Every founder runs the same command on its own machine, with the same settings file. Each run writes this founder's next
message into the exchange folder and says whose messages are missing. Pass the files of the folder between the founders by any
means, and run the command again, until it prints the genesis hash; that must be the same for everybody.

Example:
  cowboyd ceremony --settings genesis.toml --exchange exchange --account 0x7099… --address validator.example:3000"
)]
pub(crate) struct Ceremony {
    /// What the chain begins with, as for `cowboyd genesis --config`; `validators` is the number of founders
    #[arg(long, value_name = "FILE")]
    settings: PathBuf,
    /// The folder for the messages of all founders
    #[arg(long, value_name = "DIR", default_value = "exchange")]
    exchange: PathBuf,
    /// The validator's file that comes out; genesis.json is written beside it
    #[arg(long, value_name = "FILE", default_value = "validator.json")]
    out: PathBuf,
    /// The account whose stake this validator is
    #[arg(long, value_name = "ACCOUNT", value_parser = address::parse)]
    account: Address,
    /// Where other validators reach this one: address or host's name, and port
    #[arg(long, value_name = "HOST:PORT")]
    address: HostPort,
    /// The address at which it listens for other validators [default: --address]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
}

/// What a founder says of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Card {
    account: HexAddress,
    signing_key: HexBytes,
    vrf_key: HexBytes,
    network_proof: HexBytes,
    vrf_proof: HexBytes,
    /// To this, others encrypt its shares.
    encryption_key: HexBytes,
    address: HostPort,
    /// The time of its clock, in milliseconds.
    time_ms: u64,
}

impl Card {
    /// The validator of the genesis; `None` where the keys are not the founder's.
    fn validator(&self, network: &PublicKey, settings: Hash) -> Option<GenesisValidator> {
        let fixed = |bytes: &HexBytes| bytes.0.clone().try_into().ok().map(Fixed);
        let (network_key, vrf_key) = (Fixed(network.as_ref().try_into().ok()?), Fixed(self.vrf_key.0.clone().try_into().ok()?));
        let registration = Registration { genesis: settings, account: self.account.0, network_key, vrf_key };
        let proof = Fixed(self.vrf_proof.0.clone().try_into().ok()?);
        let signing_key = Fixed(self.signing_key.0.clone().try_into().ok()?);
        let is_right = registration.is_proven(&fixed(&self.network_proof)?, &proof) && address_of_public_key(&signing_key).is_some();
        let stake = Amount::from_cby(STAKE_CBY)?;
        is_right.then_some(GenesisValidator { address: self.account.0, signing_key, network_key, vrf_key, stake })
    }
}

/// Everything that the founders agreed on before they deal.
struct Plan {
    id: Hash,
    config: GenesisConfig,
    cards: Messages<Card>,
}

impl Ceremony {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        let secrets = self.out.with_extension("ceremony");
        if self.out.exists() {
            let file = read::<ValidatorFile>(&self.out)?;
            let genesis = read_genesis(&self.folder().join(file.genesis))?;
            return self.done(&genesis, &secrets, output);
        }
        let settings = GenesisSettings::of_file(&self.settings)?;
        let count = settings.validators.filter(|count| (1..=100).contains(count)).ok_or_else(|| {
            Failure::argument(
                format!("{} does not say how many founders there are", self.settings.display()),
                "add `validators = N`, 1 to 100, to the file of every founder",
            )
        })?;
        let draft = settings.config(Vec::new(), TimestampMs(0))?;
        let (exchange, keys) = Exchange::open(&self.exchange, &secrets, new_keys)?;
        match self.advance(exchange, &keys, draft, usize::try_from(count).unwrap_or(usize::MAX))? {
            Ok(genesis) => self.done(&genesis, &secrets, output),
            Err(waiting) => {
                output.result(
                    &json!({ "state": "waiting", "message": waiting.kind.name(), "missing": waiting.missing, "exchange": self.exchange }),
                    format_args!(
                        "waiting for {}: pass on the files in {}, and run this again",
                        waiting.describe(),
                        self.exchange.display()
                    ),
                );
                Ok(())
            }
        }
    }

    /// Sends what this founder can send now. Answers the genesis when everybody has sent everything.
    fn advance(
        &self,
        mut exchange: Exchange,
        keys: &ValidatorKeys,
        draft: GenesisConfig,
        count: usize,
    ) -> Result<Result<Genesis, Waiting>, Failure> {
        let own = founding::Secrets { network: keys.network.clone(), seed: exchange.seed() };
        let settings = blake3(&[b"cowboy-founding-settings:", &draft.encode()]);
        exchange.send(Kind::Card, settings, || self.card(keys, &own, settings))?;
        let cards: Messages<Card> = exchange.received(Kind::Card, settings)?;
        if cards.len() < count {
            return Ok(Err(Waiting { kind: Kind::Card, missing: vec![format!("{} of {count} founders", count - cards.len())] }));
        }
        let plan = self.plan(draft, cards, count, settings)?;
        let encryption_keys = plan.cards.iter().map(|(key, card)| (key.clone(), card.encryption_key.0.clone())).collect();
        let cheated = |cheat: Box<Cheat>| self.cheated(&plan, &cheat);
        let ceremony = founding::Ceremony::new(plan.id, own, &encryption_keys).map_err(cheated)?;
        let ceremony = ceremony.ok_or_else(|| node_failure("the exchange folder has no card of this founder: put its file back"))?;
        exchange.send(Kind::Dealing, plan.id, || Ok(Hex(ceremony.deal())))?;
        let dealings = match plan.all::<HexBytes>(&exchange, Kind::Dealing)? {
            Ok(dealings) => dealings.into_iter().map(|(key, dealing)| (key, dealing.0)).collect(),
            Err(waiting) => return Ok(Err(waiting)),
        };
        exchange.send(Kind::Acknowledgement, plan.id, || {
            Ok(ceremony.acknowledge(&dealings).map_err(cheated)?.into_iter().map(Hex).collect::<Vec<_>>())
        })?;
        let acknowledged = match plan.all::<Vec<HexBytes>>(&exchange, Kind::Acknowledgement)? {
            Ok(all) => all.into_iter().map(|(key, bytes)| (key, bytes.into_iter().map(|one| one.0).collect())).collect(),
            Err(waiting) => return Ok(Err(waiting)),
        };
        exchange.send(Kind::Log, plan.id, || Ok(Hex(ceremony.log(&acknowledged).map_err(cheated)?)))?;
        let logs = match plan.all::<HexBytes>(&exchange, Kind::Log)? {
            Ok(logs) => logs.into_iter().map(|(key, log)| (key, log.0)).collect(),
            Err(waiting) => return Ok(Err(waiting)),
        };
        let (sharing, share) = ceremony.finish(&dealings, &logs).map_err(cheated)?;
        let keys = ValidatorKeys { share: Some(share), ..keys.clone() };
        let genesis = Genesis::new(plan.config, sharing).map_err(node_failure)?;
        self.write(&genesis, &keys, &plan.cards)?;
        Ok(Ok(genesis))
    }

    fn card(&self, keys: &ValidatorKeys, own: &founding::Secrets, settings: Hash) -> Result<Card, Failure> {
        let [network_proof, vrf_proof] = keys.proofs_of_possession(&settings, self.account);
        Ok(Card {
            account: Hex(self.account),
            signing_key: Hex(keys.signer.public_key().0.to_vec()),
            vrf_key: Hex(keys.vrf_key().0.to_vec()),
            network_proof: Hex(network_proof),
            vrf_proof: Hex(vrf_proof),
            encryption_key: Hex(own.encryption_key()),
            address: self.address.clone(),
            time_ms: clock::now_ms(),
        })
    }

    /// The genesis that these cards and the settings make, but for the group key.
    fn plan(&self, mut config: GenesisConfig, cards: Messages<Card>, count: usize, settings: Hash) -> Result<Plan, Failure> {
        if cards.len() > count {
            return Err(Failure::refused(
                format!("{} has the cards of {} founders, and the settings say {count}", self.exchange.display(), cards.len()),
                "remove the cards of others from the folder, or correct `validators` in the settings of every founder",
            ));
        }
        let (mut accounts, mut signers) = (BTreeSet::new(), BTreeSet::new());
        let mut validators = Vec::with_capacity(cards.len());
        for (key, card) in &cards {
            let wrong = |why: &str| node_failure(format_args!("founder {} {why}: {AGAIN}", card.account));
            let validator = card.validator(key, settings).ok_or_else(|| wrong("gave keys that are not its own"))?;
            if !accounts.insert(validator.address) || !signers.insert(validator.signing_key.0) {
                return Err(wrong("has the account or the key of another founder"));
            }
            validators.push(validator);
        }
        let mut times: Vec<u64> = cards.values().map(|card| card.time_ms).collect();
        times.sort_unstable();
        // With the median no single clock decides.
        config.timestamp_ms = TimestampMs(times[times.len() / 2]);
        config.validators = listed("validators", validators)?;
        cowboy_chain::genesis(&config).map_err(node_failure)?;
        let said: Vec<u8> = cards.values().flat_map(|card| serde_json::to_vec(card).expect("cards are JSON")).collect();
        let id = blake3(&[b"cowboy-founding:", &config.encode(), &said]);
        Ok(Plan { id, config, cards })
    }

    fn cheated(&self, plan: &Plan, cheat: &Cheat) -> Failure {
        node_failure(format_args!("founder {} {}: {AGAIN}", plan.name(&cheat.founder), cheat.fault))
    }

    fn folder(&self) -> &Path {
        self.out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// Writes what comes out. The validator's file is the last: with it the ceremony is over.
    fn write(&self, genesis: &Genesis, keys: &ValidatorKeys, cards: &Messages<Card>) -> Result<(), Failure> {
        let path = self.folder().join("genesis.json");
        if path.exists() && read_genesis(&path)?.hash() != genesis.hash() {
            return Err(Failure::refused(format!("{} is of another chain", path.display()), "name a folder of its own with --out"));
        }
        let own = keys.network.public_key();
        let others = cards.iter().filter(|(key, _)| **key != own);
        let file = ValidatorFile {
            genesis: "genesis.json".into(),
            state: self.out.with_extension("state").file_name().map_or_else(|| "state".into(), PathBuf::from),
            listen: self.listen.map_or_else(|| self.address.resolve(), Ok)?,
            block_time_ms: None,
            listen_before_voting_ms: default_listening_ms(),
            peers: others.map(|(key, card)| Peer { key: Hex(key.as_ref().to_vec()), address: card.address.clone() }).collect(),
            secrets: Secrets::of(keys),
        };
        replace(&path, &GenesisFile::of(genesis))?;
        replace(&self.out, &file)
    }

    /// Deletes the secrets of the ceremony, which open every share that was dealt to this founder, and prints what came out.
    fn done(&self, genesis: &Genesis, secrets: &Path, output: Output) -> Result<(), Failure> {
        match std::fs::remove_file(secrets) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Failure::file(secrets)(error)),
            _ => {}
        }
        let group_key = Hex(genesis.committee.group_key().0.to_vec());
        let warning = short_epoch(genesis);
        if let Some(warning) = &warning {
            output.progress(warning);
        }
        output.result(
            &json!({
                "state": "done", "genesis": genesis.hash().to_string(), "group_key": group_key, "config": self.out, "warning": warning,
            }),
            format_args!(
                "genesis {}\nThe other founders must have the same hash. Pass on the files in {} until they do.\nStart it: cowboyd start --config {}",
                genesis.hash(),
                self.exchange.display(),
                self.out.display()
            ),
        );
        Ok(())
    }
}

/// What to do when a ceremony fails.
const AGAIN: &str = "the ceremony cannot continue; agree with the others on who takes part, empty the exchange folder, delete the \
                     .ceremony files and begin again";

impl Plan {
    /// The messages of all founders, or whose are missing.
    fn all<T: serde::de::DeserializeOwned>(&self, exchange: &Exchange, kind: Kind) -> Result<Result<Messages<T>, Waiting>, Failure> {
        let received = exchange.received::<T>(kind, self.id)?;
        if let Some(stranger) = received.keys().find(|key| !self.cards.contains_key(key)) {
            return Err(node_failure(format_args!(
                "the exchange folder has a {} of {stranger}, which is no founder: remove it",
                kind.name()
            )));
        }
        let missing: Vec<String> = self.cards.keys().filter(|key| !received.contains_key(key)).map(|key| self.name(key)).collect();
        Ok(if missing.is_empty() { Ok(received) } else { Err(Waiting { kind, missing }) })
    }

    fn name(&self, founder: &PublicKey) -> String {
        self.cards.get(founder).map_or_else(|| founder.to_string(), |card| card.account.to_string())
    }
}

/// What is missing before this founder can continue.
struct Waiting {
    kind: Kind,
    missing: Vec<String>,
}

impl Waiting {
    fn describe(&self) -> String {
        format!("the {} of {}", self.kind.name(), self.missing.join(", "))
    }
}

fn new_keys() -> Result<(ValidatorKeys, [u8; 32]), Failure> {
    Ok((ValidatorKeys::derive(&random_key()?.to_bytes()), random_key()?.to_bytes()))
}
