//! Domains of other zones under which names are served (CIP-16, decisions 333 and 362).
//!
//! Two sides have to agree: the owner of the name, by a claim on chain, and the owner of the domain, by a TXT record. Both are
//! looked at again and again; what one of them takes back ends.

use crate::{proofs::Proofs, refusal::Refusal, state::BlockState};
use cowboy_system::names::domains::{claimant, is_claimed};
use cowboy_types::units::ChainId;
use hyper::StatusCode;
use serde::Deserialize;
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

/// The settings of domains.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Domains {
    /// The resolver that is asked for TXT records and addresses.
    pub resolver: SocketAddr,
    /// The longest time in seconds for which a proof counts before it is looked at again.
    pub recheck_seconds: u64,
    /// The folder of the domains' certificates; where left out, domains are served over plain HTTP only.
    pub certificates: Option<PathBuf>,
    /// Certificates that are ordered in an hour for all domains together. The gateway's own are not among them.
    pub orders_per_hour: usize,
    /// The same for the domains of one name and the names below it.
    pub orders_per_name: usize,
    /// Whether a domain may lead to an address that is not of the internet: in a test network.
    pub allow_private: bool,
    /// The port at which a domain must reach this gateway before a certificate is ordered. The authority comes to port 80.
    pub http_port: u16,
}

impl Default for Domains {
    fn default() -> Self {
        Self {
            resolver: (Ipv4Addr::LOCALHOST, 53).into(),
            recheck_seconds: 300,
            certificates: None,
            orders_per_hour: 60,
            orders_per_name: 10,
            allow_private: false,
            http_port: 80,
        }
    }
}

/// Which name a domain leads to.
pub(crate) struct Names {
    pub(crate) settings: Domains,
    proofs: Proofs,
}

impl Names {
    pub(crate) fn new(settings: Domains, chain: ChainId) -> Self {
        Self { proofs: Proofs::new(settings.clone(), chain), settings }
    }

    /// The name that is served under a domain on this state.
    pub(crate) async fn name_of(&self, state: &BlockState, domain: &str) -> Result<String, Refusal> {
        // Without a claim the DNS is not asked, so that made-up hosts cost nobody anything.
        if !state.ask(|world| is_claimed(world, domain)).await? {
            return Err(Refusal::misdirected(domain));
        }
        let proof = self.proofs.of(domain).await?.ok_or_else(|| unproven(domain))?;
        let height = state.head.height.next();
        let owner = state.ask(|world| claimant(world, domain, &proof.name, height)).await?;
        if owner == Some(proof.owner) { Ok(proof.name) } else { Err(unproven(domain)) }
    }

    /// The domains that have a proof.
    pub(crate) fn proven_domains(&self) -> Vec<String> {
        self.proofs.domains()
    }
}

fn unproven(domain: &str) -> Refusal {
    let what = format!("{domain} is not shown to belong to a name.");
    let fix = "Its owner sets the TXT record that `cowboy name claim-domain` prints, for a name that claims the domain and has that owner.";
    Refusal::new(StatusCode::MISDIRECTED_REQUEST, "DOMAIN_UNPROVEN", what, fix)
}
