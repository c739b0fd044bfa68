//! Connections over the loopback, and clocks that jump.

use super::*;
use crate::peers;
use commonware_cryptography::{Signer as _, ed25519};
use commonware_runtime::{Blob as _, Listener as _, ReadOptions, Runner as _, WriteOptions, tokio::Runner};
use commonware_stream::Handshake as _;
use futures::FutureExt as _;

const ANYWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Runs a test over real sockets of the loopback, with a listener's address and a context that dials.
fn over_sockets<F: Future<Output = ()>>(test: impl FnOnce(Context, Listener, Context) -> F) {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = commonware_runtime::tokio::Config::new().with_storage_directory(folder.path());
    Runner::new(runtime).start(|context| async move {
        let dials = Context::new(context.child("dials"), Quic::new(b"dials", []).expect("QUIC"));
        let dialer = dials.bind(ANYWHERE).await.expect("a free port");
        let peers = [dialer.local_addr().expect("it is bound")];
        let listens = Context::new(context.child("listens"), Quic::new(b"listens", peers).expect("QUIC"));
        let listener = listens.bind(ANYWHERE).await.expect("a free port");
        test(listens, listener, dials).await;
    });
}

async fn received(stream: &mut Stream, len: usize) -> Vec<u8> {
    stream.recv(len).await.expect("they come").coalesce().as_ref().to_vec()
}

/// bytes go both ways in order, cut anyhow, over QUIC: UDP, TLS 1.3, our protocol's name.
#[test]
fn peers_speak_quic_over_tls_1_3() {
    over_sockets(|_, mut listener, dials| async move {
        let address = listener.local_addr().expect("it is bound");
        let (mut sink, mut stream) = dials.dial(address).await.expect("somebody listens");
        sink.send(b"hello".to_vec()).await.expect("it is open");
        let (_, mut back, mut heard) = listener.accept().await.expect("a connection");
        assert_eq!((received(&mut heard, 2).await, received(&mut heard, 3).await), (b"he".to_vec(), b"llo".to_vec()));
        let large: Vec<u8> = (0..300_000u32).map(|byte| byte.to_le_bytes()[0]).collect();
        let sent = large.clone();
        let sending = tokio::spawn(async move { back.send(sent).await.map(|()| back) });
        assert_eq!(received(&mut stream, large.len()).await, large);
        sending.await.expect("it does not panic").expect("it is open");

        let handshake = sink.connection.handshake_data().expect("it is done");
        let handshake = handshake.downcast::<quinn::crypto::rustls::HandshakeData>().expect("TLS by rustls");
        assert_eq!(handshake.protocol.as_deref(), Some(ALPN));
        let tcp = std::net::TcpStream::connect(address);
        assert!(tcp.is_err(), "nobody listens on TCP");
    });
}

/// Decision 660: a vote does not wait behind megabytes of transactions, and packets that a path loses do not slow it down.
#[test]
fn little_is_written_ahead_of_a_vote() {
    over_sockets(|_, mut listener, dials| async move {
        let (mut sink, _stream) = dials.dial(listener.local_addr().expect("it is bound")).await.expect("somebody listens");
        sink.send(b"hello".to_vec()).await.expect("it is open");
        let _accepted = listener.accept().await.expect("a connection");
        let controller = sink.connection.congestion_state().into_any();
        assert!(controller.downcast::<quinn::congestion::Bbr>().is_ok());
        assert!(sink.send(vec![0; 1024 * 1024]).now_or_never().is_none(), "the peer has to acknowledge half of it first");
    });
}

/// Decision 748: neither end of a connection holds datagrams that nobody reads.
#[test]
fn nobody_sends_a_node_datagrams() {
    over_sockets(|_, mut listener, dials| async move {
        let (mut sink, _stream) = dials.dial(listener.local_addr().expect("it is bound")).await.expect("somebody listens");
        sink.send(b"hello".to_vec()).await.expect("it is open");
        let (_, back, _heard) = listener.accept().await.expect("a connection");
        assert_eq!([&sink, &back].map(|end| end.connection.max_datagram_size()), [None, None]);
    });
}

