//! Deployment: canonical source, address, manifest, module body, records; then the init handler (003 §1.2, 000 §6).

use super::frames::Price;
use super::meter::length;
use super::{Environment, Machine, Step};
use crate::engine::{Exception, Limits, Usage};
use cowboy_state::records::{Actor, keys};
use cowboy_state::{Directory, Key, Kind};
use cowboy_system::entitlements::manifests::Asker;
use cowboy_system::entitlements::{lifecycle, manifests};
use cowboy_system::storage::{self, rent};
use cowboy_types::entitlement::Grants;
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

/// What a source costs or why it makes no image, and what finding out cost.
type Built<T> = (Result<T, Abort>, Price);

impl Machine {
    /// Creates an actor. Answers its address or why the source makes none, and what running its body cost. Where it makes none, the
    /// caller undoes what happened.
    pub(super) fn create(&mut self, deployment: &Deployment<'_>, limits: Limits) -> Step<Built<Address>> {
        let source = canonical_source(deployment.code).ok_or(error::SOURCE_NOT_CANONICAL)?;
        let salt = padded_salt(deployment.salt).ok_or(error::BAD_SALT)?;
        let code_hash = keccak256(&[source.as_bytes()]);
        let address = Address::of_actor(&deployment.creator, &salt, &code_hash);
        let (actor, code) = (Key::of(Kind::Actor, address), keys::code(&code_hash));
        let (listed, rent) = (Directory::actors().first_key(), storage::state::account_key(address));
        self.world.require([&actor, &code, &Key::account(address), &Key::of(Kind::Manifest, address), &listed, &rent])?;
        if self.world.actor(address)?.is_some() || address.is_reserved() {
            return Err(error::ADDRESS_TAKEN.into());
        }
        self.spend_check(deployment.manifest)?;
        let asker = self.asker(deployment.creator, deployment.parent);
        let grants = deployment.manifest.map(|manifest| manifests::check(&self.world, &asker, manifest)).transpose()?;
        // Before the source is built, so that a page of the directory that is missing costs no second build.
        Directory::actors().insert(&mut self.world, &address.0)?;
        lifecycle::warn(&mut self.world, address, &grants.unwrap_or_default(), self.environment.height)?;
        let (built, price) = self.build_source(address, &source, code_hash, limits);
        let body_weight = match built {
            Ok(weight) => weight,
            Err(abort) => return Ok((Err(abort), price)),
        };
        self.write_actor(deployment, address, code_hash, source, body_weight)?;
        Ok((Ok(address), price))
    }

    /// Replaces the own code of an actor that holds sys.upgrade, and its manifest where another is given (000 §9.2). Storage, balance,
    /// address and owner stay. The running handler continues with the old code.
    pub(super) fn upgrade(&mut self, actor: Address, code: &[u8], manifest: Option<&[u8]>, limits: Limits) -> Step<Built<Hash>> {
        let source = canonical_source(code).ok_or(error::SOURCE_NOT_CANONICAL)?;
        let code_hash = keccak256(&[source.as_bytes()]);
        let code_key = keys::code(&code_hash);
        self.world.require([&code_key, &storage::state::account_key(actor)])?;
        let creator = self.world.actor(actor)?.expect("the actor that runs exists").creator;
        self.spend_check(manifest)?;
        if let Some(manifest) = manifest {
            // The next time that it is read it is another.
            self.running().manifests.remove(&actor);
            let grants = manifests::check(&self.world, &self.asker(creator, None), manifest)?;
            let present = self.top().grants.clone();
            manifests::check_upgrade(&present, &grants)?;
            manifests::replace(&mut self.world, actor, manifest, self.environment.height)?;
            lifecycle::warn(&mut self.world, actor, &grants, self.environment.height)?;
        }
        let (built, price) = self.build_source(actor, &source, code_hash, limits);
        let body_weight = match built {
            Ok(weight) => weight,
            Err(abort) => return Ok((Err(abort), price)),
        };
        // After its manifest was replaced, whose bytes the record counts.
        let mut record = self.world.actor(actor)?.expect("the actor that runs exists");
        let code_hash_before = std::mem::replace(&mut record.code_hash, code_hash);
        record.code_bytes = Count(u64::try_from(source.len()).expect("a source is shorter than a transaction"));
        record.body_weight = body_weight;
        self.world.set_actor(actor, &record);
        rent::enlist(&mut self.world, &self.environment.params, self.environment.height, actor, &record)?;
        self.write_code(code_hash, source);
        manifests::upgraded(&mut self.world, actor, code_hash, code_hash_before);
        Ok((Ok(code_hash), price))
    }

