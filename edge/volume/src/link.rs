//! A connection to one relay. What comes from it is checked before it is used.

use crate::tree::Tree;
use crate::wire::{self, ALPN, Answer, EXPORTER, Hello, Request, SLICE_BYTES, STREAMS, TREE_BYTES, WireError};
use commonware_codec::Encode as _;
use cowboy_serve::quic::paced;
use cowboy_service::{authority, tls};
use cowboy_system::volumes::types::Relay;
use cowboy_types::signing::PrivateKey;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash};
use cowboy_volumes::relay::Succession;
use cowboy_volumes::tree::PAGE_BYTES;
use cowboy_volumes::{Code, Node, Page, Token, Top, slice};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, Endpoint, RecvStream, SendStream, TransportConfig, VarInt};
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// How long a connection may take to open.
const OPENING: Duration = Duration::from_secs(3);

/// After how long a silent connection is dead, in ms.
const IDLE_MS: u32 = 30_000;

/// How often an idle connection says that it lives.
const KEEP_ALIVE: Duration = Duration::from_secs(8);

/// How long a relay may take to let another request begin: it says how many are under way at once, and may never let one.
const TURN: Duration = Duration::from_secs(30);

/// How long a relay may take for all that follows its answer: as long as it waits itself for whoever reads.
const BODY: Duration = Duration::from_secs(60);

/// Why a relay cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Nobody is there, or it is not the relay that the chain names.
    #[error("{relay} cannot be reached at {endpoint}: {reason}")]
    Unreachable {
        /// The relay.
        relay: Address,
        /// Where it should be.
        endpoint: String,
        /// What happened.
        reason: String,
    },
    /// A request failed.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// What it sent is not what was asked for.
    #[error("the relay sent something else than what was asked for")]
    False,
}

/// Where a relay is reached.
pub fn relay_address(relay: &Relay) -> String {
    authority(&relay.endpoint, relay.port)
}

/// A connection to a relay, opened for one volume.
pub struct Link {
    connection: Connection,
    // Its driver ends with it.
    _endpoint: Endpoint,
}

/// The place of a connection to a relay: it is opened when it is needed first, and anew once it broke.
#[derive(Default)]
pub(crate) struct Place(tokio::sync::Mutex<Option<Arc<Link>>>);

impl Place {
    /// The connection that stands, or else the one that `open` gives. A relay closes what others need more, and ends itself; a computer sleeps.
    ///
    /// # Errors
    ///
    /// As `open`.
    pub(crate) async fn link(&self, open: impl Future<Output = Result<Link, LinkError>>) -> Result<Arc<Link>, LinkError> {
        let mut place = self.0.lock().await;
        if let Some(link) = place.as_ref().filter(|link| link.connection.close_reason().is_none()) {
            return Ok(link.clone());
        }
        let opened = Arc::new(open.await?);
        *place = Some(opened.clone());
        Ok(opened)
    }
}

/// A shard on its way to a relay.
pub struct Upload {
    sending: SendStream,
    receiving: RecvStream,
}

/// What a connection to the relay with this certificate is made of.
fn config(certificate: Hash) -> Result<ClientConfig, String> {
    let mut tls = tls::client(certificate).map_err(|error| error.to_string())?;
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let crypto = QuicClientConfig::try_from(tls).map_err(|error| error.to_string())?;
    let mut limits = TransportConfig::default();
    limits
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .datagram_receive_buffer_size(None)
        .keep_alive_interval(Some(KEEP_ALIVE))
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_MS).into()));
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(paced(limits));
    Ok(config)
}

async fn dial(relay: &Relay) -> Result<(Endpoint, Connection), String> {
    let mut last = "the name has no address".to_owned();
    let found = tokio::net::lookup_host(relay_address(relay)).await.map_err(|error| error.to_string())?;
    for address in found {
        let local: SocketAddr = if address.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { (Ipv6Addr::UNSPECIFIED, 0).into() };
        let endpoint = Endpoint::client(local).map_err(|error| error.to_string())?;
        let connecting = endpoint.connect_with(config(relay.certificate)?, address, "relay").map_err(|error| error.to_string())?;
        match connecting.await {
            Ok(connection) => return Ok((endpoint, connection)),
            Err(error) => last = error.to_string(),
        }
    }
    Err(last)
}

