//! What clients are told of failures.

use crate::fault::Fault;
use hyper::StatusCode;
use s3s::{S3Error, S3ErrorCode};

impl From<Fault> for S3Error {
    fn from(fault: Fault) -> Self {
        let message = fault.to_string();
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
