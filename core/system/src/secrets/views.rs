//! What others read of 0x04.

use super::api::{GetKey, GetProxy, GetRelease, GetRound, GetSecret, GetVault, GetVersion, ListSecrets};
use super::forms::{
    DescribedKey, DescribedProxy, DescribedRelease, DescribedRound, DescribedSecret, DescribedVault, DescribedVersion, Receiver, Seat,
};
use super::types::{Committee, Members, Proxy};
use super::{committee, dealing, round, state};
use crate::actor::{Context, Handle};
use crate::standstill::{SECRETS, Standstill};
use commonware_codec::Encode as _;
use cowboy_secrets::dealing::threshold;
use cowboy_state::Step;
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Address, Hash, List};

/// Entries of a list that a view returns, at most.
const LISTED: usize = 256;

pub(super) fn described_proxy(context: &Context<'_>, still: &Standstill, address: Address, record: &Proxy) -> DescribedProxy {
    DescribedProxy {
        address,
        certificate: record.certificate,
        demands: Count(u64::try_from(record.demands.len()).unwrap_or(u64::MAX)),
        endpoint: record.endpoint.clone(),
        excluded_until: record.drawn_after(context.params, still),
        is_able: record.is_able(context.params, still, context.height),
        key: record.key,
        last_heartbeat: record.last_heartbeat,
        left_at: record.left_at,
        port: record.port,
        registered_at: record.registered_at,
        silences: record.silences,
        stake: record.stake,
    }
}

fn seats(members: &Members) -> List<Seat, 16> {
    let seats = members.iter().map(|member| Seat { address: member.address, key: member.key }).collect();
    List::new(seats).expect("a committee has at most sixteen members")
}

impl Handle for GetProxy {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<DescribedProxy>> {
        let (record, still) = (state::proxy(context.world, self.address)?, SECRETS.read(context.world)?);
        Ok(record.map(|record| described_proxy(context, &still, self.address, &record)))
    }
}

impl Handle for GetKey {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<DescribedKey>> {
        let id = match self.key_id {
            Some(id) => u32::try_from(id).ok(),
            None => committee::sealing_key(context.world)?,
        };
        let Some(id) = id else { return Ok(None) };
        let Some(key) = state::key(context.world, id)? else { return Ok(None) };
        let (committee, still) = (state::committee(context.world, id, key.epoch)?, SECRETS.read(context.world)?);
        context.charge_records(1);
        let of = |field: fn(&Committee) -> usize| committee.as_ref().map_or(0, field);
        Ok(Some(DescribedKey {
            epoch: key.epoch,
            key_id: u64::from(id),
            master: key.master,
            members: committee.as_ref().map(|committee| seats(&committee.members)).unwrap_or_default(),
            next_draw: key.draw_at,
            outcome: committee.as_ref().map(|committee| committee.outcome.to_vec()),
            since: committee.as_ref().map(|committee| committee.since).unwrap_or_default(),
            sunset: key.opens_until(context.params, &still),
            threshold: u64::try_from(of(|committee| threshold(committee.members.len()))).unwrap_or(u64::MAX),
        }))
    }
}

impl Handle for GetRound {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<DescribedRound>> {
        let Some((id, round)) = dealing::under_way(context, self.key_id)? else { return Ok(None) };
        let still = SECRETS.read(context.world)?;
        let receivers = round.players.iter();
        let receivers = receivers.map(|player| Receiver { address: player.member.address, joined: player.key, key: player.member.key });
        Ok(Some(DescribedRound {
            begun_at: round.begun_at,
            dealers: seats(&round.dealers),
            ends_at: round.phase_end(context.params, &still),
            hashes: round.hashes.clone(),
            key_id: u64::from(id),
            phase: round::name_of(round.phase),
            players: List::new(receivers.collect()).expect("a dealing has at most sixteen players"),
            round: round.number,
            spoke: round.spoke,
        }))
    }
}

impl Handle for GetSecret {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<DescribedSecret>> {
        let secret = state::secret(context.world, self.account, &self.name_hash)?;
        Ok(secret.map(|secret| DescribedSecret {
            is_paused: secret.is_paused,
            latest: secret.latest,
            name_hash: self.name_hash,
            versions: secret.versions,
        }))
    }
}

impl Handle for GetVault {
    fn handle(self, context: &mut Context<'_>) -> Step<DescribedVault> {
        let vault = state::vault(context.world, self.account)?;
        let (deposit, floor, secrets) =
            vault.map_or((Amount::ZERO, Count::ZERO, Count::ZERO), |vault| (vault.deposit, vault.floor, vault.secrets));
        Ok(DescribedVault { deposit, first_version: Count(floor.0.saturating_add(1)), secrets })
    }
}

impl Handle for ListSecrets {
    fn handle(self, context: &mut Context<'_>) -> Step<List<Hash, LISTED>> {
        let first = self.first.map_or_else(Vec::new, |first| first.0.to_vec());
        let names = state::secrets_of(self.account).list(context.world, &first, LISTED)?;
        context.charge_records(names.len());
        let hashes = names.iter().map(|name| Hash(name[..].try_into().expect("the directory lists hashes"))).collect();
        Ok(List::new(hashes).expect("the list is bounded"))
    }
}

impl Handle for GetVersion {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<DescribedVersion>> {
        let Self { account, name_hash, version } = self;
        let number = match version {
            Some(version) => Some(Count(version)),
            None => state::secret(context.world, account, &name_hash)?.map(|secret| secret.latest),
        };
        let Some(number) = number else { return Ok(None) };
        let Some(record) = state::version(context.world, account, &name_hash, number)? else { return Ok(None) };
        let sealed = state::sealed(context.world, account, &name_hash, number)?.expect("a version has sealed bytes");
        Ok(Some(DescribedVersion {
            deposit: record.deposit,
            key_id: u64::from(record.key_id),
            policy: record.policy.encode().to_vec(),
            released: record.released,
            sealed: sealed.to_vec(),
            stored_at: record.stored_at,
            version: number,
        }))
    }
}

impl Handle for GetRelease {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<DescribedRelease>> {
        let (release, still) = (state::release(context.world, &self.release_id)?, SECRETS.read(context.world)?);
        Ok(release.map(|release| DescribedRelease {
            deadline: release.answered_until(&still),
            due: release.demand.as_ref().filter(|demand| !demand.is_over).map_or(0, |demand| demand.due),
            epoch: release.epoch,
            identity: release.identity.encode().to_vec(),
            opened: release.opened,
            recipient: release.recipient,
            served: release.served,
            subject: release.subject,
            transport: release.transport,
        }))
    }
}
