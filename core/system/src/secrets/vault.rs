//! Storing, pausing and deleting secrets (decisions 141, 143).

use super::api::{DeleteSecret, DeleteVersion, Deleted, PauseSecret, Paused, PutSecret, Stored};
use super::forms::Named;
use super::types::{Secret, Vault, Version};
use super::{NUMBER, committee, proxies, state};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use bytes::Bytes;
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_secrets::{Identity, Kind, Policy, Sealed};
use cowboy_state::{Miss, Step};
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Address, Hash, List, error};

/// A secret of the sender.
fn own(context: &Context<'_>, name: &Hash) -> Step<Secret> {
    Ok(state::secret(context.world, context.sender, name)?.ok_or(error::SECRET_NOT_FOUND)?)
}

/// Refuses a secret with a sentence that says why.
fn refuse<T>(context: &mut Context<'_>, why: String) -> Step<T> {
    context.explanation = Some(why);
    Err(error::SECRET_INVALID.into())
}

/// The policy and the sealed secret, where both have their one form and belong to each other.
fn read(context: &mut Context<'_>, put: &PutSecret) -> Step<(Policy, Sealed)> {
    context.spend_reading(put.policy.len().saturating_add(put.sealed.len()))?;
    context.spend(context.params.costs.verify_bls, context.params.weights.point)?;
    let Ok(policy) = Policy::decode(put.policy.clone()) else { return refuse(context, "The policy does not decode.".to_string()) };
    if policy.encode() != put.policy {
        return refuse(context, "The policy is not in its one form.".to_string());
    }
    if let Err(reason) = policy.check() {
        return refuse(context, format!("Of the policy, {reason}."));
    }
    let sealed = match Sealed::parse(&put.sealed) {
        Ok(sealed) => sealed,
        Err(reason) => return refuse(context, format!("Of the sealed bytes, {reason}.")),
    };
    Ok((policy, sealed))
}

impl Handle for PutSecret {
    fn handle(self, context: &mut Context<'_>) -> Step<Named> {
        let account = context.sender;
        let (policy, sealed) = read(context, &self)?;
        let key_id = committee::sealing_key(context.world)?.ok_or(error::NO_RELEASE_KEY)?;
        let name = sealed.identity.name_hash;
        let found = state::secret(context.world, account, &name)?;
        let mut vault =
            state::vault(context.world, account)?.unwrap_or(Vault { secrets: Count::ZERO, deposit: Amount::ZERO, floor: Count::ZERO });
        let is_new = found.is_none();
        let mut secret = found.unwrap_or(Secret { latest: vault.floor, versions: List::default(), is_paused: false, pauses: Count::ZERO });
        let version = Count(secret.latest.0.saturating_add(1));
        let policy_hash = policy.hash();
        let expected =
            Identity { kind: Kind::Secret, genesis: context.genesis, key_id, account, name_hash: name, version: version.0, policy_hash };
        if sealed.identity != expected {
            let Identity { key_id: of_key, version: of_version, .. } = sealed.identity;
            let why = format!(
                "It is sealed to key {of_key} as version {of_version}; key {key_id} and version {} are next, and chain, account and policy must be these.",
                version.0
            );
            return refuse(context, why);
        }
        let mut versions = std::mem::take(&mut secret.versions).into_vec();
        let rows = &context.params.secrets;
        if is_new && vault.secrets.0 >= rows.per_account || u64::try_from(versions.len()).unwrap_or(u64::MAX) >= rows.versions {
            return Err(error::SECRET_LIMIT.into());
        }
        let kept = u64::try_from(self.sealed.len().saturating_add(self.policy.len())).unwrap_or(u64::MAX);
        let deposit = Amount(kept.saturating_mul(context.params.rent.bond_per_byte));
        if !context.world.debit(account, deposit)? {
            return Err(error::SECRET_DEPOSIT.into());
        }
        context.world.credit(Address::system(NUMBER), deposit)?;
        versions.push(version);
        secret.latest = version;
        secret.versions = List::new(versions).ok_or(error::SECRET_LIMIT)?;
        vault.deposit = vault.deposit.saturating_add(deposit);
        if is_new {
            vault.secrets = Count(vault.secrets.0.saturating_add(1));
            state::secrets_of(account).insert(context.world, &name.0)?;
        }
        let sealed_bytes = Count(u64::try_from(self.sealed.len()).unwrap_or(u64::MAX));
        let record = Version { key_id, policy, sealed_bytes, deposit, released: Count::ZERO, stored_at: context.height };
        context.charge_kept(&record);
        context.charge_cells(sealed_bytes.0);
        context.world.write(state::version_key(account, &name, version), &record);
        context.world.put(state::sealed_key(account, &name, version), Some(Bytes::from(self.sealed)));
        context.world.write(state::secret_key(account, &name), &secret);
        context.world.write(state::vault_key(account), &vault);
        let named = Named { account, name_hash: name, version };
        Stored(named.clone()).emit(context.world);
        Ok(named)
    }
}

