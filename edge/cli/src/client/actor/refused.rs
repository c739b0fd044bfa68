//! What an author is told of a source that is refused, or that fails when it is deployed: the place in the author's own file.

use cowboy_api::ApiError;
use cowboy_console::{failure::Failure, output::Output};
use cowboy_devtools::lint;
use cowboy_vm::{CompileError, check};
use serde_json::{Value, json};
use std::path::Path;

/// How a traceback of the chain names a line of an actor's source.
const CHAIN_FRAME: &str = "  File \"actor.py\", ";

/// How the line ends that begins the traceback of another actor.
const OTHER_ACTOR: &str = " failed:";

/// Refuses a source that the chain would refuse, before it is sent: as text with the places marked, as JSON with file, line, column and message.
pub(super) fn refuse(output: Output, path: &Path, source: &str) -> Result<(), Failure> {
    if output.json
        && let Some(error) = refusal(path, &check(source))
    {
        return Err(error.into());
    }
    lint::refuse(path, source)
}

/// The first of the compiler's errors, with all of them beside it; nothing where there is none.
fn refusal(path: &Path, found: &[CompileError]) -> Option<ApiError> {
    let first = found.first()?;
    let one = |error: &CompileError| json!({ "line": error.line, "column": error.column, "width": error.width, "message": error.message });
    let context = json!({
        "file": path.display().to_string(), "line": first.line, "column": first.column, "message": first.message,
        "errors": found.iter().map(one).collect::<Vec<Value>>(),
    });
    Some(ApiError::of_abort(lint::abort_of(first.kind)).with(context))
}

/// The failure of a deployment, whose traceback names the author's file. Tracebacks of other actors stay as they are.
pub(super) fn in_file(mut error: ApiError, path: &Path) -> ApiError {
    let Some(trace) = error.context["trace"].as_str() else { return error };
    let frame = format!("  File \"{}\", ", path.display());
    let mut is_own = true;
    let named = |line: &str| {
        is_own = is_own && !line.ends_with(OTHER_ACTOR);
        line.strip_prefix(CHAIN_FRAME).filter(|_| is_own).map_or_else(|| line.to_owned(), |rest| format!("{frame}{rest}"))
    };
    let lines: Vec<String> = trace.lines().map(named).collect();
    error.context["trace"] = lines.join("\n").into();
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::error::{HANDLER_RAISED, SYNTAX_ERROR};

    #[test]
    fn a_refused_source_is_json() {
        let path = Path::new("shop/till.py");
        let refused = |source, json| refuse(Output { json }, path, source).expect_err("the source is refused").to_json()["error"].clone();
        let syntax = refused("x = 1\ndef f(:\n", true);
        assert_eq!((&syntax["code"], &syntax["slug"]), (&json!(SYNTAX_ERROR.code), &json!("syntax_error")));
        let context = &syntax["context"];
        assert_eq!((&context["file"], &context["line"], &context["column"]), (&json!("shop/till.py"), &json!(2), &json!(7)), "{context}");
        assert_eq!(context["errors"][0]["message"], context["message"]);
        let forbidden = refused("import os\nimport socket\n", true);
        assert_eq!(
            (&forbidden["slug"], &forbidden["context"]["errors"][1]["line"]),
            (&json!("forbidden_source"), &json!(2)),
            "{forbidden}"
        );
        assert!(refused("import os\n", false)["what"].as_str().is_some_and(|what| what.contains("--> shop/till.py:1:8")));
        assert!(refuse(Output { json: true }, path, "x = 1\n").is_ok());
    }

    #[test]
    fn a_traceback_names_the_authors_file() {
        let own = "Traceback (most recent call last):\n  File \"actor.py\", line 7, in init\n    go()\nValueError: no";
        let other = format!("{own}\n0x01.tick failed:\n  File \"actor.py\", line 2, in tick\nKeyError: 1");
        let error = in_file(ApiError::of_abort(HANDLER_RAISED).with(json!({ "trace": other })), Path::new("shop/till.py"));
        let trace = error.context["trace"].as_str().expect("a traceback");
        assert!(trace.contains("  File \"shop/till.py\", line 7, in init\n    go()"), "{trace}");
        assert!(trace.ends_with("0x01.tick failed:\n  File \"actor.py\", line 2, in tick\nKeyError: 1"), "{trace}");
        let plain = ApiError::of_abort(HANDLER_RAISED);
        assert_eq!(in_file(plain.clone(), Path::new("till.py")), plain);
    }
}
