//! Clients that are slow, at a port of the loopback.

use super::*;
use std::net::Ipv4Addr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Decision 747: a form is read before anybody asks who signed it, so whoever sends one and never ends it would keep a connection from those who may.
#[test]
fn a_form_that_never_ends_ends_its_connection() {
    locally(async {
        let (volume, kept) = volume(OWNER);
        let credentials = Credentials { access_key: "COWBOY01".to_owned(), secret_key: "0123456789abcdef".to_owned() };
        let service = service(volume, &credentials);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("the loopback has free ports");
        let (address, slots, (ended, _)) = (listener.local_addr().expect("it listens"), Slots::new(1), watch::channel(false));
        let server = Server::new("s3", slots.clone(), Settings::of_service(1));
        let patience = Duration::from_millis(50);
        let handler = move |_, request| answer(service.clone(), request, patience);
        let serving = tokio::task::spawn_local(server.accept(listener, None, ended.subscribe(), DRAIN, handler));
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let head =
            "POST /notes HTTP/1.1\r\nhost: a\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: 1000\r\n\r\n--x\r\n";
        stream.write_all(head.as_bytes()).await.expect("it reads");
        let mut said = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut said)).await;
        // It may also be reset, once the answer was sent.
        let _ = read.expect("the connection ends");
        let said = String::from_utf8_lossy(&said);
        assert!(said.starts_with("HTTP/1.1 4"), "{said}");
        ended.send_replace(true);
        serving.await.expect("it ends");
        assert!(slots.open() == 0 && kept.paths().is_empty());
    });
}
