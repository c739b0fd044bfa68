//! The methods and events of 0x0E.

use super::NUMBER;
use super::domains::DOMAIN_BYTES;
use super::price::Stage;
use super::types::{Policy, Registration};
use crate::actor::methods;
use crate::schema::{Form, Refused, Shape, events, form};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Abort, Address, List, Text, error};

/// The most names that `names.lookup_max` may be set to.
const LOOKUP_MAX: usize = 1_000;

/// The most bytes of a name that `names.bytes_max` may be set to.
const NAME_BYTES: usize = 253;

impl Change {
    /// What an event says of a name.
    pub(super) fn new(name: &str, record: &Registration, fee: Amount) -> Result<Self, Abort> {
        let name = Text::new(name.to_owned()).ok_or(error::NAME_INVALID)?;
        Ok(Self { actor_address: record.actor, expires_at: record.expires_at, fee, name, owner: record.owner })
    }
}

impl Claim {
    /// Refuses what is too long to be a domain, or a name.
    pub(super) fn new(domain: String, name: String) -> Result<Self, Abort> {
        let domain = Text::new(domain).ok_or(error::DOMAIN_INVALID)?;
        Ok(Self { domain, name: Text::new(name).ok_or(error::NAME_INVALID)? })
    }
}

impl Form for Policy {
    const SHAPE: Shape = Shape::Number;

    fn read(value: &Value) -> Result<Self, Refused> {
        value.as_u64().and_then(Self::from_number).ok_or(Refused::WHOLE)
    }

    fn write(&self) -> Value {
        Value::uint(u64::from(self.number()))
    }
}

/// The name of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StageName(&'static str);

impl StageName {
    const ALL: &'static [&'static str] = &["live", "grace", "auction", "free"];
}

impl From<Stage> for StageName {
    fn from(stage: Stage) -> Self {
        Self(stage.name())
    }
}

impl Form for StageName {
    const SHAPE: Shape = Shape::Word(Self::ALL);

    fn read(value: &Value) -> Result<Self, Refused> {
        let name = value.as_text().ok_or(Refused::WHOLE)?;
        Self::ALL.iter().find(|known| **known == name).map(|known| Self(known)).ok_or(Refused::WHOLE)
    }

    fn write(&self) -> Value {
        Value::text(self.0)
    }
}

form! {
    /// A name's record (004 §7.1).
    pub(crate) struct Described {
        /// The actor that answers.
        actor_address: Address,
        /// The first height at which it no longer counts.
        expires_at: Height,
        /// Whether each label fits the DNS: a name with a longer one is reached by a host header only.
        is_dns: bool,
        /// The name.
        name: String,
        /// Its owner.
        owner: Address,
        /// The height at which it was registered.
        registered_at: Height,
        /// Who names what is below: 0 its owner, 1 its actor, 2 anybody.
        subdomain_policy: Policy,
    }
}

form! {
    /// Names of an actor.
    pub(crate) struct NamePage {
        /// Those that count, ascending.
        names: List<String, LOOKUP_MAX>,
        /// Give this as `first` for the next page; absent on the last.
        next: Option<String>,
    }
}

form! {
    /// What a name would cost.
    pub(crate) struct Quoted {
        /// Base units of CBY.
        fee: Amount,
        /// Where the name is in its life.
        stage: StageName,
    }
}

form! {
    /// A name's record after a change.
    pub(crate) struct Change {
        /// The actor that answers.
        actor_address: Address,
        /// The first height at which it no longer counts. The greatest value means: as long as the name above.
        expires_at: Height,
        /// Base units of CBY that were paid.
        fee: Amount,
        /// The name.
        name: Text<NAME_BYTES>,
        /// Its owner.
        owner: Address,
    }
}

form! {
    /// A name and a domain.
    pub(crate) struct Claim {
        /// The domain.
        domain: Text<DOMAIN_BYTES>,
        /// The name.
        name: Text<NAME_BYTES>,
    }
}

