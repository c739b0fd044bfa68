//! The API's methods, one row each. Routes, OpenAPI, rate limits and the client's paths derive from the rows.

use crate::model;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema},
};

/// The HTTP method of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Reads.
    Get,
    /// Changes, or asks with a body.
    Post,
}

/// Which limit a request counts toward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// The limit of each client.
    Global,
    /// The faucet's own.
    Faucet,
    /// None: probes.
    Free,
}

/// A query parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it says, without its bounds.
    pub about: &'static str,
    /// What it may be.
    pub form: Form,
}

/// What a parameter may be. The server reads the bounds from the constants that the rows have them of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text.
    Text,
    /// Text with a number of characters.
    Characters {
        /// The minimum.
        min: usize,
        /// The maximum.
        max: usize,
    },
    /// A whole number.
    Number {
        /// The number that counts where the request has none.
        default: Option<u64>,
        /// The maximum that counts.
        max: Option<u64>,
    },
}

impl Parameter {
    /// What it says, with its bounds.
    pub fn description(&self) -> String {
        let bounds = match self.form {
            Form::Number { default: Some(default), max: Some(max) } => format!("{default} by default, at most {max}."),
            Form::Number { default: Some(default), max: None } => format!("{default} by default."),
            Form::Number { default: None, max: Some(max) } => format!("At most {max}."),
            Form::Characters { min, max } => format!("{min} to {max} characters."),
            Form::Text | Form::Number { default: None, max: None } => return self.about.to_owned(),
        };
        format!("{} {bounds}", self.about)
    }
}

/// A bound of what a method answers or takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// A sentence with `{}` where the number stands.
    pub sentence: &'static str,
    /// The number.
    pub number: usize,
}

impl std::fmt::Display for Bound {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.sentence.replace("{}", &self.number.to_string()))
    }
}

/// The schema of a JSON body: its name, itself, and those it refers to.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The schema's name.
    pub name: fn() -> std::borrow::Cow<'static, str>,
    /// The schema.
    pub schema: fn() -> RefOr<Schema>,
    /// Those it refers to.
    pub others: fn(&mut Vec<(String, RefOr<Schema>)>),
}

impl Shape {
    /// The shape of a type.
    pub const fn of<T: ToSchema + PartialSchema>() -> Self {
        Self { name: T::name, schema: T::schema, others: T::schemas }
    }
}

/// What a request carries.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Nothing.
    None,
    /// JSON.
    Json(Shape),
    /// JSON, or one transaction's canonical bytes.
    JsonOrBytes(Shape),
}

/// What a success answers.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// JSON.
    Json(Shape),
    /// A stream of frames, each a length as 4 bytes big-endian, then that many bytes.
    Frames,
    /// A WebSocket whose messages are JSON.
    Socket(Shape),
}

/// One method.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// GET or POST.
    pub verb: Verb,
    /// The path; `{name}` stands for one segment.
    pub path: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Its query parameters.
    pub query: &'static [Parameter],
    /// The request body.
    pub body: Body,
    /// The response.
    pub answer: Answer,
    /// Whether only dev chains have it.
    pub dev_only: bool,
    /// Which limit it counts toward.
    pub rate: Rate,
    /// The heading under which the documentation shows it.
    pub group: &'static str,
    /// A bound that the summary leaves out.
    pub bound: Option<Bound>,
}

const fn number(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, about, form: Form::Number { default: None, max: None } }
}

const fn text(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, about, form: Form::Text }
}

const fn bounded(name: &'static str, about: &'static str, default: Option<u64>, max: u64) -> Parameter {
    Parameter { name, about, form: Form::Number { default, max: Some(max) } }
}

const OFFSET: Parameter = number("offset", "Number of rows to skip.");
const LIMIT: Parameter = bounded("limit", "Maximum number of rows.", Some(model::DEFAULT_LIMIT as u64), model::MAX_LIMIT as u64);
const CURSOR: Parameter = text("cursor", "`next_cursor` of the previous page.");
const PREFIX: Parameter = text("prefix", "Only keys that begin with this: text, or hex with 0x.");
const ORDER: Parameter = text("order", "`desc` for the newest first.");
const FROM: Parameter = number("from", "The first height; by default the next one.");
const SINCE: Parameter = number("from", "The first height; by default the oldest that the node has.");
const SIZE: Parameter = number("size", "`ops_end` of a recent header; proofs refer to the root of the state at that header.");
const START: Parameter = number("start", "The first operation.");
const COUNT: Parameter = bounded(
    "count",
    "Maximum number of operations; 0 for the first one alone, with the digests of all before it.",
    None,
    model::MAX_OPERATIONS,
);
const NUMBER: Parameter = number("number", "The block's number, counted from genesis.");
const STAGE: Parameter =
    text("stage", "Only proposals in this stage: `voting`, `queued`, `executed`, `failed`, `rejected` or `cancelled`.");
