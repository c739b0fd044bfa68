//! `cowboy job`: ask the off-chain market, watch, and check who was drawn.

mod local;
mod seed;

use super::listing::{Rows, lines};
use super::method::encoded_call;
use super::session::{Session, unlisted};
use crate::send::{self, Terms};
use clap::Subcommand;
use cowboy_api::{ApiError, HexBytes, HexHash, error::BAD_REQUEST, model};
use cowboy_console::{amount, failure::Failure, output::table, payload};
use cowboy_params::Params;
use cowboy_secrets::Name;
use cowboy_system::dispatcher::{
    self,
    lower::{self, Offer},
    selection,
};
use cowboy_system::secrets::jobs as secrets;
use cowboy_types::job::{Candidate, Candidates};
use cowboy_types::{Address, Amount, Height, List, error as aborts};
use serde_json::json;
use std::time::Duration;

/// How often a watched job is asked for.
const WATCH_EVERY: Duration = Duration::from_millis(500);

#[derive(Debug, Subcommand)]
pub(crate) enum Job {
    /// Submit a job to the Dispatcher; prints its id
    Submit {
        /// The job as JSON, or @FILE; bytes are hex with 0x
        spec: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Print a job: its committee, their results, and its outcome
    #[command(alias = "get")]
    Status {
        /// Its id
        id: HexHash,
        /// Print each change until the job ends
        #[arg(long)]
        watch: bool,
    },
    /// Print each change of a job until it ends; fails if the job fails
    Watch {
        /// Its id
        id: HexHash,
    },
    /// Print the newest jobs
    List {
        #[command(flatten)]
        rows: Rows,
    },
    /// Run a job on the chain and wait for its end; with --local, on this computer without a chain
    Run {
        /// The job as JSON, or a file
        spec: String,
        #[command(flatten)]
        here: local::Local,
        #[command(flatten)]
        terms: Terms,
    },
    /// Repeat the draw of the committee from public data, and compare it
    VerifySelection {
        /// The job's id
        id: HexHash,
    },
}

impl Job {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Submit { spec, terms } => {
                let submitted = submit(session, &spec, &terms).await?;
                session.output.result(&submitted.json(), submitted.text());
                Ok(())
            }
            Self::Status { id, watch: true } => watch(session, id).await.map(drop),
            Self::Status { id, watch: false } => {
                let job = get(session, id).await?;
                session.output.result(&job, describe(&job));
                Ok(())
            }
            Self::Watch { id } => ended(&watch(session, id).await?),
            Self::List { rows } => {
                let line = |job: &model::JobSummary| {
                    format!("{}  {:<9}  {:<9}  {:<19}  at {}", job.job_id, job.status, job.kind, job.mode, job.submitted_at)
                };
                rows.print::<model::Jobs>(session, "/jobs", |jobs| lines(jobs, line, "no jobs")).await
            }
            Self::Run { spec, here, .. } if here.local => here.run(session, &spec).await,
            Self::Run { spec, terms, .. } => {
                let submitted = submit(session, &spec, &terms).await?;
                // As JSON it is a part of the one object that is printed at the end.
                if !session.output.json || submitted.id.is_none() {
                    session.output.result(&submitted.json(), submitted.text());
                }
                let id = submitted.id.ok_or_else(|| wrong("the receipt is not awaited, so the job has no id yet"))?;
                let job = over(session, id).await?;
                session.output.result(&json!({ "submitted": submitted.json(), "job": job }), describe(&job));
                ended(&job)
            }
            Self::VerifySelection { id } => verify_selection(session, id).await,
        }
    }
}

pub(super) async fn get(session: &Session, id: HexHash) -> Result<model::Job, Failure> {
    session.client.get(&format!("/job/{id}")).await.map_err(|error| unlisted(error, "cowboy job list"))
}

