//! `cowboy secret reseal`: secrets get a version that is sealed to the newest key (decision 147).

use super::{Trusted, connect, sealing, sealing_key, unread};
use crate::client::{labels::Labels, session::Session};
use crate::send::Terms;
use cowboy_console::failure::Failure;
use cowboy_secrets::Name;
use cowboy_service::Chain;
use cowboy_system::secrets::state;
use cowboy_system::secrets::types::{Secret, Version};
use cowboy_types::units::Count;
use cowboy_types::{Address, Hash};
use serde_json::{Value, json};

/// The newest version of a secret that is kept.
struct Newest {
    number: Count,
    version: Version,
    is_paused: bool,
}

/// Seals secrets of the account anew, all of them where none is named, if they are sealed to another key than the newest. The versions before stay until
/// they are removed.
pub(super) async fn reseal(session: &Session, names: Option<&[Name]>, trusted: &Trusted, terms: &Terms) -> Result<(), Failure> {
    let account = session.key()?.address();
    let chain = connect(session, trusted).await?;
    let (key_id, _) = sealing_key(session, &chain, terms).await?;
    let labels = Labels::load(&session.project);
    let hashes = match names {
        Some(names) => names.iter().map(|name| name.hash(account)).collect(),
        None => all(session, account).await?,
    };
    let (mut done, mut unchanged, mut paused, mut closed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for hash in &hashes {
        let text = hash.to_string();
        let said = labels.named(&text).unwrap_or(&text).to_owned();
        let newest = newest(&chain, account, hash).await?;
        let newest = newest.ok_or_else(|| Failure::refused(format!("{account} has no secret {said}"), "cowboy secret ls"))?;
        if newest.version.key_id == key_id {
            unchanged.push(said);
        } else if newest.is_paused {
            // Nothing of it is released, to its owner either.
            paused.push(said);
        } else {
            let value = match sealing::open_own(session, &chain, hash, Some(newest.number.0), terms).await {
                Ok((_, value)) => value,
                Err(failure) => {
                    // One that nobody opens any more does not keep the others back.
                    session.output.progress(format_args!("{said} was not opened: {failure}"));
                    closed.push(said);
                    continue;
                }
            };
            let stored = sealing::store(session, &chain, (hash, &said), &newest.version.policy, &value, terms).await?;
            session.output.progress(format_args!("{said}: version {} is sealed to key {key_id}", stored.version));
            done.push(json!({ "name": said, "name_hash": text, "version": stored.version, "deposit": stored.deposit, "tx_hash": stored.sent.tx_hash }));
        }
    }
    let text = described(key_id, done.len(), unchanged.len(), &paused);
    session
        .output
        .result(&json!({ "key_id": key_id, "resealed": done, "unchanged": unchanged, "paused": paused, "not_opened": closed }), text);
    if closed.is_empty() {
        return Ok(());
    }
    Err(Failure::refused(format!("not opened: {}", closed.join(", ")), "see above why, and try again"))
}

/// The hashes of the names of all secrets of an account.
async fn all(session: &Session, account: Address) -> Result<Vec<Hash>, Failure> {
    let hash = |hash: &Value| hash.as_str().and_then(|hash| hash.parse().ok());
    let hashes: Option<Vec<Hash>> = super::kept(session, account).await?.iter().map(hash).collect();
    hashes.ok_or_else(|| Failure::Node("the node's list of secrets is malformed".to_owned()))
}

async fn newest(chain: &Chain, account: Address, name_hash: &Hash) -> Result<Option<Newest>, Failure> {
    let records = chain.read(&[state::secret_key(account, name_hash)]).await.map_err(unread)?;
    let Some(secret) = records.read::<Secret>(0).map_err(unread)? else { return Ok(None) };
    let Some(number) = secret.versions.last().copied() else { return Ok(None) };
    let records = chain.read(&[state::version_key(account, name_hash, number)]).await.map_err(unread)?;
    let version = records.read::<Version>(0).map_err(unread)?;
    Ok(version.map(|version| Newest { number, version, is_paused: secret.is_paused }))
}

/// What was done, for people.
fn described(key_id: u32, done: usize, unchanged: usize, paused: &[String]) -> String {
    let mut text = format!("sealed to key {key_id} now: {done}; before: {unchanged}");
    if done > 0 {
        text.push_str(
            "\nversions that are sealed to an older key stay: `cowboy secret rm NAME --version N` removes one and gives its deposit back",
        );
    }
    if !paused.is_empty() {
        text.push_str(&format!("\nleft out, because nothing of them is released: {}\n  fix: cowboy secret resume NAME", paused.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_said() {
        assert_eq!(described(2, 0, 3, &[]), "sealed to key 2 now: 0; before: 3");
        let said = described(2, 1, 0, &["KEY".to_owned(), "OTHER".to_owned()]);
        assert!(said.starts_with("sealed to key 2 now: 1; before: 0\nversions") && said.contains("released: KEY, OTHER\n  fix:"), "{said}");
    }
}