const BEFORE: Parameter = number("before", "Only blocks below this height.");
const BUSY: Parameter = text("busy", "`true` for only those blocks that have a receipt.");
const KIND: Parameter = text("kind", "Only receipts of this kind: `transaction`, `message`, `timer`, `callback`, `job` or `protocol`.");
const STATUS: Parameter = text("status", "Only receipts with this status: `success` or `failed`.");
const HANDLER: Parameter = text("handler", "Only receipts of this handler.");
const ADDRESSES: Parameter = text("prefix", "Only addresses that begin with these hex digits.");
const TEXT: Parameter = Parameter {
    name: "text",
    about: "The first characters of a name, class, handler or address.",
    form: Form::Characters { min: *model::SEARCH_CHARACTERS.start(), max: *model::SEARCH_CHARACTERS.end() },
};
const TIMEOUT: Parameter =
    bounded("timeout_ms", "How long to wait, in milliseconds.", Some(model::DEFAULT_TIMEOUT_MS), model::MAX_TIMEOUT_MS);

macro_rules! endpoints {
    ($( $group:literal { $(
        $Name:ident $verb:ident $path:literal [$($query:expr),*] $body:tt => $answer:tt $(, $option:ident)?;
        $summary:literal $($bound:literal [$number:expr])?
    )+ } )+) => {
        /// A method of the API.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Endpoint { $($( #[doc = $summary] $Name, )+)+ }

        impl Endpoint {
            /// All of them, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$($( Self::$Name, )+)+];

            /// The row.
            pub const fn method(self) -> Method {
                match self { $($(
                    Self::$Name => Method {
                        verb: Verb::$verb,
                        path: $path,
                        summary: $summary,
                        query: const { &[$($query),*] },
                        body: endpoints!(@body $body),
                        answer: endpoints!(@answer $answer),
                        dev_only: endpoints!(@dev $($option)?),
                        rate: endpoints!(@rate $($option)?),
                        group: $group,
                        bound: endpoints!(@bound $($bound $number)?),
                    },
                )+)+ }
            }
        }
    };
    (@body ()) => { Body::None };
    (@body (bytes or $Type:ident)) => { Body::JsonOrBytes(Shape::of::<model::$Type>()) };
    (@body ($Type:ident)) => { Body::Json(Shape::of::<model::$Type>()) };
    (@answer (frames)) => { Answer::Frames };
    (@answer (socket $Type:ident)) => { Answer::Socket(Shape::of::<model::$Type>()) };
    (@answer ($Type:ident)) => { Answer::Json(Shape::of::<model::$Type>()) };
    (@dev dev) => { true };
    (@dev faucet) => { true };
    (@dev $($other:ident)?) => { false };
    (@bound) => { None };
    (@bound $sentence:literal $number:expr) => { Some(Bound { sentence: $sentence, number: $number }) };
    (@rate faucet) => { Rate::Faucet };
    (@rate free) => { Rate::Free };
    (@rate $($other:ident)?) => { Rate::Global };
}