/// A stream for another request, in this time.
async fn stream(connection: &Connection, time: Duration) -> Result<(SendStream, RecvStream), WireError> {
    let opened = tokio::time::timeout(time, connection.open_bi()).await.map_err(|_| WireError::Silent)?;
    opened.map_err(|error| WireError::Broken(error.to_string()))
}

/// What follows an answer, in this time as a whole: a relay that sends a byte now and then would keep whoever reads for days.
async fn body(receiving: &mut RecvStream, most: usize, time: Duration) -> Result<Vec<u8>, WireError> {
    tokio::time::timeout(time, wire::read_body(receiving, most)).await.map_err(|_| WireError::Silent)?
}

impl Link {
    /// Connects to the relay that the chain names, and shows it a token.
    ///
    /// # Errors
    ///
    /// If it is not there, is another, or refuses the token.
    pub async fn open(address: Address, relay: &Relay, token: &Token, key: &PrivateKey) -> Result<Self, LinkError> {
        let unreachable = |reason: String| LinkError::Unreachable { relay: address, endpoint: relay_address(relay), reason };
        let dialed = tokio::time::timeout(OPENING, dial(relay)).await.map_err(|_| unreachable("it does not answer".into()))?;
        let (endpoint, connection) = dialed.map_err(unreachable)?;
        let mut exported = [0; 32];
        let has = connection.export_keying_material(&mut exported, EXPORTER, &[]);
        has.map_err(|_| unreachable("the session exports nothing".into()))?;
        let token_bytes = token.to_bytes();
        let hello = Hello {
            token: Fixed(token_bytes[..].try_into().expect("a token has its length")),
            signature: key.sign(&token.digest(&exported, address)),
        };
        let link = Self { connection, _endpoint: endpoint };
        link.ask(&Request::Hello { hello }, &[]).await?;
        Ok(link)
    }

    async fn begin(&self, request: &Request) -> Result<(SendStream, RecvStream), WireError> {
        let (mut sending, receiving) = stream(&self.connection, TURN).await?;
        wire::send(&mut sending, request).await?;
        Ok((sending, receiving))
    }

    /// Sends a request, and a body where there is one. Answers what the relay says.
    async fn ask(&self, request: &Request, bodies: &[&[u8]]) -> Result<(Answer, RecvStream), WireError> {
        let (mut sending, mut receiving) = self.begin(request).await?;
        for body in bodies {
            wire::send_body(&mut sending, body).await?;
        }
        // Both ends know where a request ends; this frees the stream.
        let _ = sending.finish();
        let answer = wire::answer(&mut receiving).await?;
        Ok((answer, receiving))
    }

    /// Asks for a body.
    async fn fetch(&self, request: &Request, most: usize) -> Result<Vec<u8>, LinkError> {
        match self.ask(request, &[]).await? {
            (Answer::Body {}, mut receiving) => Ok(body(&mut receiving, most, BODY).await?),
            _ => Err(LinkError::False),
        }
    }

    /// Begins to send a shard.
    ///
    /// # Errors
    ///
    /// If the connection broke.
    pub async fn upload(&self, length: u64) -> Result<Upload, LinkError> {
        let (sending, receiving) = self.begin(&Request::PutShard { length }).await?;
        Ok(Upload { sending, receiving })
    }

    /// A part of a shard, which the slice proves.
    ///
    /// # Errors
    ///
    /// If the relay does not have it, or sends another.
    pub async fn part(&self, shard: &Hash, shard_bytes: u64, start: u64, length: u64) -> Result<Vec<u8>, LinkError> {
        let slice = self.fetch(&Request::GetShard { shard: *shard, start, length }, SLICE_BYTES).await?;
        slice::open(&slice, shard, shard_bytes, start, length).ok_or(LinkError::False)
    }

