//! Usage that is far from what the rest of a committee needed.

use super::super::harness::address;
use super::*;
use cowboy_types::job::JobStatus;

/// Jobs of three that are paid by another unit each, with the usage of two of their members and that of the third.
fn rows() -> [(&'static str, serde_json::Value, Usage, Usage); 4] {
    let usage = |input_tokens: u64, output_tokens: u64, compute_ms: u64| Usage {
        input_tokens: Count(input_tokens),
        output_tokens: Count(output_tokens),
        compute_ms: Count(compute_ms),
        requests: Count(1),
        memory_mb: Count::ZERO,
    };
    let model = serde_json::json!({ "type": "Llm", "prompt": "?" });
    let tool = serde_json::json!({ "type": "Custom", "tool": "sum" });
    [
        ("tokens out of a model", model.clone(), usage(10, 100, 500), usage(10, 201, 500)),
        ("tokens into it", model, usage(10, 100, 500), usage(21, 100, 500)),
        ("time of a tool", tool.clone(), usage(0, 0, 400), usage(0, 0, 801)),
        ("time beyond what the job expects", tool, usage(0, 0, 500), usage(0, 0, 2_001)),
    ]
}

/// in every unit that a kind of work is paid by, usage of more than twice the committee's median is paid as the median, and flags
/// the runner. Twice is still paid as it is.
#[test]
fn usage_beyond_the_median_is_paid_as_the_median() {
    for (case, kind, usual, beyond) in rows() {
        let mut market = Market::new(3);
        let mut job = committee_job("majority_vote", 3);
        job["job_type"] = kind;
        job["bounds"] = serde_json::json!({ "max_wall_time_seconds": 5, "max_input_tokens": 1_000, "max_output_tokens": 1_000 });
        job["tip"] = 0.into();
        let id = market.submit(&job);
        let committee = market.draw(&id);
        let said: Vec<Said> = committee
            .iter()
            .enumerate()
            .map(|(place, number)| Said { usage: if place == 2 { beyond.clone() } else { usual.clone() }, ..market.said(*number, b"x") })
            .collect();
        market.commit(&id, &said);
        market.wait_for_members(&id);
        assert!(market.reveal(&id, &said).iter().all(Receipt::is_success), "{case}");
        let done = market.job(&id);
        assert_eq!(done.status, JobStatus::Verified, "{case}");
        let paid: Vec<u64> = done.members.iter().map(|member| member.paid.0).collect();
        assert!(paid[0] > 0 && paid[0] == paid[1] && paid[1] == paid[2], "{case}: {paid:?}");
        let runners = invariants::runners_of(&market.chain);
        let flagged: Vec<bool> = committee.iter().map(|number| runners[&address(*number)].is_flagged).collect();
        assert_eq!(flagged, [false, false, true], "{case}");
    }
}

/// Twice the median, and twice the expected time, are no anomaly.
#[test]
fn twice_the_median_is_paid_as_it_is() {
    let mut market = Market::new(3);
    let mut job = committee_job("majority_vote", 3);
    job["job_type"] = serde_json::json!({ "type": "Custom", "tool": "sum" });
    job["bounds"]["max_wall_time_seconds"] = 5.into();
    job["tip"] = 0.into();
    let id = market.submit(&job);
    let committee = market.draw(&id);
    let said: Vec<Said> = committee
        .iter()
        .enumerate()
        .map(|(place, number)| market.said(*number, b"x").using(1, if place == 2 { 800 } else { 400 }))
        .collect();
    market.commit(&id, &said);
    market.wait_for_members(&id);
    market.reveal(&id, &said);
    let paid: Vec<u64> = market.job(&id).members.iter().map(|member| member.paid.0).collect();
    assert_eq!(paid[2], paid[0] * 2, "{paid:?}");
    let runners = invariants::runners_of(&market.chain);
    assert!(committee.iter().all(|number| !runners[&address(*number)].is_flagged));
}