/// A job as JSON, as `@FILE`, or as the name of a file.
fn spec_argument(text: &str) -> Result<serde_json::Value, Failure> {
    if text.trim_start().starts_with('{') || text.starts_with('@') {
        return payload::json(text);
    }
    if !std::path::Path::new(text).is_file() {
        return Err(Failure::argument(format!("{text:?} is neither JSON nor a file"), "give the job as JSON, or the path of its file"));
    }
    payload::json(&format!("@{text}"))
}

/// A job that was sent.
struct Submitted {
    tx_hash: HexHash,
    /// Its id and height, once the receipt is there.
    id: Option<HexHash>,
    height: Option<u64>,
}

impl Submitted {
    fn json(&self) -> serde_json::Value {
        json!({ "tx_hash": self.tx_hash, "job_id": self.id, "block_height": self.height })
    }

    fn text(&self) -> String {
        let shown = self.id.map_or_else(String::new, |id| format!("\nJob:    {id}"));
        format!("Transaction hash: {}{shown}", self.tx_hash)
    }
}

/// A job with hashes in the place of the names of an account's secrets: names stay off the chain. A secret is its name, or a map with `name` and what
/// else the job says of it.
fn with_hashes(mut job: serde_json::Value, account: impl Fn() -> Result<Address, Failure>) -> Result<serde_json::Value, Failure> {
    let Some(secrets) = job.get_mut("secrets").and_then(serde_json::Value::as_array_mut) else { return Ok(job) };
    for secret in secrets {
        let Some(text) = secret.as_str().or_else(|| secret.get("name")?.as_str()).map(str::to_owned) else { continue };
        let name = Name::new(&text).ok_or_else(|| {
            Failure::argument(format!("{text:?} is not the name of a secret"), "names have A-Z, 0-9 and _, like WEATHER_KEY")
        })?;
        let hash = name.hash(account()?);
        let mut named = serde_json::json!({ "name_hash": hash.to_string(), "as": text });
        if let (Some(named), Some(said)) = (named.as_object_mut(), secret.as_object()) {
            named.extend(said.iter().filter(|(field, _)| *field != "name").map(|(field, value)| (field.clone(), value.clone())));
        }
        *secret = named;
    }
    Ok(job)
}

async fn submit(session: &Session, spec: &str, terms: &Terms) -> Result<Submitted, Failure> {
    let argument = with_hashes(spec_argument(spec)?, || Ok(session.key()?.address()))?;
    let submission = payload::method_argument(&argument)?;
    require_right(session, &submission).await?;
    let instruction = encoded_call(dispatcher::NUMBER, "submit_job", submission, Amount::ZERO)?;
    let sent = send::send(&session.client, &session.key()?, instruction, terms).await?;
    // The id is the delivery's hash with its height (decision 128): a client can compute it, and does.
    let height = sent.receipt.as_ref().map(|receipt| receipt.block_height);
    let id = height.map(|height| dispatcher::handlers::job_id(&sent.tx_hash.0, Height(height), 0));
    Ok(Submitted { tx_hash: sent.tx_hash, id: id.map(HexHash::from), height })
}

/// Fails where a job did: what was printed says why.
fn ended(job: &model::Job) -> Result<(), Failure> {
    if job.summary.status == "failed" { Err(Failure::Said) } else { Ok(()) }
}

/// Whether a job has its result, or will have none.
pub(super) fn is_over(job: &model::Job) -> bool {
    matches!(job.summary.status.as_str(), "verified" | "settled" | "failed")
}

/// A job that is over in one line: its id, how it ended, and its result or why there is none.
pub(super) fn line(job: &model::Job) -> String {
    let found = job.result.as_ref().map_or_else(|| reasons(job).join("; "), |result| shortened(&text_of(result)));
    format!("job {} {}: {found}", job.summary.job_id, job.summary.status)
}

/// Bytes of a result that a line shows.
const LINE: usize = 100;

