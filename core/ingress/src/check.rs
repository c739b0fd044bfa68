//! The client's side: whether an answer follows from what the validators signed.

use crate::{
    failure::ERROR_HEADER,
    request::{self, Parts},
    signed,
    visit::{Visit, Visited},
    witness::{WITNESS_VERSION, Witness},
};
use bytes::Bytes;
use commonware_codec::DecodeExt as _;
use cowboy_chain::{ChainConfig, GenesisConfig, engine::NoImages, query::At, resume};
use cowboy_light::{GroupKey, Mismatch, state};
use cowboy_state::{Key, StateKey};
use cowboy_system::gateways::envelope::Envelope;
use cowboy_types::{Address, Hash, Header, cbor, cbor::Value};
use http::{HeaderMap, Uri, uri::Authority};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// The most rounds of reading that one answer takes: a name, a manifest, code, and a round for every record beside.
const MAX_ROUNDS: usize = 64 + crate::witness::MAX_ENTRIES;

/// Whom a client trusts: the validators of one chain.
#[derive(Clone, Debug)]
pub struct Trust {
    chain: Arc<ChainConfig>,
    validators: GroupKey,
}

/// Why bytes are not a valid trust anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// The genesis does not decode, or makes no chain.
    #[error("these bytes are not a genesis: take them from /genesis of a node of the chain")]
    Genesis,
    /// The key is none.
    #[error("the group key is not valid: it is 96 bytes, as /genesis of a node has them")]
    GroupKey,
}

impl Trust {
    /// The chain that begins with an encoded genesis, whose validators have this group key.
    pub fn new(genesis: &[u8], group_key: &[u8]) -> Result<Self, TrustError> {
        let genesis = GenesisConfig::decode(genesis.to_vec()).map_err(|_| TrustError::Genesis)?;
        let key: &[u8; 96] = group_key.try_into().map_err(|_| TrustError::GroupKey)?;
        let chain = genesis.chain_of(key).map_err(|_| TrustError::Genesis)?;
        let validators = GroupKey::new(&chain.genesis, key).ok_or(TrustError::GroupKey)?;
        Ok(Self { chain: Arc::new(chain), validators })
    }

    /// The chain, as answers are signed about it.
    pub fn signing(&self) -> signed::Chain {
        signed::Chain { genesis: self.chain.genesis, is_dev: self.chain.is_dev }
    }

    /// The genesis hash, which covers the group key: a client that pins this hash trusts nothing else.
    pub fn genesis(&self) -> Hash {
        self.chain.genesis
    }
}

/// What the client asked.
#[derive(Clone, Debug)]
pub struct Asked {
    name: String,
    host: String,
    target: Uri,
    /// The headers that it sent, where it knows them: a browser does not.
    headers: Option<HeaderMap>,
}

/// Why a URL asks no name anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAsked {
    /// It is no URL of the web.
    #[error("that is not a URL: write one like http://mysite.localhost:8080/")]
    Url,
    /// Its host is below none of the zones.
    #[error("the host is not a name below a zone that is known: name its zone")]
    Zone,
}

impl Asked {
    /// What a GET of this URL asks, in a zone of names such as `localhost`.
    pub fn of_url(url: &str, zones: &[&str]) -> Result<Self, NotAsked> {
        // What stands behind a hash is never sent.
        let url = url.split('#').next().unwrap_or_default();
        let target: Uri = url.parse().map_err(|_| NotAsked::Url)?;
        let authority: &Authority = target.authority().filter(|authority| !authority.as_str().contains('@')).ok_or(NotAsked::Url)?;
        let own_port = match target.scheme_str() {
            Some("http") => "80",
            Some("https") => "443",
            _ => return Err(NotAsked::Url),
        };
        let host = authority.host().to_ascii_lowercase();
        let plain = host.strip_suffix('.').unwrap_or(&host);
        let below = |zone: &&str| plain.strip_suffix(*zone).and_then(|rest| rest.strip_suffix('.'));
        let name = zones.iter().find_map(below).ok_or(NotAsked::Zone)?.to_owned();
        let port = authority.port().filter(|port| port.as_str() != own_port);
        let host = port.map_or(host.clone(), |port| format!("{host}:{port}"));
        Ok(Self { name, host, target, headers: None })
    }

    /// The headers that were sent, `Host` among them where it was.
    pub fn with_headers(self, headers: HeaderMap) -> Self {
        Self { headers: Some(headers), ..self }
    }

    /// The name that was asked for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The host as it is sent.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The envelope of this request under an id, as a handler gets it; without headers where they are not known.
    pub fn envelope(&self, request_id: &str) -> Value {
        let nothing = HeaderMap::new();
        let headers = self.headers.as_ref().unwrap_or(&nothing);
        request::envelope(&Parts { method: "GET", uri: &self.target, headers, host: &self.host, request_id }, None)
    }