/// Decision 631: validators shake hands however far their clocks are apart. One whose clock jumped, or was wrong when it started,
/// is otherwise without peers until it is started again.
#[test]
fn clocks_far_apart_shake_hands() {
    let keys = [1, 2].map(ed25519::PrivateKey::from_seed);
    for ahead in [Duration::ZERO, Duration::from_hours(40 * 24)] {
        let [caller, called] = keys.clone();
        over_sockets(|mut listens, mut listener, mut dials| async move {
            listens.steady.began += ahead;
            let (address, name) = (listener.local_addr().expect("it is bound"), called.public_key());
            for _ in 0..2 {
                let (dialing, listening) = (dials.child("handshake"), listens.child("handshake"));
                let (handshake, name) = (peers::handshake(caller.clone()).handshake, name.clone());
                let dial = async {
                    let (mut sink, mut stream) = dials.dial(address).await.expect("somebody listens");
                    handshake.dial(dialing, b"test", name, &mut stream, &mut sink).await.map(|_| (sink, stream))
                };
                let handshake = peers::handshake(called.clone()).handshake;
                let listen = async {
                    let (_, mut sink, mut stream) = listener.accept().await.expect("a connection");
                    handshake.listen(listening, b"test", |_| async { true }, &mut stream, &mut sink).await
                };
                let (dialed, listened) = futures::join!(dial, listen);
                assert!(dialed.is_ok(), "who dials takes the other for what it is");
                assert_eq!(listened.expect("who listens too").0, caller.public_key());
                // And the other way round in time.
                std::mem::swap(&mut listens.steady, &mut dials.steady);
            }
        });
    }
}

/// A peer that speaks another protocol, or is gone, is no peer.
#[test]
fn who_speaks_otherwise_is_refused() {
    over_sockets(|_, mut listener, _| async move {
        let address = listener.local_addr().expect("it is bound");
        let (_, client) = tls::configs(b"h3", transport()).expect("QUIC");
        let endpoint = Endpoint::client(ANYWHERE).expect("a free port");
        let other = endpoint.connect_with(client, address, "peer").expect("the address is good").await;
        assert!(other.is_err(), "another protocol's name");
        let quic = Quic::new(b"other", []).expect("QUIC");
        let ours = quic.dialer().expect("a free port").connect_with(quic.client.clone(), address, "peer").expect("the address is good");
        let connection = ours.await.expect("our own protocol's name");
        let (mut sending, _receiving) = connection.open_bi().await.expect("it is open");
        sending.write_all(b"x").await.expect("it is open");
        let (_, _, mut heard) = listener.accept().await.expect("a connection");
        assert_eq!(received(&mut heard, 1).await, b"x", "and none before it was taken");
        connection.close(VarInt::from_u32(0), b"gone");
        assert!(heard.recv(1).await.is_err() && heard.recv(1).await.is_err(), "a connection that is gone stays gone");
    });
}

/// Decision 657: while a peer is expected whose host nobody knows, any host may connect, with few handshakes at a time. Each counts for longer than it takes.
#[test]
fn hosts_without_a_peer_connect_while_one_is_expected() {
    over_sockets(|listens, mut listener, dials| async move {
        let address = listener.local_addr().expect("it is bound");
        listens.gate().admit([], true);
        let (mut sink, _stream) = dials.dial(address).await.expect("strangers may connect");
        sink.send(b"x".to_vec()).await.expect("it is open");
        let (_, _, mut heard) = listener.accept().await.expect("a connection");
        assert_eq!(received(&mut heard, 1).await, b"x");
        let silent = Quic::new(b"silent", []).expect("QUIC");
        let endpoint = silent.dialer().expect("a free port");
        let connect = || endpoint.connect_with(silent.client.clone(), address, "peer").expect("the address is good");
        let held = futures::future::join_all((1..incoming::HANDSHAKES_OF_A_PEER).map(|_| connect())).await;
        assert!(held.iter().all(Result::is_ok), "the first one counts still");
        assert!(connect().await.is_err(), "and no more");
        listens.gate().admit(dials.quic.dialer().expect("it is bound").local_addr(), true);
        assert!(dials.dial(address).await.is_ok(), "a peer has handshakes of its own");
    });
}

