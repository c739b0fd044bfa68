//! Both forms of a submission, and what is refused in each.

use super::*;

fn text(text: &str) -> Value {
    Value::text(text)
}

fn read(job: Value) -> Result<Request, Refusal> {
    Request::read(&job.encode())
}

fn message(kind: &str, args: &[&str], kwargs: Vec<(&str, Value)>, more: Vec<(&str, Value)>) -> Value {
    let args = Value::Array(args.iter().map(|arg| text(arg)).collect());
    let payload = Value::map([("args", args), ("kwargs", Value::dict(kwargs))]);
    let mut fields = vec![("kind", text(MESSAGE)), ("job_type", text(kind)), ("payload", payload)];
    fields.extend(more);
    Value::dict(fields)
}

/// What stands in a second place, or where nobody reads it, refuses the job by its name. Each row passed the permission
/// check with the allowed address once, and had the forbidden one fetched.
#[test]
fn a_field_has_one_place() {
    let (good, bad) = (|| text("https://allowed.example.com/"), || text("https://other.example.org/"));
    let job = |job_type: Vec<(&str, Value)>, more: Vec<(&str, Value)>| {
        let mut fields = vec![("job_type", Value::dict([vec![("type", text("Http"))], job_type].concat()))];
        fields.extend(more);
        Value::dict(fields)
    };
    let urls = |url: Value| Value::Array(vec![url]);
    let beside = |url: Value| Value::dict([("url", url)]);
    let twice = |name: &str| Err(Refusal::Twice(name.to_string()));
    let unknown = |name: &str, place: &'static str| Err(Refusal::Unknown(name.to_string(), Place::open(place)));
    let closed = |name: &str, place: &'static str| Err(Refusal::Unknown(name.to_string(), Place::closed(place)));
    let check = |form: &str, name: &str, field: &str| {
        let check = Value::dict([(form, text(name)), (field, Value::uint(7))]);
        ("checks", Value::Array(vec![check]))
    };
    let rule = |is_published: bool, fields: Vec<(&str, Value)>| {
        let name = if is_published { "verify" } else { "verification" };
        message("http", &["https://a.b"], vec![(name, Value::dict(fields)), ("timeout_blocks", Value::uint(50))], vec![])
    };
    let rows: [(&str, Value, Result<Vec<String>, Refusal>); 18] = [
        ("as it should be", job(vec![("url", good())], vec![]), Ok(vec!["allowed.example.com".to_string()])),
        ("at the top, too", job(vec![("url", bad())], vec![("url", good())]), unknown("url", "the job")),
        ("in the payload, too", job(vec![("url", good())], vec![("payload", beside(bad()))]), twice("url")),
        ("a list beside it", job(vec![("urls", urls(good()))], vec![("payload", beside(bad()))]), unknown("urls", "job_type")),
        (
            "a list in the message",
            message("http", &["https://other.example.org/"], vec![("urls", urls(good()))], vec![]),
            unknown("urls", "kwargs"),
        ),
        (
            "at the message's top",
            message("http", &["https://other.example.org/"], vec![], vec![("url", good())]),
            closed("url", "the message"),
        ),
        (
            "by name and by place",
            message("http", &["https://other.example.org/"], vec![("url", good())], vec![]),
            Err(Refusal::TooMany(1, 0)),
        ),
        (
            "tokens at the top",
            message("llm", &["a"], vec![("max_tokens", Value::uint(4_000))], vec![("max_tokens", Value::uint(5))]),
            closed("max_tokens", "the message"),
        ),
        ("an address for a tool", message("mcp", &["shop", "find"], vec![("url", good())], vec![]), Ok(vec!["*".to_string()])),
        (
            "a tool that names its hosts",
            message("mcp", &["shop", "find"], vec![("reaches", urls(text("*.example.com")))], vec![]),
            Ok(vec!["*.example.com".to_string()]),
        ),
        (
            "a tool that names what is no host",
            message("mcp", &["shop", "find"], vec![("reaches", urls(good()))], vec![]),
            Ok(vec!["*".to_string()]),
        ),
        ("a field of a rule", rule(true, vec![("mode", text("none")), ("runner", Value::uint(3))]), unknown("runner", "verify")),
        ("a timeout in two places", rule(true, vec![("timeout_blocks", Value::uint(50))]), twice("timeout_blocks")),
        ("a field of a check", rule(true, vec![check("kind", "length_limit", "max_byte")]), closed("max_byte", "checks")),
        ("a field of a check of the chain's", rule(false, vec![check("type", "length_bounds", "max_len")]), closed("max_len", "checks")),
        ("a stream", job(vec![("url", good()), ("stream", Value::Bool(true))], vec![]), unknown("stream", "job_type")),
        ("a token to pay with", job(vec![("url", good())], vec![("payment_token", text("USD"))]), unknown("payment_token", "the job")),
        ("the runner's own", job(vec![("url", good()), ("x-note", text("a"))], vec![]), Ok(vec!["allowed.example.com".to_string()])),
    ];
    for (case, value, expected) in rows {
        assert_eq!(read(value).map(|request| request.hosts()), expected, "{case}");
    }
}

/// Both forms say the same, and a tool's arguments by name are the tool's.
#[test]
fn both_forms_say_the_same() {
    let work = |value: Value| {
        read(value).map(|request| (request.kind, Value::dict(request.work.iter().map(|(name, value)| (&name[..], value.clone())))))
    };
    let url = Value::dict([("url", text("https://a.b"))]);
    let call = Value::dict([("server", text("fs")), ("tool", text("read")), ("arguments", Value::dict([("path", text("/x"))]))]);
    let rows: [(Value, Result<(JobKind, Value), Refusal>); 7] = [
        (
            Value::dict([("job_type", Value::dict([("type", text("Http")), ("url", text("https://a.b"))]))]),
            Ok((JobKind::Http, url.clone())),
        ),
        (Value::dict([("job_type", text("http")), ("payload", url.clone())]), Ok((JobKind::Http, url.clone()))),
        (message("http", &["https://a.b"], vec![("tip", Value::uint(7))], vec![]), Ok((JobKind::Http, url))),
        (message("mcp", &["fs", "read"], vec![("path", text("/x")), ("tip", Value::uint(7))], vec![]), Ok((JobKind::Mcp, call))),
        (message("agent", &["count"], vec![], vec![]), Ok((JobKind::Custom, Value::dict([("tool", text("count"))])))),
        (message("http", &["a", "b"], vec![], vec![]), Err(Refusal::TooMany(2, 1))),
        (Value::dict([("job_type", text("Dance"))]), Err(Refusal::NoJob)),
    ];
    for (value, expected) in rows {
        assert_eq!(work(value.clone()), expected, "{value:?}");
    }
}
