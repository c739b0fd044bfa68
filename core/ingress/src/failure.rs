//! Why a request has no answer of the actor's: a status, a code for programs, and words (004 §8.3.1).

use cowboy_chain::query::QueryError;
use cowboy_types::error;
use http::StatusCode;

/// The header that names a failure (004 §8.3.1).
pub const ERROR_HEADER: &str = "x-cowboy-error";

/// The code of a handler that needs more cycles than it may use.
pub const CYCLE_LIMIT: &str = "QUERY_CYCLE_LIMIT";

/// A failure: what it is, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The status.
    pub status: StatusCode,
    /// For programs, in `X-Cowboy-Error`.
    pub code: &'static str,
    /// What happened.
    pub what: String,
    /// What to do.
    pub fix: String,
    /// Methods that would do, where the method was the matter.
    pub allow: Option<String>,
}

impl Failure {
    /// A failure.
    pub fn new(status: StatusCode, code: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { status, code, what: what.into(), fix: fix.into(), allow: None }
    }

    /// The request is not well formed.
    pub fn bad_request(what: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", what, "Send a well-formed request.")
    }

    /// Nothing answers to the name.
    pub fn unknown_name(name: &str) -> Self {
        let what = format!("Nothing answers to the name {name}: it was never registered, or it expired.");
        Self::new(StatusCode::NOT_FOUND, "UNKNOWN_NAME", what, "Register it: cowboy name register.")
    }

    /// The actor takes no requests.
    pub fn no_ingress() -> Self {
        let what = "The actor of this name takes no requests from outside.";
        Self::new(StatusCode::FORBIDDEN, "NO_INGRESS", what, "Its manifest needs ingress.http.")
    }

    /// The actor does not take this method.
    pub fn method(method: &str, allowed: &[&str]) -> Self {
        let what = format!("The actor does not accept {method}.");
        let allowed = allowed.join(", ");
        let mut failure = Self::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", what, format!("Use one of {allowed}."));
        failure.allow = Some(allowed);
        failure
    }

    /// What the actor returned is no response.
    pub fn invalid_response(why: &str) -> Self {
        let what = format!("The actor's answer is not an HTTP response: {why}.");
        Self::new(StatusCode::BAD_GATEWAY, "INVALID_RESPONSE", what, "Its author has to return status, headers and body.")
    }

    /// Why a handler has no answer, in statuses and words of 004 §8.3.1.
    pub fn of_query(failure: &QueryError) -> Self {
        let server = StatusCode::INTERNAL_SERVER_ERROR;
        match failure {
            QueryError::SideEffect { function } => Self::new(
                server,
                "QUERY_SIDE_EFFECT_TRAP",
                format!("The handler called {function}, which a request that only reads may not."),
                "Its author does that on POST, PUT, PATCH or DELETE, or keeps what it shows under known keys.",
            ),
            QueryError::CycleLimit { limit } => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                CYCLE_LIMIT,
                format!("The handler needs more than {limit} cycles."),
                "Its author raises max_query_cycles in the manifest, or computes less.",
            ),
            QueryError::Failed { abort, .. } if *abort == error::UNKNOWN_HANDLER => {
                Self::new(StatusCode::NOT_IMPLEMENTED, "NO_HANDLER", "The actor has no handler for requests.", "Its author adds one.")
            }
            QueryError::Failed { abort, .. }
                if [error::ACTOR_DORMANT, error::ACTOR_NON_EXECUTABLE, error::ACTOR_NOT_FOUND].contains(abort) =>
            {
                let row = error::row(abort.code);
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "ACTOR_UNAVAILABLE", format!("{} {}", row.what, row.why), row.fix)
            }
            // Making and encoding a long answer takes a multiple of its bytes.
            QueryError::Failed { abort, .. } if *abort == error::OUT_OF_MEMORY => {
                let row = error::row(abort.code);
                let fix = "Its author makes less at once; bodies of up to 4 MiB fit the memory of a call.";
                Self::new(server, "HANDLER_MEMORY", format!("{} {}", row.what, row.why), fix)
            }
            QueryError::Failed { abort, exception } => {
                let row = error::row(abort.code);
                let name = exception.as_ref().map(|exception| format!(" ({})", exception.name)).unwrap_or_default();
                Self::new(server, "HANDLER_PANIC", format!("{}{name}", row.what), "Its author looks at what it raised.")
            }
        }
    }

    /// The failure for programs.
    pub fn json(&self) -> String {
        serde_json::json!({ "error": self.code, "what": self.what, "fix": self.fix, "status": self.status.as_u16() }).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::Cycles;

    /// Each way in which a handler has no answer has its status and name; an actor that rests is not one that failed.
    #[test]
    fn of_queries() {
        let failed = |abort| QueryError::Failed { abort, exception: None };
        let rows = [
            (QueryError::SideEffect { function: "set_state".into() }, 500, "QUERY_SIDE_EFFECT_TRAP"),
            (QueryError::CycleLimit { limit: Cycles(7) }, 422, "QUERY_CYCLE_LIMIT"),
            (failed(error::UNKNOWN_HANDLER), 501, "NO_HANDLER"),
            (failed(error::ACTOR_DORMANT), 503, "ACTOR_UNAVAILABLE"),
            (failed(error::ACTOR_NON_EXECUTABLE), 503, "ACTOR_UNAVAILABLE"),
            (failed(error::ACTOR_NOT_FOUND), 503, "ACTOR_UNAVAILABLE"),
            (failed(error::OUT_OF_CYCLES), 500, "HANDLER_PANIC"),
            (failed(error::OUT_OF_MEMORY), 500, "HANDLER_MEMORY"),
        ];
        for (found, status, code) in rows {
            let failure = Failure::of_query(&found);
            assert_eq!((failure.status.as_u16(), failure.code), (status, code), "{found:?}");
            assert!(!failure.what.is_empty() && !failure.fix.is_empty(), "{found:?}");
        }
    }
}
