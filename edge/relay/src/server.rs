//! Where clients ask a relay: over QUIC, one stream a request.
//!
//! A client that reads or writes slowly costs its own connection and bytes that count for its address, and never a turn: turns are for work.

use crate::app::App;
use crate::metrics::{self, Outcome};
use crate::peer::{Peer, Shared};
use crate::refusal::Refusal;
use crate::requests::{self, Done};
use cowboy_serve::quic::{Admitted, Gate, paced};
use cowboy_serve::{Caps, Permit};
use cowboy_volume::wire::{self, ALPN, Request, STREAMS, WireError};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, RecvStream, SendStream, ServerConfig, TransportConfig, VarInt};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep_until, timeout};

/// Connections at once. Runners behind one address have many.
const CONNECTIONS: Caps = Caps { total: 512, client: 64, subnet: 128 };

/// Connections at once of which it is not known yet who opened them.
const HANDSHAKES: Caps = Caps { total: 256, client: 16, subnet: 32 };

/// How long a connection may take until it has said who opens it, its handshake included.
const OPENING: Duration = Duration::from_secs(10);

/// After how long a silent connection is dead, in ms.
const IDLE_MS: u32 = 30_000;

/// Bytes that a connection may have under way before they are read: QUIC holds them, also where a gap keeps them from being read. Requests are short, so
/// whoever sends no shards needs few.
const WINDOW: u32 = 128 << 10;
const WINDOW_OF_WRITERS: u32 = 2 << 20;

/// How long a request other than a shard that comes, and the other end's reading of an answer, may take.
const REQUEST: Duration = Duration::from_secs(60);

/// Bytes of a shard that must come in a second, beside [`REQUEST`].
const SHARD_BYTES_PER_SECOND: u64 = 1 << 20;

/// What QUIC is made of: TLS 1.3 with the relay's certificate, streams of clients alone.
fn config(mut tls: rustls::ServerConfig) -> io::Result<ServerConfig> {
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let crypto = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
    let mut limits = TransportConfig::default();
    limits
        .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .stream_receive_window(VarInt::from_u32(WINDOW_OF_WRITERS))
        .receive_window(VarInt::from_u32(WINDOW))
        // Nobody reads datagrams: QUIC would hold more than a MiB of them for each connection, whoever opens it.
        .datagram_receive_buffer_size(None)
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_MS).into()));
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(paced(limits));
    Ok(config)
}

/// Listens. The endpoint ends when it is closed.
pub(crate) fn listen(tls: rustls::ServerConfig, address: SocketAddr) -> io::Result<Endpoint> {
    Endpoint::server(config(tls)?, address)
}

/// Serves whoever connects, until the endpoint is closed. `coming` says how many shards may come at once.
pub(crate) async fn serve(endpoint: Endpoint, app: Arc<App>, coming: Caps) {
    let (gate, shared) = (Gate::new(HANDSHAKES, CONNECTIONS), Arc::new(Shared::new(app, coming)));
    while let Some(incoming) = endpoint.accept().await {
        let Some(admitted) = gate.admit(incoming) else { continue };
        let (shared, gate) = (shared.clone(), gate.clone());
        tokio::spawn(async move {
            if let Err(error) = connected(shared, &gate, admitted).await {
                tracing::debug!(%error, "a connection ended");
            }
        });
    }
}

/// What comes of opening a connection in its time, unless its place is taken by a client of a subnet that has few: whoever opens connections from many
/// addresses, and says nothing on them, keeps nobody else out.
async fn opened<T>(handshake: &mut Permit, opening: impl Future<Output = Result<T, WireError>>) -> Result<T, WireError> {
    let replaced = handshake.replaceable();
    tokio::select! {
        opened = timeout(OPENING, opening) => opened.map_err(|_| WireError::Silent)?,
        Ok(()) = replaced => Err(WireError::Broken("others need the place".to_owned())),
    }
}