endpoints! {
    "Node" {
        Health Get "/health" [] () => (Health), free;
        "Answers while the process runs."
        HealthDetailed Get "/health/detailed" [] () => (HealthDetailed), free;
        "The state of the node: chain, height, waiting transactions, peers."
        HealthReady Get "/health/ready" [] () => (Ready), free;
        "Answers 200 while the node makes progress and accepts transactions, otherwise 503."
        Height Get "/height" [] () => (Height);
        "The newest finalized height."
        BaseFee Get "/basefee" [] () => (BaseFee);
        "The price of a cycle and of a cell in the next block."
        Genesis Get "/genesis" [] () => (Genesis);
        "The genesis, for followers."
        Params Get "/params" [OFFSET, LIMIT] () => (Parameters);
        "Every parameter of the protocol, with unit, range and meaning."
        Supply Get "/supply" [] () => (Supply);
        "The supply of CBY: circulating, minted and burned."
        Validators Get "/validators" [OFFSET, LIMIT] () => (Validators);
        "Validators: their stakes, and which of them sign."
        Validator Get "/validators/{address}" [] () => (Validator);
        "A validator."
        Epoch Get "/epoch" [] () => (Epoch);
        "The position of the chain in its epoch."
    }
    "Accounts" {
        Account Get "/account/{address}" [] () => (Account);
        "An account's nonce and balance; 404 for an account that never appeared."
        AccountHistory Get "/account/{address}/history" [CURSOR, LIMIT, KIND, STATUS, HANDLER] () => (History);
        "What an account or actor sent and received, newest first. With a filter, or if its blocks are large, a page may be short."
        "With a filter, a page examines {} receipts." [model::FILTERED_RECEIPTS]
        Accounts Get "/accounts" [CURSOR, LIMIT, ADDRESSES] () => (Accounts);
        "Accounts and actors that appear in a receipt, ascending by address."
        AccountTokens Get "/account/{address}/tokens" [CURSOR, LIMIT] () => (AccountTokens);
        "The tokens that an account holds."
        Search Get "/search" [TEXT] () => (SearchResults);
        "Names, actors by class or handler, and addresses that begin with a text."
        "At most {} results of each kind." [model::MAX_SEARCH_RESULTS]
        Faucet Post "/faucet" [] (FaucetRequest) => (FaucetAnswer), faucet;
        "Sends as much CBY as the parameter `economics.faucet` says, and answers when the transfer is final."
    }
    "Actors" {
        Actors Get "/actors" [CURSOR, LIMIT] () => (Actors);
        "Every actor that was deployed, ascending by address."
        Actor Get "/actor/{address}" [] () => (Actor);
        "An actor: code hash, balance, owner, entitlements, the first entries of its storage."
        "The first {} entries of its storage." [model::DEFAULT_LIMIT]
        ActorCode Get "/actor/{address}/code" [] () => (Code);
        "An actor's source."
        ActorLogs Get "/actor/{address}/logs" [SINCE, OFFSET, LIMIT, ORDER] () => (Logs);
        "The events of an actor."
        ActorEntitlements Get "/actor/{address}/entitlements" [] () => (Entitlements);
        "An actor's entitlements, with deprecation flags, and every earlier manifest."
        EntitlementRegistry Get "/entitlements" [] () => (EntitlementRegistry);
        "Every entitlement that a manifest may name, and the curated sets of domains."
        Permissions Get "/permissions/{address}" [] () => (Permissions);
        "The permissions and roles of an address in the Entitlement Registry."
        ActorRent Get "/actor/{address}/rent" [] () => (Rent);
        "What an actor owes for its storage, and what it has put down."
        MissingChunks Get "/actor/{address}/rent/chunks" [OFFSET, LIMIT] () => (MissingChunks);
        "The pruned pieces of a dormant actor's storage that nobody has restored yet, by number."
        Chunk Get "/chunk/{hash}" [] () => (Chunk);
        "A pruned piece of storage, which every full node keeps for some rent epochs after the eviction."
        ActorStorage Get "/actors/{address}/storage" [PREFIX, CURSOR, LIMIT] () => (StoragePage);
        "A page of an actor's storage."
        ActorMailbox Get "/actors/{address}/mailbox" [CURSOR, LIMIT] () => (MailboxPage);
        "A page of an actor's pending messages."
        Timers Get "/timers" [OFFSET, LIMIT] () => (Timers);
        "All live timers, by height: what fires next. A page ends early if the payloads are large."
        ActorTimers Get "/timers/{address}" [OFFSET, LIMIT] () => (Timers);
        "An actor's timers, by height. A page ends early if the payloads are large."
        ReadHandler Post "/actor/{address}/read_handler" [] (ReadHandler) => (ReadAnswer);
        "Runs a handler on committed state; it cannot write."
        View Post "/actors/{address}/views/{method}" [] (ViewArguments) => (ViewAnswer);
        "Runs a view of a system actor on committed state, with arguments and result as typed JSON."
        Methods Get "/methods" [] () => (Methods);
        "The methods and events of system actors, with the forms of their arguments, results and data."
    }
    "Governance" {
        Proposals Get "/governance/proposals" [OFFSET, LIMIT, STAGE] () => (Proposals);
        "Proposals, the newest first."
        Proposal Get "/governance/proposals/{id}" [] () => (Proposal);
        "A proposal: its actions, stage and votes."
        Timelocks Get "/governance/timelocks" [] () => (Proposals);
        "Accepted proposals in their timelock, in the order in which they can take effect."
        Council Get "/governance/council" [] () => (Council);
        "The security council."
        Upgrades Get "/governance/upgrades" [] () => (Upgrades);
        "The schedule of protocol versions."
        ParameterHistory Get "/governance/history/{name}" [] () => (ParameterHistory);
        "The history of a parameter."
    }
    "Jobs" {
        Jobs Get "/jobs" [OFFSET, LIMIT] () => (Jobs);
        "Jobs of the off-chain market, newest first."
        Job Get "/job/{id}" [] () => (Job);
        "A job: its committee, their results, and its outcome."
        JobCandidates Get "/job/{id}/candidates" [] () => (JobCandidates);
        "The candidates of a job with their weights, with which anyone can repeat the draw."
        Runners Get "/runners" [OFFSET, LIMIT] () => (Runners);
        "Runners, by address."
        Runner Get "/runner/{address}" [] () => (Runner);
        "A runner: stake, health, reputation, rates and capabilities."
        RunnerJobs Get "/runner/{address}/jobs" [OFFSET, LIMIT] () => (Jobs);
        "The open jobs of a runner."
        Delegation Get "/runner/{address}/delegations/{delegator}" [] () => (Delegation);
        "The stake that an account has delegated to a runner, after slashes."
    }
    "Tokens" {
        Tokens Get "/tokens" [OFFSET, LIMIT] () => (Tokens);
        "The tokens of the protocol, by id."
        Token Get "/token/{id}" [] () => (Token);
        "A token: name, symbol, owner and supply."
        TokenBalance Get "/token/{id}/balance/{address}" [] () => (TokenBalance);
        "An account's balance of a token."
        TokenHolders Get "/token/{id}/holders" [CURSOR, LIMIT] () => (TokenHolders);
        "The holders of a token."
        TokenEvents Get "/token/{id}/events" [CURSOR, LIMIT] () => (TokenEvents);
        "Transfers, mints and burns of a token, newest first."
        TokenAllowance Get "/token/{id}/allowance/{address}/{spender}" [] () => (TokenAllowance);
        "The amount of an owner's tokens that a spender may move."
    }
    "Names" {
        Names Get "/names" [OFFSET, LIMIT] () => (Names);
        "Registered names, ascending."
        Name Get "/names/{name}" [] () => (Name);
        "A name: its actor, owner, expiry and stage."
        ActorNames Get "/actor/{address}/names" [CURSOR, LIMIT] () => (ActorNames);
        "The names that point to an actor."
        Gateways Get "/gateways" [OFFSET, LIMIT] () => (Gateways);
        "Gateways that are active or were recently."
        Gateway Get "/gateways/{address}" [] () => (Gateway);
        "A gateway: stake, health and endpoint."
    }
    "Blocks" {
        Blocks Get "/blocks" [OFFSET, LIMIT, BEFORE, BUSY] () => (Blocks);
        "The newest blocks. A page ends early if its blocks are large."
        "A page ends with the block that brings it beyond {} MiB." [model::BLOCK_PAGE_MIB]
        Block Get "/block/{id}" [] () => (Block);
        "A block by height, hash or `latest`."
        Follow Get "/follow" [FROM] () => (frames);
        "Finalized blocks with their certificates, as they are produced, for followers to verify and execute."
        BlockCopy Get "/copy" [NUMBER] () => (frames);
        "A block with its receipts in canonical encoding, for a follower that has to fetch a damaged block again."
        Operations Get "/operations" [SIZE, START, COUNT] () => (frames);
        "Operations that make up the state, with their proof, for a follower that does not start at genesis."
        Socket Get "/ws" [] () => (socket Notice);
        "A WebSocket that sends new blocks, receipts and events."
    }
    "Transactions" {
        Submit Post "/submit" [] (bytes or Submission) => (Submitted);
        "Submits signed transactions."
        "At most {} transactions." [model::MAX_SUBMISSION_TRANSACTIONS]
        SubmitWait Post "/submit_wait" [TIMEOUT] (bytes or Submission) => (Submitted);
        "Submits signed transactions and answers with their receipts."
        "At most {} transactions." [model::MAX_SUBMISSION_TRANSACTIONS]
        Simulate Post "/simulate" [] (bytes or Simulate) => (Simulated);
        "Simulates a transaction on committed state, without a signature."
        Transactions Get "/transactions" [CURSOR, LIMIT, KIND, STATUS, HANDLER] () => (History);
        "Receipts of all blocks, newest first. With a filter, or if its blocks are large, a page may be short."
        "With a filter, a page examines {} receipts." [model::FILTERED_RECEIPTS]
        Transaction Get "/transaction/{hash}" [] () => (Transaction);
        "A transaction, waiting or included."
        Receipt Get "/transaction/{hash}/receipt" [] () => (Receipt);
        "The receipt of a transaction or delivery; 404 while it waits."
        StateChanges Get "/transaction/{hash}/changes" [] () => (StateChanges);
        "The changes of storage and balances by a transaction or delivery, without its fee."
        Pending Get "/mempool/transaction/{hash}" [] () => (Transaction);
        "A waiting transaction; 404 once it is included."
    }
    "Proofs" {
        ProofAccount Get "/proof/account/{address}" [] () => (Proof);
        "A proof of an account, or that it does not exist."
        ProofActor Get "/proof/actor/{address}" [] () => (Proof);
        "A proof of an actor, or that it does not exist."
        ProofStorage Get "/proof/storage/{address}/{key}" [] () => (Proof);
        "A proof of an entry of storage, or that it does not exist. The key is text, or hex with 0x."
        ProofTransaction Get "/proof/tx/{hash}" [] () => (Proof);
        "A proof that a transaction is in a block."
        ProofReceipt Get "/proof/receipt/{hash}" [] () => (Proof);
        "A proof that a receipt is in a block."
        ProofMulti Post "/proof/multi" [] (ProofRequest) => (Proof);
        "Proofs of records of the state at one height."
        "At most {} records." [model::MAX_PROOF_KEYS]
    }
    "Dev chains" {
        DevMine Post "/dev/mine" [] (Mine) => (Height), dev;
        "Produces blocks now."
        DevWarp Post "/dev/warp" [] (Warp) => (Height), dev;
        "Advances to a later height or time; every timer in between fires in order."
        DevSnapshot Post "/dev/snapshot" [] () => (Snapshot), dev;
        "Takes a snapshot of the chain, to revert to later."
        DevRevert Post "/dev/revert" [] (Revert) => (Height), dev;
        "Reverts to a snapshot."
        DevBalance Post "/dev/balance" [] (SetBalance) => (SubmitResult), dev;
        "Sets a balance; the difference counts as minted or burned."
        DevImpersonate Post "/dev/impersonate" [] (Impersonate) => (SubmitResult), dev;
        "Runs an instruction as if another account had signed it."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_methods_share_verb_and_path() {
        for (place, one) in Endpoint::ALL.iter().enumerate() {
            for other in &Endpoint::ALL[..place] {
                let (one, other) = (one.method(), other.method());
                assert!(one.path != other.path || one.verb != other.verb, "{}", one.path);
            }
        }
    }

    /// A number that the server reads elsewhere would drift: bounds have places of their own. Statuses of HTTP are no bounds.
    #[test]
    fn sentences_have_no_bounds_of_their_own() {
        for endpoint in Endpoint::ALL {
            let method = endpoint.method();
            let bound = method.bound.map_or("", |bound| bound.sentence);
            for sentence in method.query.iter().map(|parameter| parameter.about).chain([method.summary, bound]) {
                let mut numbers = sentence.split(|letter: char| !letter.is_ascii_digit()).filter(|digits| digits.len() > 1);
                assert!(numbers.all(|number| ["200", "404", "503"].contains(&number)), "{sentence}");
            }
            assert!(method.bound.is_none_or(|bound| bound.to_string() != bound.sentence), "{}", method.path);
        }
    }
}
