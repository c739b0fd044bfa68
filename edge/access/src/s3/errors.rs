//! What clients are told of failures.

use crate::fault::Fault;
use cowboy_console::output::note;
use hyper::StatusCode;
use s3s::{S3Error, S3ErrorCode};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is answered in the place of a reason of relays, the chain, or the disk.
const OUTSIDE: &str = "the volume fails at the moment: try again; the server's own output has the reason";

/// After how long the same reason is printed again: clients repeat what failed.
const PAUSE: Duration = Duration::from_secs(60);

/// The reason that was printed last, and when.
static PRINTED: Mutex<Option<(String, Instant)>> = Mutex::new(None);

/// Whether a reason is printed now.
fn is_due(printed: &mut Option<(String, Instant)>, reason: &str, now: Instant) -> bool {
    if printed.as_ref().is_some_and(|(last, at)| last == reason && now.saturating_duration_since(*at) < PAUSE) {
        return false;
    }
    *printed = Some((reason.to_owned(), now));
    true
}

/// What a client is told. Reasons of relays, the chain and the disk are printed for whoever runs the server: a client may have one presigned address and no
/// key (decision 747).
fn message(fault: &Fault) -> String {
    let Fault::Outside(_) = fault else { return fault.to_string() };
    let reason = fault.headline();
    if is_due(&mut PRINTED.lock().unwrap_or_else(PoisonError::into_inner), &reason, Instant::now()) {
        note(format_args!("a request fails: {reason}"));
    }
    OUTSIDE.to_owned()
}

impl From<Fault> for S3Error {
    fn from(fault: Fault) -> Self {
        let message = message(&fault);
        let code = match fault {
            Fault::NoPartition(_) => S3ErrorCode::NoSuchBucket,
            Fault::NoFile(_) => S3ErrorCode::NoSuchKey,
            Fault::Path(_) => S3ErrorCode::InvalidArgument,
            Fault::Forbidden(_) => S3ErrorCode::AccessDenied,
            Fault::Condition => S3ErrorCode::PreconditionFailed,
            Fault::TooLong => S3ErrorCode::EntityTooLarge,
            Fault::Clash(_) | Fault::Broken(_) => S3ErrorCode::InvalidRequest,
            Fault::OverQuota(_) => S3ErrorCode::Custom("QuotaExceeded".into()),
            // 503: clients wait, and try again.
            Fault::SpoolFull(_) | Fault::DiskFull | Fault::Busy => S3ErrorCode::SlowDown,
            Fault::Incomplete => S3ErrorCode::IncompleteBody,
            Fault::Digest(_) => S3ErrorCode::BadDigest,
            Fault::Closed => S3ErrorCode::ServiceUnavailable,
            Fault::Outside(_) => S3ErrorCode::InternalError,
        };
        let is_full = matches!(code, S3ErrorCode::Custom(_));
        let mut error = Self::with_message(code, message);
        if is_full {
            // Clients do not try that again by themselves.
            error.set_status_code(StatusCode::INSUFFICIENT_STORAGE);
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 747: no client reads where relays are, or what the node or the disk said.
    #[test]
    fn reasons_are_for_whoever_runs_the_server() {
        let error = S3Error::from(Fault::outside("relay.example.com:4433 has no shard 3, and /home/me/spool is gone"));
        assert_eq!((error.code(), error.message()), (&S3ErrorCode::InternalError, Some(OUTSIDE)));
        let error = S3Error::from(Fault::NoFile("notes/a".to_owned()));
        assert_eq!((error.code(), error.message()), (&S3ErrorCode::NoSuchKey, Some("notes/a is not there")));
    }

    /// A client that repeats its request fills no terminal, and another reason is printed at once.
    #[test]
    fn a_reason_is_printed_once_a_minute() {
        let (mut printed, now) = (None, Instant::now());
        let mut is_due = |reason: &str, seconds: u64| is_due(&mut printed, reason, now + Duration::from_secs(seconds));
        let found = [is_due("one", 0), is_due("one", 59), is_due("two", 59), is_due("two", 60), is_due("two", 119)];
        assert_eq!(found, [true, false, true, false, true]);
    }
}
