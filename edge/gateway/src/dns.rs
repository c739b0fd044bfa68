//! The zone's name server: every name below a zone is where the active gateways are (004 §9.1, §9.3).
//!
//! Absences: no recursion, no transfers, no word about other zones, no UDP answer longer than 1,232 bytes, and none to a network that asks much but
//! that it may ask over TCP: whose address a datagram has, nobody knows.

mod lookups;
mod tcp;

use crate::{Shared, acme::Challenges, buckets::Buckets, state::BlockState};
use cowboy_serve::{Subnet, is_of_use};
use cowboy_system::gateways::state::{foremost, gateway};
use cowboy_types::{Address, Height};
use hickory_server::{
    Server,
    net::{runtime::Time, xfer::Protocol},
    proto::{
        op::{Edns, Metadata, OpCode, ResponseCode},
        rr::{
            DNSClass, LowerName, Name, RData, Record, RecordType,
            rdata::{A, AAAA, NS, SOA, TXT},
        },
        serialize::binary::BinEncoder,
    },
    server::{Request, RequestHandler, ResponseHandler, ResponseInfo},
    zone_handler::MessageResponseBuilder,
};
use lookups::Lookups;
use serde::Deserialize;
use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc, RwLock,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    net::{TcpListener, UdpSocket},
    time::sleep,
};

/// Gateways that are listed: the foremost (decision 723).
const GATEWAYS: usize = 256;

/// Addresses in one answer: as many as fit a datagram that is not split.
const ANSWERS: usize = 16;

/// Bytes of an answer over UDP: what no network splits.
const UDP_BYTES: u16 = 1_232;

/// The longest that an answer may be kept, in seconds: gateways come and go.
const TTL_MAX: u32 = 300;

/// Answers over UDP to one network in a second. Beyond them it is told to ask over TCP, in as many bytes as it asked.
const DATAGRAMS: u64 = 100;

/// How long a list of gateways waits for the addresses of their host names.
const RESOLVE: Duration = Duration::from_secs(5);

/// How often the list of gateways is read again, at most.
const REFRESH: Duration = Duration::from_secs(1);

/// The name server's settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dns {
    /// Where it listens, by UDP and TCP.
    pub listen: SocketAddr,
    /// Seconds for which an answer may be kept, 300 at most.
    pub ttl: u32,
    /// The zone's name servers, as its parent has them; `ns.<zone>` where left out.
    pub nameservers: Vec<String>,
}

impl Default for Dns {
    fn default() -> Self {
        Self { listen: SocketAddr::from(([0, 0, 0, 0], 53)), ttl: 60, nameservers: Vec::new() }
    }
}

/// The ports of a name server, before anything answers there.
#[derive(Debug)]
pub(crate) struct Sockets {
    udp: UdpSocket,
    tcp: TcpListener,
}

