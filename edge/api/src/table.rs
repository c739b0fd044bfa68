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
    /// The node's global limit.
    Global,
    /// The faucet's own.
    Faucet,
    /// None: probes.
    Free,
}

/// A query parameter, or the meaning of one in the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub about: &'static str,
    /// Whether it is a whole number.
    pub is_number: bool,
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
}

const fn number(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, about, is_number: true }
}

const fn text(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, about, is_number: false }
}

const OFFSET: Parameter = number("offset", "Rows to leave out at the beginning.");
const LIMIT: Parameter = number("limit", "Rows to answer, 50 where absent, at most 1,000.");
const CURSOR: Parameter = text("cursor", "`next_cursor` of the page before.");
const PREFIX: Parameter = text("prefix", "Only keys that begin with this: text, or hex with 0x.");
const ORDER: Parameter = text("order", "`desc` for the newest first.");
const FROM: Parameter = number("from", "The first height; the next one to come where absent.");
const SIZE: Parameter = number("size", "`ops_end` of a recent header: the root is the one that the state had then.");
const START: Parameter = number("start", "The first operation.");
const COUNT: Parameter = number("count", "Operations at most, 64 of them; 0 for the first alone, with what stands for all before it.");
const NUMBER: Parameter = number("number", "The block's number: how many blocks stand between genesis and it.");
const STAGE: Parameter = text("stage", "Only proposals there: `voting`, `queued`, `executed`, `failed`, `rejected` or `cancelled`.");
const BEFORE: Parameter = number("before", "Only blocks below this height.");
const BUSY: Parameter = text("busy", "`true` for blocks with a receipt only.");
const KIND: Parameter = text("kind", "Only receipts of this kind: `transaction`, `message`, `timer`, `callback`, `job` or `protocol`.");
const STATUS: Parameter = text("status", "Only receipts with this status: `success` or `failed`.");
const HANDLER: Parameter = text("handler", "Only receipts of this handler.");
const ADDRESSES: Parameter = text("prefix", "Only addresses that begin with these hex digits.");
const TEXT: Parameter = text("text", "The beginning of a name, class, handler or address: 2 to 64 letters.");
const TIMEOUT: Parameter = number("timeout_ms", "How long to wait, 30,000 where absent, at most 120,000.");

