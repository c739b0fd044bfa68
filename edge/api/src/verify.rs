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
    /// The proof names no root there is.
    #[error("the proof leads to no root that a header has")]
    Root,
    /// It does not lead from what it claims to the root.
    #[error("proof {0} does not lead to the header's root: what it claims is not so")]
    Item(usize),
}

/// The header that the proof leads to, if every item follows from it and the validators finalized it.
pub fn verify(proof: &model::Proof, validators: &GroupKey) -> Result<Verified, VerifyError> {
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
    for (place, item) in proof.items.iter().enumerate() {
        if !follows(&proof.root, item, header)? {
            return Err(VerifyError::Item(place));
        }
    }
    Ok(Verified { header: header.clone(), finalized, round })
}

/// Whether what the item claims stands under the header's root of this kind.
fn follows(root: &str, item: &model::ProofItem, header: &Header) -> Result<bool, VerifyError> {
    let included = |root: &Hash| Inclusion::decode(item.proof.0.clone()).is_ok_and(|path| path.verify(&item.key.0, root));
    let value = item.value.as_ref().map(|value| value.0.as_slice());
    Ok(match (root, value) {
        ("state", Some(value)) => state::proves_value(&header.state_root, &item.key.0.0, value, &item.proof),
        ("state", None) => state::proves_absence(&header.state_root, &item.key.0.0, &item.proof),
        ("transaction", Some(value)) => {
            included(&header.tx_root) && Transaction::from_bytes(value).is_ok_and(|sent| sent.digest() == item.key.0)
        }
        ("receipt", Some(value)) => {
            included(&header.receipt_root) && Receipt::decode(value.to_vec()).is_ok_and(|receipt| receipt.digest() == item.key.0)
        }
        _ => return Err(VerifyError::Root),
    })
}
