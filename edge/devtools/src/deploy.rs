//! Deployments: what source, manifest, salt and init become.

use cowboy_api::{
    ApiError, manifest,
    model::Entitlement,
    source::{self, Asked, HOLD_BALANCE, explain_missing, explain_unknown, handlers, infer},
};
use cowboy_console::{failure::Failure, payload};
use cowboy_types::{Actor, Amount, Blob, Instruction, Text, instruction::Init};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A deployment before it is an instruction.
#[derive(Clone, Debug)]
pub struct Deployment {
    /// The source.
    pub code: String,
    /// What it may do.
    pub manifest: Value,
    /// Whether the manifest is what the source seems to need.
    pub is_inferred: bool,
    /// Where the manifest comes from, for people.
    pub manifest_source: String,
    /// Up to 32 bytes that make the address.
    pub salt: Vec<u8>,
    /// The handler that runs first, and its argument.
    pub init: Option<(String, Vec<u8>)>,
    /// CBY that the actor begins with.
    pub endowment: Amount,
}

impl Deployment {
    /// The deployment of a source: manifest inferred, `init` run with `{}` where there is one.
    pub fn of(code: String) -> Self {
        let manifest = manifest::manifest(&infer(&code));
        let empty = || payload::encode("{}", source::format(&code, "init")).expect("an empty object is JSON");
        let init = handlers(&code).iter().any(|name| name == "init").then(|| ("init".to_owned(), empty()));
        Self {
            code,
            manifest,
            is_inferred: true,
            manifest_source: "inferred from the source".into(),
            salt: Vec::new(),
            init,
            endowment: Amount::ZERO,
        }
    }

    /// The deployment of a file. A `manifest.json` beside it says what the actor may do, where nothing else does.
    pub fn of_file(path: &Path, manifest: Option<&PathBuf>) -> Result<Self, Failure> {
        let code = std::fs::read_to_string(path).map_err(Failure::file(path))?;
        let mut deployment = Self::of(code);
        let beside = path.with_file_name("manifest.json");
        let given = manifest.cloned().or_else(|| beside.is_file().then_some(beside));
        if let Some(given) = given {
            let text = std::fs::read_to_string(&given).map_err(Failure::file(&given))?;
            deployment.use_manifest(&text, &given.display().to_string())?;
        }
        Ok(deployment)
    }

    /// Takes this manifest.
    pub fn use_manifest(&mut self, text: &str, name: &str) -> Result<(), Failure> {
        self.manifest = serde_json::from_str(text).map_err(|error| {
            Failure::argument(format!("the manifest {name} is not JSON: {error}"), "write {\"entitlements\": [{\"id\": \"storage.kv\"}]}")
        })?;
        manifest::check(&self.manifest).map_err(|wrong| {
            Failure::argument(
                format!("the manifest {name} is wrong: {wrong}"),
                "write {\"entitlements\": [{\"id\": \"storage.kv\"}]}; `cowboy entitlement registry` lists ids and parameters",
            )
        })?;
        self.manifest_source = name.to_owned();
        self.is_inferred = false;
        Ok(())
    }

    /// Gives the actor this much. An inferred manifest then grants what holding it needs.
    pub fn endow(&mut self, endowment: Amount) {
        self.endowment = endowment;
        let mut grants = self.grants();
        if endowment > Amount::ZERO && self.is_inferred && grants.iter().all(|grant| grant.id != HOLD_BALANCE) {
            grants.push(Entitlement { id: HOLD_BALANCE.into(), params: json!({}), deprecated: false });
            grants.sort_by(|one, other| one.id.cmp(&other.id));
            self.manifest = manifest::manifest(&grants);
        }
    }

    /// Fails where the actor begins with CBY and its manifest does not let it hold any.
    pub fn require_balance_grant(&self) -> Result<(), Failure> {
        if self.endowment == Amount::ZERO || self.grants().iter().any(|grant| grant.id == HOLD_BALANCE) {
            return Ok(());
        }
        Err(Failure::argument(
            format!("--fund gives the actor CBY, but {} does not grant {HOLD_BALANCE}, which it needs to hold them", self.manifest_source),
            format!("add {{\"id\": \"{HOLD_BALANCE}\"}} to the manifest, or leave --fund out"),
        ))
    }

    /// The grants of the manifest.
    pub fn grants(&self) -> Vec<Entitlement> {
        manifest::grants(&self.manifest)
    }

    /// The grants as one line for people.
    pub fn describe(&self) -> String {
        let ids: Vec<String> = self.grants().into_iter().map(|grant| grant.id).collect();
        let ids = if ids.is_empty() { "nothing".to_owned() } else { ids.join(", ") };
        format!("{ids} ({})", self.manifest_source)
    }

    /// What the source seems to need and the manifest does not grant: a line each, with what to add.
    pub fn missing(&self) -> Vec<String> {
        let say = |need: source::Need| {
            format!(
                "{} needs {}, which {} does not grant: add {{\"id\": \"{}\"}} (line {})",
                need.because, need.id, self.manifest_source, need.id, need.line
            )
        };
        source::missing(&self.code, &self.grants()).into_iter().map(say).collect()
    }

    /// Why the chain refused it, with the entitlements that are missing or unknown.
    pub fn explain(&self, error: ApiError) -> ApiError {
        let granted = self.grants();
        let asked = Asked { source: &self.code, granted: &granted, value: self.endowment.get() };
        explain_missing(explain_unknown(error, &granted), asked)
    }

    /// The instruction.
    pub fn instruction(&self) -> Result<Instruction, Failure> {
        let too_large = |what: &str| Failure::argument(format!("{what} is too large: a transaction has at most 128 KiB"), "shorten it");
        let init = match &self.init {
            None => None,
            Some((handler, payload)) => Some(Init {
                handler: Text::new(handler.clone()).ok_or_else(|| too_large("the init handler's name"))?,
                payload: Blob::new(payload.clone()).ok_or_else(|| too_large("the init payload"))?,
            }),
        };
        let manifest = if self.grants().is_empty() {
            None
        } else {
            Some(Blob::new(manifest::manifest_bytes(&self.manifest)).ok_or_else(|| too_large("the manifest"))?)
        };
        Ok(Instruction::Actor(Actor::Deploy {
            code: Blob::new(self.code.clone().into_bytes()).ok_or_else(|| too_large("the code"))?,
            salt: Blob::new(self.salt.clone()).ok_or_else(|| Failure::argument("the salt is longer than 32 bytes", "shorten it"))?,
            init,
            manifest,
            endowment: self.endowment,
        }))
    }

    /// Takes this init handler and argument, written as the handler reads it.
    pub fn use_init(&mut self, handler: String, argument: &str) -> Result<(), Failure> {
        let argument = payload::argument(argument, &self.code, &handler)?;
        self.init = Some((handler, argument));
        Ok(())
    }
}