impl Sockets {
    pub(crate) async fn bind(address: SocketAddr) -> io::Result<Self> {
        let tcp = TcpListener::bind(address).await?;
        // With port 0, both have the one that TCP got.
        let udp = UdpSocket::bind(tcp.local_addr()?).await?;
        Ok(Self { udp, tcp })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}

/// Where the active gateways are.
#[derive(Default)]
struct Places {
    addresses: RwLock<Arc<[IpAddr]>>,
    serial: AtomicU32,
}

/// Answers until it is dropped.
pub(crate) async fn serve(sockets: Sockets, settings: Dns, shared: Arc<Shared>, challenges: Arc<Challenges>) {
    let places = Arc::new(Places::default());
    let zones = Arc::new(Zones::new(&settings, &shared.config.zones, places.clone(), challenges));
    let mut server = Server::new(Datagrams::new(zones.clone()));
    server.register_socket(sockets.udp);
    let share = shared.config.limits.connections_per_client;
    tokio::select! {
        ended = server.block_until_done() => tracing::error!(?ended, "the name server ended"),
        () = tcp::accept(sockets.tcp, zones, shared.slots.clone(), share) => {}
        () = keep(&shared, &places, settings.ttl) => {}
    }
}

/// Reads the list of gateways again as blocks come, for as long as the node lives.
async fn keep(shared: &Shared, places: &Places, ttl: u32) {
    let mut heads = shared.node.watch_head();
    let mut lookups = Lookups::default();
    let own = shared.commander.as_ref().map(|commander| commander.address());
    loop {
        if shared.node.head().number > 0
            && let Ok(state) = shared.newest.state().await
        {
            match endpoints(&state, own).await {
                Ok((here, endpoints)) => {
                    let addresses = addresses(here, endpoints, &mut lookups, Duration::from_secs(ttl.into())).await;
                    *places.addresses.write().expect("nothing panics while it holds the lock") = addresses.into();
                    places.serial.store(u32::try_from(state.head.number).unwrap_or(u32::MAX), Ordering::Relaxed);
                }
                Err(refusal) => tracing::warn!(why = refusal.what, "the gateways could not be listed"),
            }
        }
        sleep(REFRESH).await;
        if heads.changed().await.is_err() {
            return;
        }
    }
}

/// Where this gateway is, and the endpoints of the gateways that are active after this block.
async fn endpoints(state: &BlockState, own: Option<Address>) -> Result<(IpAddr, Vec<String>), crate::refusal::Refusal> {
    let height = state.head.height.next();
    let (own, found) = state
        .ask(|world| {
            let own = own.map(|own| gateway(world, own)).transpose()?.flatten().map(|record| record.endpoint.to_string());
            let found = foremost(world, &state.params, height, GATEWAYS)?.into_iter();
            let found: Vec<_> = found.map(|(_, record)| (record.registered_at, record.endpoint.to_string())).collect();
            Ok((own, found))
        })
        .await?;
    Ok((here(state.at.chain.is_dev, own.as_deref()), oldest_first(found)))
}

/// Where a gateway with this endpoint is, for what it lists of others (decision 718): on a development chain on loopback, and unspecified where its endpoint is no address.
fn here(is_dev: bool, own: Option<&str>) -> IpAddr {
    if is_dev { Ipv4Addr::LOCALHOST.into() } else { own.and_then(literal).unwrap_or(Ipv4Addr::UNSPECIFIED.into()) }
}

/// Endpoints in the order in which their gateways registered. Whoever registers names later delays none that were there before (decision 719).
fn oldest_first(mut found: Vec<(Height, String)>) -> Vec<String> {
    found.sort_by_key(|(registered_at, _)| *registered_at);
    found.into_iter().map(|(_, endpoint)| endpoint).collect()
}

/// The address that an endpoint is, unless it is a host name.
fn literal(endpoint: &str) -> Option<IpAddr> {
    endpoint.trim_matches(['[', ']']).parse().ok()
}

/// Where these endpoints are: addresses as they are, host names as the system resolves them. A stranger names them, so that those that lead into a reader's own computer or
/// network are left out, unless this gateway is there itself (decision 718).
async fn addresses(here: IpAddr, endpoints: Vec<String>, lookups: &mut Lookups, keep: Duration) -> Vec<IpAddr> {
    let (mut found, mut names) = (Vec::new(), Vec::new());
    for endpoint in endpoints {
        match literal(&endpoint) {
            Some(address) => found.push(address),
            None if !names.contains(&endpoint) => names.push(endpoint),
            None => {}
        }
    }
    lookups.look_up(&names, keep, resolve, sleep(RESOLVE)).await;
    found.extend(names.iter().flat_map(|name| lookups.addresses(name)));
    found.retain(|address: &IpAddr| {
        let address = address.to_canonical();
        is_of_use(here, address) && !address.is_unspecified() && !address.is_multicast()
    });
    found.sort_unstable();
    found.dedup();
    found
}

async fn resolve(name: String) -> io::Result<Vec<IpAddr>> {
    Ok(tokio::net::lookup_host((name.as_str(), 0)).await?.map(|address| address.ip()).collect())
}

/// A zone that is answered for.
struct Zone {
    lower: LowerName,
    soa_name: Name,
    nameservers: Vec<Name>,
}

/// What is answered.
struct Zones {
    zones: Vec<Zone>,
    ttl: u32,
    places: Arc<Places>,
    challenges: Arc<Challenges>,
    /// Which address comes first in the next answer.
    turn: AtomicUsize,
}

/// An answer before it is a message.
struct Said {
    code: ResponseCode,
    answers: Vec<Record>,
    authority: Vec<Record>,
    /// Whether the client is told to ask over TCP.
    is_truncated: bool,
}

impl Said {
    fn only(code: ResponseCode) -> Self {
        Self { code, answers: Vec::new(), authority: Vec::new(), is_truncated: false }
    }

