//! Blocks as they come.

use crate::devnet::Devnet;
use commonware_codec::DecodeExt as _;
use cowboy_api::{
    follow::Frame,
    model::{self, Notice},
};
use cowboy_node::reader::MAX_OPERATIONS_BYTES;
use cowboy_overlay::{HttpSource, Operations, Position, Source as _};
use cowboy_serve::Client;
use cowboy_types::{Amount, Block, Instruction, System};
use futures::{SinkExt as _, StreamExt as _};
use std::net::IpAddr;
use tokio_tungstenite::tungstenite::Message;

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_says_blocks_receipts_and_only_what_is_wanted() {
    let devnet = Devnet::start(None).await;
    let url = devnet.client.url().replace("http", "ws") + "/ws";
    let (mut all, _) = tokio_tungstenite::connect_async(&url).await.expect("the socket opens");
    let (mut blocks, _) = tokio_tungstenite::connect_async(&url).await.expect("the socket opens");
    blocks.send(Message::text(r#"{"subscribe":["block"]}"#)).await.expect("the socket is open");
    // An answer to nonsense shows that the wish before it was read.
    blocks.send(Message::text("nonsense")).await.expect("the socket is open");
    let refusal = blocks.next().await.expect("the socket is open").expect("a message");
    assert!(refusal.to_text().is_ok_and(|text| text.contains("bad_request")), "{refusal}");

    let sent =
        devnet.transaction(&devnet.keys[0], 0, Instruction::System(System::Transfer { to: devnet.keys[1].address(), amount: Amount(1) }));
    devnet.client.submit(&sent).await.expect("the transfer is taken");
    let mut kinds = Vec::new();
    let receipt = loop {
        match notice(&mut all).await {
            Notice::Block { .. } => kinds.push("block"),
            Notice::Receipt { receipt } => break receipt,
            other => panic!("nothing else happened: {other:?}"),
        }
    };
    assert_eq!(receipt.tx_hash.0, sent.digest());
    assert_eq!(kinds.last(), Some(&"block"), "a block comes before its receipts");
    devnet.client.post::<model::Height>("/dev/mine", &model::Mine { blocks: 2 }).await.expect("blocks are mined");
    for _ in 0..3 {
        assert!(matches!(notice(&mut blocks).await, Notice::Block { .. }));
    }
    devnet.stop().await;
}

pub(crate) type Socket = tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>>;

pub(crate) async fn notice(socket: &mut Socket) -> Notice {
    let message = socket.next().await.expect("the socket is open").expect("a message");
    serde_json::from_str(message.to_text().expect("messages are text")).expect("messages are notices")
}

/// Followers behind one address, as those of a proxy or of a network on one computer, have streams as they have connections.
#[tokio::test(flavor = "multi_thread")]
async fn followers_behind_one_address_have_streams() {
    let devnet = Devnet::start(None).await;
    let mut streams = Vec::new();
    for _ in 0..9 {
        let mut stream = Box::pin(devnet.client.stream("/follow?from=1").await.expect("there is a place"));
        assert!(stream.next().await.is_some_and(|bytes| bytes.is_ok()), "it has the first block");
        streams.push(stream);
    }
    drop(streams);
    devnet.stop().await;
}

/// `/follow` starts at the requested height, skips no block, and continues with new ones.
#[tokio::test(flavor = "multi_thread")]
async fn followers_get_every_block_in_order() {
    let devnet = Devnet::start(None).await;
    let mined: model::Height = devnet.client.post("/dev/mine", &model::Mine { blocks: 4 }).await.expect("blocks are mined");
    let mut stream = Box::pin(devnet.client.stream("/follow?from=2").await.expect("the stream opens"));
    let (mut buffer, mut numbers) = (Vec::new(), Vec::new());
    while numbers.last().is_none_or(|last| *last < mined.height + 1) {
        if numbers.last() == Some(&mined.height) {
            devnet.client.post::<model::Height>("/dev/mine", &model::Mine { blocks: 1 }).await.expect("a block is mined");
        }
        buffer.extend(stream.next().await.expect("the stream goes on").expect("bytes"));
        while let Some(frame) = Frame::take(&mut buffer).expect("frames are whole") {
            let block = Block::decode(frame.block).expect("blocks are canonical");
            assert!(block.is_body_committed());
            numbers.push(block.header.number.get());
        }
    }
    assert!(numbers.iter().copied().eq(2..2 + u64::try_from(numbers.len()).expect("few")), "{numbers:?}");
    drop(stream);
    devnet.stop().await;
}

/// Peers of the overlay are given the same blocks and operations as clients of the API.
#[tokio::test(flavor = "multi_thread")]
async fn peers_get_what_clients_get() {
    let devnet = Devnet::start(None).await;
    let (source, peers) = (HttpSource::new(devnet.client.url()).expect("the address is good"), devnet.provider());
    let peer = Client::from(IpAddr::from([192, 0, 2, 1]));
    let mut blocks = source.blocks(Position { number: 1, height: 1 }).await.expect("the stream opens");
    let first = blocks.next().await.expect("there is a block").expect("it is whole");
    assert_eq!(peers.block(1, peer).await.expect("it is final"), first.encode());
    drop(blocks);
    let header = devnet.node.view().expect("the ledger opens").block(1).expect("the ledger reads").expect("it is there").header;
    let wanted = || Operations { size: header.ops_end.0, start: header.ops_start.0, most: 64 };
    let of_client = source.operations(wanted(), MAX_OPERATIONS_BYTES).await.expect("they are there");
    assert_eq!(peers.operations(wanted(), peer).await.expect("they are there"), of_client);
    devnet.stop().await;
}