fn shortened(text: &str) -> String {
    let line = text.replace('\n', " ");
    match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn text_of(result: &HexBytes) -> String {
    std::str::from_utf8(&result.0).map_or_else(|_| result.to_string(), str::to_owned)
}

/// Why a job has no result: the chain's word, then what its runners reported.
fn reasons(job: &model::Job) -> Vec<String> {
    let kind = job.summary.kind.as_str();
    let reported = job.members.iter().filter_map(|member| {
        let words = fault(kind, member.fault)?;
        Some(format!("runner {} reports that {words}", member.runner))
    });
    (!job.reason.is_empty()).then(|| job.reason.clone()).into_iter().chain(reported).collect()
}

/// What a fault means for a kind of work. The chain has only its number; the runner's log has the message.
fn fault(kind: &str, number: u64) -> Option<&'static str> {
    Some(match (number, kind) {
        (1, "container") => {
            "the program failed (its exit code is not 0, a signal ended it, or it left no output file), or its image or command cannot be used"
        }
        (1, _) => "the job is malformed: a field, an address or a rule is wrong",
        (2, "llm") => "an external service failed: it does not have the model, or the model does not answer as the job asks",
        (2, "http") => "an external service failed: the host, the page's status, a redirect, or a page without what `extract` names",
        (2, "mcp" | "custom") => "an external service failed: it does not have the tool, or the tool failed",
        (2, "container") => {
            "an external service failed: the image cannot be fetched, a volume cannot be read, or the runner had no room in time"
        }
        (2, _) => "an external service failed",
        (3, "container") => "the resources are too small: memory, time, files, or bytes of the result or of what it prints",
        (3, "llm") => "the limits are too small: time, tokens, or bytes of the result",
        (3, _) => "the limits are too small: time, memory, or bytes of the result",
        _ => return None,
    })
}

/// Refuses what the chain would refuse for a fee, and a secret that nothing in the job uses.
async fn require_right(session: &Session, submission: &[u8]) -> Result<(), Failure> {
    let params = session.client.params().await?;
    require(&params, submission).map_err(refused)
}

/// What the chain would refuse, in its words. Where its row is of many fields, the reason that is printed below says which one is wrong.
fn refused(mistake: lower::Mistake) -> Failure {
    let context = json!({ "reason": mistake.to_string() });
    let is_of_many_fields = [aborts::JOB_INVALID.code, aborts::CONTAINER_INVALID.code].contains(&mistake.abort.code);
    let mut error = ApiError::of_abort(mistake.abort).with(context);
    if is_of_many_fields {
        error.why = "A field breaks a rule; `reason` names both.".to_owned();
        error.fix = "Correct that field; docs/jobs.md describes all.".to_owned();
    }
    Failure::Mistake(Box::new(error))
}

fn require(params: &Params, submission: &[u8]) -> Result<(), lower::Mistake> {
    let submission = lower::decoded(submission)?;
    let (request, _) = lower::read(&Offer::reading(params, Address::ZERO), &submission)?;
    secrets::require_used(&request, &secrets::checked(&request)?)
}

fn describe(job: &model::Job) -> String {
    let summary = &job.summary;
    let mut lines = vec![table([
        ("job", summary.job_id.to_string()),
        ("status", summary.status.clone()),
        ("kind", format!("{}, verified by {}", summary.kind, summary.mode)),
        ("submitted", format!("by {} at {}", summary.submitter, summary.submitted_at)),
        ("price", format!("at most {}, tip {}", amount::cby(summary.max_price), amount::cby(job.tip))),
        ("committee", format!("{} of {}, {} must agree", job.committee, amount::counted(job.candidates, "candidate"), job.threshold)),
        ("attempt", format!("{}", job.attempt + 1)),
    ])];
    lines.extend(job.members.iter().map(|member| {
        let is_aggregator = if job.aggregator == Some(member.runner) { ", aggregator" } else { "" };
        format!("  {} {} {}{is_aggregator}", member.runner, member.verdict, amount::cby(member.paid))
    }));
    if let Some(result) = &job.result {
        lines.push(format!("result: {}", text_of(result)));
    }
    lines.extend(reasons(job).into_iter().map(|reason| format!("failed: {reason}")));
    if job.members.iter().any(|member| member.fault != 0) {
        lines.push(
            "The runner's log has the cause, and `cowboy job run JOB --local` shows it for a job that this computer can do; it has no demo pages."
                .to_owned(),
        );
    }
    lines.join("\n")
}

