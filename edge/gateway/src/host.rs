//! Which name a host header asks for.

use crate::refusal::Refusal;
use cowboy_params::Params;
use cowboy_system::names::{domains::is_domain, label};
use hyper::{HeaderMap, Uri, header::HOST};
use std::{
    net::{Ipv4Addr, Ipv6Addr},
    sync::LazyLock,
};

/// Names as far as any value of the parameters allows them.
static WIDEST: LazyLock<Params> = LazyLock::new(|| {
    let row = |name| Params::row(name).expect("a row of the table");
    let least = ["names.length_min"].map(|name| (row(name).id, row(name).min));
    let most = ["names.length_max", "names.labels_max", "names.bytes_max"].map(|name| (row(name).id, row(name).max));
    Params::GENESIS.moved(least.into_iter().chain(most))
});

/// What a request's host says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// A name below one of the zones.
    Name {
        /// The name, as the registry spells it.
        name: String,
        /// The host as the client wrote it, lower case.
        text: String,
    },
    /// A domain of another zone, which may be a name's.
    Domain {
        /// The domain, without port and final dot.
        domain: String,
        /// The host as the client wrote it, lower case.
        text: String,
    },
    /// The gateway itself: a bare address, or a zone.
    Gateway,
}

/// Reads the host of a request: one `Host` header, or the authority of its target, which then agree.
pub(crate) fn read(uri: &Uri, headers: &HeaderMap, zones: &[String]) -> Result<Host, Refusal> {
    let mut all = headers.get_all(HOST).iter();
    let header = all.next();
    if all.next().is_some() {
        return Err(Refusal::bad_host("there is more than one Host header"));
    }
    let header = header.map(|value| value.to_str()).transpose().map_err(|_| Refusal::bad_host("the Host header is not text"))?;
    let target = uri.authority().map(|authority| authority.as_str());
    let text = match (target, header) {
        (Some(target), Some(header)) if !target.eq_ignore_ascii_case(header) => {
            return Err(Refusal::bad_host("the Host header and the target differ"));
        }
        (Some(text), _) | (None, Some(text)) => text.to_ascii_lowercase(),
        (None, None) => return Err(Refusal::bad_host("there is no Host header")),
    };
    name_of(&text, zones)
}

fn name_of(text: &str, zones: &[String]) -> Result<Host, Refusal> {
    if text.contains('@') {
        return Err(Refusal::bad_host("a host has no user"));
    }
    let host = without_port(text)?;
    if host.parse::<Ipv4Addr>().is_ok() || host.starts_with('[') || zones.iter().any(|zone| zone == host) {
        return Ok(Host::Gateway);
    }
    let below = |zone: &String| host.strip_suffix(zone.as_str()).and_then(|rest| rest.strip_suffix('.'));
    let Some(name) = zones.iter().find_map(below) else {
        let domain = Host::Domain { domain: host.to_owned(), text: text.to_owned() };
        return if is_domain(host) { Ok(domain) } else { Err(Refusal::misdirected(host)) };
    };
    // Whether the chain allows it today is asked of its state, later.
    label::check(&WIDEST, name).map_err(|_| Refusal::bad_host("that is not a name"))?;
    Ok(Host::Name { name: name.to_owned(), text: text.to_owned() })
}