    /// Has a relay keep a page.
    ///
    /// # Errors
    ///
    /// If it refuses.
    pub async fn put_page(&self, partition: Hash, depth: u8, place: usize, page: &Page) -> Result<(), LinkError> {
        let place = u16::try_from(place).map_err(|_| LinkError::False)?;
        self.ask(&Request::PutPage { partition, depth, place }, &[&page.encode()]).await?;
        Ok(())
    }

    /// A page whose node is known.
    ///
    /// # Errors
    ///
    /// If the relay does not have it, or sends another.
    pub async fn page(&self, partition: Hash, code: Code, depth: u8, place: usize, node: &Node) -> Result<Page, LinkError> {
        let bytes = self.fetch(&Request::GetPage { partition, page: node.hash }, PAGE_BYTES).await?;
        let page = Page::parse(&bytes, code, depth, place).ok_or(LinkError::False)?;
        if page.node() == Some(*node) { Ok(page) } else { Err(LinkError::False) }
    }

    /// The top and the nodes of the pages of a root.
    ///
    /// # Errors
    ///
    /// If the relay does not have it, or sends another.
    pub async fn tree(&self, partition: Hash, root: Hash) -> Result<Tree, LinkError> {
        let bytes = self.fetch(&Request::GetTree { partition, root }, TREE_BYTES).await?;
        Tree::parse(&bytes).filter(|tree| tree.top.root() == root).ok_or(LinkError::False)
    }

    /// Has a relay sign a new root, whose pages have these nodes. Answers its slot and the signature.
    ///
    /// # Errors
    ///
    /// If it refuses, for it lacks something.
    pub async fn ack(&self, succession: &Succession, top: Top, nodes: &[Node]) -> Result<(u8, Fixed<64>), LinkError> {
        let body = Tree::nodes_bytes(nodes);
        let Succession { generation, partition, sequence, old, until, .. } = *succession;
        match self.ask(&Request::AckRoot { partition, generation, sequence, old, top, until }, &[&body]).await? {
            (Answer::Acked { slot, signature }, _) => Ok((slot, signature)),
            _ => Err(LinkError::False),
        }
    }
}

impl Upload {
    /// Sends more of the shard.
    ///
    /// # Errors
    ///
    /// If the connection broke, or the relay refuses.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        for part in bytes.chunks(wire::FRAME_BYTES) {
            if let Err(error) = wire::send_frame(&mut self.sending, part).await {
                // A relay that takes no more has said why.
                wire::answer(&mut self.receiving).await?;
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Ends the shard. The relay keeps it where it has this hash.
    ///
    /// # Errors
    ///
    /// If it refuses.
    pub async fn finish(mut self, shard: &Hash) -> Result<(), LinkError> {
        wire::send_frame(&mut self.sending, &[]).await?;
        wire::send_frame(&mut self.sending, &shard.0).await?;
        let _ = self.sending.finish();
        wire::answer(&mut self.receiving).await?;
        Ok(())
    }
}

/// Requests that a client has under way at once with a relay: fewer than the relay takes.
pub(crate) const AT_ONCE: usize = STREAMS as usize / 4;

#[cfg(test)]
mod tests {
    use super::*;
    use quinn::ServerConfig;
    use quinn::congestion::Bbr;
    use quinn::crypto::rustls::QuicServerConfig;
    use std::net::Ipv4Addr;

