//! What the API answers when it refuses: what happened, why, and what to do.
//!
//! Failures that the protocol names keep the protocol's number and words ([`cowboy_types::error::TABLE`]).
//! Failures of the server itself are the rows of [`FAULTS`], from 2000 on, so that the two never meet.

use crate::traceback;
use cowboy_types::error::{Abort, row};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why something was refused or failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ApiError {
    /// The number of the row in the error table.
    pub code: u16,
    /// A stable name for programs.
    pub slug: String,
    /// Which part refuses: `admission`, `source`, `execution`, `entitlement`, `token`, `schedule`, `job`, `other`, or `request`.
    pub category: String,
    /// What happened.
    pub what: String,
    /// Why that is refused.
    pub why: String,
    /// What to do about it.
    pub fix: String,
    /// The particulars: which value, which bound, which line of Python. An object, or null.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub context: serde_json::Value,
}

/// A failure of the server or of the request, before the protocol is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number, for ever.
    pub code: u16,
    /// The HTTP status.
    pub status: u16,
    /// A stable name for programs.
    pub slug: &'static str,
    /// What happened.
    pub what: &'static str,
    /// The cause.
    pub why: &'static str,
    /// What to do about it.
    pub fix: &'static str,
}

macro_rules! faults {
    ($( $code:literal $Name:ident $status:literal $slug:literal, $what:literal, $why:literal, $fix:literal; )+) => {
        $(
            #[doc = concat!($what, " ", $why)]
            pub const $Name: Fault = Fault { code: $code, status: $status, slug: $slug, what: $what, why: $why, fix: $fix };
        )+

        /// Every failure of the server, ascending by number.
        pub const FAULTS: &[Fault] = &[$($Name),+];
    };
}

faults! {
    2000 BAD_REQUEST 400 "bad_request", "The request is not what the method takes.", "A field is missing, of the wrong type or out of range.", "See the method at /swagger-ui.";
    2001 NOT_FOUND 404 "not_found", "The node does not have what was asked for.", "It never existed, this node does not know it yet, or it has pruned it.", "Check the name, and with `cowboy status` the chain and the height of the node. A transaction that waits has no receipt yet, and nodes that run with --archive keep old blocks.";
    2002 NO_SUCH_METHOD 404 "no_such_method", "The API has no such path.", "The table of methods lists all.", "See /swagger-ui.";
    2003 WRONG_VERB 405 "wrong_verb", "The path answers another HTTP method.", "Reading is GET, sending is POST.", "See /swagger-ui.";
    2004 BODY_TOO_LARGE 413 "body_too_large", "The body is too large.", "Bodies have at most 1 MB, submissions 512 KB and 200 transactions.", "Send less at once.";
    2005 RATE_LIMITED 429 "rate_limited", "Too many requests.", "The node answers a bounded number of requests a second.", "Wait a second and try again.";
    2006 BUSY 503 "busy", "The node cannot answer now.", "It is starting, restarting from a snapshot, or no longer has the requested height.", "Try again.";
    2007 TIMEOUT 408 "timeout", "The wait is over.", "The transaction waits still and may be included later.", "Ask for its receipt, or wait longer with timeout_ms.";
    2008 SKIPPED 404 "skipped_by_warp", "The height was skipped.", "A dev chain jumped over it with warp.", "Ask for a height that has a block.";
    2009 NOT_DEV 403 "not_a_dev_chain", "The method exists on dev chains only.", "It would create money, act for others or stop the clock.", "Use it with `cowboyd dev`.";
    2010 SERVER 500 "server_error", "The node failed.", "This is a bug, or a fault of the computer.", "Look at the node's log and report it.";
    2011 UNREACHABLE 503 "unreachable", "No node answers.", "Nothing listens at the address, or it is not a Cowboy node.", "Start one with `cowboyd dev`, or name another with --rpc-url.";
    2012 FAUCET_EMPTY 503 "faucet_empty", "The faucet has nothing left.", "It gives away a fixed sum.", "Use another funded account.";
    2013 TOO_SLOW 503 "too_slow", "The answer takes too long.", "A request that waits for no block has a bounded time, in the queue and on its thread.", "Ask for less at once, or try again.";
    2014 FOREIGN_ORIGIN 403 "foreign_origin", "The request comes from a page of another origin.", "Dev methods must be requested by a loopback host name, and pages of other origins may not use them, the faucet or the WebSocket.", "Ask http://localhost, from a program or from the node's own pages.";
    2015 WRONG_CONTENT_TYPE 415 "wrong_content_type", "The body is not declared as JSON.", "A browser sends anything else for pages of strangers too.", "Send the header `content-type: application/json`.";
    2016 BODY_LATE 408 "body_late", "The body did not come in time.", "A body has 15 seconds.", "Send it faster, or in parts.";
    2017 OVERLOADED 503 "overloaded", "The node has too much to do.", "What waits for its threads is bounded.", "Try again in some seconds.";
    2018 NOT_READY 503 "not_ready", "The node makes no progress.", "It has just started, or no block came for longer than absent leaders explain.", "See `waits_for`, and the node's log.";
    2019 PRUNED 404 "pruned", "The node does not have the block any more.", "It keeps the newest blocks only, or began at a state.", "Ask a node that runs with --archive, or a validator.";
    2020 TOO_MANY_CONNECTIONS 503 "too_many_connections", "The node takes no more connections.", "Their number is bounded, in all, for each client and for each subnet.", "Close some, or try again in some seconds.";
}