async fn connected(shared: Arc<Shared>, gate: &Gate, admitted: Admitted) -> Result<(), WireError> {
    let Admitted { incoming, mut handshake } = admitted;
    let broken = |error: quinn::ConnectionError| WireError::Broken(error.to_string());
    let opening = async {
        let peer = Peer::new(shared, incoming.await.map_err(broken)?);
        // Who opens it is said in one request before all others. Whoever is refused has no second try.
        let (sending, receiving) = peer.connection.accept_bi().await.map_err(broken)?;
        answer(&peer, sending, receiving).await?;
        Ok::<_, WireError>(Arc::new(peer))
    };
    let peer = opened(&mut handshake, opening).await?;
    drop(handshake);
    let Ok(session) = peer.session() else { return Ok(()) };
    let Ok(mut permit) = gate.enter(peer.connection.remote_address().ip()) else {
        peer.app().metrics.refuse();
        peer.connection.close(VarInt::from_u32(0), b"all connections are in use");
        return Ok(());
    };
    let _open = peer.app().metrics.open();
    if session.is_of_a_writer() {
        peer.connection.set_receive_window(VarInt::from_u32(WINDOW_OF_WRITERS));
    }
    let mut closed = permit.closable();
    loop {
        let (sending, receiving) = tokio::select! {
            opened = peer.connection.accept_bi() => opened.map_err(broken)?,
            Ok(()) = &mut closed => {
                peer.connection.close(VarInt::from_u32(0), b"others need the connection");
                return Ok(());
            }
        };
        permit.note_use();
        let peer = peer.clone();
        tokio::spawn(async move {
            if let Err(error) = answer(&peer, sending, receiving).await {
                tracing::debug!(%error, "a request ended");
            }
        });
    }
}

/// How long a shard of this many bytes may take to come.
fn time_of_shard(length: u64) -> Duration {
    REQUEST.saturating_add(Duration::from_secs(length / SHARD_BYTES_PER_SECOND))
}

async fn answer(peer: &Peer, sending: SendStream, mut receiving: RecvStream) -> Result<(), WireError> {
    let request: Request = wire::read(&mut receiving).await?;
    let (label, metrics) = (metrics::label(&request), &peer.app().metrics);
    let answered = do_and_send(peer, request, sending, receiving).await;
    match &answered {
        Ok(Some((shard_bytes, answer_bytes))) => metrics.count_done(label, *shard_bytes, *answer_bytes),
        Ok(None) => metrics.count(label, Outcome::Refused),
        Err(_) => metrics.count(label, Outcome::Broken),
    }
    answered.map(drop)
}