/// Connections that open no stream hold every handshake that their host may have, and a peer still comes in.
#[test]
fn silent_connections_keep_no_peer_out() {
    over_sockets(|_, mut listener, dials| async move {
        let address = listener.local_addr().expect("it is bound");
        let silent = Quic::new(b"silent", []).expect("QUIC");
        let endpoint = silent.dialer().expect("a free port");
        let connect = || endpoint.connect_with(silent.client.clone(), address, "peer").expect("the address is good");
        let held = futures::future::join_all((0..incoming::MAX_HANDSHAKES).map(|_| connect())).await;
        assert!(held.iter().all(Result::is_ok), "the host of a peer may have as many");
        assert!(connect().await.is_err(), "and no more");
        let (mut sink, _stream) = dials.dial(address).await.expect("handshakes of its own");
        sink.send(b"x".to_vec()).await.expect("it is open");
        let (from, _, mut heard) = listener.accept().await.expect("a connection");
        assert_eq!(received(&mut heard, 1).await, b"x");
        assert_eq!(from, dials.quic.dialer().expect("it is bound").local_addr().expect("it is bound"), "it dials from where it listens");
    });
}

/// A peer that was killed has said nothing. When it is back it resets the connections that it lost, and the other end drops
/// them at its next packet; without that it would hold on to them until they are idle for too long.
#[test]
fn connections_of_a_killed_peer_are_reset() {
    let folder = tempfile::tempdir().expect("a folder");
    let threads = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
    let quic = || Quic::new(b"the same secret", []).expect("QUIC");
    let runtime = commonware_runtime::tokio::Config::new().with_storage_directory(folder.path());
    Runner::new(runtime).start(|context| async move {
        let first = threads();
        let listening = {
            let _entered = first.enter();
            quic().endpoint_at(ANYWHERE, Some(quic().server.clone())).expect("a free port")
        };
        let address = listening.local_addr().expect("it is bound");
        let accepted = first.spawn(async move { incoming::finish(listening.accept().await?).await.map(|ends| (listening, ends)) });
        let dials = Context::new(context.child("dials"), Quic::new(b"dials", []).expect("QUIC"));
        let (mut sink, mut stream) = dials.dial(address).await.expect("somebody listens");
        sink.send(b"hello".to_vec()).await.expect("it is open");
        let kept = accepted.await.expect("it does not panic").expect("a connection");
        // Nothing of the first run sends anything any more: its tasks are gone before its ends are.
        tokio::task::spawn_blocking(move || drop(first)).await.expect("it ends");
        drop(kept);

        let again = threads();
        let _back = {
            let _entered = again.enter();
            quic().endpoint_at(address, Some(quic().server.clone())).expect("the port is free again")
        };
        assert!(stream.recv(1).await.is_err(), "the connection is gone");
        let reason = sink.connection.close_reason().expect("it is closed");
        assert!(matches!(reason, quinn::ConnectionError::Reset), "{reason}");
        again.shutdown_background();
    });
}

/// Decision 776: the record of a lone validator has the file of the next round before it is asked for, what is written to it stays, and it is removed as a whole.
#[test]
fn a_lone_record_has_the_file_of_the_next_round() {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = commonware_runtime::tokio::Config::new().with_storage_directory(folder.path());
    Runner::new(runtime).start(|context| async move {
        let alone = Context::new(context.child("alone"), Quic::new(b"alone", []).expect("QUIC")).alone();
        let (record, round) = (crate::votes::record(0), |round: u64| round.to_be_bytes());
        let (first, size) = alone.open(&record, &round(1)).await.expect("it is made");
        assert_eq!(size, 0);
        first.write_at(0, b"vote".to_vec(), WriteOptions::SYNC).await.expect("it is written");
        let (second, size) = alone.open(&record, &round(2)).await.expect("it was made");
        assert_eq!(size, 0);
        second.write_at(0, b"next".to_vec(), WriteOptions::default()).await.expect("it is written");
        second.sync().await.expect("it is noted");

        drop((first, second));
        for (number, written) in [(1, b"vote"), (2, b"next")] {
            let (file, size) = alone.open(&record, &round(number)).await.expect("it is there, and nobody has it open");
            assert_eq!(size, 4);
            assert_eq!(file.read_at(0, 4, ReadOptions::default()).await.expect("it reads").coalesce(), written);
        }
        alone.remove(&record, None).await.expect("it is there");
        assert!(alone.scan(&record).await.is_err(), "nothing is made in it any more");
        let (_, size) = alone.open(&record, &round(1)).await.expect("it is made");
        assert_eq!(size, 0);
    });
}