    /// The field in which an envelope is another than this request's.
    fn difference(&self, witness: &Witness, envelope: &Value) -> Option<&'static str> {
        if *witness.name != *self.name {
            return Some("name");
        }
        let expected = self.envelope("");
        let mut fields = vec!["method", "host", "path", "query", "body"];
        fields.extend(self.headers.is_some().then_some("headers"));
        fields.into_iter().find(|field| expected.get(field) != envelope.get(field))
    }
}

/// The steps of a check, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The witness is one, and of this request.
    Request,
    /// The validators finalized the block.
    Certificate,
    /// Every record is in the block's state.
    State,
    /// The handler ran again, over nothing but these records.
    Replay,
    /// What it answered is what was received.
    Answer,
}

impl Step {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Request, Self::Certificate, Self::State, Self::Replay, Self::Answer];

    /// Its name for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Certificate => "certificate",
            Self::State => "state",
            Self::Replay => "replay",
            Self::Answer => "answer",
        }
    }
}

/// Why an answer is not to be believed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The bytes are no witness.
    #[error("the bytes are not a witness ({0}): ask with the header `Cowboy-Verify: 1` or the query `?_cowboy_proof`")]
    Malformed(String),
    /// The witness has another version.
    #[error("the witness has version {0}, and this program knows version {WITNESS_VERSION}: use a newer one")]
    Version(u8),
    /// The proven answer is not one to this request.
    #[error("the gateway answered another request: its {0} is not the one that was asked")]
    OtherRequest(&'static str),
    /// The block is one of another chain.
    #[error("the block belongs to the chain {0}, which is not the one that is trusted")]
    OtherChain(Hash),
    /// The headers do not follow each other.
    #[error("the headers of the witness do not follow each other")]
    Headers(Mismatch),
    /// The validators did not finalize the block.
    #[error("{0}")]
    Certificate(cowboy_light::Refused),
    /// The block is older than was asked for.
    #[error("the answer is of block {found}, and block {least} or later was asked for")]
    TooOld {
        /// Its height.
        found: u64,
        /// The least.
        least: u64,
    },
    /// Records are not in the order of their keys.
    #[error("record {0} of the witness is out of order")]
    Order(usize),
    /// A record is not in the state.
    #[error("record {place} (key {key}) is not what the state of block {height} has there")]
    NotInState {
        /// Its place, from 0.
        place: usize,
        /// Its key.
        key: Hash,
        /// The block.
        height: u64,
    },
    /// The handler reads what the witness does not prove.
    #[error("the handler reads the record {0}, which the witness leaves out")]
    Unproven(Hash),
    /// The handler reads on and on.
    #[error("the handler takes too many rounds of reading")]
    Endless,
    /// The answer has another status.
    #[error("the actor answers with status {proven}, and the gateway said {given}")]
    Status {
        /// What follows.
        proven: u16,
        /// What was received.
        given: u16,
    },
    /// The answer has other headers.
    #[error("the header {0} is not as the actor set it")]
    Header(String),
    /// The answer has another body.
    #[error("the body differs from the actor's at byte {at}: it has {proven} bytes, and {given} were received")]
    Body {
        /// The first byte that differs.
        at: usize,
        /// Bytes of what follows.
        proven: usize,
        /// Bytes of what was received.
        given: usize,
    },
}

impl Refused {
    /// The step that failed; the ones before it held.
    pub fn step(&self) -> Step {
        match self {
            Self::Malformed(_) | Self::Version(_) | Self::OtherRequest(_) => Step::Request,
            Self::OtherChain(_) | Self::Headers(_) | Self::Certificate(_) | Self::TooOld { .. } => Step::Certificate,
            Self::Order(_) | Self::NotInState { .. } => Step::State,
            Self::Unproven(_) | Self::Endless => Step::Replay,
            Self::Status { .. } | Self::Header(_) | Self::Body { .. } => Step::Answer,
        }
    }
}

/// An answer that follows from what the validators signed.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The header of the block on whose state it was made.
    pub header: Header,
    /// The round in which the validators finalized it, or a successor: epoch and view.
    pub round: (u64, u64),
    /// The name.
    pub name: String,
    /// The actor, where the name leads to one.
    pub actor: Option<Address>,
    /// The request as the handler got it.
    pub request: Value,
    /// The answer's status.
    pub status: u16,
    /// The code of a failure, where it is one.
    pub failure: Option<String>,
    /// The answer's headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// Records that were proven.
    pub records: usize,
    /// Compute that the handler used.
    pub cycles_used: u64,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Checks a witness: certificate, state, and the handler once more over what is proven.
