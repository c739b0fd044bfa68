//! Sealing a value for a policy and storing it, and having one released to the account that keeps it.

use super::{close, collected, opened, sealing_key, unproven, unread};
use crate::client::{method::instruction, paid, session::Session};
use crate::random;
use crate::send::{self, Sent, Terms};
use commonware_codec::Encode as _;
use cowboy_console::failure::Failure;
use cowboy_sealing::{TransportSecret, open, seal};
use cowboy_secrets::policy::Policy;
use cowboy_secrets::{Identity, Kind, Sealed};
use cowboy_service::Chain;
use cowboy_system::secrets::types::{Release, Secret as Record, Vault, Version};
use cowboy_system::secrets::{NUMBER, state};
use cowboy_types::Hash;
use cowboy_types::units::{Amount, Count};
use serde_json::json;
use zeroize::Zeroizing;

/// A version that was stored.
pub(super) struct Stored {
    /// Its number.
    pub(super) version: u64,
    /// What is held for it.
    pub(super) deposit: u64,
    /// The transaction.
    pub(super) sent: Sent,
}

fn hex(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

/// Seals a value to the newest key as the next version of a secret, and stores it. A high deposit is said beforehand, with the name that people know.
pub(super) async fn store(
    session: &Session,
    chain: &Chain,
    (name_hash, said): (&Hash, &str),
    policy: &Policy,
    value: &[u8],
    terms: &Terms,
) -> Result<Stored, Failure> {
    let account = session.key()?.address();
    let (key_id, master) = sealing_key(session, chain, terms).await?;
    let records = chain.read(&[state::secret_key(account, name_hash), state::vault_key(account)]).await.map_err(unread)?;
    let latest = match records.read::<Record>(0).map_err(unread)? {
        Some(secret) => secret.latest,
        None => records.read::<Vault>(1).map_err(unread)?.map_or(Count::ZERO, |vault| vault.floor),
    };
    let version = latest.0.saturating_add(1);
    let (genesis, name_hash) = (chain.genesis, *name_hash);
    let identity = Identity { kind: Kind::Secret, genesis, key_id, account, name_hash, version, policy_hash: policy.hash() };
    let sealed =
        seal(&mut random::generator()?, &master, identity, value).map_err(|error| Failure::argument(error.to_string(), "shorten it"))?;
    let (encoded, sealed) = (policy.encode(), sealed.to_bytes());
    let kept = u64::try_from(encoded.len().saturating_add(sealed.len())).unwrap_or(u64::MAX);
    let deposit = kept.saturating_mul(session.client.params().await?.rent.bond_per_byte);
    paid::warn_if_high(session, said, Amount(deposit));
    let argument = json!({ "policy": hex(&encoded), "sealed": hex(&sealed) });
    let sent = send::send(&session.client, &session.key()?, instruction(NUMBER, "put_secret", &argument, Amount::ZERO)?, terms).await?;
    Ok(Stored { version, deposit, sent })
}

/// Has a version of a secret released to the account, the newest where none is named, and opens it. Answers its number and the value.
pub(super) async fn open_own(
    session: &Session,
    chain: &Chain,
    name_hash: &Hash,
    version: Option<u64>,
    terms: &Terms,
) -> Result<(Count, Zeroizing<Vec<u8>>), Failure> {
    let key = session.key()?;
    let account = key.address();
    let transport = TransportSecret::random(&mut random::generator()?);
    let public = transport.key();
    let argument = json!({
        "name_hash": name_hash.to_string(),
        "version": version,
        "transport": hex(public.key.bytes()),
        "proof": hex(public.proof.bytes()),
    });
    let asking = instruction(NUMBER, "release_to_owner", &argument, Amount::ZERO)?;
    let sent = send::send(&session.client, &key, asking, &Terms { no_wait: false, ..terms.clone() }).await?;
    let release = opened(&sent)?;
    session.output.progress(format_args!("release {release}: asking the committee"));
    let collected = collected(session, chain, &release, &transport, terms).await?;
    let found = chain.read(&[state::release_record_key(&release)]).await.map_err(unread)?;
    let record = found.read::<Release>(0).map_err(unread)?.ok_or_else(|| unproven("the release is gone"))?;
    let number = Count(record.identity.version);
    let keys = [state::sealed_key(account, name_hash, number), state::version_key(account, name_hash, number)];
    let records = chain.read(&keys).await.map_err(unread)?;
    records.read::<Version>(1).map_err(unread)?.ok_or_else(|| unproven("the version was deleted"))?;
    let sealed = records.bytes(0).ok_or_else(|| unproven("the version was deleted"))?;
    let sealed = Sealed::parse(&sealed).map_err(unproven)?;
    let value = open(&sealed, &collected.signature).map_err(unproven)?;
    close(session, &release, &collected, terms).await?;
    Ok((number, value))
}
