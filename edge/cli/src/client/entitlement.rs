//! `cowboy entitlement`: what manifests may name, and who may do what.

use super::listing;
use super::session::Session;
use crate::send::{self, Terms};
use clap::{Args, Subcommand};
use commonware_codec::Encode;
use cowboy_api::{Hex, model};
use cowboy_console::{failure::Failure, output::table};
use cowboy_types::cbor::Value;
use cowboy_types::instruction::Actor;
use cowboy_types::permission::{Action, Constraints, RateLimit, Scope};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Blob, Hash, Instruction, List, System, Text};
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum Entitlement {
    /// List the entitlements that a manifest may name
    Registry,
    /// List the permissions and roles of an address
    List {
        /// The account [default: the key's account]
        address: Option<String>,
    },
    /// Grant an address one action in one scope
    Grant(Grant),
    /// Revoke a permission
    Revoke {
        /// The permission's id
        id: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Delegate a permission, within narrower conditions
    Delegate(Delegate),
    /// Create a role: a named set of permissions. Takes a deposit
    CreateRole(CreateRole),
    /// Remove a role that no address has, and get its deposit back
    RemoveRole(Own),
    /// Assign a role to an address
    AssignRole(Assignment),
    /// Revoke a role of an address
    RevokeRole(Assignment),
    /// Accept a permission that the key's address was granted
    Accept(Own),
    /// Give up a permission of the key's address, or refuse it
    Renounce(Own),
    /// Accept a role, which then takes effect
    AcceptRole(Own),
    /// Give up a role of the key's address, or refuse it
    RenounceRole(Own),
    /// Accept everything that a grantor gives the key's address from now on
    AcceptFrom(AcceptFrom),
}

#[derive(Args, Debug)]
pub(crate) struct Own {
    /// The id of the permission or role
    id: String,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Args, Debug)]
pub(crate) struct AcceptFrom {
    /// The grantor
    grantor: String,
    /// Stop accepting
    #[arg(long)]
    stop: bool,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Args, Debug)]
pub(crate) struct Grant {
    /// The recipient's address
    grantee: String,
    /// global, actor:ADDRESS, token:ID, runner:ADDRESS, pool:NAME or namespace:NAME
    scope: Scope,
    /// all, handler:NAME, join_pool:NAME, custom:NAME, or a name like token_mint
    action: Action,
    #[command(flatten)]
    conditions: Conditions,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Args, Debug)]
pub(crate) struct Delegate {
    /// The permission's id
    id: String,
    /// The recipient's address
    delegatee: String,
    #[command(flatten)]
    conditions: Conditions,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Args, Debug)]
pub(crate) struct CreateRole {
    /// Its name
    name: String,
    /// A scope; may be repeated
    #[arg(long = "scope", required = true)]
    scopes: Vec<Scope>,
    /// An action that it allows there; may be repeated
    #[arg(long = "action", required = true)]
    actions: Vec<Action>,
    #[command(flatten)]
    conditions: Conditions,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Args, Debug)]
pub(crate) struct Assignment {
    /// The role's id
    role: String,
    /// The account that receives the role
    assignee: String,
    #[command(flatten)]
    terms: Terms,
}

/// Under which conditions a permission holds. Without any it holds for ever, and can be taken back.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Conditions")]
pub(crate) struct Conditions {
    /// The first height
    #[arg(long)]
    from: Option<u64>,
    /// The last height
    #[arg(long)]
    until: Option<u64>,
    /// The maximum number of uses
    #[arg(long)]
    max_uses: Option<u64>,
    /// The maximum amount of one use, in base units
    #[arg(long)]
    max_amount: Option<u64>,
    /// The maximum amount of all uses together, in base units
    #[arg(long)]
    max_total: Option<u64>,
    /// The number of uses per number of blocks, like 5/100
    #[arg(long, value_name = "USES/BLOCKS")]
    rate: Option<String>,
    /// How many times in a chain it may be delegated
    #[arg(long, default_value_t = 0)]
    depth: u8,
    /// Make the permission irrevocable
    #[arg(long)]
    irrevocable: bool,
}

