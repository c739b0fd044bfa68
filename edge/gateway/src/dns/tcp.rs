//! Questions over TCP: few connections, each of which may be closed for another network's.

use super::Zones;
use cowboy_serve::{Admission, Caps, Permit, Slots};
use hickory_server::{net::xfer::Protocol, proto::op::MessageType, server::Request};
use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::timeout,
};

/// Connections at a time. They count among those of the process as well.
const CAPS: Caps = Caps { total: 256, client: 8, subnet: 32 };

/// How long a connection may ask nothing, or take nothing of an answer.
const IDLE: Duration = Duration::from_secs(5);

/// How long nothing is accepted after the system refused a connection: for want of file descriptors, others end in a moment.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers what comes to a port for as long as it is polled. A client may have `share` of the process's connections.
pub(super) async fn accept(listener: TcpListener, zones: Arc<Zones>, slots: Slots, share: usize) {
    let (admission, mut connections) = (Admission::new(CAPS), JoinSet::new());
    loop {
        let accepted = listener.accept().await;
        while connections.try_join_next().is_some() {}
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::debug!(%error, "the name server did not accept a connection");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Some((mut permit, mut slot)) = enter(&admission, &slots, peer.ip(), share) else { continue };
        let zones = zones.clone();
        connections.spawn(async move {
            // For another question over TCP, or for another connection of the process.
            let (closed, closed_for_another) = (permit.closable(), slot.closable());
            tokio::select! {
                _ = closed => {}
                _ = closed_for_another => {}
                ended = answer(&zones, stream, peer) => {
                    if let Err(error) = ended {
                        tracing::debug!(%peer, %error, "a connection to the name server ended");
                    }
                }
            }
            drop((permit, slot));
        });
    }
}

/// The places of a connection among those of questions and among those of the process. Nobody's connection is closed for one that is refused.
fn enter(admission: &Admission, slots: &Slots, address: IpAddr, share: usize) -> Option<(Permit, Permit)> {
    if !admission.has_room(address) {
        return None;
    }
    let slot = slots.take(address, share).ok()?;
    // Only this port takes places here, and what ended meanwhile made room.
    Some((admission.admit(address).ok()?, slot))
}

/// Answers one question after the other, each behind its length, until the client is silent or says what is no question.
async fn answer(zones: &Zones, mut stream: TcpStream, peer: SocketAddr) -> io::Result<()> {
    loop {
        let length = timeout(IDLE, stream.read_u16()).await??;
        let mut message = vec![0; length.into()];
        timeout(IDLE, stream.read_exact(&mut message)).await??;
        let question = Request::from_bytes(message, peer, Protocol::Tcp).ok();
        let question = question.filter(|question| question.metadata.message_type == MessageType::Query);
        let Some(answer) = question.and_then(|question| zones.encoded(&question)) else { return Ok(()) };
        let length = u16::try_from(answer.len()).map_err(io::Error::other)?;
        timeout(IDLE, stream.write_all(&[&length.to_be_bytes()[..], &answer].concat())).await??;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::tests::{question, zones};
    use std::net::Ipv4Addr;

    /// What comes back for a question on this connection; nothing where it is closed.
    async fn ask(stream: &mut TcpStream) -> Option<Vec<u8>> {
        let message = question("mysite.localhost.");
        let length = u16::try_from(message.len()).expect("a short question");
        stream.write_all(&[&length.to_be_bytes()[..], &message].concat()).await.ok()?;
        let mut answer = vec![0; stream.read_u16().await.ok()?.into()];
        stream.read_exact(&mut answer).await.ok()?;
        Some(answer)
    }

    /// A web request of another network has the place of a question's connection, where the process has no other.
    #[tokio::test]
    async fn connections_make_room_for_others() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("the loopback has free ports");
        let (address, slots) = (listener.local_addr().expect("it listens"), Slots::new(2));
        let serving = tokio::spawn(accept(listener, zones(), slots.clone(), 2));
        let mut one = TcpStream::connect(address).await.expect("it listens");
        let mut other = TcpStream::connect(address).await.expect("it listens");
        assert!(ask(&mut one).await.is_some() && ask(&mut other).await.is_some());
        assert!(slots.take(Ipv4Addr::new(192, 0, 2, 1).into(), 2).is_ok());
        let ended = tokio::select! {
            ended = one.read_u8() => ended,
            ended = other.read_u8() => ended,
        };
        assert!(ended.is_err(), "one of them is closed");
        serving.abort();
    }

    /// A connection that one of the two refuses closes nobody's in the other one.
    #[test]
    fn who_is_refused_closes_nothing() {
        let of = |host: u8| IpAddr::from([192, 0, 2, host]);
        let other = IpAddr::from([198, 51, 100, 1]);
        let caps = Caps { total: 2, client: 2, subnet: 2 };
        for (of_process, share) in [(2, 0), (9, 2)] {
            let (admission, slots) = (Admission::new(caps), Slots::new(of_process));
            let mut held = [1, 2].map(|host| enter(&admission, &slots, of(host), 2).expect("there is room"));
            let mut closed: Vec<_> = match share {
                // The process refuses the other one; those of the name server could make room for it.
                0 => held.iter_mut().map(|(permit, _)| permit.closable()).collect(),
                // Those of the name server cannot; those of the process could.
                _ => held.iter_mut().map(|(_, slot)| slot.closable()).collect(),
            };
            let _web = (share > 0).then(|| [3, 4, 5, 6, 7, 8, 9].map(|net| slots.take(IpAddr::from([10, 0, net, 1]), 2)));
            assert!(enter(&admission, &slots, other, share).is_none());
            assert!(closed.iter_mut().all(|closed| closed.try_recv().is_err()), "of {of_process}");
        }
    }

    /// Three hundred connections of one address: it has eight of them, and the others' places stay free.
    #[tokio::test]
    async fn a_client_has_few_connections() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("the loopback has free ports");
        let (address, slots) = (listener.local_addr().expect("it listens"), Slots::new(100));
        let serving = tokio::spawn(accept(listener, zones(), slots.clone(), 100));
        let (mut held, mut answered) = (Vec::new(), 0);
        for _ in 0..300 {
            let mut stream = TcpStream::connect(address).await.expect("it listens");
            answered += usize::from(ask(&mut stream).await.is_some());
            held.push(stream);
        }
        assert_eq!((answered, slots.open()), (8, 8));
        assert!(slots.take(Ipv4Addr::LOCALHOST.into(), 100).is_ok(), "a web request passes");
        let first = held.first_mut().expect("a connection");
        let answer = ask(first).await.expect("it stays open");
        assert_eq!(answer.get(..2), question("mysite.localhost.").get(..2), "the same id");
        drop(held);
        // The places come back a moment after the connections end.
        loop {
            let mut stream = TcpStream::connect(address).await.expect("it listens");
            if ask(&mut stream).await.is_some() {
                break;
            }
        }
        serving.abort();
    }
}