    /// Both ends of a connection, of the client first, and what has to be held for it. The relay takes this many streams at once.
    async fn connected(streams: u32) -> ([Connection; 2], [Endpoint; 2], tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut identity = tls::Identity::open(folder.path()).expect("a certificate");
        identity.config.alpn_protocols = vec![ALPN.to_vec()];
        let mut server = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(identity.config).expect("TLS 1.3")));
        let mut limits = TransportConfig::default();
        limits.max_concurrent_bidi_streams(VarInt::from_u32(streams));
        server.transport_config(paced(limits));
        let local: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
        let (relay, dialling) = (Endpoint::server(server, local).expect("it listens"), Endpoint::client(local).expect("a port"));
        let config = config(identity.certificate).expect("TLS 1.3");
        let connecting = dialling.connect_with(config, relay.local_addr().expect("it listens"), "relay").expect("an address");
        let accepting = async { relay.accept().await.expect("it is open").await.expect("it is admitted") };
        let (connected, accepted) = tokio::join!(connecting, accepting);
        ([connected.expect("it is admitted"), accepted], [relay, dialling], folder)
    }

    /// What a client sends to a relay is paced as between nodes: a packet that is lost does not make it slow.
    #[tokio::test]
    async fn lost_packets_are_no_full_links() {
        let ([connected, _accepted], _endpoints, _folder) = connected(STREAMS).await;
        assert!(connected.congestion_state().into_any().is::<Bbr>());
    }

    /// Decision 748: no relay fills the memory of its clients with what they never read.
    #[tokio::test]
    async fn nobody_sends_a_client_datagrams() {
        let ([_connected, accepted], _endpoints, _folder) = connected(STREAMS).await;
        assert_eq!(accepted.max_datagram_size(), None);
    }

    /// Decision 748: a relay that lets no request begin is silent, and is not waited for as long as it keeps the connection.
    #[tokio::test]
    async fn a_relay_without_streams_is_silent() {
        for (streams, expected) in [(0, true), (1, false)] {
            let ([connected, _accepted], _endpoints, _folder) = connected(streams).await;
            let opened = tokio::time::timeout(Duration::from_secs(20), stream(&connected, Duration::from_millis(50))).await;
            let is_silent = matches!(opened.expect("it ends"), Err(WireError::Silent));
            assert_eq!(is_silent, expected, "{streams} streams");
        }
    }

    /// Decision 748: a relay that sends a little again and again, and never all, has a time for all of it; what comes in time is read.
    #[tokio::test]
    async fn an_answer_that_drips_ends() {
        let ([connected, accepted], _endpoints, _folder) = connected(STREAMS).await;
        let (mut asking, mut receiving) = connected.open_bi().await.expect("it is open");
        wire::send_frame(&mut asking, b"?").await.expect("it is open");
        let (mut sending, _asked) = accepted.accept_bi().await.expect("it is open");
        wire::send_body(&mut sending, &vec![7; 100_000]).await.expect("somebody reads");
        let whole = body(&mut receiving, 100_000, Duration::from_secs(60)).await.expect("it comes in time");
        assert!(whole == vec![7; 100_000]);
        let dripping = async {
            let mut beat = tokio::time::interval(Duration::from_millis(5));
            while wire::send_frame(&mut sending, b"x").await.is_ok() {
                beat.tick().await;
            }
        };
        let reading = body(&mut receiving, usize::MAX, Duration::from_millis(50));
        tokio::select! {
            read = tokio::time::timeout(Duration::from_secs(20), reading) => {
                assert!(matches!(read.expect("it ends"), Err(WireError::Silent)));
            }
            () = dripping => panic!("somebody reads"),
        }
    }

    /// Decision 748: a connection that broke is opened anew by whoever needs it next, and one that stands is not.
    #[tokio::test]
    async fn a_connection_that_broke_is_opened_anew() {
        let (place, mut held) = (Place::default(), Vec::new());
        for (opened, breaks) in [(1, false), (1, true), (2, false)] {
            let opening = async {
                let ([connection, accepted], [relay, dialling], folder) = connected(STREAMS).await;
                held.push((accepted, relay, folder));
                Ok(Link { connection, _endpoint: dialling })
            };
            let link = place.link(opening).await.expect("it is there");
            assert_eq!(held.len(), opened);
            if breaks {
                held[0].0.close(VarInt::from_u32(0), b"others need the connection");
                link.connection.closed().await;
            }
        }
    }
}
