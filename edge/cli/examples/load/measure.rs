//! The measurements: throughput from the first submission to the last commitment, rate and delay of reads, delay to a final receipt.

use crate::{
    chain::{Chain, Plan, Work},
    http::{Connection, Request},
};
use cowboy_types::signing::PrivateKey;
use serde_json::{Value, json};
use std::{
    io,
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// How often committed state is looked at.
const POLL: Duration = Duration::from_millis(2);

/// A chain that has not moved for so long is nudged, soon enough to cost it little.
const NUDGED_AFTER: Duration = Duration::from_millis(100);

/// A chain that has not moved for so long is given up.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(30);

/// Transactions a second, from the first submission until all are committed. One sender for each connection.
pub(crate) fn throughput(
    chain: &dyn Chain,
    address: &str,
    keys: &[PrivateKey],
    work: Work,
    count: usize,
    batch: usize,
) -> io::Result<Value> {
    let mut connection = Connection::open(address)?;
    let each = count / keys.len();
    let mut plans = Vec::new();
    for key in keys {
        let first = chain.nonce(&mut connection, &key.address())?;
        plans.push(Plan { key, first, last: first + u64::try_from(each).expect("a count fits 64 bits") });
    }
    let before = chain.total(&mut connection, work, &plans)?;
    let requests: Vec<Vec<Request>> = thread::scope(|scope| {
        let signers: Vec<_> = plans
            .iter()
            .map(|&Plan { key, first, last }| {
                scope.spawn(move || {
                    let signed: Vec<Vec<u8>> = (first..last).map(|nonce| chain.sign(key, nonce, work)).collect();
                    signed.chunks(batch).map(|chunk| chain.submit(chunk)).collect()
                })
            })
            .collect();
        signers.into_iter().map(|signer| signer.join().expect("signing does not panic")).collect()
    });
    let (barrier, refused) = (&Barrier::new(keys.len() + 1), &AtomicUsize::new(0));
    let (seconds, nudges) = thread::scope(|scope| -> io::Result<(f64, usize)> {
        let senders: Vec<_> = requests
            .iter()
            .map(|requests| {
                scope.spawn(move || -> io::Result<()> {
                    let mut connection = Connection::open(address)?;
                    barrier.wait();
                    for request in requests {
                        let answer = connection.ask(request)?;
                        if answer.has_error() && refused.fetch_add(1, Ordering::Relaxed) == 0 {
                            eprintln!("refused: {}", answer.beginning());
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        barrier.wait();
        let started = Instant::now();
        for sender in senders {
            sender.join().expect("sending does not panic")?;
        }
        let nudges = wait_until_committed(chain, &mut connection, &plans)?;
        Ok((started.elapsed().as_secs_f64(), nudges))
    })?;
    let done = chain.total(&mut connection, work, &plans)? - before;
    let expected = u128::try_from(each * keys.len()).expect("a count fits 128 bits");
    if done != expected {
        return Err(io::Error::other(format!("{expected} transactions were sent and {done} had their effect")));
    }
    let rate = f64::from(u32::try_from(expected).unwrap_or(u32::MAX)) / seconds;
    Ok(
        json!({ "count": each * keys.len(), "batch": batch, "connections": keys.len(), "seconds": seconds, "per_second": rate, "refused_requests": refused.load(Ordering::Relaxed), "nudges": nudges }),
    )
}

/// Waits until every sender's nonce is what it will be. Answers how often the chain had to be nudged.
fn wait_until_committed(chain: &dyn Chain, connection: &mut Connection, plans: &[Plan<'_>]) -> io::Result<usize> {
    let (mut nudges, mut moved, mut sum) = (0, Instant::now(), 0);
    loop {
        let mut nonces = 0;
        let mut missing = 0;
        for Plan { key, last, .. } in plans {
            let nonce = chain.nonce(connection, &key.address())?;
            nonces += nonce;
            missing += last.saturating_sub(nonce);
        }
        if missing == 0 {
            return Ok(nudges);
        }
        if nonces != sum {
            (sum, moved) = (nonces, Instant::now());
        } else if moved.elapsed() > GIVEN_UP_AFTER {
            return Err(io::Error::other(format!("the chain has stopped, and {missing} transactions are not committed")));
        } else if moved.elapsed() > NUDGED_AFTER && chain.nudge(connection)? {
            nudges += 1;
        }
        thread::sleep(POLL);
    }
}

/// Delay and rate of read-only calls, each connection asking as soon as it is answered.
pub(crate) fn reads(chain: &dyn Chain, address: &str, connections: usize, count: usize) -> io::Result<Value> {
    let barrier = Barrier::new(connections + 1);
    let each = count / connections;
    let (mut delays, seconds) = thread::scope(|scope| -> io::Result<(Vec<Duration>, f64)> {
        let readers: Vec<_> = (0..connections)
            .map(|_| {
                scope.spawn(|| -> io::Result<Vec<Duration>> {
                    let (mut connection, request) = (Connection::open(address)?, chain.read());
                    for _ in 0..each / 10 + 1 {
                        connection.ask(&request)?;
                    }
                    barrier.wait();
                    let mut delays = Vec::with_capacity(each);
                    for _ in 0..each {
                        let started = Instant::now();
                        let answer = connection.ask(&request)?;
                        delays.push(started.elapsed());
                        if answer.has_error() {
                            return Err(io::Error::other(answer.beginning()));
                        }
                    }
                    Ok(delays)
                })
            })
            .collect();
        barrier.wait();
        let started = Instant::now();
        let mut delays = Vec::new();
        for reader in readers {
            delays.extend(reader.join().expect("reading does not panic")?);
        }
        Ok((delays, started.elapsed().as_secs_f64()))
    })?;
    let rate = f64::from(u32::try_from(delays.len()).unwrap_or(u32::MAX)) / seconds;
    let mut report = spread(&mut delays);
    report["per_second"] = json!(rate);
    report["connections"] = json!(connections);
    Ok(report)
}

/// Delay from a submission to its final receipt, one after the other.
pub(crate) fn settling(chain: &dyn Chain, address: &str, key: &PrivateKey, count: usize) -> io::Result<Value> {
    let mut connection = Connection::open(address)?;
    let first = chain.nonce(&mut connection, &key.address())?;
    let mut delays = Vec::with_capacity(count);
    for nonce in first..first + u64::try_from(count).expect("a count fits 64 bits") {
        let signed = chain.sign(key, nonce, Work::Transfer);
        let started = Instant::now();
        chain.settle(&mut connection, &signed)?;
        delays.push(started.elapsed());
    }
    Ok(spread(&mut delays))
}

fn spread(delays: &mut [Duration]) -> Value {
    delays.sort_unstable();
    let at = |percent: usize| delays.get(delays.len() * percent / 100).map_or(0.0, |delay| delay.as_secs_f64() * 1e6);
    json!({ "count": delays.len(), "p50_us": at(50), "p99_us": at(99) })
}
