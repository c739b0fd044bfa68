//! Consensus in the terms of 003 §6.1: PROPOSE, VOTE and NEW_VIEW, quorum certificates, and how final a block is (decision 387).

use crate::{Hex, HexBytes, model};
use cowboy_light::Finalization;
use cowboy_types::{Header, block::MAX_SEEDS};

/// The kinds of messages.
const PROPOSE: &str = "PROPOSE";
const VOTE: &str = "VOTE";
const NEW_VIEW: &str = "NEW_VIEW";

/// What is known of a final block beside the block.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// Its own finalization, as the engine encodes it.
    pub certificate: Option<Vec<u8>>,
    /// The height of the nearest block, from this one on, whose finalization is known.
    pub finalized_by: Option<u64>,
    /// The header of its direct child.
    pub child: Option<Header>,
}

impl Agreement {
    /// The quorum certificate of the block with this header. `None` where there is none, or where it is not of this block.
    pub fn qc(&self, header: &Header) -> Option<model::QuorumCertificate> {
        let found = Finalization::decode(self.certificate.as_ref()?).ok()?;
        let block_hash = header.digest();
        (found.payload == block_hash).then(|| model::QuorumCertificate {
            block_hash: Hex(block_hash),
            height: header.height().get(),
            round: model::Round { epoch: found.epoch, view: found.view },
            aggregated_signature: Hex(found.vote.to_vec()),
            signer_bitmap: self.child.as_ref().map(|child| Hex(child.voters.to_vec())),
        })
    }

    /// How final the block is.
    pub fn finality(&self) -> model::Finality {
        let state = if self.child.is_some() { model::FinalityState::Committed } else { model::FinalityState::Finalized };
        model::Finality { state, finalized_by: self.finalized_by, committed_by: self.child.as_ref().map(|child| Hex(child.digest())) }
    }
}

/// The messages of the rounds after the parent's: NEW_VIEW for each that was given up, then the proposal and the votes for the block.
pub fn messages(header: &Header) -> Vec<model::ConsensusMessage> {
    let context = &header.context;
    let epoch = context.epoch.get();
    let message = |kind: &str, view, leader| model::ConsensusMessage { kind: kind.into(), round: model::Round { epoch, view }, leader };
    let given_up = context.parent_view.get().saturating_add(1)..context.view.get();
    let mut found: Vec<model::ConsensusMessage> = given_up.take(MAX_SEEDS).map(|view| message(NEW_VIEW, view, None)).collect();
    let leader: HexBytes = Hex(context.leader.0.to_vec());
    found.push(message(PROPOSE, context.view.get(), Some(leader)));
    found.push(message(VOTE, context.view.get(), None));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_codec::ReadExt as _;
    use cowboy_types::units::Count;

    /// A header without anything.
    fn header() -> Header {
        Header::read(&mut bytes::Bytes::from(vec![0; 4_096])).expect("zeros are a header")
    }

    /// NEW_VIEW for each round between the parent's and the block's, then PROPOSE and VOTE; and never more than headers account for.
    #[test]
    fn rounds_without_a_block_are_new_views() {
        let mut header = header();
        header.context.epoch = Count(3);
        let mut said = |parent_view, view| {
            (header.context.parent_view, header.context.view) = (Count(parent_view), Count(view));
            messages(&header).into_iter().map(|message| (message.kind, message.round.view)).collect::<Vec<_>>()
        };
        let row = |kind: &str, view| (kind.to_owned(), view);
        assert_eq!(said(4, 5), [row(PROPOSE, 5), row(VOTE, 5)]);
        assert_eq!(said(4, 7), [row(NEW_VIEW, 5), row(NEW_VIEW, 6), row(PROPOSE, 7), row(VOTE, 7)]);
        assert_eq!(said(0, u64::MAX).len(), MAX_SEEDS + 2);
        assert_eq!(said(u64::MAX, 1).len(), 2);
    }

    /// A certificate of another block, or bytes that are not one, are no quorum certificate of this block.
    #[test]
    fn certificates_of_other_blocks_are_not_shown() {
        let header = header();
        for certificate in [None, Some(vec![]), Some(vec![7; 147]), Some([&[0u8, 1, 0][..], &[9; 128]].concat())] {
            assert!(Agreement { certificate, ..Agreement::default() }.qc(&header).is_none());
        }
        let own = [&[0u8, 1, 0][..], &header.digest().0, &[5; 48], &[6; 48]].concat();
        let qc = Agreement { certificate: Some(own), ..Agreement::default() }.qc(&header).expect("it is this block's");
        assert_eq!((qc.round.view, qc.aggregated_signature.0, qc.signer_bitmap), (1, vec![5; 48], None));
    }
}
