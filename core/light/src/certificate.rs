//! That the validators finalized a block: a threshold-BLS signature under their group key, which never changes (003 §6.1).
//!
//! A finalization is: the round (epoch and view), the view of the parent, the block's digest; then two signatures on G1, of
//! the vote and of the round's seed. Each signs `varint(|namespace|) ‖ namespace ‖ message`, the namespace being that of the
//! chain and of the kind of message.

use bls12_381::{
    G1Affine, G1Projective, G2Affine, G2Prepared, Gt,
    hash_to_curve::{ExpandMsgXmd, HashToCurve},
    multi_miller_loop,
};
use bytes::Bytes;
use commonware_codec::{Buf, Encode as _, Error, Read, ReadExt as _, varint::UInt};
use cowboy_types::Hash;
use sha2_010::Sha256;

/// How messages become points (RFC 9380, with proofs of possession).
const SUITE: &[u8] = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";

/// What the engine puts behind the chain's namespace where a vote is for finalizing.
const FINALIZE: &[u8] = b"_FINALIZE";

/// The same where a round's seed is signed.
const SEED: &[u8] = b"_SEED";

/// The validators of one chain, as far as certificates need them: the public half of their group key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupKey {
    key: G2Affine,
    namespace: Vec<u8>,
}

/// Why bytes are no finalization of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// They do not decode.
    Malformed,
    /// They are about another block.
    OtherBlock {
        /// That block.
        found: Hash,
    },
    /// The validators did not sign this.
    Signature,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Malformed => f.write_str("the certificate is damaged: its bytes are no finalization"),
            Self::OtherBlock { found } => write!(f, "the certificate finalizes another block, {found}"),
            Self::Signature => f.write_str("the certificate was not signed by the validators of this chain"),
        }
    }
}

impl std::error::Error for Refused {}

impl GroupKey {
    /// The group key of the chain with this genesis, from 96 compressed bytes; `None` where they are no key.
    pub fn new(genesis: &Hash, key: &[u8; 96]) -> Option<Self> {
        let key = Option::<G2Affine>::from(G2Affine::from_compressed(key)).filter(|key| !bool::from(key.is_identity()))?;
        Some(Self { key, namespace: [b"cowboy:".as_slice(), &genesis.0].concat() })
    }

    /// Whether the certificate finalizes the block with this digest, and the round in which it did: epoch and view.
    ///
    /// The seed of the round is checked too, so that the certificate also vouches for the beacon it carries.
    pub fn finalizes(&self, digest: &Hash, certificate: &[u8]) -> Result<(u64, u64), Refused> {
        let finalization = Finalization::decode(certificate)?;
        if finalization.payload != *digest {
            return Err(Refused::OtherBlock { found: finalization.payload });
        }
        let round = [UInt(finalization.epoch).encode(), UInt(finalization.view).encode()].concat();
        let proposal = [round.as_slice(), &UInt(finalization.parent).encode(), &digest.0].concat();
        let genuine = self.signed(FINALIZE, &proposal, &finalization.vote)? && self.signed(SEED, &round, &finalization.seed)?;
        if genuine { Ok((finalization.epoch, finalization.view)) } else { Err(Refused::Signature) }
    }

    /// Whether the group signed a message of this kind.
    #[expect(clippy::arithmetic_side_effects, reason = "the negation of a point")]
    fn signed(&self, kind: &[u8], message: &[u8], signature: &[u8; 48]) -> Result<bool, Refused> {
        let point = Option::<G1Affine>::from(G1Affine::from_compressed(signature)).ok_or(Refused::Malformed)?;
        if bool::from(point.is_identity()) {
            return Ok(false);
        }
        let namespace = [self.namespace.as_slice(), kind].concat();
        let length = u64::try_from(namespace.len()).expect("a namespace is short");
        let signed = [UInt(length).encode().as_ref(), &namespace, message].concat();
        let hashed = <G1Projective as HashToCurve<ExpandMsgXmd<Sha256>>>::hash_to_curve([signed], SUITE);
        // e(signature, -generator) · e(hash, key) is 1 exactly where the key's secret made the signature of the hash.
        let generator = G2Prepared::from(-G2Affine::generator());
        let key = G2Prepared::from(self.key);
        let product = multi_miller_loop(&[(&point, &generator), (&G1Affine::from(hashed), &key)]).final_exponentiation();
        Ok(product == Gt::identity())
    }
}

/// A finalization as the engine encodes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finalization {
    /// The epoch of the round.
    pub epoch: u64,
    /// The view of the round.
    pub view: u64,
    /// The view in which the parent was proposed.
    pub parent: u64,
    /// The digest of the block.
    pub payload: Hash,
    /// The group's signature of the vote, a compressed point on G1.
    pub vote: [u8; 48],
    /// The group's signature of the round, which is its seed.
    pub seed: [u8; 48],
}

impl Finalization {
    /// The finalization in these bytes, unverified. Fails where they are not one, or have more behind it.
    pub fn decode(certificate: &[u8]) -> Result<Self, Refused> {
        let mut bytes = Bytes::copy_from_slice(certificate);
        let finalization = Self::read(&mut bytes).map_err(|_| Refused::Malformed)?;
        if bytes.is_empty() { Ok(finalization) } else { Err(Refused::Malformed) }
    }
}

impl Read for Finalization {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self {
            epoch: UInt::<u64>::read(buf)?.0,
            view: UInt::<u64>::read(buf)?.0,
            parent: UInt::<u64>::read(buf)?.0,
            payload: Hash::read(buf)?,
            vote: <[u8; 48]>::read(buf)?,
            seed: <[u8; 48]>::read(buf)?,
        })
    }
}
