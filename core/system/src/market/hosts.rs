//! Hosts as URLs and containers name them.

use super::address;
use super::refusal::Wrong;
use cowboy_types::cbor::Value;
use cowboy_types::entitlement::domain;

/// The hosts that a container may reach (decision 164).
const HOSTS: usize = 32;

/// The host that the address of a web job names, in lower case. `None` where it names none in canonical form.
pub(super) fn host_of(url: &str) -> Option<String> {
    let host = address::host(url)?.to_ascii_lowercase();
    domain::is_canonical_host(&host).then_some(host)
}

/// The hosts that a container may reach (decision 164).
pub(super) fn hosts(value: Option<&Value>) -> Result<Vec<String>, Wrong> {
    let wrong = Wrong { field: "network", rule: "it is none, or {allow: [HOST, …]} with 1 to 32 hosts in lower case, without wildcards" };
    let allowed = match value {
        None => return Ok(Vec::new()),
        Some(Value::Text(text)) if text == "none" || text.is_empty() => return Ok(Vec::new()),
        Some(Value::Map(pairs)) if pairs.len() == 1 => value.and_then(|value| value.get("allow")).ok_or(wrong)?,
        Some(_) => return Err(wrong),
    };
    let Value::Array(items) = allowed else { return Err(wrong) };
    let is_address = |host: &str| host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let host = |item: &Value| {
        let host = item.as_text().filter(|host| domain::is_canonical_host(host) && !is_address(host));
        host.map(str::to_owned).ok_or(wrong)
    };
    let mut hosts: Vec<String> = items.iter().map(host).collect::<Result<_, _>>()?;
    hosts.sort();
    hosts.dedup();
    if hosts.len() == items.len() && (1..=HOSTS).contains(&hosts.len()) { Ok(hosts) } else { Err(wrong) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_urls() {
        let rows = [
            ("https://a.com", Some("a.com")),
            ("HTTP://A.com:80/b?c", Some("a.com")),
            ("https://127.0.0.1:8000/", Some("127.0.0.1")),
            ("https://user:pass@a.com/", None),
            ("https://127.1/", None),
            ("https://a.com./", None),
            ("https://[::1]/", None),
            ("https://\u{e4}.com", None),
        ];
        for (url, expected) in rows {
            assert_eq!(host_of(url).as_deref(), expected, "{url}");
        }
    }
}
