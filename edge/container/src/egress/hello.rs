//! The host name in a TLS ClientHello (RFC 8446 §4.1.2, RFC 6066 §3), decoded strictly and within bounds.

/// Longest ClientHello with its records, in bytes.
pub const HELLO_BYTES: usize = 16 << 10;

const SERVER_NAME: u16 = 0;
const ENCRYPTED_HELLO: u16 = 0xfe0d;

/// Why bytes are no ClientHello that the proxy forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HelloError {
    /// The first record is no handshake.
    #[error("the connection does not start with a TLS handshake")]
    NoHandshake,
    /// The handshake is no ClientHello, or its lengths do not agree.
    #[error("the ClientHello cannot be read")]
    Malformed,
    /// It is too long.
    #[error("the ClientHello has more than 16384 bytes")]
    Long,
    /// It names no host.
    #[error("the ClientHello names no host (SNI)")]
    NoName,
    /// It names its host secretly, so it cannot be compared.
    #[error("the ClientHello hides its host (ECH): turn that off")]
    Encrypted,
}

/// Finds the name; none where more bytes are needed.
///
/// # Errors
/// If no longer input can be a ClientHello with one plain name.
pub fn server_name(bytes: &[u8]) -> Result<Option<String>, HelloError> {
    let Some(message) = handshake(bytes)? else { return Ok(None) };
    let mut body = Reader(&message);
    // Version, random, session, cipher suites, compression.
    body.take(2 + 32)?;
    body.vector8()?;
    body.vector16()?;
    body.vector8()?;
    let mut extensions = Reader(body.vector16()?);
    body.end()?;
    let (mut name, mut seen) = (None, Vec::new());
    while !extensions.0.is_empty() {
        let (kind, data) = (extensions.number16()?, extensions.vector16()?);
        if seen.contains(&kind) || kind == ENCRYPTED_HELLO {
            return Err(if kind == ENCRYPTED_HELLO { HelloError::Encrypted } else { HelloError::Malformed });
        }
        seen.push(kind);
        if kind == SERVER_NAME {
            name = Some(only_name(data)?);
        }
    }
    name.map(Some).ok_or(HelloError::NoName)
}

/// The first handshake message, without its header, from one or more records.
fn handshake(bytes: &[u8]) -> Result<Option<Vec<u8>>, HelloError> {
    let (mut message, mut rest) = (Vec::new(), bytes);
    loop {
        if let [kind, a, b, c, body @ ..] = &message[..] {
            if *kind != 1 {
                return Err(HelloError::Malformed);
            }
            let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
            if length > HELLO_BYTES {
                return Err(HelloError::Long);
            }
            if body.len() == length {
                return Ok(Some(body.to_vec()));
            }
            // Nothing follows a ClientHello before the answer.
            if body.len() > length {
                return Err(HelloError::Malformed);
            }
        }
        let header = |index: usize, is_right: fn(u8) -> bool| rest.get(index).is_none_or(|byte| is_right(*byte));
        if !header(0, |kind| kind == 22) || !header(1, |major| major == 3) || !header(2, |minor| minor <= 4) {
            return Err(HelloError::NoHandshake);
        }
        let [_, _, _, high, low, body @ ..] = rest else { return more(bytes) };
        let length = usize::from(*high) << 8 | usize::from(*low);
        if length == 0 || length > 1 << 14 {
            return Err(HelloError::Malformed);
        }
        let Some((part, others)) = body.split_at_checked(length) else { return more(bytes) };
        message.extend_from_slice(part);
        rest = others;
    }
}

fn more<T>(bytes: &[u8]) -> Result<Option<T>, HelloError> {
    if bytes.len() >= HELLO_BYTES { Err(HelloError::Long) } else { Ok(None) }
}

/// The list must have one host name.
fn only_name(data: &[u8]) -> Result<String, HelloError> {
    let mut outer = Reader(data);
    let mut list = Reader(outer.vector16()?);
    outer.end()?;
    if list.take(1)? != [0] {
        return Err(HelloError::Malformed);
    }
    let name = list.vector16()?;
    list.end()?;
    let name = std::str::from_utf8(name).map_err(|_| HelloError::Malformed)?.to_ascii_lowercase();
    if super::name::is_name(&name) { Ok(name) } else { Err(HelloError::NoName) }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], HelloError> {
        let (head, tail) = self.0.split_at_checked(count).ok_or(HelloError::Malformed)?;
        self.0 = tail;
        Ok(head)
    }

    fn number16(&mut self) -> Result<u16, HelloError> {
        let bytes = self.take(2)?;
        Ok(u16::from(bytes[0]) << 8 | u16::from(bytes[1]))
    }

    fn vector8(&mut self) -> Result<&'a [u8], HelloError> {
        let length = usize::from(self.take(1)?[0]);
        self.take(length)
    }

    fn vector16(&mut self) -> Result<&'a [u8], HelloError> {
        let length = usize::from(self.number16()?);
        self.take(length)
    }

    fn end(&self) -> Result<(), HelloError> {
        if self.0.is_empty() { Ok(()) } else { Err(HelloError::Malformed) }
    }
}
