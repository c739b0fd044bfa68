//! Which volume a name means. The chain has ids only: an id is made of a name and of the account that created the volume.

use super::{Which, name, view};
use crate::client::{labels, labels::Labels, session::Session};
use cowboy_console::failure::Failure;
use cowboy_system::storage::NUMBER;
use cowboy_types::{Address, Hash};
use serde_json::{Value, json};

impl Which {
    /// The id of the volume. A name means the volume that the account created by it, whoever has it now; where it created none, the one of its volumes that
    /// this folder knows by that name.
    pub(super) async fn id(&self, session: &Session) -> Result<Hash, Failure> {
        if let Ok(id) = self.volume.parse() {
            return Ok(id);
        }
        let name =
            name(&self.volume).map_err(|what| Failure::argument(what, "give the name, or the id that `cowboy volume list` shows"))?;
        let account = session.address_or_own(self.owner.as_deref())?;
        let created = name.volume(account);
        // Also of secrets and partitions of that name, which are no volumes.
        let mut others = Labels::load(&session.project).hashes(name.as_str());
        others.retain(|hash| *hash != created);
        if others.is_empty() || !described(session, &created).await?.is_null() {
            return Ok(created);
        }
        let mut own = Vec::new();
        for other in others {
            if has_owner(&described(session, &other).await?, account) {
                own.push(other);
            }
        }
        match own.as_slice() {
            [] => Ok(created),
            [one] => Ok(*one),
            _ => {
                let ids: Vec<String> = own.iter().map(ToString::to_string).collect();
                let what = format!("this folder knows {} volumes of {account} as {}: {}", own.len(), name.as_str(), ids.join(", "));
                Err(Failure::refused(what, "give the id instead of the name"))
            }
        }
    }

    /// Remembers the name of a volume that is there, so that it means the volume in this folder also without the account that created it.
    pub(super) fn learn(&self, session: &Session, id: &Hash) {
        if self.volume.parse::<Hash>().is_err() {
            labels::learn(session, id, &self.volume);
        }
    }
}

/// What the chain says of a volume; null where it has none of this id.
async fn described(session: &Session, id: &Hash) -> Result<Value, Failure> {
    view(session, NUMBER, "get_volume", json!({ "volume": id.to_string() })).await
}

/// Whether a volume belongs to an account.
fn has_owner(volume: &Value, account: Address) -> bool {
    volume["owner"].as_str().and_then(|owner| owner.parse().ok()) == Some(account)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody has what is not there, and a volume has one owner however its address is written.
    #[test]
    fn a_volume_has_one_owner() {
        let (owner, other) = (Address([0xab; 20]), Address([2; 20]));
        let volume = json!({ "owner": owner.to_string() });
        assert!(has_owner(&volume, owner) && !has_owner(&volume, other) && !has_owner(&Value::Null, owner));
    }
}