/// Does what a request says, and sends the answer. Returns the bytes of the shard that was kept and of the body that was sent; none where the request is
/// refused.
async fn do_and_send(
    peer: &Peer,
    request: Request,
    mut sending: SendStream,
    mut receiving: RecvStream,
) -> Result<Option<(u64, usize)>, WireError> {
    let (time, shard_bytes) = match &request {
        Request::PutShard { length } => (time_of_shard(*length), *length),
        _ => (REQUEST, 0),
    };
    if let Some((due, length)) = timeout(time, requests::due(peer, &request)).await.map_err(|_| WireError::Silent)? {
        // However long that is: it is never refused. It holds its stream, and neither memory nor a turn.
        tokio::select! {
            () = sleep_until(due.into()) => {}
            // The client has gone, or waits no more.
            _ = sending.stopped() => {
                peer.give_up(length);
                return Err(WireError::Broken("nobody waits for the answer".to_owned()));
            }
        }
    }
    // Until the body is sent.
    let mut held = peer.held();
    let done = timeout(time, requests::act(peer, request, &mut receiving, &mut held)).await.map_err(|_| WireError::Silent)?;
    let is_done = done.is_ok();
    let Done { answer, body } = match done {
        Ok(done) => {
            peer.app().note_stored(None);
            done
        }
        // A broken stream takes no answer.
        Err(Refusal::Wire(error)) => return Err(error),
        Err(refusal) => {
            if let Refusal::Disk(error) = &refusal {
                peer.app().note_stored(Some(error));
            }
            Done { answer: wire::refused(refusal), body: None }
        }
    };
    let answer_bytes = body.as_ref().map_or(0, Vec::len);
    let sent = async {
        wire::send(&mut sending, &answer).await?;
        if let Some(body) = body {
            wire::send_body(&mut sending, &body).await?;
        }
        // The other end reads what was sent; nothing more is said.
        let _ = sending.finish();
        let _ = sending.stopped().await;
        Ok::<(), WireError>(())
    };
    timeout(REQUEST, sent).await.map_err(|_| WireError::Silent)??;
    Ok(is_done.then_some((shard_bytes, answer_bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_serve::Admission;
    use cowboy_service::tls;
    use quinn::ClientConfig;
    use quinn::congestion::Bbr;
    use quinn::crypto::rustls::QuicClientConfig;
    use std::net::{IpAddr, Ipv4Addr};

    /// A shard of the largest volume comes in time over a slow line, and a short one holds its place for a minute at most.
    #[test]
    fn a_shard_has_time_by_its_length() {
        assert_eq!(time_of_shard(0), REQUEST);
        assert_eq!(time_of_shard(600 << 20), REQUEST + Duration::from_secs(600));
        assert!(time_of_shard(u64::MAX) > REQUEST);
    }

    /// Decision 748: a connection whose client says nothing makes room for one of another subnet, which is not kept out until its time is over.
    #[tokio::test]
    async fn silent_clients_make_room() {
        let admission = Admission::new(Caps { total: 2, client: 2, subnet: 2 });
        let mut held = [1, 2].map(|host| admission.admit(IpAddr::from([192, 0, 2, host])).expect("there is room"));
        let silent = std::future::pending::<Result<(), WireError>>;
        let mut opening: Vec<_> = held.iter_mut().map(|permit| Box::pin(opened(permit, silent()))).collect();
        for one in &mut opening {
            assert!(futures::poll!(one).is_pending());
        }
        let _other = admission.admit(IpAddr::from([198, 51, 100, 1])).expect("one makes room");
        let mut ended = 0;
        for one in &mut opening {
            ended += usize::from(futures::poll!(one).is_ready());
        }
        assert_eq!(ended, 1);
    }

    /// Both ends of a connection, of the client first, and what has to be held for it.
    async fn connected() -> ([quinn::Connection; 2], [Endpoint; 2], tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        let identity = tls::Identity::open(folder.path()).expect("a certificate");
        let mut client = tls::client(identity.certificate).expect("TLS 1.3");
        client.alpn_protocols = vec![ALPN.to_vec()];
        let client = ClientConfig::new(Arc::new(QuicClientConfig::try_from(client).expect("TLS 1.3")));
        let local: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
        let (relay, dialling) = (listen(identity.config, local).expect("it listens"), Endpoint::client(local).expect("a port"));
        let connecting = dialling.connect_with(client, relay.local_addr().expect("it listens"), "relay").expect("an address");
        let accepting = async { relay.accept().await.expect("it is open").await.expect("it is admitted") };
        let (connected, accepted) = tokio::join!(connecting, accepting);
        ([connected.expect("it is admitted"), accepted], [relay, dialling], folder)
    }

    /// What a relay sends to a client is paced as between nodes: a packet that is lost does not make it slow.
    #[tokio::test]
    async fn lost_packets_are_no_full_links() {
        let ([_connected, accepted], _endpoints, _folder) = connected().await;
        assert!(accepted.congestion_state().into_any().is::<Bbr>());
    }

    /// Decision 748: a relay holds no datagrams, and says so to whoever connects.
    #[tokio::test]
    async fn nobody_sends_a_relay_datagrams() {
        let ([connected, _accepted], _endpoints, _folder) = connected().await;
        assert_eq!(connected.max_datagram_size(), None);
    }
}
