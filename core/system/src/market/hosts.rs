//! Hosts as URLs name them.

use cowboy_types::entitlement::domain;

/// The host that a URL names, in lower case. `None` where it names none in canonical form.
pub(super) fn host_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host =
        host.rsplit_once(':').map_or(host, |(host, port)| if port.bytes().all(|byte| byte.is_ascii_digit()) { host } else { authority });
    let host = host.to_ascii_lowercase();
    domain::is_canonical_host(&host).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_urls() {
        let rows = [
            ("https://a.com", Some("a.com")),
            ("HTTP://A.com:80/b?c", Some("a.com")),
            ("https://user:pass@a.com/", Some("a.com")),
            ("https://127.0.0.1:8000/", Some("127.0.0.1")),
            ("https://a.com#@b.com", Some("a.com")),
            ("ftp://a.com", None),
            ("a.com", None),
            ("https://", None),
            ("https://[::1]/", None),
            ("https://\u{e4}.com", None),
            ("https://a.com:b", None),
        ];
        for (url, expected) in rows {
            assert_eq!(host_of(url).as_deref(), expected, "{url}");
        }
    }
}
