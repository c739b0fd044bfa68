//! Deployment: canonical source, address, manifest, module body, records; then the init handler (003 §1.2, 000 §6).

use super::frames::Price;
use super::{Machine, Step};
use crate::input::Exception;
use crate::manifest::Grants;
use crate::vm_driver::{self, Limits, Usage};
use cowboy_state::records::{Actor, ActorStatus, keys};
use cowboy_state::{Key, Kind};
use cowboy_types::units::Count;
use cowboy_types::{Abort, Address, Hash, error, keccak256};
use unicode_normalization::UnicodeNormalization as _;

/// What is deployed.
pub(super) struct Deployment<'a> {
    pub(super) creator: Address,
    pub(super) code: &'a [u8],
    pub(super) salt: &'a [u8],
    pub(super) manifest: Option<&'a [u8]>,
    /// The grants of the actor that spawns it; absent for a transaction.
    pub(super) parent: Option<&'a Grants>,
}

/// Source as it is hashed and stored: UTF-8, NFC, LF, no byte-order mark (003 §1.2, A-5). `None` where it is not UTF-8.
pub fn canonical_source(code: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(code).ok()?;
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    Some(lines.nfc().collect())
}

/// A salt of up to 32 bytes, zero-padded on the right. `None` where it is longer.
pub fn padded_salt(salt: &[u8]) -> Option<Hash> {
    let mut padded = [0; 32];
    padded.get_mut(..salt.len())?.copy_from_slice(salt);
    Some(Hash(padded))
}

impl Machine {
    /// Creates an actor. Answers its address or why the source makes none, and what running its body cost.
    pub(super) fn create(&mut self, deployment: &Deployment<'_>, limits: Limits) -> Step<(Result<Address, Abort>, Price)> {
        let source = canonical_source(deployment.code).ok_or(error::SOURCE_NOT_CANONICAL)?;
        let salt = padded_salt(deployment.salt).ok_or(error::BAD_SALT)?;
        let code_hash = keccak256(&[source.as_bytes()]);
        let address = Address::of_actor(&deployment.creator, &salt, &code_hash);
        let (actor, code) = (Key::of(Kind::Actor, address), keys::code(&code_hash));
        self.world.require([&actor, &code, &Key::account(address), &Key::of(Kind::Manifest, address)])?;
        if self.world.actor(address)?.is_some() || address.is_reserved() {
            return Err(error::ADDRESS_TAKEN.into());
        }
        self.check_manifest(deployment)?;
        let bytes = u64::try_from(source.len()).expect("a source is shorter than a transaction");
        let weight = bytes.saturating_mul(self.environment.params.weights.source_byte);
        let price = |used: Usage| Price { cycles: used.cycles, cells: used.cells, weight: used.weight_ns.saturating_add(weight) };
        match vm_driver::build(&source, limits) {
            Ok((image, used)) => {
                self.environment.images.put(code_hash, image);
                self.started.insert(code_hash);
                self.write_actor(deployment, address, code_hash, source);
                Ok((Ok(address), price(used)))
            }
            Err(failure) => {
                self.note_failure(address, failure.abort.clone(), failure.exception);
                Ok((Err(failure.abort), price(failure.usage)))
            }
        }
    }

    /// 000 §10, and §9.2: sys.upgrade is for system deployers.
    fn check_manifest(&self, deployment: &Deployment<'_>) -> Step<()> {
        let Some(manifest) = deployment.manifest else { return Ok(()) };
        let grants = Grants::parse(&self.environment.params, manifest)?;
        if grants.get("sys.upgrade").is_some() && !self.environment.deployers.contains(&deployment.creator) {
            return Err(error::SYSTEM_UNAUTHORIZED.into());
        }
        if deployment.parent.is_some_and(|parent| !grants.are_within(parent)) {
            return Err(error::MISSING_ENTITLEMENT.into());
        }
        Ok(())
    }

    /// Says in the trace what the source did wrong.
    fn note_failure(&mut self, address: Address, abort: Abort, exception: Exception) {
        let sender = self.running().envelope.sender;
        let mut call = super::call_trace(0, sender, address, "<module>", Default::default());
        call.abort = Some(abort);
        call.exception = Some(exception);
        self.running().calls.push(call);
    }

    fn write_actor(&mut self, deployment: &Deployment<'_>, address: Address, code_hash: Hash, source: String) {
        let record = Actor {
            owner: deployment.creator,
            creator: deployment.creator,
            code_hash,
            code_bytes: Count(u64::try_from(source.len()).expect("a source is shorter than a transaction")),
            status: ActorStatus::Active,
            created_at: self.environment.height,
            storage_bytes: Count::ZERO,
            storage_quota: Count::ZERO,
            rent_epoch: Count(self.environment.height.0 / self.environment.params.rent.epoch),
            messages_sent: Count::ZERO,
            timers_set: Count::ZERO,
            timers_live: Count::ZERO,
            children: Count::ZERO,
        };
        self.world.set_actor(address, &record);
        if self.world.get(&keys::code(&code_hash)).is_ok_and(|stored| stored.is_none()) {
            self.world.put(keys::code(&code_hash), Some(source.into_bytes().into()));
        }
        if let Some(manifest) = deployment.manifest {
            self.world.put(Key::of(Kind::Manifest, address), Some(manifest.to_vec().into()));
        }
    }
}
