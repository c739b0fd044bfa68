//! Proofs of the API, verified without trusting the node that gave them.

use crate::model;
use commonware_codec::DecodeExt as _;
use cowboy_light::{Anchor, GroupKey, Mismatch, Refused, state};
use cowboy_types::{Blob, Hash, Header, List, Receipt, Transaction, merkle::Inclusion};

/// What a proof turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The header that the proven things stand under.
    pub header: Header,
    /// The block that carries the validators' certificate: the header's own, or a successor.
    pub finalized: Hash,
    /// The round in which the validators finalized it: epoch and view.
    pub round: (u64, u64),
}

/// What a proof is asked for: the root, and what must stand under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The record under this key of the state, or that there is none.
    State(Hash),
    /// The transaction of this hash.
    Transaction(Hash),
    /// The receipt of the transaction or delivery of this hash.
    Receipt(Hash),
}

impl Claim {
    /// The root as proofs of the API name it.
    fn root(&self) -> &'static str {
        match self {
            Self::State(_) => "state",
            Self::Transaction(_) => "transaction",
            Self::Receipt(_) => "receipt",
        }
    }

    /// Whether the item speaks of what is asked for.
    fn is_of(&self, item: &model::ProofItem) -> bool {
        match self {
            Self::State(key) => item.key.0 == *key,
            Self::Transaction(hash) => item.value.is_some() && item.key.0 == *hash,
            Self::Receipt(hash) => {
                let receipt = item.value.as_ref().and_then(|value| Receipt::decode(value.0.clone()).ok());
                receipt.is_some_and(|receipt| receipt.id == *hash)
            }
        }
    }
}

/// Why a proof is not to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// A header does not decode, or there are too many.
    #[error("header {0} of the proof is damaged")]
    Header(usize),
    /// The headers do not follow each other.
    #[error("the headers of the proof do not follow each other")]
    Headers(Mismatch),
    /// The validators did not finalize it.
    #[error(transparent)]
    Certificate(#[from] Refused),
    /// The proof leads to another root than what was asked for stands under.
    #[error("the proof leads to another root than was asked for")]
    Root,
    /// It does not have exactly one item for each question.
    #[error("the proof has {found} items, and {asked} were asked for")]
    Count {
        /// Items of the proof.
        found: usize,
        /// Items that were asked for.
        asked: usize,
    },
    /// It proves something else.
    #[error("item {0} of the proof is of something else than was asked for")]
    Other(usize),
    /// It does not lead from what it claims to the root.
    #[error("proof {0} does not lead to the header's root: what it claims is not so")]
    Item(usize),
}

/// The header that the proof leads to, if it answers each of `claims` in order, every item follows from the header, and the validators
/// finalized it.
pub fn verify(proof: &model::Proof, validators: &GroupKey, claims: &[Claim]) -> Result<Verified, VerifyError> {
    if claims.iter().any(|claim| claim.root() != proof.root) {
        return Err(VerifyError::Root);
    }
    if proof.items.len() != claims.len() {
        return Err(VerifyError::Count { found: proof.items.len(), asked: claims.len() });
    }
    let mut headers = Vec::with_capacity(proof.headers.len());
    for (place, bytes) in proof.headers.iter().enumerate() {
        headers.push(Header::decode(bytes.0.clone()).map_err(|_| VerifyError::Header(place))?);
    }
    let anchor = Anchor {
        headers: List::new(headers).ok_or(VerifyError::Header(proof.headers.len()))?,
        certificate: Blob::new(proof.finalization.0.clone()).ok_or(Refused::Malformed)?,
    };
    let (header, finalized) = anchor.check().map_err(VerifyError::Headers)?;
    let round = validators.finalizes(&finalized, &anchor.certificate)?;
    for (place, (item, claim)) in proof.items.iter().zip(claims).enumerate() {
        if !follows(claim, item, header) {
            return Err(VerifyError::Item(place));
        }
        if !claim.is_of(item) {
            return Err(VerifyError::Other(place));
        }
    }
    Ok(Verified { header: header.clone(), finalized, round })
}

/// Whether the item stands under the header's root of this kind.
fn follows(claim: &Claim, item: &model::ProofItem, header: &Header) -> bool {
    let included = |root: &Hash| Inclusion::decode(item.proof.0.clone()).is_ok_and(|path| path.verify(&item.key.0, root));
    let value = item.value.as_ref().map(|value| value.0.as_slice());
    match (claim, value) {
        (Claim::State(_), Some(value)) => state::proves_value(&header.state_root, &item.key.0.0, value, &item.proof),
        (Claim::State(_), None) => state::proves_absence(&header.state_root, &item.key.0.0, &item.proof),
        (Claim::Transaction(_), Some(value)) => {
            included(&header.tx_root) && Transaction::from_bytes(value).is_ok_and(|sent| sent.digest() == item.key.0)
        }
        (Claim::Receipt(_), Some(value)) => {
            included(&header.receipt_root) && Receipt::decode(value.to_vec()).is_ok_and(|receipt| receipt.digest() == item.key.0)
        }
        // That a list has no such item cannot be proven.
        (Claim::Transaction(_) | Claim::Receipt(_), None) => false,
    }
}