impl Conditions {
    fn constraints(&self) -> Result<Constraints, Failure> {
        let rate = |text: &String| {
            let pair = text.split_once('/').and_then(|(uses, blocks)| Some((uses.parse().ok()?, blocks.parse().ok()?)));
            let (uses, blocks) =
                pair.ok_or_else(|| Failure::argument(format!("{text:?} is not a rate"), "write uses and blocks, like 5/100"))?;
            Ok::<_, Failure>(RateLimit { uses: Count(uses), blocks: Count(blocks) })
        };
        Ok(Constraints {
            valid_from: self.from.map(Height),
            valid_until: self.until.map(Height),
            max_uses: Count(self.max_uses.unwrap_or(0)),
            max_amount_per_use: self.max_amount.map(Amount),
            max_total_amount: self.max_total.map(Amount),
            rate_limit: self.rate.as_ref().map(rate).transpose()?,
            delegatable: self.depth > 0,
            delegation_depth_max: self.depth,
            revocable: !self.irrevocable,
            ..Constraints::default()
        })
    }
}

fn encoded<const MAX: usize>(value: &impl Encode) -> Result<Blob<MAX>, Failure> {
    Blob::new(value.encode()).ok_or_else(|| Failure::argument("an operand is too long", "shorten it"))
}

/// Characters of an id in hex, with its 0x.
const HASH_HEX: usize = 66;

fn hash(text: &str) -> Result<Hash, Failure> {
    text.parse().map_err(|_| Failure::argument(format!("{text:?} is not an id"), "give 32 bytes in hex"))
}

fn few<T>(items: Vec<T>, what: &str) -> Result<List<T, 16>, Failure> {
    List::new(items).ok_or_else(|| Failure::argument(format!("a role has at most 16 {what}"), "make another role"))
}

