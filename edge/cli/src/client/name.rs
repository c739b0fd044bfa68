//! `cowboy name`: names of actors.

use super::gateway::gateway_url;
use super::listing::{Rows, lines};
use super::method::instruction;
use super::paid;
use super::session::Session;
use crate::send::{self, Terms};
use clap::{Args, Subcommand};
use cowboy_api::{ApiError, model};
use cowboy_console::{amount, failure::Failure, output::table};
use cowboy_system::names::{NUMBER, domains, label, price};
use cowboy_types::{Amount, ChainId};
use serde_json::{Value, json};
use std::net::IpAddr;

/// Blocks of a day.
const DAY: u64 = 86_400;

#[derive(Debug, Subcommand)]
pub(crate) enum Name {
    /// Register a name for an actor, and print its URL
    Register {
        /// The name, like mysite; below another name with dots, like blog.mysite
        name: String,
        /// The actor: its address, or the name of one that this folder deployed
        #[arg(long)]
        actor: String,
        #[command(flatten)]
        paid: Paid,
        #[command(flatten)]
        served: Served,
    },
    /// Extend a name from its current expiry
    Renew {
        /// The name
        name: String,
        #[command(flatten)]
        paid: Paid,
    },
    /// Transfer a name to another account
    Transfer {
        /// The name
        name: String,
        /// The new owner
        #[arg(long)]
        to: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Make a name lead to another actor
    SetActor {
        /// The name
        name: String,
        /// The actor
        #[arg(long)]
        actor: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Set who may register names below a name
    SetPolicy {
        /// The name
        name: String,
        /// owner-only, actor-managed or open
        #[arg(value_parser = policy)]
        policy: u64,
        #[command(flatten)]
        terms: Terms,
    },
    /// Serve a name under your own domain as well, for a deposit; prints the TXT record that the domain needs
    ClaimDomain {
        /// The name
        name: String,
        /// The domain, like shop.example.com
        domain: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Stop serving a name under a domain
    ReleaseDomain {
        /// The name
        name: String,
        /// The domain
        domain: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Remove a name below another one, and get its deposit back
    Release {
        /// The name
        name: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Print the actor of a name
    Resolve {
        /// The name
        name: String,
    },
    /// Print the names of an actor
    Lookup {
        /// The actor
        actor: String,
        #[command(flatten)]
        rows: Rows,
    },
    /// Print a name's record
    Get {
        /// The name
        name: String,
    },
    /// Print all names
    List {
        #[command(flatten)]
        rows: Rows,
    },
}

/// For how long, and what may be paid.
#[derive(Args, Debug)]
pub(crate) struct Paid {
    /// Days
    #[arg(long, default_value_t = 365)]
    days: u64,
    /// Blocks instead of days
    #[arg(long, conflicts_with = "days")]
    blocks: Option<u64>,
    /// The maximum payment: base units, or CBY like 10cby; overpayment is refunded [default: the fee]
    #[arg(long)]
    value: Option<String>,
    #[command(flatten)]
    terms: Terms,
}

/// Where the name is looked at.
#[derive(Args, Debug)]
pub(crate) struct Served {
    /// The gateway that serves the names [default: an active one from the registry]
    #[arg(long, env = "COWBOY_GATEWAY_URL")]
    gateway: Option<String>,
}

impl Served {
    /// The URL of a name: below the gateway that was given, below the registry's first active one, or where the node itself serves it.
    async fn url(&self, session: &Session, name: &str) -> Option<String> {
        if let Some(gateway) = &self.gateway {
            return url_of(gateway, name);
        }
        let found: model::Gateways = session.client.get("/gateways").await.ok()?;
        let active = found.gateways.iter().filter(|gateway| gateway.is_active);
        let served = active.map(|gateway| gateway_url(&gateway.endpoint, gateway.http_port)).find_map(|gateway| url_of(&gateway, name));
        if served.is_some() {
            return served;
        }
        // A devnet's own gateway registers itself with the first command that it brings, so that at first only its node knows of it.
        session.client.get::<model::Name>(&format!("/names/{name}")).await.ok()?.url
    }
}

impl Paid {
    fn blocks(&self) -> u64 {
        self.blocks.unwrap_or_else(|| self.days.saturating_mul(DAY))
    }
}

/// The number of a policy.
fn policy(text: &str) -> Result<u64, String> {
    match text {
        "owner-only" | "0" => Ok(0),
        "actor-managed" | "1" => Ok(1),
        "open" | "2" => Ok(2),
        _ => Err(format!("{text:?} is not a policy: give owner-only, actor-managed or open")),
    }
}

impl Name {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Register { name, actor, paid, served } => register(session, &name, &actor, &paid, &served).await,
            Self::Renew { name, paid } => {
                let value = fee(session, &name, &paid, false).await?;
                paid::warn_if_high(session, &name, value);
                let argument = json!({ "name": name, "duration_blocks": paid.blocks() });
                call(session, "renew", &argument, value, &paid.terms, &name).await
            }
            Self::Transfer { name, to, terms } => {
                let argument = json!({ "name": name, "new_owner": session.address(&to)?.to_string() });
                call(session, "transfer", &argument, Amount::ZERO, &terms, &name).await
            }
            Self::SetActor { name, actor, terms } => {
                let argument = json!({ "name": name, "actor_address": session.address(&actor)?.to_string() });
                call(session, "set_actor", &argument, Amount::ZERO, &terms, &name).await
            }
            Self::SetPolicy { name, policy, terms } => {
                let argument = json!({ "name": name, "policy": policy });
                call(session, "set_subdomain_policy", &argument, Amount::ZERO, &terms, &name).await
            }
            Self::ClaimDomain { name, domain, terms } => claim_domain(session, &name, &domain, &terms).await,
            Self::ReleaseDomain { name, domain, terms } => {
                call(session, "release_domain", &json!({ "name": name, "domain": domain }), Amount::ZERO, &terms, &name).await
            }
            Self::Release { name, terms } => {
                if !name.contains('.') {
                    return Err(refused(
                        format!("{name} is not below another name: only those can be released"),
                        "let it expire, or hand it on with `cowboy name transfer`",
                    ));
                }
                release(session, &name, &terms).await
            }
            Self::Resolve { name } => {
                let found = resolve(session, &name).await?;
                session.output.result(&json!({ "name": found.name, "actor_address": found.actor_address }), found.actor_address);
                Ok(())
            }
            Self::Lookup { actor, rows } => {
                // Those that resolve.
                let live = |names: &[model::Name]| {
                    let live: Vec<&model::Name> = names.iter().filter(|name| name.stage == "live").collect();
                    lines(&live, |name| name.name.clone(), "no live names")
                };
                let address = session.address(&actor)?;
                rows.print::<model::ActorNames>(session, &format!("/actor/{address}/names"), live).await
            }
            Self::Get { name } => {
                let found = record(session, &name).await.map_err(|error| unknown(&name, error))?;
                session.output.result(&found, describe(&found, session.client.health().await?.height));
                Ok(())
            }
            Self::List { rows } => {
                let line =
                    |name: &model::Name| format!("{:<24} {:<8} {}  until {}", name.name, name.stage, name.actor_address, name.expires_at);
                rows.print::<model::Names>(session, "/names", |names| lines(names, line, "no names")).await
            }
        }
    }
}

async fn register(session: &Session, name: &str, actor: &str, paid: &Paid, served: &Served) -> Result<(), Failure> {
    let actor = session.address(actor)?;
    let value = fee(session, name, paid, true).await?;
    paid::warn_if_high(session, name, value);
    let argument = json!({ "name": name, "actor_address": actor.to_string(), "duration_blocks": paid.blocks() });
    let sent = send::send(&session.client, &session.key()?, instruction(NUMBER, "register", &argument, value)?, &paid.terms).await?;
    if name.split('.').any(|label| label.len() > label::DNS_LABEL) {
        session.output.progress("a label of 64 characters can be reached only with an explicit host header: DNS allows 63");
    }
    let url = served.url(session, name).await;
    let said = url
        .clone()
        .unwrap_or_else(|| format!("{name} is registered, but no active gateway with a host name serves it: see docs/gateways.md"));
    let price = sent.event("name.registered", "fee").and_then(|fee| fee.as_u64()).unwrap_or(value.get());
    // What costs no fee below another name has a deposit.
    let has_deposit = price == 0 && name.contains('.');
    let deposit = if has_deposit { session.client.params().await.ok().map(|params| params.rent.record_deposit) } else { None };
    let held = deposit.map_or_else(String::new, |sum| format!("\nHeld: {}, which `cowboy name release {name}` returns", amount::cby(sum)));
    session.output.progress(format_args!("Transaction hash: {}\nPaid: {}{held}", sent.tx_hash, paid::line(&sent, name, price)));
    session.output.result(
        &json!({ "name": name, "url": url, "paid": price, "deposit": deposit, "tx_hash": sent.tx_hash, "receipt": sent.receipt }),
        said,
    );
    Ok(())
}

async fn release(session: &Session, name: &str, terms: &Terms) -> Result<(), Failure> {
    let release = instruction(NUMBER, "release", &json!({ "name": name }), Amount::ZERO)?;
    let sent = send::send(&session.client, &session.key()?, release, terms).await?;
    let done = sent.receipt.as_ref().map(|_| format!("{name} is released, and the deposit for it went back to whoever paid it\n"));
    session.output.result(&sent, format_args!("{}Transaction hash: {}", done.unwrap_or_default(), sent.tx_hash));
    Ok(())
}

/// The record of a name.
async fn record(session: &Session, name: &str) -> Result<model::Name, ApiError> {
    session.client.get(&format!("/names/{name}")).await
}

/// The failure to find a name, in words of names.
fn unknown(name: &str, mut error: ApiError) -> Failure {
    if error.slug == cowboy_api::error::NOT_FOUND.slug {
        error.what = format!("Nobody has registered {name}.");
        error.why = "A name leads to an actor from its registration until it expires.".to_owned();
        error.fix = format!("Check how it is written, or register it: cowboy name register {name} --actor ACTOR.");
    }
    error.into()
}

fn refused(what: String, fix: &str) -> Failure {
    Failure::Refused { what, fix: fix.to_owned() }
}

/// Refuses what is no name in any state, in the chain's words, and says so where only capitals are in the way.
fn require_name(name: &str, params: &cowboy_params::Params) -> Result<(), Failure> {
    let Err(abort) = label::check(params, name) else { return Ok(()) };
    let mut error = ApiError::of_abort(abort).with(json!({ "name": name }));
    let lower = name.to_ascii_lowercase();
    if label::check(params, &lower).is_ok() {
        error.fix = format!("Write it in lower case: {lower}.");
    }
    Err(Failure::Mistake(Box::new(error)))
}

/// Refuses a term that the chain would refuse, with the number of days that it takes.
fn require_term(name: &str, blocks: u64, is_new: bool, params: &cowboy_params::Params) -> Result<(), Failure> {
    let rows = &params.names;
    let least = if is_new && !name.contains('.') { rows.duration_min } else { rows.renewal_min };
    if (least..=rows.duration_max).contains(&blocks) {
        return Ok(());
    }
    let (least, most) = (least.div_ceil(DAY), rows.duration_max / DAY);
    let term = if blocks.is_multiple_of(DAY) { amount::counted(blocks / DAY, "day") } else { amount::counted(blocks, "block") };
    let (done, fix) = if is_new {
        ("registered", "give another number of --days; a term begins with a year, so that nobody takes a name for a moment")
    } else {
        ("renewed", "give another number of --days")
    };
    Err(refused(format!("{name} cannot be {done} for {term}: at least {} and at most {most} days", amount::counted(least, "day")), fix))
}

/// `http://mysite.localhost:8080` of `http://localhost:8080`. None of an address: no names are below it.
fn url_of(gateway: &str, name: &str) -> Option<String> {
    let gateway = gateway.trim_end_matches('/');
    let (scheme, rest) = gateway.split_once("://").unwrap_or(("http", gateway));
    let is_address = |host: &str| host.starts_with('[') || host.parse::<IpAddr>().is_ok();
    let host = rest.rsplit_once(':').map_or(rest, |(host, _)| host);
    if is_address(rest) || is_address(host) { None } else { Some(format!("{scheme}://{name}.{rest}")) }
}

/// What a term costs now: the price of a free name, of one in auction, or of a renewal.
async fn fee(session: &Session, name: &str, paid: &Paid, is_new: bool) -> Result<Amount, Failure> {
    if let Some(value) = &paid.value {
        return amount::argument(value);
    }
    // A newer chain may have wider ranges; its fee is then asked for with --value.
    let params = session.client.params().await?;
    require_name(name, &params)?;
    require_term(name, paid.blocks(), is_new, &params)?;
    let found = match record(session, name).await {
        Ok(found) => Some(found),
        Err(error) if error.slug == cowboy_api::error::NOT_FOUND.slug => None,
        Err(error) => return Err(error.into()),
    };
    let yearly = price::yearly(&params, name);
    let plain = price::term(&params, yearly, paid.blocks());
    let auction = found.filter(|found| is_new && found.stage == "auction" && !name.contains('.')).map(|found| Amount(found.fee).max(plain));
    Ok(auction.map_or(plain, |first_year| {
        first_year.saturating_add(price::term(&params, yearly, paid.blocks().saturating_sub(params.economics.year)))
    }))
}

/// What answers to a name: its own record, or that of the nearest name above.
async fn resolve(session: &Session, name: &str) -> Result<model::Name, Failure> {
    let mut failure = None;
    for name in std::iter::once(name).chain(label::above(name)) {
        match record(session, name).await {
            Ok(found) if found.stage == "live" => return Ok(found),
            Ok(_) => {}
            Err(error) if error.slug == cowboy_api::error::NOT_FOUND.slug => failure = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    let gone = || Failure::refused(format!("{name} does not resolve: it expired"), "register it: cowboy name register");
    Err(failure.map_or_else(gone, |error| unknown(name, error)))
}

async fn call(session: &Session, method: &str, argument: &Value, value: Amount, terms: &Terms, name: &str) -> Result<(), Failure> {
    let sent = send::send(&session.client, &session.key()?, instruction(NUMBER, method, argument, value)?, terms).await?;
    let record = record(session, name).await.ok();
    let height = sent.receipt.as_ref().map_or(0, |receipt| receipt.block_height);
    let mut text = record.as_ref().map(|record| describe(record, height)).unwrap_or_default();
    if value > Amount::ZERO {
        let price = sent.event("name.renewed", "fee").and_then(|fee| fee.as_u64()).unwrap_or(value.get());
        text.push_str(&format!("\nPaid: {}", paid::line(&sent, name, price)));
    }
    session.output.result(
        &json!({ "name": record, "tx_hash": sent.tx_hash, "receipt": sent.receipt }),
        format_args!("Transaction hash: {}\n{text}", sent.tx_hash),
    );
    Ok(())
}

async fn claim_domain(session: &Session, name: &str, domain: &str, terms: &Terms) -> Result<(), Failure> {
    let (key, deposit) = (session.key()?, Amount(session.client.params().await?.names.domain_deposit));
    let instruction = instruction(NUMBER, "claim_domain", &json!({ "name": name, "domain": domain }), deposit)?;
    let sent = send::send(&session.client, &key, instruction, terms).await?;
    let health = session.client.health().await?;
    let (at, text) = (format!("{}{domain}", domains::LABEL), domains::proof(ChainId(health.chain_id), name, key.address()));
    session.output.result(
        &json!({ "name": name, "domain": domain, "txt_name": at, "txt": text, "tx_hash": sent.tx_hash, "receipt": sent.receipt }),
        format_args!(
            "Transaction hash: {}\nSet this TXT record, and point the domain to a gateway:\n  {at}.  TXT  \"{text}\"",
            sent.tx_hash
        ),
    );
    Ok(())
}

/// When a term ends, seen from a height: also in days, which nobody reads off a height.
fn end(expires_at: u64, height: u64) -> String {
    match expires_at.checked_sub(height) {
        Some(left) if height > 0 => format!("at {expires_at}, in {} of {DAY} blocks", amount::counted(left / DAY, "day")),
        _ => format!("at {expires_at}"),
    }
}

fn describe(name: &model::Name, height: u64) -> String {
    let policy = match name.subdomain_policy {
        0 => "made by its owner only",
        1 => "its actor's business",
        _ => "made by anybody",
    };
    table([
        ("name", name.name.clone()),
        ("actor", name.actor_address.to_string()),
        ("owner", name.owner.to_string()),
        ("stage", name.stage.clone()),
        ("registered", format!("at {}", name.registered_at)),
        ("expires", end(name.expires_at, height)),
        ("names below", policy.to_owned()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_term_has_its_days() {
        let params = cowboy_params::Params::GENESIS;
        let rows = [
            ("mysite", 365, true, None),
            ("mysite", 10, true, Some("mysite cannot be registered for 10 days: at least 365 days")),
            ("blog.mysite", 30, true, None),
            ("mysite", 4_000, true, Some("at most 3650 days")),
            ("mysite", 30, false, None),
            ("mysite", 0, false, Some("mysite cannot be renewed for 0 days: at least 30 days")),
        ];
        for (name, days, is_new, expected) in rows {
            let refused = require_term(name, days * DAY, is_new, &params).err().map(|failure| failure.to_string());
            assert_eq!(refused.is_some(), expected.is_some(), "{name} {days}: {refused:?}");
            assert!(expected.is_none_or(|text| refused.is_some_and(|refused| refused.contains(text))), "{name} {days}");
        }
    }

    /// What is no name is a mistake with the chain's slug, before anything is asked or paid; capitals have a remedy of their own.
    #[test]
    fn a_name_is_checked_before_it_is_paid_for() {
        let params = cowboy_params::Params::GENESIS;
        for (name, slug, fix) in [
            ("ab", "name_invalid", "Choose another name."),
            ("MySite", "name_invalid", "Write it in lower case: mysite."),
            ("m\u{fc}ller", "name_international", "Write it with a-z"),
        ] {
            let Err(Failure::Mistake(error)) = require_name(name, &params) else { panic!("{name} is no name") };
            assert!(error.slug == slug && error.fix.starts_with(fix) && error.context["name"] == name, "{error}");
        }
        assert!(require_name("blog.mysite", &params).is_ok());
    }

    #[test]
    fn names_are_shown_in_days_and_by_their_names() {
        assert_eq!(end(31_536_030, 30), "at 31536030, in 365 days of 86400 blocks");
        assert_eq!([end(30, 31), end(30, 0)], ["at 30", "at 30"]);
        let said = unknown("mysite", ApiError::of_fault(cowboy_api::error::NOT_FOUND)).to_string();
        assert!(said.starts_with("Nobody has registered mysite. (2001 not_found)") && said.contains("name register mysite"), "{said}");
    }

    #[test]
    fn a_name_has_a_url() {
        let rows = [
            ("http://localhost:8080", "mysite", Some("http://mysite.localhost:8080")),
            ("https://cowboy.network/", "blog.mysite", Some("https://blog.mysite.cowboy.network")),
            ("localhost:1", "mysite", Some("http://mysite.localhost:1")),
            ("http://[2001:db8::1]:5080", "mysite", None),
            ("https://[2001:db8::1]", "mysite", None),
            ("2001:db8::1", "mysite", None),
            ("http://192.0.2.1:8080/", "mysite", None),
        ];
        for (gateway, name, expected) in rows {
            assert_eq!(url_of(gateway, name).as_deref(), expected, "{gateway}");
        }
    }
}
