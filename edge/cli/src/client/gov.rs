//! `cowboy gov`: what is decided, by whom, and when it takes effect.

use super::listing::{Rows, lines};
use super::method::instruction;
use super::session::{Session, unlisted};
use crate::send::{self, Terms};
use clap::{Args, Subcommand, ValueEnum};
use cowboy_api::{cbor, model};
use cowboy_console::{amount, failure::Failure, output::table, payload};
use cowboy_system::governance;
use cowboy_types::{Address, Amount, Instruction};
use serde_json::{Value, json};

#[derive(Debug, Subcommand)]
pub(crate) enum Gov {
    /// Submit a proposal
    Propose {
        #[command(flatten)]
        decision: Decision,
        /// The deposit: base units, or CBY like 1000cby [default: that of the proposal's tier]
        #[arg(long)]
        deposit: Option<String>,
        #[command(flatten)]
        terms: Terms,
    },
    /// Print what a proposal would do if it took effect now, and its deposit
    Preview {
        #[command(flatten)]
        decision: Decision,
    },
    /// Vote, as a validator of the newest set
    Vote {
        /// The proposal's number
        id: u64,
        /// The vote
        choice: Choice,
        #[command(flatten)]
        terms: Terms,
    },
    /// Count the votes of a proposal after its voting period
    Count {
        /// The proposal's number
        id: u64,
        #[command(flatten)]
        terms: Terms,
    },
    /// Execute an accepted proposal after its timelock
    Execute {
        /// The proposal's number
        id: u64,
        #[command(flatten)]
        terms: Terms,
    },
    /// As a council member, vote to cancel a waiting proposal
    Cancel {
        /// The proposal's number
        id: u64,
        #[command(flatten)]
        terms: Terms,
    },
    /// As a council member, vote to fast-track a proposal of tier 3
    FastTrack {
        /// The proposal's number
        id: u64,
        #[command(flatten)]
        terms: Terms,
    },
    /// As a council member, vote to pause a system actor until the validators have voted on it
    CircuitBreak {
        /// The system actor, like 0x0000000000000000000000000000000000000003
        #[arg(value_parser = crate::address::parse)]
        actor: Address,
        #[command(flatten)]
        terms: Terms,
    },
    /// Print the paused system actors
    Pauses,
    /// Print the newest proposals
    List {
        /// Only proposals in this stage: voting, queued, executed, failed, rejected or cancelled
        #[arg(long)]
        stage: Option<String>,
        #[command(flatten)]
        rows: Rows,
    },
    /// Print a proposal: actions, stage, votes
    Show {
        /// The proposal's number
        id: u64,
    },
    /// Print accepted proposals in their timelock
    Timelocks,
    /// Print the schedule of protocol versions, and which of them the node knows
    Upgrades,
    /// Print the security council
    Council,
    /// Print the protocol's parameters
    Params {
        /// Only parameters whose names begin with this
        prefix: Option<String>,
    },
    /// Print the history of a parameter
    History {
        /// The parameter, like governance.timelock
        name: String,
    },
}