methods! {
    /// What 0x0E is asked.
    pub(super) METHODS by NUMBER;

    /// Takes a free name for an actor, with the fee as value. The actor or its owner; below another name, whoever that name's policy lets. What
    /// is paid too much goes back.
    "register" Register [routine, payable, kept] {
        /// The name.
        name: String,
        /// The actor; it needs `ingress.http`.
        actor_address: Address,
        /// The blocks that are paid for.
        duration_blocks: u64,
    } -> Described;

    /// Extends a name from its present expiry, with the fee as value. Anybody may pay; below another name, whoever that name's policy lets.
    "renew" Renew [payable, passing] {
        /// The name.
        name: String,
        /// The blocks that are paid for.
        duration_blocks: u64,
    } -> Described;

    /// Hands a name on. Its owner only.
    "transfer" Transfer [passing] {
        /// The name.
        name: String,
        /// The new owner.
        new_owner: Address,
    } -> Described;

    /// Points a name to another actor. Its owner only.
    "set_actor" SetActor [passing] {
        /// The name.
        name: String,
        /// The actor; it needs `ingress.http`.
        actor_address: Address,
    } -> Described;

    /// Decides who names what is below a name. Its owner only.
    "set_subdomain_policy" SetSubdomainPolicy [passing] {
        /// The name.
        name: String,
        /// 0 only the owner names what is below, 1 the actor does, 2 anybody may.
        policy: Policy,
    } -> Described;

    /// Removes a name below another one, whose deposit goes back to whoever paid it. Its owner, or anybody once it counts no more.
    "release" Release [passing] {
        /// The name.
        name: String,
    } -> ();

    /// Returns the actor that answers to a name, by its own record or else the nearest one above it; null where none does.
    "resolve" Resolve [view] {
        /// The name.
        name: String,
    } -> Option<Address>;

    /// Returns the names of an actor, at most `names.lookup_max`. Only names that the actor or its owner owns, and has registered or pointed at the actor
    /// itself: anybody may point a name at an actor of somebody else, and give it away.
    "lookup" Lookup [view] {
        /// The actor.
        actor_address: Address,
    } -> List<String, LOOKUP_MAX>;

    /// Returns a page of the names of an actor that `lookup` lists, ascending, and where the next page begins (decision 639). A page is of
    /// `names.lookup_max` names, and leaves out those that count no more: only one without `next` is the last.
    "list_names" ListNames [view] {
        /// The actor.
        actor_address: Address,
        /// The first name that is returned; all where it is absent.
        first: Option<Text<NAME_BYTES>>,
    } -> NamePage;

    /// Returns what registering or renewing would cost in this block.
    "quote" Quote [view] {
        /// The name.
        name: String,
        /// The blocks to pay for.
        duration_blocks: u64,
    } -> Quoted;

    /// Claims that a name is to be served under a domain, too, with `names.domain_deposit` as value, and returns the text of the TXT record at
    /// `_cowboy.<domain>` with which the domain's owner agrees. The name's owner only; at most `names.domains_max` domains for a name. What is
    /// paid too much goes back.
    "claim_domain" ClaimDomain [payable, kept] {
        /// The name.
        name: String,
        /// The domain.
        domain: String,
    } -> String;

    /// Ends a claim, whose deposit goes back to whoever made it. The name's owner, or anybody once the name was handed on or expired.
    "release_domain" ReleaseDomain [passing] {
        /// The name.
        name: String,
        /// The domain.
        domain: String,
    } -> ();

    /// Returns whether a name's owner wants it served under a domain.
    "claims_domain" ClaimsDomain [view] {
        /// The name.
        name: String,
        /// The domain.
        domain: String,
    } -> bool;

    /// Returns a name's record, also one that expired; null where there is none.
    "get_name" GetName [view] {
        /// The name.
        name: String,
    } -> Option<Described>;
}

events! {
    /// What 0x0E emits.
    pub(super) EVENTS by NUMBER;

    /// A name was registered.
    "name.registered" Registered(Change)

    /// A name was extended.
    "name.renewed" Renewed(Change)

    /// A name has another owner.
    "name.transferred" Transferred(Change)

    /// A name leads to another actor.
    "name.pointed" Pointed(Change)

    /// Others may name what is below a name.
    "name.policy_set" PolicySet(Change)

    /// A name below another one was removed.
    "name.released" Released(Change)

    /// A name is to be served under a domain.
    "name.domain_claimed" DomainClaimed(Claim)

    /// A claim ended.
    "name.domain_released" DomainReleased(Claim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_params::Params;

    /// The forms say what the rules are: the bound of a list, and every stage.
    #[test]
    fn forms_follow_the_rules() {
        let row = Params::row("names.lookup_max").expect("the parameter exists");
        assert_eq!(usize::try_from(row.max), Ok(LOOKUP_MAX));
        let row = Params::row("names.bytes_max").expect("the parameter exists");
        assert_eq!(usize::try_from(row.max), Ok(NAME_BYTES));
        for stage in [Stage::Live, Stage::Grace, Stage::Auction(1), Stage::Free] {
            let name = StageName::from(stage);
            assert_eq!(StageName::read(&name.write()), Ok(name));
        }
    }
}
