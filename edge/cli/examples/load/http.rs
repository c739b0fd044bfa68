//! One kept connection that speaks as little HTTP/1.1 as the measurement needs, so that the client weighs the same for every server.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

/// Longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A request, ready to be sent again and again.
#[derive(Clone, Debug)]
pub(crate) struct Request(Vec<u8>);

impl Request {
    /// A GET of a path.
    pub(crate) fn get(path: &str) -> Self {
        Self(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes())
    }

    /// A POST of a body.
    pub(crate) fn post(path: &str, content_type: &str, body: &[u8]) -> Self {
        let mut bytes =
            format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n", body.len())
                .into_bytes();
        bytes.extend_from_slice(body);
        Self(bytes)
    }

    /// A POST of JSON.
    pub(crate) fn json(path: &str, body: &serde_json::Value) -> Self {
        Self::post(path, "application/json", body.to_string().as_bytes())
    }
}

/// A connection to a server.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
}

/// An answer's status and body.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status, like 200.
    pub(crate) status: u16,
    /// The body.
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The body as JSON, or an error that shows its beginning.
    pub(crate) fn json(&self) -> io::Result<serde_json::Value> {
        serde_json::from_slice(&self.body)
            .map_err(|_| io::Error::other(format!("status {} and no JSON: {}", self.status, self.beginning())))
    }

    /// The body's beginning, for messages.
    pub(crate) fn beginning(&self) -> String {
        String::from_utf8_lossy(&self.body).chars().take(300).collect()
    }

    /// Whether some item of the answer is an error.
    pub(crate) fn has_error(&self) -> bool {
        self.status >= 400 || self.body.windows(8).any(|window| window == b"\"error\":")
    }
}

impl Connection {
    /// Connects to `host:port`.
    pub(crate) fn open(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        Ok(Self { stream: BufReader::with_capacity(64 * 1024, stream) })
    }

    /// Sends a request and reads its answer.
    pub(crate) fn ask(&mut self, request: &Request) -> io::Result<Answer> {
        self.stream.get_mut().write_all(&request.0)?;
        let mut line = String::new();
        self.line(&mut line)?;
        let status =
            line.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(|| io::Error::other(format!("no status in {line:?}")))?;
        let (mut length, mut chunked) = (0, false);
        while self.line(&mut line)? > 0 {
            let Some((name, value)) = line.split_once(':') else { continue };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().map_err(io::Error::other)?;
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                chunked = value.trim().eq_ignore_ascii_case("chunked");
            }
        }
        let mut body = Vec::new();
        if chunked {
            loop {
                self.line(&mut line)?;
                let size = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
                self.read_more(&mut body, size)?;
                self.line(&mut line)?;
                if size == 0 {
                    break;
                }
            }
        } else {
            self.read_more(&mut body, length)?;
        }
        Ok(Answer { status, body })
    }

    /// Reads one line without its end, and answers its length.
    fn line(&mut self, line: &mut String) -> io::Result<usize> {
        line.clear();
        if self.stream.read_line(line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.trim_end().len());
        Ok(line.len())
    }

    fn read_more(&mut self, body: &mut Vec<u8>, size: usize) -> io::Result<()> {
        let start = body.len();
        body.resize(start + size, 0);
        self.stream.read_exact(&mut body[start..])
    }
}
