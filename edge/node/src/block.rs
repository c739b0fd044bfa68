//! A block as the consensus engine sees it.

use crate::epoch::{self, Payload, roll::Roll};
use bytes::BufMut;
use commonware_codec::{Buf, DecodeExt as _, EncodeSize, Error, Read, ReadExt as _, Write};
use commonware_consensus::{
    Block as ConsensusBlock, BoundedBlock, CertifiableBlock, Heightable,
    simplex::types::Context,
    types::{Epoch, Height, Round, View},
};
use commonware_cryptography::{Digestible, blake3::Digest, bls12381::primitives::variant::MinSig, ed25519::PublicKey};
use commonware_glue::dkg::ReshareBlock;
use cowboy_types::{
    self as types, Hash,
    block::{MAX_BLOCK_BODY_BYTES, MAX_RESHARE_BYTES},
    units::Count,
    wire::Fixed,
};
use std::{
    fmt,
    sync::{Arc, OnceLock},
};

/// The round, the proposer and the parent of a proposal, in the engine's words.
pub type ConsensusContext = Context<Digest, PublicKey>;

/// The most bytes of a header: 256 seeds, voters, extension, and fields of fixed size.
const MAX_HEADER_BYTES: usize = 16 * 1024;

/// A block whose body is the one its header commits to and whose context is well formed. Clones share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedBlock(Arc<Sealed>);

struct Sealed {
    block: types::Block,
    digest: Hash,
    context: ConsensusContext,
    /// What the body carries of a dealing, decoded when it is first asked for: the points of a payload take long to decode, and a block that came from
    /// somewhere is not known to be any leader's.
    payload: OnceLock<Option<Payload>>,
}

impl PartialEq for Sealed {
    fn eq(&self, other: &Self) -> bool {
        self.block == other.block
    }
}

impl Eq for Sealed {}

impl fmt::Debug for Sealed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sealed").field("digest", &self.digest).field("block", &self.block).finish_non_exhaustive()
    }
}

impl SealedBlock {
    /// Seals a block that this node made.
    pub fn new(block: types::Block, context: ConsensusContext) -> Self {
        let digest = block.digest();
        Self(Arc::new(Sealed { block, digest, context, payload: OnceLock::new() }))
    }

    /// Seals a block that came from outside.
    pub fn check(block: types::Block) -> Result<Self, Error> {
        if !block.is_body_committed() {
            return Err(Error::Invalid("Block", "the body is not the one that the header commits to"));
        }
        let context = engine_context(&block.header.context)?;
        Ok(Self::new(block, context))
    }

    /// The block itself.
    pub fn block(&self) -> &types::Block {
        &self.0.block
    }

    /// The header.
    pub fn header(&self) -> &types::Header {
        &self.0.block.header
    }

    /// The block's name in the protocol's type.
    pub fn hash(&self) -> Hash {
        self.0.digest
    }
}

/// The protocol's words for a context.
pub fn protocol_context(context: &ConsensusContext) -> types::Context {
    let mut leader = [0; 32];
    leader.copy_from_slice(&context.leader);
    types::Context {
        epoch: Count(context.round.epoch().get()),
        view: Count(context.round.view().get()),
        leader: Fixed(leader),
        parent_view: Count(context.parent.0.get()),
        parent: Hash(context.parent.1.into()),
    }
}

/// The engine's type for a block's name.
pub fn engine_digest(hash: &Hash) -> Digest {
    Digest::from(hash.0)
}

/// The engine's words for a context. Fails where the leader's key is no Ed25519 key.
pub fn engine_context(context: &types::Context) -> Result<ConsensusContext, Error> {
    Ok(Context {
        round: Round::new(Epoch::new(context.epoch.0), View::new(context.view.0)),
        leader: PublicKey::decode(context.leader.0.to_vec())?,
        parent: (View::new(context.parent_view.0), Digest::from(context.parent.0)),
    })
}

impl Write for SealedBlock {
    fn write(&self, buf: &mut impl BufMut) {
        self.0.block.write(buf);
    }
}

impl EncodeSize for SealedBlock {
    fn encode_size(&self) -> usize {
        self.0.block.encode_size()
    }
}

impl Read for SealedBlock {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Self::check(types::Block::read(buf)?)
    }
}

impl Digestible for SealedBlock {
    type Digest = Digest;
    fn digest(&self) -> Digest {
        Digest::from(self.0.digest.0)
    }
}

impl Heightable for SealedBlock {
    fn height(&self) -> Height {
        Height::new(self.header().number.0)
    }
}

impl ConsensusBlock for SealedBlock {
    fn parent(&self) -> Digest {
        Digest::from(self.header().parent.0)
    }
}

impl CertifiableBlock for SealedBlock {
    type Context = ConsensusContext;
    fn context(&self) -> ConsensusContext {
        self.0.context.clone()
    }
}

impl ReshareBlock for SealedBlock {
    type Variant = MinSig;
    type PublicKey = PublicKey;
    type Directory = Roll;

    fn payload(&self) -> Option<Payload> {
        // No block with bytes that are no payload is sound: see `rules`.
        let decode = || self.block().reshare.as_ref().and_then(|bytes| epoch::decode(bytes).ok());
        self.0.payload.get_or_init(decode).clone()
    }
}

impl BoundedBlock for SealedBlock {
    fn max_encode_size((): &()) -> usize {
        MAX_HEADER_BYTES + MAX_BLOCK_BODY_BYTES + MAX_RESHARE_BYTES + 16
    }
}
