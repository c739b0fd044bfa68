//! Usage that is far from what the rest of a committee needed.

use super::*;
use cowboy_testkit::chain::address;
use cowboy_types::job::JobStatus;

fn used(input_tokens: u64, output_tokens: u64, compute_ms: u64) -> Usage {
    Usage {
        input_tokens: Count(input_tokens),
        output_tokens: Count(output_tokens),
        compute_ms: Count(compute_ms),
        requests: Count(1),
        memory_mb: Count::ZERO,
    }
}

/// A job of three, of whom one used something else than the others. Answers what each was paid, and who is flagged.
fn paid(case: &str, kind: &serde_json::Value, usual: &Usage, other: &Usage) -> (Vec<u64>, Vec<bool>) {
    let mut market = Market::new(3);
    let mut job = committee_job("majority_vote", 3);
    job["job_type"] = kind.clone();
    job["bounds"] = serde_json::json!({ "max_wall_time_seconds": 5, "max_input_tokens": 1_000, "max_output_tokens": 1_000 });
    job["tip"] = 0.into();
    let id = market.submit(&job);
    let committee = market.draw(&id);
    let of = |place: usize| if place == 2 { other.clone() } else { usual.clone() };
    let said: Vec<Said> =
        committee.iter().enumerate().map(|(place, number)| Said { usage: of(place), ..market.said(*number, b"x") }).collect();
    market.commit(&id, &said);
    market.wait_for_members(&id);
    assert!(market.reveal(&id, &said).iter().all(Receipt::is_success), "{case}");
    let done = market.job(&id);
    assert_eq!(done.status, JobStatus::Verified, "{case}");
    let runners = runners_of(&market.chain);
    let flagged = committee.iter().map(|number| runners[&address(*number)].is_flagged).collect();
    (done.members.iter().map(|member| member.paid.0).collect(), flagged)
}

/// in every unit that a kind of work is paid by, usage of more than twice the committee's median is paid as the median, and flags
/// the runner. Twice the median, and twice the expected time, are paid as they are.
#[test]
fn usage_beyond_the_median_is_paid_as_the_median() {
    let model = serde_json::json!({ "type": "Llm", "prompt": "?" });
    let tool = serde_json::json!({ "type": "Custom", "tool": "sum" });
    let rows = [
        ("tokens out of a model", &model, used(10, 100, 500), used(10, 201, 500)),
        ("tokens into it", &model, used(10, 100, 500), used(21, 100, 500)),
        ("time of a tool", &tool, used(0, 0, 400), used(0, 0, 801)),
        ("time beyond what the job expects", &tool, used(0, 0, 500), used(0, 0, 2_001)),
    ];
    for (case, kind, usual, beyond) in rows {
        let (paid, flagged) = paid(case, kind, &usual, &beyond);
        assert!(paid[0] > 0 && paid[0] == paid[1] && paid[1] == paid[2], "{case}: {paid:?}");
        assert_eq!(flagged, [false, false, true], "{case}");
    }
    let (paid, flagged) = paid("twice", &tool, &used(0, 0, 400), &used(0, 0, 800));
    assert_eq!((paid[2], flagged), (paid[0] * 2, vec![false; 3]), "{paid:?}");
}
