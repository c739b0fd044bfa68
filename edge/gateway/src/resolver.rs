//! What a domain says of itself: its TXT records, asked of one resolver.
//!
//! Absences: no recursion of its own, no DNSSEC: the resolver is the operator's, best on the same machine.

use hickory_server::proto::{
    op::{Message, MessageType, Query, ResponseCode},
    rr::{Name, RData, RecordType},
};
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, UdpSocket},
    time::timeout,
};

/// How long one attempt may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often the resolver is asked over UDP.
const ATTEMPTS: usize = 2;

/// The longest answer that is read.
const ANSWER_BYTES: usize = 16 * 1024;

/// What stands at a name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Texts {
    /// Its TXT records; none where the name does not exist.
    pub(crate) texts: Vec<String>,
    /// Seconds for which the answer may be kept.
    pub(crate) ttl: u32,
}

/// The TXT records of a name. Fails where the resolver does not answer, or cannot tell.
pub(crate) async fn texts(resolver: SocketAddr, name: &str) -> io::Result<Texts> {
    let mut name = Name::from_ascii(name).map_err(io::Error::other)?;
    name.set_fqdn(true);
    let mut question = Message::query();
    question.metadata.recursion_desired = true;
    question.add_query(Query::query(name, RecordType::TXT));
    let bytes = question.to_vec().map_err(io::Error::other)?;
    let mut found = Err(io::Error::from(io::ErrorKind::TimedOut));
    for _ in 0..ATTEMPTS {
        found = match timeout(PATIENCE, by_udp(resolver, &question, &bytes)).await {
            Ok(Ok(answer)) if answer.metadata.truncation => timeout(PATIENCE, by_tcp(resolver, &question, &bytes)).await?,
            Ok(found) => found,
            Err(_) => continue,
        };
        if found.is_ok() {
            break;
        }
    }
    read(&found?)
}

async fn by_udp(resolver: SocketAddr, question: &Message, bytes: &[u8]) -> io::Result<Message> {
    let any = if resolver.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) };
    let socket = UdpSocket::bind((any, 0)).await?;
    // Only this resolver is listened to.
    socket.connect(resolver).await?;
    socket.send(bytes).await?;
    let mut buffer = vec![0; ANSWER_BYTES];
    loop {
        let length = socket.recv(&mut buffer).await?;
        // What is no answer to this question may be somebody's guess: the true one may still come.
        if let Some(answer) = Message::from_vec(&buffer[..length]).ok().filter(|answer| is_answer(question, answer)) {
            return Ok(answer);
        }
    }
}

async fn by_tcp(resolver: SocketAddr, question: &Message, bytes: &[u8]) -> io::Result<Message> {
    let mut stream = TcpStream::connect(resolver).await?;
    let length = u16::try_from(bytes.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes(), bytes].concat()).await?;
    let length = usize::from(stream.read_u16().await?);
    if length > ANSWER_BYTES {
        return Err(io::Error::other("the answer is too long"));
    }
    let mut buffer = vec![0; length];
    stream.read_exact(&mut buffer).await?;
    let answer = Message::from_vec(&buffer).map_err(io::Error::other)?;
    if is_answer(question, &answer) { Ok(answer) } else { Err(io::Error::other("that is the answer to another question")) }
}

fn is_answer(question: &Message, answer: &Message) -> bool {
    answer.metadata.message_type == MessageType::Response
        && answer.metadata.id == question.metadata.id
        && answer.queries == question.queries
}

/// What an answer says. A chain of aliases is the resolver's to follow: what it found stands in the answer.
fn read(answer: &Message) -> io::Result<Texts> {
    let code = answer.metadata.response_code;
    if !matches!(code, ResponseCode::NoError | ResponseCode::NXDomain) {
        return Err(io::Error::other(format!("the resolver says {code}")));
    }
    let mut found = Texts { texts: Vec::new(), ttl: u32::MAX };
    for record in &answer.answers {
        if let RData::TXT(text) = &record.data {
            let bytes: Vec<u8> = text.txt_data.iter().flat_map(|part| part.iter().copied()).collect();
            // What is no text is no proof.
            found.texts.extend(String::from_utf8(bytes));
        }
        found.ttl = found.ttl.min(record.ttl);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hickory_server::proto::rr::{Record, rdata::TXT};

    /// A resolver that answers this number of times with what `change` makes of a right answer.
    async fn resolver(answers: usize, change: fn(&mut Message)) -> SocketAddr {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("the loopback has ports");
        let address = socket.local_addr().expect("it is bound");
        tokio::spawn(async move {
            let mut buffer = vec![0; 512];
            for _ in 0..answers {
                let (length, from) = socket.recv_from(&mut buffer).await.expect("a question");
                let question = Message::from_vec(&buffer[..length]).expect("a message");
                let mut answer = Message::response(question.metadata.id, question.metadata.op_code);
                answer.queries = question.queries.clone();
                let text = RData::TXT(TXT::new(vec!["one ".into(), "text".into()]));
                answer.add_answer(Record::from_rdata(question.queries[0].name.clone(), 60, text));
                change(&mut answer);
                socket.send_to(&answer.to_vec().expect("it fits"), from).await.expect("it is sent");
            }
        });
        address
    }

    /// Records are read whole; a name without any has none; a resolver that cannot tell is no answer.
    #[tokio::test]
    async fn texts_are_asked_for() {
        let rows: [(fn(&mut Message), Option<usize>); 3] = [
            (|_| {}, Some(1)),
            (
                |answer| {
                    answer.answers.clear();
                    answer.metadata.response_code = ResponseCode::NXDomain;
                },
                Some(0),
            ),
            (|answer| answer.metadata.response_code = ResponseCode::ServFail, None),
        ];
        for (place, (change, expected)) in rows.into_iter().enumerate() {
            let found = texts(resolver(ATTEMPTS, change).await, "_cowboy.example.com").await.ok();
            assert_eq!(found.as_ref().map(|found| found.texts.len()), expected, "row {place}");
            if place == 0 {
                assert_eq!(found, Some(Texts { texts: vec!["one text".into()], ttl: 60 }));
            }
        }
    }

    /// A guess of somebody else is no answer: the id and the question are those that were asked, and it is a response.
    #[test]
    fn guesses_are_not_heard() {
        let mut question = Message::query();
        question.add_query(Query::query(Name::root(), RecordType::TXT));
        let mut answer = Message::response(question.metadata.id, question.metadata.op_code);
        answer.queries = question.queries.clone();
        assert!(is_answer(&question, &answer) && !is_answer(&question, &question));
        let mut other = answer.clone();
        other.queries[0].query_type = RecordType::A;
        assert!(!is_answer(&question, &other));
        answer.metadata.id ^= 1;
        assert!(!is_answer(&question, &answer));
    }
}