/// A decision on the command line.
#[derive(Debug, Args)]
#[command(after_help = "Actions:
  {\"action\": \"set_parameter\", \"name\": \"rent.rate\", \"value\": 2000000}
  {\"action\": \"call\", \"actor\": \"0x…\", \"method\": \"set_image\", \"argument\": {…}}   calls a system actor as 0x09
  {\"action\": \"disburse\", \"bucket\": \"treasury\", \"to\": \"0x…\", \"amount\": 5}
  {\"action\": \"set_council\", \"members\": [9 addresses]}
  {\"action\": \"circuit_break\", \"actor\": \"0x…\"} and {\"action\": \"resume\", \"actor\": \"0x…\"}
  {\"action\": \"upgrade\", \"version\": 2, \"height\": 500000}   the protocol version from this height on
  {\"action\": \"cancel_upgrade\", \"version\": 2}
  {\"actions\": [at most 16 of these]}   all of them or none")]
pub(crate) struct Decision {
    /// The proposal: JSON, or @FILE
    decision: String,
}

impl Decision {
    fn json(&self) -> Result<Value, Failure> {
        payload::json(&self.decision)
    }
}

/// What a ballot says.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Choice {
    /// For it
    Yes,
    /// Against it
    No,
    /// Present, no more
    Abstain,
}

impl Gov {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Propose { decision, deposit, terms } => propose(session, &decision.json()?, deposit.as_deref(), &terms).await,
            Self::Preview { decision } => {
                let shown = preview(session, &decision.json()?).await?;
                session.output.result(&shown, describe_preview(&shown));
                Ok(())
            }
            Self::CircuitBreak { actor, terms } => {
                call(session, "circuit_break", &json!({ "actor": actor.to_string() }), Amount::ZERO, &terms).await
            }
            Self::Pauses => {
                let pauses = session.client.view(&Address::system(governance::NUMBER), "get_pauses", &json!({})).await?.result;
                session.output.result(&pauses, describe_pauses(&pauses));
                Ok(())
            }
            Self::Vote { id, choice, terms } => {
                let choice = match choice {
                    Choice::Yes => "yes",
                    Choice::No => "no",
                    Choice::Abstain => "abstain",
                };
                known(session, id).await?;
                call(session, "vote", &json!({ "proposal": id, "choice": choice }), Amount::ZERO, &terms).await
            }
            Self::Count { id, terms } => about(session, "count", id, &terms).await,
            Self::Execute { id, terms } => about(session, "execute", id, &terms).await,
            Self::Cancel { id, terms } => about(session, "cancel", id, &terms).await,
            Self::FastTrack { id, terms } => about(session, "fast_track", id, &terms).await,
            Self::List { stage, rows } => {
                let stage = stage.map(|stage| format!("?stage={stage}")).unwrap_or_default();
                let path = format!("/governance/proposals{stage}");
                rows.print::<model::Proposals>(session, &path, |proposals| lines(proposals, line, "no proposals")).await
            }
            Self::Timelocks => timelocks(session).await,
            Self::Show { id } => {
                let proposal = get(session, id).await?;
                session.output.result(&proposal, describe(&proposal));
                Ok(())
            }
            Self::Upgrades => upgrades(session).await,
            Self::Council => {
                let council: model::Council = session.client.get("/governance/council").await?;
                let members: Vec<String> = council.members.iter().map(ToString::to_string).collect();
                let rule = format!("{} of {} must agree", council.threshold, council.size);
                let text = if members.is_empty() {
                    format!("No council is named yet; {rule}.")
                } else {
                    format!("{}\n{rule}", members.join("\n"))
                };
                session.output.result(&council, text);
                Ok(())
            }
            Self::Params { prefix } => params(session, prefix.as_deref().unwrap_or_default()).await,
            Self::History { name } => {
                let history: model::ParameterHistory = session.client.get(&format!("/governance/history/{name}")).await?;
                let lines =
                    history.changes.iter().map(|one| format!("height {:>10}  {}  by proposal {}", one.height, one.value, one.proposal));
                let text = if history.changes.is_empty() {
                    format!("{name} has not changed since genesis.")
                } else {
                    lines.collect::<Vec<_>>().join("\n")
                };
                session.output.result(&history, text);
                Ok(())
            }
        }
    }
}

async fn call(session: &Session, method: &str, argument: &Value, value: Amount, terms: &Terms) -> Result<(), Failure> {
    session.submit(instruction(governance::NUMBER, method, argument, value)?, terms).await
}

/// A proposal, as the node has it.
async fn get(session: &Session, id: u64) -> Result<model::Proposal, Failure> {
    session.client.get(&format!("/governance/proposals/{id}")).await.map_err(|error| unlisted(error, "cowboy gov list"))
}

/// Fails, before a transaction is paid for, where there is no such proposal.
async fn known(session: &Session, id: u64) -> Result<(), Failure> {
    get(session, id).await?;
    Ok(())
}

async fn about(session: &Session, method: &str, id: u64, terms: &Terms) -> Result<(), Failure> {
    known(session, id).await?;
    call(session, method, &json!({ "proposal": id }), Amount::ZERO, terms).await
}

async fn propose(session: &Session, decision: &Value, deposit: Option<&str>, terms: &Terms) -> Result<(), Failure> {
    session.submit(proposal(session, decision, deposit).await?, terms).await
}

/// The instruction that proposes, with the deposit of the decision's tier unless another is named.
pub(super) async fn proposal(session: &Session, decision: &Value, deposit: Option<&str>) -> Result<Instruction, Failure> {
    let deposit = match deposit {
        Some(text) => amount::argument(text)?,
        None => Amount(preview(session, decision).await?["deposit"].as_u64().unwrap_or_default()),
    };
    session.output.progress(format_args!("Putting down {}.", amount::cby(deposit.get())));
    instruction(governance::NUMBER, "propose", &listed(decision), deposit)
}

/// A decision as the table of 0x09 has it, where people may write a single action.
fn listed(decision: &Value) -> Value {
    if decision.get("actions").is_some() { decision.clone() } else { json!({ "actions": [decision] }) }
}

/// What a decision would do if it took effect now.
async fn preview(session: &Session, decision: &Value) -> Result<Value, Failure> {
    ask_method(session, "preview", &listed(decision)).await
}

/// The answer of a method of 0x09 that changes nothing, from a transaction that is tried and not sent.
async fn ask_method(session: &Session, method: &str, argument: &Value) -> Result<Value, Failure> {
    let instruction = instruction(governance::NUMBER, method, argument, Amount::ZERO)?;
    Ok(cbor::decode_or_hex(&send::try_out(&session.client, &session.key()?, instruction).await?.receipt.return_data.0))
}

fn describe_preview(shown: &Value) -> String {
    let events = shown["events"].as_array().map(Vec::as_slice).unwrap_or_default();
    let effects = events.iter().map(|event| format!("  {} {}", event["name"].as_str().unwrap_or_default(), event["data"]));
    let head = match shown["error"].as_str() {
        Some(error) => format!("It would fail now ({error}), and none of it would take effect. Up to the failure:"),
        None => "It would take effect now:".to_owned(),
    };
    let tail = format!("tier {}, deposit {}", shown["tier"], amount::cby(shown["deposit"].as_u64().unwrap_or_default()));
    let refusal = shown["refusal"].as_str().map(|refusal| format!("It cannot be proposed now: {refusal}"));
    let is_kept = shown["is_cancellable"] == false;
    let kept = is_kept.then(|| "The council cannot cancel it.".to_owned());
    refusal.into_iter().chain([head]).chain(effects).chain([tail]).chain(kept).collect::<Vec<_>>().join("\n")
}

async fn upgrades(session: &Session) -> Result<(), Failure> {
    let upgrades: model::Upgrades = session.client.get("/governance/upgrades").await?;
    session.output.result(&upgrades, describe_upgrades(&upgrades));
    Ok(())
}

fn describe_upgrades(upgrades: &model::Upgrades) -> String {
    let line = |upgrade: &model::Upgrade| {
        let known = if upgrade.is_known { upgrade.about.as_str() } else { "the node does not know it, and stops before it" };
        format!("version {:>3} from height {:>10}  {known}", upgrade.version, upgrade.height)
    };
    let head = format!("The next block runs under version {}; the node knows versions up to {}.", upgrades.version, upgrades.newest_known);
    std::iter::once(head).chain(upgrades.scheduled.iter().map(line)).collect::<Vec<_>>().join("\n")
}

fn describe_pauses(pauses: &Value) -> String {
    let line = |pause: &Value| match pause["until"].as_u64() {
        Some(until) => {
            format!("{} until {until}, unless proposal {} ratifies it", pause["actor"].as_str().unwrap_or_default(), pause["proposal"])
        }
        None => format!("{} until a proposal resumes it", pause["actor"].as_str().unwrap_or_default()),
    };
    let lines: Vec<String> = pauses.as_array().map(Vec::as_slice).unwrap_or_default().iter().map(line).collect();
    if lines.is_empty() { "No system actor is paused.".to_owned() } else { lines.join("\n") }
}

async fn timelocks(session: &Session) -> Result<(), Failure> {
    let found: model::Proposals = session.client.get("/governance/timelocks").await?;
    session.output.result(&found, lines(&found.proposals, line, "no proposals"));
    Ok(())
}

fn line(proposal: &model::Proposal) -> String {
    format!("{:>5}  {:<20}  tier {}  {}", proposal.id, stage(proposal), proposal.tier, all(&proposal.actions))
}

/// Where a proposal is, and until when.
fn stage(proposal: &model::Proposal) -> String {
    match (proposal.stage.as_str(), proposal.height) {
        ("voting", Some(height)) => format!("voting until {height}"),
        (stage, Some(height)) => format!("{stage} until {height}"),
        (stage, None) => stage.to_owned(),
    }
}

/// What the actions of a decision do, in a line.
fn all(actions: &[model::ProposedAction]) -> String {
    actions.iter().map(what).collect::<Vec<_>>().join("; ")
}

/// What an action does, in a line.
fn what(action: &model::ProposedAction) -> String {
    if let Some(actor) = &action.actor {
        let method = action.method.as_ref().map(|method| format!(" {method}")).unwrap_or_default();
        return format!("{}{method} of {actor}", action.action);
    }
    if let Some(version) = action.version {
        let from = action.height.map(|height| format!(" from height {height} on")).unwrap_or_default();
        return format!("{} to version {version}{from}", action.action);
    }
    match (&action.name, &action.bucket, &action.members) {
        (Some(name), _, _) => format!("{name} = {}", action.value.unwrap_or_default()),
        (_, Some(bucket), _) => {
            let to = action.to.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{} of {bucket} to {to}", amount::cby(action.amount.unwrap_or_default()))
        }
        (_, _, Some(members)) => format!("a council of {}", members.len()),
        _ => action.action.clone(),
    }
}

fn describe(proposal: &model::Proposal) -> String {
    let votes = |choice: &str| proposal.ballots.iter().filter(|ballot| ballot.choice == choice).count();
    table([
        ("proposal", proposal.id.to_string()),
        ("does", all(&proposal.actions)),
        ("stage", stage(proposal)),
        ("tier", format!("{}{}", proposal.tier, if proposal.is_fast { ", made quick by the council" } else { "" })),
        ("proposer", proposal.proposer.to_string()),
        ("deposit", amount::cby(proposal.deposit)),
        ("ballots", format!("{} yes, {} no, {} abstain", votes("yes"), votes("no"), votes("abstain"))),
        (
            "council",
            format!("{} to cancel it, {} to fast-track it", amount::counted(proposal.cancel.len(), "vote"), proposal.fast_track.len()),
        ),
    ])
}

async fn params(session: &Session, prefix: &str) -> Result<(), Failure> {
    let mut found: model::Parameters = session.client.all("/params").await?;
    found.params.retain(|row| row.name.starts_with(prefix));
    let line = |row: &model::Parameter| format!("{:<44} {:>20} {:<12} tier {}", row.name, row.value, row.unit, row.tier);
    session.output.result(&found, lines(&found.params, line, &format!("no parameter has a name that begins with {prefix:?}")));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 693: what the two refusals are about is said before anybody puts a deposit down.
    #[test]
    fn a_preview_says_what_is_refused() {
        let shown = json!({ "deposit": 0, "error": null, "events": [], "is_cancellable": true, "refusal": null, "tier": 0 });
        let plain = describe_preview(&shown);
        assert_eq!(plain.lines().count(), 2, "{plain}");
        let refused = json!({ "deposit": 0, "error": null, "events": [], "is_cancellable": false, "refusal": "Propose the others apart.", "tier": 3 });
        let lines = describe_preview(&refused);
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!((lines[0], lines[3]), ("It cannot be proposed now: Propose the others apart.", "The council cannot cancel it."));
    }

    /// A decision is one action or a list of them, and what the table does not have is refused by name.
    #[test]
    fn decisions_are_written_as_the_table_has_them() {
        let proposes = |decision: Value| instruction(governance::NUMBER, "propose", &listed(&decision), Amount(1));
        let single = json!({ "action": "set_parameter", "name": "rent.rate", "value": 7 });
        let of_single = proposes(single.clone()).expect("an action");
        assert_eq!(of_single, proposes(json!({ "actions": [single] })).expect("a list of one"));
        let wrong = [json!({ "action": "set_parameter", "row": 1 }), json!({ "action": "restart" })];
        for (wrong, named) in wrong.into_iter().zip(["actions.row", "actions.action"]) {
            let failure = proposes(wrong).expect_err("no action");
            assert!(format!("{failure:?}").contains(named), "{failure:?}");
        }
    }
}