macro_rules! endpoints {
    ($( $group:literal { $(
        $Name:ident $verb:ident $path:literal [$($query:expr),*] $body:tt => $answer:tt $(, $option:ident)?;
        $summary:literal
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
    (@rate faucet) => { Rate::Faucet };
    (@rate free) => { Rate::Free };
    (@rate $($other:ident)?) => { Rate::Global };
}

endpoints! {
    "Node" {
        Health Get "/health" [] () => (Health), free;
        "Answers while the node lives."
        HealthDetailed Get "/health/detailed" [] () => (HealthDetailed), free;
        "How the node is: chain, height, waiting transactions, peers."
        HealthReady Get "/health/ready" [] () => (Ready), free;
        "Answers 200 once the node takes transactions, 503 before."
        Height Get "/height" [] () => (Height);
        "The newest finalized height."
        BaseFee Get "/basefee" [] () => (BaseFee);
        "What a cycle and a cell cost in the next block."
        Genesis Get "/genesis" [] () => (Genesis);
        "What the chain began with, for followers."
        Params Get "/params" [OFFSET, LIMIT] () => (Parameters);
        "Every number of the protocol, with unit, range and meaning."
        Supply Get "/supply" [] () => (Supply);
        "How many CBY there are, were made and were burned."
        Validators Get "/validators" [OFFSET, LIMIT] () => (Validators);
        "Who stakes to agree on blocks, and who does."
        Validator Get "/validators/{address}" [] () => (Validator);
        "One who stakes, or signs."
        Epoch Get "/epoch" [] () => (Epoch);
        "Where the chain is in its epoch."
    }
    "Accounts" {
        Account Get "/account/{address}" [] () => (Account);
        "An account's nonce and balance; 404 for one never seen."
        AccountHistory Get "/account/{address}/history" [CURSOR, LIMIT, KIND, STATUS, HANDLER] () => (History);
        "What an account or actor sent and received, newest first. With a filter a page looks at 1,000 receipts and may be short."
        Accounts Get "/accounts" [CURSOR, LIMIT, ADDRESSES] () => (Accounts);
        "Accounts and actors that appear in a receipt, ascending by address."
        AccountTokens Get "/account/{address}/tokens" [CURSOR, LIMIT] () => (AccountTokens);
        "The tokens that an account holds."
        Search Get "/search" [TEXT] () => (SearchResults);
        "Names, actors by class or handler, and addresses that begin with a text."
        Faucet Post "/faucet" [] (FaucetRequest) => (FaucetAnswer), faucet;
        "Sends 5,000 CBY, and answers once they are there."
    }
    "Actors" {
        Actors Get "/actors" [CURSOR, LIMIT] () => (Actors);
        "Every actor that was deployed, ascending by address."
        Actor Get "/actor/{address}" [] () => (Actor);
        "An actor: code hash, balance, owner, entitlements, the first entries of its storage."
        ActorCode Get "/actor/{address}/code" [] () => (Code);
        "An actor's source."
        ActorLogs Get "/actor/{address}/logs" [OFFSET, LIMIT, ORDER] () => (Logs);
        "The events of an actor."
        ActorEntitlements Get "/actor/{address}/entitlements" [] () => (Entitlements);
        "What an actor may do, with deprecation flags, and every manifest it had before."
        EntitlementRegistry Get "/entitlements" [] () => (EntitlementRegistry);
        "Every entitlement that a manifest may name, and the curated sets of domains."
        Permissions Get "/permissions/{address}" [] () => (Permissions);
        "What an address holds in the Entitlement Registry: permissions and roles."
        ActorRent Get "/actor/{address}/rent" [] () => (Rent);
        "What an actor owes for its storage, and what it has put down."
        MissingChunks Get "/actor/{address}/rent/chunks" [OFFSET, LIMIT] () => (MissingChunks);
        "The pruned pieces of a dormant actor's storage that nobody has restored yet, by number."
        Chunk Get "/chunk/{hash}" [] () => (Chunk);
        "A pruned piece of storage, which every full node keeps for 30 rent epochs."
        ActorStorage Get "/actors/{address}/storage" [PREFIX, CURSOR, LIMIT] () => (StoragePage);
        "A page of an actor's storage."
        ActorMailbox Get "/actors/{address}/mailbox" [CURSOR, LIMIT] () => (MailboxPage);
        "A page of the messages that wait for an actor."
        Timers Get "/timers" [OFFSET, LIMIT] () => (Timers);
        "All live timers, by height: what fires next."
        ActorTimers Get "/timers/{address}" [OFFSET, LIMIT] () => (Timers);
        "An actor's timers, by height."
        ReadHandler Post "/actor/{address}/read_handler" [] (ReadHandler) => (ReadAnswer);
        "Runs a handler on committed state; it may write nothing."
    }
    "Governance" {
        Proposals Get "/governance/proposals" [OFFSET, LIMIT, STAGE] () => (Proposals);
        "Proposals, the newest first."
        Proposal Get "/governance/proposals/{id}" [] () => (Proposal);
        "A proposal: what it does, where it is, who voted how."
        Timelocks Get "/governance/timelocks" [] () => (Proposals);
        "Accepted proposals that wait to take effect, the first to do so first."
        Council Get "/governance/council" [] () => (Council);
        "The security council."
        ParameterHistory Get "/governance/history/{name}" [] () => (ParameterHistory);
        "What a parameter became, and when."
    }
    "Jobs" {
        Jobs Get "/jobs" [OFFSET, LIMIT] () => (Jobs);
        "Jobs of the off-chain market, newest first."
        Job Get "/job/{id}" [] () => (Job);
        "A job: its committee, their results, and its outcome."
        JobCandidates Get "/job/{id}/candidates" [] () => (JobCandidates);
        "Who could be drawn for a job, with their weights: what the draw is checked with."
        Runners Get "/runners" [OFFSET, LIMIT] () => (Runners);
        "Runners, by address."
        Runner Get "/runner/{address}" [] () => (Runner);
        "A runner: stake, health, reputation, what it asks for and can do."
        RunnerJobs Get "/runner/{address}/jobs" [OFFSET, LIMIT] () => (Jobs);
        "The jobs that a runner has to do."
        Delegation Get "/runner/{address}/delegations/{delegator}" [] () => (Delegation);
        "What somebody has put behind a runner, slashes counted."
    }
    "Tokens" {
        Tokens Get "/tokens" [OFFSET, LIMIT] () => (Tokens);
        "The tokens of the protocol, by id."
        Token Get "/token/{id}" [] () => (Token);
        "A token: what people call it, who owns it, how many there are."
        TokenBalance Get "/token/{id}/balance/{address}" [] () => (TokenBalance);
        "What somebody has of a token."
        TokenHolders Get "/token/{id}/holders" [CURSOR, LIMIT] () => (TokenHolders);
        "Who holds a token."
        TokenEvents Get "/token/{id}/events" [CURSOR, LIMIT] () => (TokenEvents);
        "Transfers, mints and burns of a token, newest first."
        TokenAllowance Get "/token/{id}/allowance/{address}/{spender}" [] () => (TokenAllowance);
        "What somebody may move of another's tokens."
    }
    "Names" {
        Names Get "/names" [OFFSET, LIMIT] () => (Names);
        "Registered names, ascending."
        Name Get "/names/{name}" [] () => (Name);
        "A name: its actor, owner, expiry and stage."
        ActorNames Get "/actor/{address}/names" [OFFSET, LIMIT] () => (Names);
        "The names that point to an actor."
        Gateways Get "/gateways" [OFFSET, LIMIT] () => (Gateways);
        "Gateways that are, or lately were, active."
        Gateway Get "/gateways/{address}" [] () => (Gateway);
        "A gateway: stake, health, where it is reached."
    }
    "Blocks" {
        Blocks Get "/blocks" [OFFSET, LIMIT, BEFORE, BUSY] () => (Blocks);
        "The newest blocks. A page ends early where its blocks have more than 64 MiB."
        Block Get "/block/{id}" [] () => (Block);
        "A block by height, hash or `latest`."
        Follow Get "/follow" [FROM] () => (frames);
        "Finalized blocks with their certificates, as they come: what a follower verifies and executes."
        BlockCopy Get "/copy" [NUMBER] () => (frames);
        "A block with its receipts in canonical encoding: what a follower fetches again that has it damaged on its disk."
        Operations Get "/operations" [SIZE, START, COUNT] () => (frames);
        "Operations that made the state, with their proof: what a follower takes that does not begin at genesis."
        Socket Get "/ws" [] () => (socket Notice);
        "A WebSocket that says new blocks, receipts and events."
    }
    "Transactions" {
        Submit Post "/submit" [] (bytes or Submission) => (Submitted);
        "Submits signed transactions."
        SubmitWait Post "/submit_wait" [TIMEOUT] (bytes or Submission) => (Submitted);
        "Submits signed transactions and answers with their receipts."
        Simulate Post "/simulate" [] (bytes or Simulate) => (Simulated);
        "Runs a transaction on committed state, without signature and without effect."
        Transactions Get "/transactions" [CURSOR, LIMIT, KIND, STATUS, HANDLER] () => (History);
        "Receipts of all blocks, newest first. A page looks at 1,000 receipts and may be short."
        Transaction Get "/transaction/{hash}" [] () => (Transaction);
        "A transaction, waiting or included."
        Receipt Get "/transaction/{hash}/receipt" [] () => (Receipt);
        "What came of a transaction or delivery; 404 while it waits."
        StateChanges Get "/transaction/{hash}/changes" [] () => (StateChanges);
        "What a transaction or delivery changed in storage and balances, without its fee."
        Pending Get "/mempool/transaction/{hash}" [] () => (Transaction);
        "A transaction that waits; 404 once it is included."
    }
    "Proofs" {
        ProofAccount Get "/proof/account/{address}" [] () => (Proof);
        "That an account is as it is, or that there is none."
        ProofActor Get "/proof/actor/{address}" [] () => (Proof);
        "That an actor is as it is, or that there is none."
        ProofStorage Get "/proof/storage/{address}/{key}" [] () => (Proof);
        "That an entry of storage is as it is, or that there is none. The key is text, or hex with 0x."
        ProofTransaction Get "/proof/tx/{hash}" [] () => (Proof);
        "That a transaction is in a block."
        ProofReceipt Get "/proof/receipt/{hash}" [] () => (Proof);
        "That a receipt is in a block."
        ProofMulti Post "/proof/multi" [] (ProofRequest) => (Proof);
        "Up to 256 records of the state at one height."
    }
    "Dev chains" {
        DevMine Post "/dev/mine" [] (Mine) => (Height), dev;
        "Makes blocks now."
        DevWarp Post "/dev/warp" [] (Warp) => (Height), dev;
        "Goes to a later height or time; every timer on the way fires in order."
        DevSnapshot Post "/dev/snapshot" [] () => (Snapshot), dev;
        "Keeps the chain as it is, to come back to."
        DevRevert Post "/dev/revert" [] (Revert) => (Height), dev;
        "Goes back to a snapshot."
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
}