/// A call of a method of the Entitlement Registry.
fn method<const N: usize>(name: &str, argument: [(&'static str, Value); N]) -> Result<Instruction, Failure> {
    Ok(Instruction::Actor(Actor::Execute {
        target: Address::system(cowboy_types::actors::ENTITLEMENTS),
        handler: Text::new(name).expect("methods have short names"),
        payload: encoded_argument(&Value::map(argument))?,
        value: Amount::ZERO,
    }))
}

fn encoded_argument<const MAX: usize>(argument: &Value) -> Result<Blob<MAX>, Failure> {
    Blob::new(argument.encode()).ok_or_else(|| Failure::argument("an argument is too long", "shorten it"))
}

fn about(name: &str, argument: &'static str, own: Own) -> Result<(Instruction, Terms), Failure> {
    let id = hash(&own.id)?;
    Ok((method(name, [(argument, Value::Bytes(id.0.to_vec()))])?, own.terms))
}

impl Entitlement {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        let (instruction, terms) = match self {
            Self::Registry => return registry(session).await,
            Self::List { address } => return list(session, address.as_deref()).await,
            Self::Accept(own) => about("accept", "entitlement_id", own)?,
            Self::Renounce(own) => about("renounce", "entitlement_id", own)?,
            Self::AcceptRole(own) => about("accept_role", "role_id", own)?,
            Self::RenounceRole(own) => about("renounce_role", "role_id", own)?,
            Self::RemoveRole(own) => about("remove_role", "role_id", own)?,
            Self::AcceptFrom(AcceptFrom { grantor, stop, terms }) => {
                let grantor = Value::Bytes(session.address(&grantor)?.0.to_vec());
                (method("accept_from", [("accepted", Value::Bool(!stop)), ("grantor", grantor)])?, terms)
            }
            of_registry => of_registry.system(session)?,
        };
        let sent = send::send(&session.client, &session.key()?, instruction, &terms).await?;
        let made = sent.receipt.as_ref().map(|receipt| receipt.return_data.to_string()).filter(|id| id.len() == HASH_HEX);
        let said = made.as_ref().map_or_else(String::new, |id| format!("\nId: {id}"));
        session.output.result(
            &json!({ "tx_hash": sent.tx_hash, "id": made, "receipt": sent.receipt }),
            format_args!("Transaction hash: {}{said}", sent.tx_hash),
        );
        Ok(())
    }

    /// The instructions 30 to 35.
    fn system(self, session: &Session) -> Result<(Instruction, Terms), Failure> {
        let (system, terms) = match self {
            Self::Grant(Grant { grantee, scope, action, conditions, terms }) => {
                let (scope, action, constraints) = (encoded(&scope)?, encoded(&action)?, encoded(&conditions.constraints()?)?);
                (System::EntitlementGrant { grantee: session.address(&grantee)?, scope, action, constraints }, terms)
            }
            Self::Revoke { id, terms } => (System::EntitlementRevoke { entitlement_id: hash(&id)? }, terms),
            Self::Delegate(Delegate { id, delegatee, conditions, terms }) => {
                let (entitlement_id, delegatee) = (hash(&id)?, session.address(&delegatee)?);
                (System::EntitlementDelegate { entitlement_id, delegatee, constraints: encoded(&conditions.constraints()?)? }, terms)
            }
            Self::CreateRole(CreateRole { name, scopes, actions, conditions, terms }) => {
                let name =
                    Blob::new(name.into_bytes()).ok_or_else(|| Failure::argument("the name is longer than 64 bytes", "shorten it"))?;
                let (scopes, actions) = (encoded(&few(scopes, "scopes")?)?, encoded(&few(actions, "actions")?)?);
                (System::EntitlementCreateRole { name, scopes, actions, constraints: encoded(&conditions.constraints()?)? }, terms)
            }
            Self::AssignRole(Assignment { role, assignee, terms }) => {
                (System::EntitlementAssignRole { role_id: hash(&role)?, assignee: session.address(&assignee)? }, terms)
            }
            Self::RevokeRole(Assignment { role, assignee, terms }) => {
                (System::EntitlementRevokeRole { role_id: hash(&role)?, assignee: session.address(&assignee)? }, terms)
            }
            _ => unreachable!("the caller handles the others"),
        };
        Ok((Instruction::System(system), terms))
    }
}

async fn registry(session: &Session) -> Result<(), Failure> {
    let registry: model::EntitlementRegistry = session.client.get("/entitlements").await?;
    let rows: Vec<(&str, String)> = registry
        .entitlements
        .iter()
        .map(|row| {
            let params: Vec<&str> = row.params.iter().map(|param| param.name.as_str()).collect();
            let params = if params.is_empty() { String::new() } else { format!(" [{}]", params.join(", ")) };
            let standing = if row.standing == "current" { String::new() } else { format!(" ({})", row.standing) };
            (row.id.as_str(), format!("{}{params}{standing}", row.what))
        })
        .collect();
    session.output.result(&registry, table(rows));
    Ok(())
}

async fn list(session: &Session, address: Option<&str>) -> Result<(), Failure> {
    let address = session.address_or_own(address)?;
    let held: model::Permissions = session.client.get(&format!("/permissions/{}", Hex(address))).await?;
    let until =
        |held: &model::Permission| held.constraints["valid_until"].as_u64().map_or_else(String::new, |until| format!("  until {until}"));
    let line = |held: &model::Permission| format!("{}  {}  {}{}", held.id, held.scope, held.action, until(held));
    let mut lines: Vec<String> = held.permissions.iter().map(line).collect();
    lines.extend(
        held.roles
            .iter()
            .map(|role| format!("{}  role {}: {} in {}", role.role_id, role.name, role.actions.join(", "), role.scopes.join(", "))),
    );
    session.output.result(&held, listing::lines(&lines, String::clone, &format!("{address} has no permissions and no roles")));
    Ok(())
}