impl ApiError {
    /// The failure that the protocol calls by this number.
    pub fn of_abort(abort: Abort) -> Self {
        let row = row(abort.code);
        Self {
            code: abort.code,
            slug: row.slug.into(),
            category: row.category.slug().into(),
            what: row.what.into(),
            why: row.why.into(),
            fix: row.fix.into(),
            context: serde_json::Value::Null,
        }
    }

    /// A failure of the server or the request.
    pub fn of_fault(fault: Fault) -> Self {
        Self {
            code: fault.code,
            slug: fault.slug.into(),
            category: "request".into(),
            what: fault.what.into(),
            why: fault.why.into(),
            fix: fault.fix.into(),
            context: serde_json::Value::Null,
        }
    }

    /// The same, with particulars.
    #[must_use]
    pub fn with(mut self, context: serde_json::Value) -> Self {
        self.context = context;
        self
    }

    /// The HTTP status that fits: the fault's own, 404 for an unknown actor, else 400.
    pub fn status(&self) -> u16 {
        if let Some(fault) = FAULTS.iter().find(|fault| fault.code == self.code) {
            return fault.status;
        }
        match self.slug.as_str() {
            "actor_not_found" | "timer_not_found" => 404,
            "transaction_too_large" => 413,
            "dev_only" => 403,
            "pool_full" => 503,
            "internal" => 500,
            _ => 400,
        }
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The exception is what the author looks for.
        let headline = self.context["trace"].as_str().and_then(traceback::headline);
        if let Some(raised) = &headline {
            write!(f, "{raised}\n  ")?;
        }
        write!(f, "{} ({} {})\n  why: {}\n  fix: {}", self.what, self.code, self.slug, self.why, self.fix)?;
        match &self.context {
            serde_json::Value::Null => Ok(()),
            serde_json::Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        // A trace of one line stands at the top already.
                        serde_json::Value::String(text) if name == "trace" && headline.as_deref() == Some(text.trim()) => {}
                        serde_json::Value::String(text) if text.contains('\n') => write!(f, "\n  {name}:\n{text}")?,
                        serde_json::Value::String(text) => write!(f, "\n  {name}: {text}")?,
                        other => write!(f, "\n  {name}: {other}")?,
                    }
                }
                Ok(())
            }
            other => write!(f, "\n  {other}"),
        }
    }
}

impl std::error::Error for ApiError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_ascend_and_never_share_a_number_with_the_protocol() {
        let numbers: Vec<u16> = FAULTS.iter().map(|fault| fault.code).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "ascending: {numbers:?}");
        for fault in FAULTS {
            assert!(cowboy_types::error::TABLE.iter().all(|row| row.code != fault.code && row.slug != fault.slug), "{}", fault.slug);
        }
    }

    #[test]
    fn the_exception_comes_first() {
        let trace = "Traceback (most recent call last):\n  File \"actor.py\", line 7, in go\nValueError: no";
        let error = ApiError::of_abort(cowboy_types::error::HANDLER_RAISED).with(serde_json::json!({ "trace": trace }));
        let shown = error.to_string();
        assert!(shown.starts_with("ValueError: no (line 7 of actor.py, in go)\n  The handler raised an exception. (1201 "), "{shown}");
        assert!(shown.ends_with(&format!("\n  trace:\n{trace}")), "{shown}");
        let short =
            ApiError::of_abort(cowboy_types::error::HANDLER_RAISED).with(serde_json::json!({ "trace": "TypeError: no", "line": 3 }));
        assert_eq!(short.to_string().matches("TypeError: no").count(), 1, "{short}");
        assert!(short.to_string().ends_with("\n  line: 3"), "{short}");
    }
}