    /// Its header.
    fn metadata(&self, request: &Request) -> Metadata {
        let mut metadata = Metadata::response_from_request(&request.metadata);
        metadata.response_code = self.code;
        metadata.authoritative = self.code == ResponseCode::NoError;
        metadata.recursion_available = false;
        metadata.truncation = self.is_truncated;
        metadata
    }
}

/// What the answer to a request says of the length of datagrams.
fn edns(request: &Request) -> Edns {
    let mut edns = Edns::new();
    edns.set_max_payload(request.max_payload().min(UDP_BYTES));
    edns
}

impl Zones {
    fn new(settings: &Dns, zones: &[String], places: Arc<Places>, challenges: Arc<Challenges>) -> Self {
        let zone = |zone: &String| {
            let name = full(zone)?;
            let mut nameservers: Vec<Name> = settings.nameservers.iter().filter_map(|name| full(name)).collect();
            if nameservers.is_empty() {
                nameservers.extend(name.prepend_label("ns"));
            }
            Some(Zone { lower: LowerName::new(&name), soa_name: name, nameservers })
        };
        let zones = zones.iter().filter_map(zone).collect();
        Self { zones, ttl: settings.ttl.clamp(1, TTL_MAX), places, challenges, turn: AtomicUsize::new(0) }
    }

    fn say(&self, request: &Request) -> Said {
        if request.metadata.op_code != OpCode::Query {
            return Said::only(ResponseCode::NotImp);
        }
        let Ok(info) = request.request_info() else { return Said::only(ResponseCode::FormErr) };
        let (query, kind) = (info.query, info.query.query_type());
        let zone = self.zones.iter().find(|zone| zone.lower.zone_of(query.name()));
        let Some(zone) = zone.filter(|_| query.query_class() == DNSClass::IN) else { return Said::only(ResponseCode::Refused) };
        if matches!(kind, RecordType::AXFR | RecordType::IXFR) {
            return Said::only(ResponseCode::Refused);
        }
        let asked = query.original().name().clone();
        let answers: Vec<Record> =
            self.data(zone, query.name(), kind).into_iter().map(|data| Record::from_rdata(asked.clone(), self.ttl, data)).collect();
        // Nothing of this kind: the zone's beginning says for how long that may be remembered.
        let authority = if answers.is_empty() { vec![Record::from_rdata(zone.soa_name.clone(), self.ttl, self.soa(zone))] } else { vec![] };
        Said { code: ResponseCode::NoError, answers, authority, is_truncated: false }
    }

    /// The answer as a message of any length.
    fn encoded(&self, request: &Request) -> Option<Vec<u8>> {
        let (said, edns, none) = (self.say(request), edns(request), std::iter::empty::<&Record>);
        let builder = MessageResponseBuilder::new(&request.queries, request.edns.as_ref().map(|_| &edns));
        let message = builder.build(said.metadata(request), said.answers.iter(), none(), said.authority.iter(), none());
        let mut bytes = Vec::new();
        message.destructive_emit(&mut BinEncoder::new(&mut bytes)).ok()?;
        Some(bytes)
    }

