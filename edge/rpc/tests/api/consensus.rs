//! Consensus in the terms of 003 §6.1: rounds, quorum certificates, commit and finality.

use crate::{devnet::Devnet, proofs::validators, streams::notice};
use cowboy_api::model::{self, FinalityState, Notice, Round};
use cowboy_light::Finalization;

/// Every block shows PROPOSE and VOTE of its round, in the list, alone and at the socket; its certificate is also an object whose
/// signature is the group's; and a block is committed once its direct child has a certificate.
#[tokio::test(flavor = "multi_thread")]
async fn blocks_show_rounds_certificates_and_finality() {
    let devnet = Devnet::start(None).await;
    let client = &devnet.client;
    let (mut socket, _) = tokio_tungstenite::connect_async(client.url().replace("http", "ws") + "/ws").await.expect("the socket opens");
    let mined: model::Height = client.post("/dev/mine", &model::Mine { blocks: 3 }).await.expect("blocks are mined");
    let tip = mined.height;
    let block = async |height: u64| client.get::<model::Block>(&format!("/block/{height}")).await.expect("it is there");
    let child = loop {
        let block = block(tip - 1).await;
        // A certificate is kept a moment after its block.
        if block.qc.is_some() {
            break block;
        }
    };
    let (parent, newest) = (block(tip - 2).await, block(tip).await);
    let key = validators(&devnet).await;
    let certificate = &child.certificate.as_ref().expect("it has a certificate").0;
    assert!(key.finalizes(&child.hash.0, certificate).is_ok());
    let qc = child.qc.clone().expect("it has one");
    let (epoch, view) = (child.header.epoch, child.header.view);
    assert_eq!((qc.block_hash, qc.height, qc.round), (child.hash, tip - 1, Round { epoch, view }));
    assert_eq!(qc.aggregated_signature.0, Finalization::decode(certificate).expect("it decodes").vote);
    assert_eq!(qc.signer_bitmap.as_ref(), Some(&newest.header.voters), "the next header says who voted");

    assert_eq!((parent.finality.state, parent.finality.committed_by), (FinalityState::Committed, Some(child.hash)));
    assert_eq!(child.finality.finalized_by, Some(tip - 1));
    assert_eq!((newest.finality.state, newest.finality.committed_by), (FinalityState::Finalized, None));
    assert!(newest.qc.is_none_or(|qc| qc.signer_bitmap.is_none()), "nobody has said yet who voted for it");

    let kinds: Vec<&str> = child.messages.iter().map(|message| message.kind.as_str()).collect();
    assert!(kinds.ends_with(&["PROPOSE", "VOTE"]) && kinds.iter().rev().skip(2).all(|kind| *kind == "NEW_VIEW"), "{kinds:?}");
    assert!(child.messages.iter().rev().take(2).all(|message| message.round == Round { epoch, view }));
    let listed: model::Blocks = client.get("/blocks").await.expect("there are blocks");
    let row = listed.blocks.iter().find(|row| row.height == tip - 1).expect("it is listed");
    assert_eq!(row.messages, child.messages);
    let said = loop {
        match notice(&mut socket).await {
            Notice::Block { block } if block.height == tip - 1 => break block,
            _ => {}
        }
    };
    assert_eq!(said.messages, child.messages);
    devnet.stop().await;
}