///
/// Without `asked` it shows that the answer is right for the request in the witness, whatever was asked. `least` is the
/// lowest height that the client takes: what was true once may be shown for ever.
pub fn check(bytes: Bytes, trust: &Trust, asked: Option<&Asked>, least: u64) -> Result<Checked, Refused> {
    let witness = Witness::read(bytes.clone()).map_err(|error| match bytes.first() {
        // What begins with a letter is a page or JSON, not a later version.
        Some(version) if *version != WITNESS_VERSION && *version < 32 => Refused::Version(*version),
        _ => Refused::Malformed(error.to_string()),
    })?;
    if witness.version != WITNESS_VERSION {
        return Err(Refused::Version(witness.version));
    }
    let (request, method) = check_request(&witness, asked)?;
    let (header, round) = check_block(&witness, trust, least)?;
    let records = check_records(&witness, &header)?;
    let visited = replay(&witness, trust, &header, &method, records)?;
    compare(&witness, &visited)?;
    let answer = visited.answer();
    let failure = answer.headers.get(ERROR_HEADER).and_then(|code| code.to_str().ok()).map(str::to_owned);
    Ok(Checked {
        round,
        name: witness.name.to_string(),
        actor: visited.route.map(|route| route.actor),
        request,
        status: witness.status,
        failure,
        body: answer.shown_body(),
        headers: answer.headers,
        records: witness.entries.len(),
        cycles_used: visited.cycles_used.0,
        header,
    })
}

/// The envelope, if it is one, and of what was asked; and its method.
fn check_request(witness: &Witness, asked: Option<&Asked>) -> Result<(Value, String), Refused> {
    let envelope = cbor::decode(&witness.request).map_err(|_| Refused::Malformed("the request is not CBOR".into()))?;
    let method = match Envelope::read(&envelope) {
        Ok(read) => read.method.to_owned(),
        Err(_) => return Err(Refused::Malformed("the request is not an envelope".into())),
    };
    match asked.and_then(|asked| asked.difference(witness, &envelope)) {
        Some(field) => Err(Refused::OtherRequest(field)),
        None => Ok((envelope, method)),
    }
}

/// The header, if the validators finalized it, and the round in which they did.
fn check_block(witness: &Witness, trust: &Trust, least: u64) -> Result<(Header, (u64, u64)), Refused> {
    let (header, finalized) = witness.anchor.check().map_err(Refused::Headers)?;
    if header.genesis != trust.genesis() {
        return Err(Refused::OtherChain(header.genesis));
    }
    let round = trust.validators.finalizes(&finalized, &witness.anchor.certificate).map_err(Refused::Certificate)?;
    let found = header.height().0;
    if found < least {
        return Err(Refused::TooOld { found, least });
    }
    Ok((header.clone(), round))
}

/// The records, if all of them are in the state after the block.
fn check_records(witness: &Witness, header: &Header) -> Result<BTreeMap<StateKey, Option<Bytes>>, Refused> {
    let mut records = BTreeMap::new();
    for (place, entry) in witness.entries.iter().enumerate() {
        let key = StateKey(entry.key.0);
        if records.last_key_value().is_some_and(|(last, _)| *last >= key) {
            return Err(Refused::Order(place));
        }
        let value = entry.value.as_ref().map(|value| value.bytes().clone());
        let is_proven = match &value {
            // A record names the key under which it stands: what does not, no execution wrote.
            Some(value) => {
                Key::open(value).is_some_and(|(named, _)| named.digest() == key)
                    && state::proves_value(&header.state_root, &entry.key.0, value, &entry.proof)
            }
            None => state::proves_absence(&header.state_root, &entry.key.0, &entry.proof),
        };
        if !is_proven {
            return Err(Refused::NotInState { place, key: entry.key, height: header.height().0 });
        }
        records.insert(key, value);
    }
    Ok(records)
}

/// Runs the handler over these records and no others.
fn replay(
    witness: &Witness,
    trust: &Trust,
    header: &Header,
    method: &str,
    records: BTreeMap<StateKey, Option<Bytes>>,
) -> Result<Visited, Refused> {
    let at = At::after(header, trust.chain.clone(), Arc::new(NoImages));
    let mut visit = Visit::new(at, &witness.name, method, witness.request.bytes().clone());
    let find = |key: StateKey| match records.get(&key) {
        Some(value) => Ok((key, value.clone())),
        None => Err(Refused::Unproven(Hash(key.0))),
    };
    let mut rounds = 1..MAX_ROUNDS;
    resume::run(&mut visit, |keys| {
        rounds.next().ok_or(Refused::Endless)?;
        keys.into_iter().map(find).collect()
    })
}

/// Whether what was received is what follows.
fn compare(witness: &Witness, visited: &Visited) -> Result<(), Refused> {
    let proven = visited.answer();
    let Some(given) = witness.answer() else { return Err(Refused::Malformed("the answer is none in HTTP".into())) };
    if given.status != proven.status {
        return Err(Refused::Status { proven: proven.status.as_u16(), given: given.status.as_u16() });
    }
    for name in proven.headers.keys().chain(given.headers.keys()) {
        if !proven.headers.get_all(name).iter().eq(given.headers.get_all(name).iter()) {
            return Err(Refused::Header(name.to_string()));
        }
    }
    let (proven, given) = (proven.shown_body(), given.body);
    if proven != given {
        let at = proven.iter().zip(given.iter()).position(|(one, other)| one != other).unwrap_or(proven.len().min(given.len()));
        return Err(Refused::Body { at, proven: proven.len(), given: given.len() });
    }
    Ok(())
}
