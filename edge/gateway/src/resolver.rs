//! What a domain says of itself: its TXT records and its addresses, asked of one resolver.
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
    read(&ask(resolver, name, RecordType::TXT).await?)
}

/// The addresses of a name, IPv6 first as an authority of certificates takes them; none where the name does not exist.
pub(crate) async fn addresses(resolver: SocketAddr, name: &str) -> io::Result<Vec<IpAddr>> {
    let mut found = Vec::new();
    for kind in [RecordType::AAAA, RecordType::A] {
        let answer = ask(resolver, name, kind).await?;
        found.extend(answer.answers.iter().filter_map(|record| record.data.ip_addr()));
    }
    Ok(found)
}

/// What the resolver says of the records of one type at a name.
async fn ask(resolver: SocketAddr, name: &str, kind: RecordType) -> io::Result<Message> {
    let mut name = Name::from_ascii(name).map_err(io::Error::other)?;
    name.set_fqdn(true);
    let mut question = Message::query();
    question.metadata.recursion_desired = true;
    question.add_query(Query::query(name, kind));
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
    let answer = found?;
    let code = answer.metadata.response_code;
    match code {
        ResponseCode::NoError | ResponseCode::NXDomain => Ok(answer),
        _ => Err(io::Error::other(format!("the resolver says {code}"))),
    }
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
pub(crate) mod tests {
    use super::*;
    use hickory_server::proto::rr::{
        Record,
        rdata::{A, TXT},
    };
    use std::sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    };

    /// A resolver that says the same of every name, and counts the questions: these texts, which may not be kept at all, and the
    /// loopback as its address.
    pub(crate) struct Zone {
        pub(crate) address: SocketAddr,
        asked: Arc<AtomicUsize>,
        fails: Arc<AtomicBool>,
    }

    impl Zone {
        pub(crate) async fn start(texts: Vec<String>) -> Self {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("the loopback has ports");
            let address = socket.local_addr().expect("it is bound");
            let (asked, fails) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
            let zone = Self { address, asked: asked.clone(), fails: fails.clone() };
            tokio::spawn(async move {
                let mut buffer = vec![0; 512];
                while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
                    asked.fetch_add(1, Ordering::SeqCst);
                    let question = Message::from_vec(&buffer[..length]).expect("a message");
                    let mut answer = Message::response(question.metadata.id, question.metadata.op_code);
                    answer.queries = question.queries.clone();
                    let asked_for = &question.queries[0];
                    let records = match asked_for.query_type {
                        RecordType::TXT => texts.iter().map(|text| RData::TXT(TXT::new(vec![text.clone()]))).collect(),
                        RecordType::A => vec![RData::A(A(Ipv4Addr::LOCALHOST))],
                        _ => Vec::new(),
                    };
                    for data in records {
                        answer.add_answer(Record::from_rdata(asked_for.name.clone(), 0, data));
                    }
                    if fails.load(Ordering::SeqCst) {
                        answer.metadata.response_code = ResponseCode::ServFail;
                    }
                    socket.send_to(&answer.to_vec().expect("it fits"), from).await.expect("it is sent");
                }
            });
            zone
        }

        pub(crate) fn asked(&self) -> usize {
            self.asked.load(Ordering::SeqCst)
        }

        /// Whether it cannot tell from now on.
        pub(crate) fn fail(&self, fails: bool) {
            self.fails.store(fails, Ordering::SeqCst);
        }
    }

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