/// Prints each change of a job until it is over and then the job, and answers how it ended.
async fn watch(session: &Session, id: HexHash) -> Result<model::Job, Failure> {
    let job = over(session, id).await?;
    session.output.result(&job, describe(&job));
    Ok(job)
}

/// A job that is over. Says each change until then.
async fn over(session: &Session, id: HexHash) -> Result<model::Job, Failure> {
    let mut last = String::new();
    loop {
        let job = get(session, id).await?;
        let state = format!("{} {}", job.summary.status, job.attempt);
        if state != last {
            session.output.progress(format_args!("{} (attempt {})", job.summary.status, job.attempt + 1));
            last = state;
        }
        if is_over(&job) {
            return Ok(job);
        }
        tokio::time::sleep(WATCH_EVERY).await;
    }
}

/// Draws again: the candidates must have the stored root, the seed must be that of the named round, and the draw must give the committee.
async fn verify_selection(session: &Session, id: HexHash) -> Result<(), Failure> {
    let job = get(session, id).await?;
    let snapshot: model::JobCandidates = session.client.get(&format!("/job/{id}/candidates")).await?;
    let all = snapshot.candidates.iter().map(|entry| Candidate { runner: entry.runner.0, weight: entry.weight }).collect();
    let candidates = Candidates { candidates: List::new(all).ok_or_else(|| wrong("there are more candidates than a job can have"))? };
    if job.members.is_empty() {
        return Err(wrong("nobody is drawn at present"));
    }
    let round_seed = seed::of_round(session, &job).await?;
    let excluded: Vec<Address> = job.excluded.iter().map(|runner| runner.0).collect();
    // Who failed in this very draw is left out of later ones only.
    let members: Vec<Address> = job.members.iter().map(|member| member.runner.0).collect();
    let excluded: Vec<Address> = excluded.into_iter().filter(|runner| !members.contains(runner)).collect();
    let passed: Vec<Address> = job.passed.iter().map(|runner| runner.0).collect();
    let draw = selection::Draw {
        candidates: &candidates,
        root: job.candidates_root.0,
        round_seed: &round_seed,
        job: id.0,
        submitted_at: Height(job.summary.submitted_at),
        attempt: job.attempt,
        excluded: &excluded,
        passed: &passed,
    };
    selection::verify_selection(&draw, &members).map_err(|error| wrong(&error.to_string()))?;
    let runners: Vec<String> = members.iter().map(ToString::to_string).collect();
    let value = json!({ "job_id": id, "valid": true, "candidates": candidates.candidates.len(), "seed": job.seed, "members": runners });
    let text = format!(
        "The draw is correct: {} of {} candidates, with seed {}\n{}",
        members.len(),
        candidates.candidates.len(),
        job.seed,
        runners.join("\n")
    );
    session.output.result(&value, text);
    Ok(())
}