    /// Compiles a source and runs its body, and keeps the image. Answers the modelled execution time of the body.
    fn build_source(&mut self, actor: Address, source: &str, code_hash: Hash, limits: Limits) -> Built<Count> {
        let limits = self.body_limits(limits.cycles, limits.cells, limits.weight_ns);
        let bytes = u64::try_from(source.len()).expect("a source is shorter than a transaction");
        let weight = bytes.saturating_mul(self.environment.params.weights.source_byte);
        let price = |used: Usage| Price { cycles: used.cycles, cells: used.cells, weight: used.weight_ns.saturating_add(weight) };
        match self.environment.images.build(source, limits) {
            Ok((image, used)) => {
                self.environment.images.put(code_hash, image);
                self.started.insert(code_hash, ());
                (Ok(Count(used.weight_ns)), price(used))
            }
            Err(failure) => {
                self.note_failure(actor, failure.abort.clone(), failure.exception);
                (Err(failure.abort), price(failure.usage))
            }
        }
    }

    /// Charges a manifest that is to be checked: it is decoded, and compared with what the parent has.
    fn spend_check(&mut self, manifest: Option<&[u8]>) -> Step<()> {
        let reading = self.reading(length(manifest.unwrap_or_default()));
        self.spend(reading.with(reading))
    }

    /// Who asks for a manifest.
    fn asker<'a>(&'a self, creator: Address, parent: Option<&'a Grants>) -> Asker<'a> {
        let Environment { params, rules, deployers, height, .. } = &self.environment;
        Asker { params, rules, deployers, height: *height, creator, parent }
    }

    /// Says in the trace what the source did wrong.
    fn note_failure(&mut self, address: Address, abort: Abort, exception: Exception) {
        let sender = self.running().envelope.sender;
        let mut call = super::call_trace(0, sender, address, "<module>", Default::default());
        call.abort = Some(abort);
        call.exception = Some(exception);
        self.running().calls.push(call);
    }

    fn write_code(&mut self, code_hash: Hash, source: String) {
        if self.world.get(&keys::code(&code_hash)).is_ok_and(|stored| stored.is_none()) {
            self.world.put(keys::code(&code_hash), Some(source.into_bytes().into()));
        }
    }

    fn write_actor(
        &mut self,
        deployment: &Deployment<'_>,
        address: Address,
        code_hash: Hash,
        source: String,
        body_weight: Count,
    ) -> Step<()> {
        let record = Actor {
            code_hash,
            code_bytes: Count(u64::try_from(source.len()).expect("a source is shorter than a transaction")),
            manifest_bytes: Count(length(deployment.manifest.unwrap_or_default())),
            body_weight,
            created_at: self.environment.height,
            rent_epoch: Count(self.environment.height.0 / self.environment.params.rent.epoch),
            ..Actor::new(deployment.creator)
        };
        self.world.set_actor(address, &record);
        rent::enlist(&mut self.world, &self.environment.params, self.environment.height, address, &record)?;
        self.write_code(code_hash, source);
        if let Some(manifest) = deployment.manifest {
            self.world.put(Key::of(Kind::Manifest, address), Some(manifest.to_vec().into()));
        }
        Ok(())
    }
}
