//! The head of a request to the proxy, decoded strictly: what is odd is refused, because the server might read it in another way.

use super::hello::HelloError;
use super::name::is_name;
use std::io;

/// Longest head, in bytes.
pub(super) const HEAD_BYTES: usize = 16 << 10;

/// Most headers.
const HEADERS: usize = 64;

/// Headers for the proxy, which the server does not get.
const HOP: [&str; 8] =
    ["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade"];

/// Why the proxy refuses a request.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Too many hosts on the list.
    #[error("{0} hosts, more than 32: name fewer")]
    Hosts(usize),
    /// A name of the list is none.
    #[error("{0:?} is no host name: write it in lower case, with a dot, and use no address")]
    Host(String),
    /// It is no request.
    #[error("the request cannot be read: {0}")]
    Syntax(&'static str),
    /// A head or a ClientHello is too long.
    #[error("the request starts with more than {0} bytes")]
    Long(usize),
    /// The request did not arrive, or the server did not answer.
    #[error("the request took too long to start")]
    Slow,
    /// The host is not on the list.
    #[error("this container may not reach {0:?}: name it in network.allow.hosts")]
    NotAllowed(String),
    /// The port is not allowed.
    #[error("this container may not use port {0}: http uses 80 and CONNECT 443")]
    Port(u16),
    /// Another request follows.
    #[error("bytes follow the request: send one request per connection")]
    Pipelined,
    /// What follows CONNECT is no ClientHello.
    #[error("CONNECT is for TLS: {0}")]
    Hello(HelloError),
    /// TLS asks for another host.
    #[error("TLS asks for {name:?} and CONNECT for {host:?}: both must be the same")]
    Name {
        /// Host of CONNECT.
        host: String,
        /// Name in the ClientHello.
        name: String,
    },
    /// The host is not there, or private.
    #[error("{host} cannot be reached: {reason}")]
    Unreachable {
        /// The host.
        host: String,
        /// What happened.
        reason: io::Error,
    },
    /// Too many connections.
    #[error("this container has had {0} connections, which is the maximum")]
    Connections(u32),
    /// The program closed the connection.
    #[error("the client: {0}")]
    Client(io::Error),
}

impl Refusal {
    /// Status line of the answer.
    pub(super) fn status(&self) -> &'static str {
        match self {
            Self::NotAllowed(_) | Self::Port(_) | Self::Name { .. } | Self::Hello(_) => "403 Forbidden",
            Self::Unreachable { .. } => "502 Bad Gateway",
            Self::Slow => "504 Gateway Timeout",
            Self::Connections(_) => "429 Too Many Requests",
            Self::Long(_) => "431 Request Header Fields Too Large",
            _ => "400 Bad Request",
        }
    }
}

/// Where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Host name, in lower case.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Whether it is CONNECT.
    pub is_tls: bool,
}

/// A head that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Where the request goes.
    pub target: Target,
    /// The head that the server gets; empty for CONNECT.
    pub forward: Vec<u8>,
    /// Length of the body that follows.
    pub body: u64,
    /// Length of the head as it came.
    pub length: usize,
}

impl Head {
    /// Decodes a head; none where more bytes are needed.
    ///
    /// # Errors
    /// If it is no request that the proxy forwards.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, Refusal> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let length = match request.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(Refusal::Syntax("it is no HTTP/1.1 request")),
        };
        let (Some(method), Some(path), Some(1)) = (request.method, request.path, request.version) else {
            return Err(Refusal::Syntax("it is no HTTP/1.1 request"));
        };
        if bytes[..length].windows(2).any(|pair| pair[1] == b'\n' && pair[0] != b'\r') {
            return Err(Refusal::Syntax("a line ends without a carriage return"));
        }
        let headers = Headers::read(request.headers)?;
        if method.eq_ignore_ascii_case("CONNECT") {
            let target = authority(path, None, true)?;
            headers.check_host(&target)?;
            return Ok(Some(Self { target, forward: Vec::new(), body: 0, length }));
        }
        let Some(rest) = path.strip_prefix("http://") else {
            return Err(Refusal::Syntax("the address does not start with http://; use CONNECT for https"));
        };
        let split = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (host, path) = rest.split_at(split);
        let target = authority(host, Some(80), false)?;
        headers.check_host(&target)?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut forward = format!("{method} {slash}{path} HTTP/1.1\r\nhost: {host}\r\n").into_bytes();
        for (name, value) in headers.rest {
            forward.extend_from_slice(name.as_bytes());
            forward.extend_from_slice(b": ");
            forward.extend_from_slice(value);
            forward.extend_from_slice(b"\r\n");
        }
        forward.extend_from_slice(b"connection: close\r\n\r\n");
        Ok(Some(Self { target, forward, body: headers.body, length }))
    }
}

struct Headers<'a> {
    host: Option<&'a [u8]>,
    body: u64,
    rest: Vec<(&'a str, &'a [u8])>,
}

impl<'a> Headers<'a> {
    fn read(headers: &[httparse::Header<'a>]) -> Result<Self, Refusal> {
        let mut read = Self { host: None, body: 0, rest: Vec::new() };
        let (mut has_length, mut hop) = (false, Vec::new());
        for header in headers {
            if header.name.eq_ignore_ascii_case("connection") {
                let value = std::str::from_utf8(header.value).map_err(|_| Refusal::Syntax("Connection is not text"))?;
                hop.extend(value.split(',').map(str::trim));
            }
        }
        if hop.iter().any(|name| name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("host")) {
            return Err(Refusal::Syntax("Connection names a header that the server needs"));
        }
        for header in headers {
            let is = |name: &&str| header.name.eq_ignore_ascii_case(name);
            if is(&"host") {
                if read.host.replace(header.value).is_some() {
                    return Err(Refusal::Syntax("Host is there twice"));
                }
            } else if is(&"transfer-encoding") {
                return Err(Refusal::Syntax("Transfer-Encoding is not supported: send Content-Length"));
            } else if HOP.iter().any(is) || hop.iter().any(is) {
                continue;
            } else if is(&"content-length") {
                let digits = std::str::from_utf8(header.value).ok().filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()));
                let value = digits.and_then(|value| value.parse().ok()).ok_or(Refusal::Syntax("Content-Length is no number"))?;
                if std::mem::replace(&mut has_length, true) {
                    return Err(Refusal::Syntax("Content-Length is there twice"));
                }
                read.body = value;
                read.rest.push((header.name, header.value));
            } else {
                read.rest.push((header.name, header.value));
            }
        }
        Ok(read)
    }

    /// The header must say what the address says.
    fn check_host(&self, target: &Target) -> Result<(), Refusal> {
        let Some(host) = self.host else { return Err(Refusal::Syntax("Host is missing")) };
        let default = if target.is_tls { 443 } else { 80 };
        let is_same =
            std::str::from_utf8(host).ok().and_then(|host| authority(host, Some(default), target.is_tls).ok()).as_ref() == Some(target);
        if is_same { Ok(()) } else { Err(Refusal::Syntax("Host and the address name different hosts")) }
    }
}

fn authority(text: &str, default: Option<u16>, is_tls: bool) -> Result<Target, Refusal> {
    let (host, port) = match text.split_once(':') {
        Some((host, digits)) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => (host, digits.parse().ok()),
        Some(_) => return Err(Refusal::Syntax("the port is no number")),
        None => (text, default),
    };
    let host = host.to_ascii_lowercase();
    let port = port.filter(|port| *port != 0).ok_or(Refusal::Syntax("the port is missing or no port"))?;
    if is_name(&host) { Ok(Target { host, port, is_tls }) } else { Err(Refusal::Host(host)) }
}