fn wrong(reason: &str) -> Failure {
    ApiError::of_fault(BAD_REQUEST).with(json!({ "reason": reason })).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_json_or_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("job.json");
        std::fs::write(&path, "{}").expect("it is written");
        let path = path.display().to_string();
        for given in ["{}", " {}", path.as_str(), format!("@{path}").as_str()] {
            assert_eq!(spec_argument(given).ok(), Some(json!({})), "{given}");
        }
        let refused = spec_argument("nofile.json").expect_err("there is no such file").to_string();
        assert!(refused.starts_with("\"nofile.json\" is neither JSON nor a file"), "{refused}");
        std::fs::write(&path, r#"{"a": 1,}"#).expect("it is written");
        let refused = spec_argument(&path).expect_err("it has a comma too many").to_string();
        assert!(refused.starts_with(&format!("{path} is not JSON: trailing comma at line 1 column 9")), "{refused}");
    }

    #[test]
    fn a_job_without_a_receipt_has_no_id() {
        let hash = HexHash::from(cowboy_types::Hash([1; 32]));
        let submitted = Submitted { tx_hash: hash, id: None, height: None };
        assert_eq!(submitted.json(), json!({ "tx_hash": hash, "job_id": null, "block_height": null }));
        assert_eq!(submitted.text(), format!("Transaction hash: {hash}"));
    }

    /// What the client says of a web job with a secret `KEY` and this header.
    fn said(header: &str, mode: &str) -> String {
        read(header, mode).err().map_or_else(String::new, |mistake| mistake.to_string())
    }

    fn read(header: &str, mode: &str) -> Result<(), lower::Mistake> {
        let job = json!({
            "job_type": { "type": "Http", "url": "https://example.com", "headers": { "authorization": header } },
            "secrets": [{ "name_hash": format!("0x{}", "08".repeat(32)), "as": "KEY" }],
            "bounds": { "max_wall_time_seconds": 20 },
            "result_schema": { "max_return_bytes": 4_096, "expected_execution_ms": 1_000, "data_format": "" },
            "verification": { "mode": mode },
            "max_price": 1_000_000,
            "timeout_blocks": 30,
        });
        let submission = payload::method_argument(&job).expect("JSON is CBOR");
        require(&Params::GENESIS, &submission)
    }

    /// A program that submits jobs reads code and slug of what the chain would refuse, and the field: as JSON, and with the exit code of a mistake.
    #[test]
    fn a_mistake_has_the_words_of_the_chain() {
        let failure = refused(read("Bearer ${KEY}", "majority").expect_err("there is no such mode"));
        let said = failure.to_json()["error"].clone();
        let row = cowboy_types::error::row(u16::try_from(said["code"].as_u64().expect("a code")).expect("a row"));
        assert_eq!(said["slug"].as_str(), Some(row.slug));
        assert_eq!(said["fix"], "Correct that field; docs/jobs.md describes all.", "the row's own speaks of other fields");
        assert!(said["context"]["reason"].as_str().is_some_and(|reason| reason.starts_with("verification.mode: ")), "{said}");
        assert_eq!(format!("{:?}", failure.exit_code()), format!("{:?}", std::process::ExitCode::from(2)));
        assert!(failure.to_string().contains(row.slug), "{failure}");
    }

    /// Decision 587: before anything is paid, a client refuses what the chain would, and a secret that nothing uses.
    #[test]
    fn mistakes_are_found_before_a_submission() {
        let rows = [
            ("Bearer ${KEY}", "none", ""),
            ("Bearer ${OTHER} ${KEY}", "none", "${OTHER} is the placeholder of a secret that secrets does not name."),
            ("Bearer KEY", "none", "secrets names KEY, and no header, body or json has ${KEY} in it."),
            ("Bearer ${KEY}", "majority", "verification.mode: it has to be none, economic_bond,"),
        ];
        for (header, mode, expected) in rows {
            let said = said(header, mode);
            assert!(said.starts_with(expected) && said.is_empty() == expected.is_empty(), "{header}: {said}");
        }
    }

    #[test]
    fn faults_are_those_of_the_kind_of_work() {
        for kind in ["http", "llm", "mcp", "custom", "container"] {
            assert!((1..=3).all(|number| fault(kind, number).is_some()) && fault(kind, 0).is_none(), "{kind}");
        }
        assert!(fault("container", 1).is_some_and(|words| words.contains("exit code")));
        assert!(fault("container", 3).is_some_and(|words| words.contains("memory")));
        assert!(fault("llm", 2).is_some_and(|words| words.contains("the model")));
    }
}
