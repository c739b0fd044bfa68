//! Answers that gateways sign for (004 §12.2, decision 327): what of an answer is signed, and the client's check.

use crate::{failure::ERROR_HEADER, witness::Witness};
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_system::gateways::answers::{SignedAnswer, answer_version};
use cowboy_types::{Address, Hash, keccak256};
use http::HeaderMap;
use sha2::{Digest as _, Sha256};

/// The header of an answer that carries the signed statement, in hexadecimal.
pub const SIGNATURE_HEADER: &str = "x-cowboy-signature";

/// The headers that are signed: those that decide what a client does with the body, and the code of a failure.
pub const SIGNED_HEADERS: [&str; 9] = [
    "cache-control",
    "content-disposition",
    "content-language",
    "content-security-policy",
    "content-type",
    "link",
    "location",
    "set-cookie",
    ERROR_HEADER,
];

/// What is signed of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The status.
    pub status: u16,
    /// The digest of the headers.
    pub headers: Hash,
    /// The digest of the body.
    pub body: Hash,
}

impl Said {
    /// What is signed of an answer with this status, these headers and this whole body. Of a failure only status and code are.
    pub fn of(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        match headers.get(ERROR_HEADER) {
            Some(code) => Self { status, headers: digest([(ERROR_HEADER, code.as_bytes())]), body: Hash::ZERO },
            None => {
                let lines = SIGNED_HEADERS.iter().flat_map(|name| headers.get_all(*name).iter().map(|value| (*name, value.as_bytes())));
                Self { status, headers: digest(lines), body: Hash(Sha256::digest(body).into()) }
            }
        }
    }
}

/// Keccak-256 of headers: each name and value behind its length, as four bytes, big-endian.
fn digest<'a>(lines: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Hash {
    let mut bytes = Vec::new();
    for part in lines.into_iter().flat_map(|(name, value)| [name.as_bytes(), value]) {
        bytes.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        bytes.extend(part);
    }
    keccak256(&[&bytes])
}

/// The chain that a client takes answers to be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The genesis hash.
    pub genesis: Hash,
    /// Whether it is a dev chain, where a signature says who answered, and is no evidence (decision 361).
    pub is_dev: bool,
}

/// Why an answer is not signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSigned {
    /// The header is missing.
    #[error("the gateway signed nothing: it has no key, or an older version")]
    Missing,
    /// The header has no signed statement.
    #[error("{SIGNATURE_HEADER} is not a signed answer")]
    Malformed,
    /// It is about another chain.
    #[error("the gateway signed an answer of the chain {0}")]
    OtherChain(Hash),
    /// It is of a kind that this chain does not take as evidence.
    #[error("the gateway signed it as an answer of {}", if *is_dev { "another chain than a dev chain" } else { "a dev chain, which proves nothing" })]
    OtherKind {
        /// Whether the chain is a dev chain.
        is_dev: bool,
    },
    /// It is about another request.
    #[error("the gateway signed the answer to another request")]
    OtherRequest,
    /// It is about another answer.
    #[error("the gateway signed another {0} than it sent")]
    OtherAnswer(&'static str),
}

/// The value of [`SIGNATURE_HEADER`].
pub fn header_value(signed: &SignedAnswer) -> String {
    signed.encode().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The signed statement among the headers of an answer.
pub fn read(headers: &HeaderMap) -> Result<SignedAnswer, NotSigned> {
    decode(headers.get(SIGNATURE_HEADER).ok_or(NotSigned::Missing)?.as_bytes())
}

/// The signed statement of this value of the header.
fn decode(text: &[u8]) -> Result<SignedAnswer, NotSigned> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes: Option<Vec<u8>> =
        text.chunks(2).map(|pair| <[u8; 2]>::try_from(pair).ok().and_then(|[one, two]| Some((digit(one)? << 4) | digit(two)?))).collect();
    SignedAnswer::decode(bytes.ok_or(NotSigned::Malformed)?).map_err(|_| NotSigned::Malformed)
}

/// Who signed an answer: that of this chain to the request with this envelope, with what was received.
pub fn check(signed: &SignedAnswer, chain: Chain, envelope: &[u8], received: &Said) -> Result<Address, NotSigned> {
    let statement = &signed.statement;
    let signer = signed.signer().ok_or(NotSigned::Malformed)?;
    if statement.genesis != chain.genesis {
        return Err(NotSigned::OtherChain(statement.genesis));
    }
    if statement.version != answer_version(chain.is_dev) {
        return Err(NotSigned::OtherKind { is_dev: chain.is_dev });
    }
    if statement.request != keccak256(&[envelope]) {
        return Err(NotSigned::OtherRequest);
    }
    let rows = [
        ("status", statement.status == received.status),
        ("header", statement.headers == received.headers),
        ("body", statement.body == received.body),
    ];
    match rows.iter().find(|(_, is_same)| !is_same) {
        Some((part, _)) => Err(NotSigned::OtherAnswer(part)),
        None => Ok(signer),
    }
}

/// Who signed the answer in a witness, by the header beside it: what it answers, and the block and the name that it is of. Whether the
/// answer is true, the witness shows.
pub fn check_witness(value: &[u8], chain: Chain, witness: &Witness) -> Result<Address, NotSigned> {
    let signed = decode(value)?;
    let (answer, header) = (witness.answer().ok_or(NotSigned::Malformed)?, witness.anchor.headers.first().ok_or(NotSigned::Malformed)?);
    let signer = check(&signed, chain, &witness.request, &Said::of(witness.status, &answer.headers, &answer.body))?;
    let statement = &signed.statement;
    if (statement.height, statement.state_root) != (header.height(), header.state_root) {
        return Err(NotSigned::OtherAnswer("block"));
    }
    if statement.name == witness.name { Ok(signer) } else { Err(NotSigned::OtherAnswer("name")) }
}