/// The host without its port and without the dot that a full name may end with.
fn without_port(text: &str) -> Result<&str, Refusal> {
    let wrong = || Refusal::bad_host("the port is none");
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, rest) = rest.split_once(']').ok_or_else(|| Refusal::bad_host("an address has no end"))?;
            address.parse::<Ipv6Addr>().map_err(|_| Refusal::bad_host("that is not an address"))?;
            (&text[..address.len() + 2], rest.strip_prefix(':').or((rest.is_empty()).then_some("0")).ok_or_else(wrong)?)
        }
        None => text.split_once(':').unwrap_or((text, "0")),
    };
    if port.is_empty() || !port.bytes().all(|byte| byte.is_ascii_digit()) || port.parse::<u16>().is_err() {
        return Err(wrong());
    }
    Ok(host.strip_suffix('.').unwrap_or(host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn check(target: &str, hosts: &[&str]) -> Result<Host, u16> {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(HOST, HeaderValue::from_bytes(host.as_bytes()).expect("a header"));
        }
        let zones = ["cowboy.network".to_owned(), "localhost".to_owned()];
        read(&target.parse().expect("a target"), &headers, &zones).map_err(|refusal| refusal.status.as_u16())
    }

    /// Hosts, row by row: names, the gateway itself, and what is refused.
    #[test]
    fn hosts_are_read_strictly() {
        let name = |name: &str, text: &str| Ok(Host::Name { name: name.into(), text: text.into() });
        let domain = |domain: &str, text: &str| Ok(Host::Domain { domain: domain.into(), text: text.into() });
        let long = format!("{}.localhost", "a".repeat(64));
        let too_long = format!("{}.localhost", "a".repeat(65));
        let rows: &[(&str, &[&str], Result<Host, u16>)] = &[
            ("/", &["mysite.localhost:8080"], name("mysite", "mysite.localhost:8080")),
            ("/", &["mysite.localhost"], name("mysite", "mysite.localhost")),
            ("/", &["MySite.Cowboy.Network"], name("mysite", "mysite.cowboy.network")),
            ("/", &["mysite.localhost."], name("mysite", "mysite.localhost.")),
            ("/", &["mysite.localhost.:80"], name("mysite", "mysite.localhost.:80")),
            // Whether a name is long enough is for the chain's parameters to say.
            ("/", &["ab.localhost"], name("ab", "ab.localhost")),
            ("/", &["blog.mysite.localhost"], name("blog.mysite", "blog.mysite.localhost")),
            ("/", &[&long], name(&"a".repeat(64), &long)),
            ("http://mysite.localhost/x", &[], name("mysite", "mysite.localhost")),
            ("http://mysite.localhost/x", &["mysite.localhost"], name("mysite", "mysite.localhost")),
            ("/", &["localhost:8080"], Ok(Host::Gateway)),
            ("/", &["cowboy.network"], Ok(Host::Gateway)),
            ("/", &["127.0.0.1:8080"], Ok(Host::Gateway)),
            ("/", &["[::1]:8080"], Ok(Host::Gateway)),
            ("/", &["[::1]"], Ok(Host::Gateway)),
            ("/", &[], Err(400)),
            ("/", &["a.localhost", "b.localhost"], Err(400)),
            ("http://mysite.localhost/", &["other.localhost"], Err(400)),
            ("/", &["mysite.localhost:"], Err(400)),
            ("/", &["mysite.localhost:99999"], Err(400)),
            ("/", &["mysite.localhost:8o"], Err(400)),
            ("/", &["user@mysite.localhost"], Err(400)),
            ("/", &["-abc.localhost"], Err(400)),
            ("/", &["xn--exmple-cua.localhost"], Err(400)),
            ("/", &[".localhost"], Err(400)),
            ("/", &[&too_long], Err(400)),
            ("/", &["[::1"], Err(400)),
            ("/", &["mysite.example.com"], domain("mysite.example.com", "mysite.example.com")),
            ("/", &["Shop.Example.com.:8443"], domain("shop.example.com", "shop.example.com.:8443")),
            ("/", &["xn--bcher-kva.example"], domain("xn--bcher-kva.example", "xn--bcher-kva.example")),
            ("/", &["xn--a.example"], Err(421)),
            ("/", &["*.example.com"], Err(421)),
            ("/", &["shop.example.com.."], Err(421)),
            ("/", &["_cowboy.example.com"], Err(421)),
            ("/", &["1.2.3.999"], Err(421)),
            ("/", &["mysitelocalhost"], Err(421)),
            ("/", &[""], Err(421)),
        ];
        for (target, hosts, expected) in rows {
            assert_eq!(check(target, hosts), *expected, "{target} {hosts:?}");
        }
    }
}
