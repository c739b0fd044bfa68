//! A program's numbers as Prometheus reads them, and a server for them where the program has no other.

use crate::{Server, Settings, Slots};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    header::{self, HeaderValue},
};
use prometheus_client::{encoding::text::encode, metrics::gauge::Gauge, registry::Registry};
use std::{io, net::SocketAddr, time::Duration};
use tokio::{net::TcpListener, sync::watch};

/// Where the page is.
pub const PATH: &str = "/metrics";

/// What the page is: its content type.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Connections at once: of whoever collects the numbers.
const CONNECTIONS: usize = 16;

/// What one of them may take.
const SETTINGS: Settings = Settings::of_service(8);

/// The page with the numbers of a registry.
pub fn page(registry: &Registry) -> String {
    let mut text = String::new();
    // Writing to a string never fails.
    let _ = encode(&mut text, registry);
    text
}

/// Sets a gauge, which holds less than a count only beyond 2^63.
pub fn set(gauge: &Gauge, number: impl TryInto<i64>) {
    gauge.set(number.try_into().unwrap_or(i64::MAX));
}

/// Listens at an address. Returns it, with its port, and what answers with a page at [`PATH`] for as long as it is polled.
///
/// # Errors
///
/// If it cannot listen there.
pub async fn listen<P: Fn() -> String + Clone + Send + Sync + 'static>(
    address: SocketAddr,
    page: P,
) -> io::Result<(SocketAddr, impl Future<Output = ()> + Send + 'static)> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let answering = async move {
        let stop = watch::Sender::new(false);
        let server = Server::new("metrics", Slots::new(CONNECTIONS), SETTINGS);
        let handler = move |_: SocketAddr, request: Request<Incoming>| std::future::ready(response(request.uri().path(), &page));
        server.accept(listener, None, stop.subscribe(), Duration::ZERO, handler).await;
    };
    Ok((address, answering))
}

fn response(path: &str, page: impl Fn() -> String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    if path == PATH {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
        *response.body_mut() = Full::new(page().into());
    } else {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpStream,
    };

    /// The page is at its path alone, as what it is, and as it is at the time of the request.
    #[tokio::test]
    async fn the_page_is_at_its_path() {
        let (mut registry, gauge) = (Registry::with_prefix("test"), Gauge::default());
        registry.register("height", "A height", gauge.clone());
        let registry = std::sync::Arc::new(registry);
        let of_page = move || page(&registry);
        let (address, answering) = listen((Ipv4Addr::LOCALHOST, 0).into(), of_page).await.expect("the loopback has free ports");
        let answering = tokio::spawn(answering);
        let ask = async |path: &str| {
            let mut stream = TcpStream::connect(address).await.expect("it listens");
            let head = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).await.expect("it reads");
            let mut text = String::new();
            stream.read_to_string(&mut text).await.expect("it answers");
            text
        };
        set(&gauge, 7_u64);
        let found = ask(PATH).await;
        assert!(found.starts_with("HTTP/1.1 200 ") && found.contains(&format!("content-type: {CONTENT_TYPE}\r\n")), "{found}");
        assert!(found.contains("test_height 7\n") && found.ends_with("# EOF\n"), "{found}");
        set(&gauge, u64::MAX);
        assert!(ask(PATH).await.contains("test_height 9223372036854775807\n"));
        for other in ["/", "/metrics/", "/status"] {
            assert!(ask(other).await.starts_with("HTTP/1.1 404 "), "{other}");
        }
        assert!(listen(address, String::new).await.is_err(), "the port is taken");
        answering.abort();
    }
}
