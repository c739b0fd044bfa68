//! Whoever wants other runners out of the market: requesters whose own runners decide what others are blamed for, and runners that are heard of,
//! or silent, when it suits them; and whoever wants other jobs out of the queue for a free slot.

use super::*;

/// Jobs of a play, so that who is blamed in each of them comes on probation.
const JOBS: usize = 11;

/// What is done to the other runners.
#[derive(Clone, Copy, Debug)]
enum Does {
    /// Nothing.
    Honest,
    /// Questions to which everybody answers something else, and this many runners of the requester the same; that number must agree.
    Decides(usize, u64),
    /// Heartbeats in the name of another.
    Beats,
    /// No heartbeat for so long that no job is drawn to it, but to its friends.
    IsSilent,
    /// No commitment to a job that was drawn, for another draw.
    Misses,
}

/// A job of five runners, of whom `agreeing` must agree.
fn question(agreeing: u64) -> serde_json::Value {
    let mut job = job_of("majority_vote", 5);
    job["verification"]["threshold"] = agreeing.into();
    job
}

/// Some jobs of a requester with two runners of its own in the first committee, then one of somebody honest.
fn play(does: Does) -> Came {
    let mut market = market(14);
    let ledger = Ledger::open(&market);
    let (mut attackers, mut answers) = (vec![1], 0);
    for _ in 0..JOBS {
        let agreeing = if let Does::Decides(_, agreeing) = does { agreeing } else { 4 };
        let id = market.submit(&question(agreeing));
        let mut is_seen = false;
        live(&mut market, &id, &mut |committee, number| {
            if attackers == [1] {
                attackers.extend(&committee[..2]);
            }
            let is_own = attackers.contains(&number);
            is_seen |= !is_own;
            match does {
                Does::Decides(friends, _) if attackers.iter().skip(1).take(friends).any(|own| *own == number) => Act::Collude,
                Does::Decides(..) => Act::Lie,
                Does::Misses if is_own => Act::Silent,
                _ => Act::Honest,
            }
        });
        answers += if is_seen { worth(5) } else { 0 };
        visit(&mut market, does, &attackers);
    }
    ledger.close(&market, &attackers, answers)
}

/// What is done between two jobs. Nobody's probation lasts longer than the play, so that the same runners can be drawn.
fn visit(market: &mut Market, does: Does, attackers: &[u8]) {
    let beat = |market: &mut Market, number: u8| market.chain.send(number, ask(REGISTRY, "heartbeat", &serde_json::json!({}), 0));
    match does {
        Does::Beats => assert_eq!(slug(&beat(market, 1)), "runner_not_found", "nobody is heard of for another"),
        Does::IsSilent => {
            market.chain.idle(301);
            for number in market.runners.clone().into_iter().filter(|number| !attackers[1..2].contains(number)) {
                beat(market, number);
            }
        }
        Does::Honest | Does::Decides(..) | Does::Misses => {}
    }
}

/// Two jobs of the requester wait for a free slot, and a crowd of an attacker's jobs that no slot alone helps waits with them.
#[derive(Clone, Copy, Debug)]
struct Crowd {
    jobs: usize,
    /// The price of each in CBY, and the blocks that it waits at most.
    price: u64,
    timeout: u64,
}

impl Crowd {
    fn name(self) -> String {
        format!("{} jobs of {} CBY for {} blocks", self.jobs, self.price, self.timeout)
    }

    /// Five runners of one slot each are busy with slow jobs of the requester. One gets free, and does what waits and can be drawn.
    fn play(self) -> Came {
        let mut market = market(5);
        for number in market.runners.clone() {
            let mut one = declaration(number);
            one["rates"]["http_request_base"] = cby(RATE).into();
            one["max_concurrent"] = 1.into();
            assert_eq!(slug(&market.chain.send(number, ask(REGISTRY, "update", &one, 0))), "");
        }
        let ledger = Ledger::open(&market);
        let [mut slow, mut wanted, mut blocking] = [job_of("none", 1), job_of("none", 1), job_of("majority_vote", 3)];
        slow["timeout_blocks"] = 200.into();
        (wanted["draw"], wanted["timeout_blocks"]) = ("delayed".into(), 10.into());
        (blocking["max_price"], blocking["timeout_blocks"]) = (cby(self.price).into(), self.timeout.into());
        let honest = [vec![slow; 5], vec![wanted; 2]].concat();
        let submit = |from: u8, jobs: &[serde_json::Value]| -> Vec<cowboy_chain::SignedTransaction> {
            let nonce = market.chain.nonce(from);
            jobs.iter().zip(nonce..).map(|(job, nonce)| signed(from, nonce, ask(DISPATCHER, "submit_job", job, 0))).collect()
        };
        let (first, then) = (submit(2, &vec![blocking; self.jobs]), submit(1, &honest));
        assert!(market.chain.block(first).receipts.iter().all(Receipt::is_success));
        let ids: Vec<Hash> = market.chain.block(then).receipts.iter().take(7).map(id_of).collect();
        let (slow, wanted) = ids.split_at(5);
        while wanted.iter().any(|id| market.job(id).status == JobStatus::Drawing) {
            market.chain.idle(1);
        }
        for id in [&slow[..1], wanted].concat() {
            live(&mut market, &id, &mut |_, _| Act::Honest);
        }
        market.chain.idle(self.timeout);
        for id in &slow[1..] {
            live(&mut market, id, &mut |_, _| Act::Honest);
        }
        let answers = ids.iter().filter(|id| is_right(&market, id)).count();
        ledger.close(&market, &[2], worth(1) * i128::try_from(answers).expect("seven"))
    }
}

/// The plays of which the chain takes the jobs.
pub(super) fn attacks() -> Vec<Attack> {
    let is_taken = |does: &&Does| {
        let Does::Decides(_, agreeing) = does else { return true };
        let receipt = market(5).chain.send(1, ask(DISPATCHER, "submit_job", &question(*agreeing), 0));
        slug(&receipt).is_empty()
    };
    let attack = |name, choices: &[Does]| {
        let choices = choices.iter().filter(is_taken).map(|does| (format!("{does:?}"), play(*does))).collect();
        Attack { name, honest: play(Does::Honest), choices, reason: None }
    };
    let deciding: Vec<Does> =
        [1, 2].into_iter().flat_map(|friends| (2..=4).map(move |agreeing| Does::Decides(friends, agreeing))).collect();
    let crowd = |jobs, price, timeout| Crowd { jobs, price, timeout };
    let crowds = [crowd(2, 60, 10), crowd(64, 60, 10), crowd(64, 120, 10), crowd(64, 60, 100)];
    vec![
        Attack {
            name: "the places of jobs that wait",
            honest: crowd(0, 60, 100).play(),
            choices: crowds.into_iter().map(|crowd| (crowd.name(), crowd.play())).collect(),
            reason: None,
        },
        attack("blame by a minority of the requester's own", &deciding),
        attack("heartbeats, silence and missed draws", &[Does::Beats, Does::IsSilent, Does::Misses]),
    ]
}