    fn data(&self, zone: &Zone, name: &LowerName, kind: RecordType) -> Vec<RData> {
        let is_apex = *name == zone.lower;
        let text = name.to_string();
        if text.starts_with('_') {
            let of_challenge = text.strip_prefix("_acme-challenge.").filter(|_| kind == RecordType::TXT);
            let values = of_challenge.map(|domain| self.challenges.of_domain(domain.trim_end_matches('.'))).unwrap_or_default();
            return values.into_iter().map(|value| RData::TXT(TXT::new(vec![value]))).collect();
        }
        match kind {
            RecordType::A | RecordType::AAAA => self.some_addresses(kind == RecordType::AAAA),
            RecordType::SOA if is_apex => vec![self.soa(zone)],
            RecordType::NS if is_apex => zone.nameservers.iter().map(|name| RData::NS(NS(name.clone()))).collect(),
            _ => Vec::new(),
        }
    }

    /// Addresses of one family, another one first each time.
    fn some_addresses(&self, is_v6: bool) -> Vec<RData> {
        let all = self.places.addresses.read().expect("nothing panics while it holds the lock").clone();
        let family: Vec<IpAddr> = all.iter().copied().filter(|address| address.is_ipv6() == is_v6).collect();
        let first = self.turn.fetch_add(1, Ordering::Relaxed).checked_rem(family.len()).unwrap_or(0);
        let turned = family[first..].iter().chain(&family[..first]).take(ANSWERS);
        turned
            .map(|address| match address {
                IpAddr::V4(address) => RData::A(A(*address)),
                IpAddr::V6(address) => RData::AAAA(AAAA(*address)),
            })
            .collect()
    }

    fn soa(&self, zone: &Zone) -> RData {
        let main = zone.nameservers.first().unwrap_or(&zone.soa_name).clone();
        let person = zone.soa_name.prepend_label("hostmaster").unwrap_or_else(|_| zone.soa_name.clone());
        RData::SOA(SOA::new(main, person, self.places.serial.load(Ordering::Relaxed), 3_600, 600, 86_400, self.ttl))
    }
}

/// A name that ends with the root's dot.
fn full(name: &str) -> Option<Name> {
    let mut name = Name::from_ascii(name).ok()?;
    name.set_fqdn(true);
    Some(name)
}

/// Answers over UDP, as many as each network may have.
struct Datagrams {
    zones: Arc<Zones>,
    answers: Option<Buckets<Subnet>>,
}

impl Datagrams {
    fn new(zones: Arc<Zones>) -> Self {
        Self { zones, answers: Buckets::new(DATAGRAMS, Duration::from_secs(1)) }
    }