impl Handle for PauseSecret {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { name_hash, paused } = self;
        let mut secret = own(context, &name_hash)?;
        if secret.is_paused == paused {
            return Ok(());
        }
        secret.is_paused = paused;
        // What was open ends for good: a pause that were over before a demand is could blame whoever heeded it.
        secret.pauses = Count(secret.pauses.0.saturating_add(u64::from(paused)));
        context.world.write(state::secret_key(context.sender, &name_hash), &secret);
        Paused { account: context.sender, is_paused: paused, name_hash }.emit(context.world);
        Ok(())
    }
}

/// Removes a version's records. Answers the deposit, which is still with 0x04.
fn remove_version(context: &mut Context<'_>, name: &Hash, version: Count) -> Result<Amount, Miss> {
    let account = context.sender;
    let record = state::version(context.world, account, name, version)?.expect("a secret lists versions that are there");
    context.world.remove(state::version_key(account, name, version));
    context.world.erase(state::sealed_key(account, name, version));
    Deleted(Named { account, name_hash: *name, version }).emit(context.world);
    Ok(record.deposit)
}

/// Returns a deposit of the sender.
fn give_back(context: &mut Context<'_>, vault: &mut Vault, deposit: Amount) -> Result<(), Miss> {
    proxies::take(context.world, deposit)?;
    context.world.credit(context.sender, deposit)?;
    vault.deposit = vault.deposit.saturating_sub(deposit);
    context.world.write(state::vault_key(context.sender), vault);
    Ok(())
}

/// What the sender, who has a secret, keeps.
fn own_vault(context: &Context<'_>) -> Result<Vault, Miss> {
    Ok(state::vault(context.world, context.sender)?.expect("whoever has a secret has a vault"))
}

impl Handle for DeleteVersion {
    /// Deletes a version. A number is never used again while the secret stands: an identity is sealed to once.
    fn handle(self, context: &mut Context<'_>) -> Step<Amount> {
        let Self { name_hash, version } = self;
        let mut secret = own(context, &name_hash)?;
        let version = Count(version);
        let mut versions = std::mem::take(&mut secret.versions).into_vec();
        let place = versions.iter().position(|kept| *kept == version).ok_or(error::SECRET_NOT_FOUND)?;
        versions.remove(place);
        secret.versions = List::new(versions).expect("one less");
        let deposit = remove_version(context, &name_hash, version)?;
        context.world.write(state::secret_key(context.sender, &name_hash), &secret);
        let mut vault = own_vault(context)?;
        give_back(context, &mut vault, deposit)?;
        Ok(deposit)
    }
}

impl Handle for DeleteSecret {
    fn handle(self, context: &mut Context<'_>) -> Step<Amount> {
        let Self { name_hash } = self;
        let secret = own(context, &name_hash)?;
        let keys: Vec<_> = secret.versions.iter().map(|version| state::version_key(context.sender, &name_hash, *version)).collect();
        context.world.require(&keys)?;
        context.charge_records(keys.len());
        let mut deposit = Amount::ZERO;
        for version in secret.versions.iter() {
            deposit = deposit.saturating_add(remove_version(context, &name_hash, *version)?);
        }
        state::secrets_of(context.sender).remove(context.world, &name_hash.0)?;
        context.world.remove(state::secret_key(context.sender, &name_hash));
        let mut vault = own_vault(context)?;
        vault.secrets = Count(vault.secrets.0.saturating_sub(1));
        vault.floor = vault.floor.max(secret.latest);
        give_back(context, &mut vault, deposit)?;
        Ok(deposit)
    }
}