    fn say(&self, request: &Request, now: Instant) -> Said {
        let subnet = Subnet::of(request.src().ip());
        let is_much = request.protocol() == Protocol::Udp && self.answers.as_ref().is_some_and(|answers| !answers.take(&subnet, 1, now));
        if is_much { Said { is_truncated: true, ..Said::only(ResponseCode::NoError) } } else { self.zones.say(request) }
    }
}

#[async_trait::async_trait]
impl RequestHandler for Datagrams {
    async fn handle_request<R: ResponseHandler, T: Time>(&self, request: &Request, mut response: R) -> ResponseInfo {
        let (said, edns) = (self.say(request, Instant::now()), edns(request));
        let builder = MessageResponseBuilder::new(&request.queries, request.edns.as_ref().map(|_| &edns));
        let metadata = said.metadata(request);
        let none = || std::iter::empty::<&Record>();
        let message = builder.build(metadata, said.answers.iter(), none(), said.authority.iter(), none());
        match response.send_response(message).await {
            Ok(info) => info,
            Err(error) => {
                tracing::debug!(%error, "an answer of the name server was not sent");
                let header = hickory_server::proto::op::Header { metadata, counts: Default::default() };
                header.into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zone with one gateway.
    pub(super) fn zones() -> Arc<Zones> {
        let places = Arc::new(Places::default());
        *places.addresses.write().expect("no panic") = vec![IpAddr::from([192, 0, 2, 7])].into();
        Arc::new(Zones::new(&Dns::default(), &["localhost".to_owned()], places, Arc::default()))
    }

    /// A question for the address of a name, as it is sent.
    pub(super) fn question(name: &str) -> Vec<u8> {
        let mut message = vec![0x12, 0x34, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            message.push(u8::try_from(label.len()).expect("a short label"));
            message.extend(label.as_bytes());
        }
        message.extend([0, 1, 0, 1]);
        message
    }

    /// Decision 718: a gateway of the internet lists none that lead into its readers' computers or networks. One that is in a network lists the others there, and one of a
    /// development chain those on loopback.
    #[tokio::test]
    async fn private_addresses_are_not_listed() {
        let public = ["1.1.1.1", "2606:4700:4700::1111"];
        let private = ["10.1.2.3", "192.168.0.1", "169.254.169.254", "[fd00::1]", "::ffff:10.1.2.3"];
        let (loopback, never) = (["127.0.0.1", "[::1]"], ["0.0.0.0", "::", "224.0.0.1", "ff02::1", "::ffff:0.0.0.0"]);
        let count = async |is_dev, own: Option<&str>| {
            let endpoints = public.iter().chain(&private).chain(&loopback).chain(&never).map(|text| (*text).to_owned()).collect();
            addresses(here(is_dev, own), endpoints, &mut Lookups::default(), Duration::ZERO).await.len()
        };
        assert_eq!(count(false, None).await, public.len());
        assert_eq!(count(false, Some("1.0.0.1")).await, public.len());
        assert_eq!(count(false, Some("gateway.example")).await, public.len());
        assert_eq!(count(false, Some("10.0.0.1")).await, public.len() + private.len());
        assert_eq!(count(false, Some("[::1]")).await, public.len() + private.len() + loopback.len());
        assert_eq!(count(true, None).await, public.len() + private.len() + loopback.len());
    }

    /// Decision 719: the order in which gateways registered is that of their names, whatever these are.
    #[test]
    fn names_that_are_older_come_first() {
        let found = [(9, "a.example"), (3, "z.example"), (9, "b.example"), (5, "m.example")];
        let found = found.map(|(height, name)| (Height(height), name.to_owned())).to_vec();
        assert_eq!(oldest_first(found), ["z.example", "m.example", "a.example", "b.example"]);
    }

    /// A network that asks much is told to ask over TCP, where it is answered; others are not concerned.
    #[test]
    fn a_network_has_a_rate_of_datagrams() {
        let (datagrams, now) = (Datagrams::new(zones()), Instant::now());
        let say = |source: &str, protocol: Protocol, now: Instant| {
            let source = source.parse().expect("an address");
            let request = Request::from_bytes(question("mysite.localhost."), source, protocol).expect("a question");
            let said = datagrams.say(&request, now);
            (said.answers.len(), said.metadata(&request).truncation)
        };
        let answered = (0..1_000).filter(|host| say(&format!("192.0.2.{}:53", host % 256), Protocol::Udp, now) == (1, false)).count();
        assert_eq!(answered, 100);
        assert_eq!(say("192.0.2.1:53", Protocol::Udp, now), (0, true));
        assert_eq!(say("192.0.2.1:53", Protocol::Tcp, now), (1, false));
        assert_eq!(say("198.51.100.1:53", Protocol::Udp, now), (1, false));
        assert_eq!(say("192.0.2.1:53", Protocol::Udp, now + Duration::from_secs(1)), (1, false));
    }
}
