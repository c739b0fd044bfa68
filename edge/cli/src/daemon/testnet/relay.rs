//! Slow and lossy links between the validators: a relay in front of each, in this process, because few systems let everybody delay
//! packets in the kernel.

use cowboy_console::failure::Failure;
use std::{
    collections::HashMap,
    net::{Ipv4Addr, SocketAddr},
    str::FromStr,
    sync::Arc,
    time::Duration,
};
use tokio::{
    net::UdpSocket,
    sync::mpsc,
    time::{Instant, sleep_until},
};

/// Datagrams that are on their way in one direction. What comes beyond is lost, as at a router.
const ON_THE_WAY: usize = 4_096;

/// Senders that one relay knows. There are fewer validators.
const MAX_SENDERS: usize = 1_024;

/// No datagram is longer.
const MAX_DATAGRAM: usize = 65_535;

/// The delay of a datagram in one direction, in milliseconds: evenly distributed around the middle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Latency {
    middle_ms: u32,
    spread_ms: u32,
}

/// `80ms`, or `80ms±20ms`.
impl FromStr for Latency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let milliseconds = |part: &str| part.strip_suffix("ms")?.parse::<u32>().ok().filter(|ms| *ms <= 10_000);
        let (middle, spread) = text.split_once('±').unwrap_or((text, "0ms"));
        match (milliseconds(middle), milliseconds(spread)) {
            (Some(middle_ms), Some(spread_ms)) if spread_ms <= middle_ms => Ok(Self { middle_ms, spread_ms }),
            _ => {
                Err(format!("{text:?} is not a latency: give 80ms or 80ms±20ms, at most 10000ms, with a spread no larger than the middle"))
            }
        }
    }
}

/// The share of datagrams that are lost, in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Loss(u32);

/// `2%`, or `0.5%`.
impl FromStr for Loss {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not a share: give 2% or 0.5%, at most 100%, with at most four decimals");
        let (whole, part) = text.strip_suffix('%').ok_or_else(wrong)?.split_once('.').unwrap_or((text.trim_end_matches('%'), ""));
        let is_number = !whole.is_empty() && part.len() <= 4 && [whole, part].concat().bytes().all(|byte| byte.is_ascii_digit());
        let millionths = is_number.then(|| format!("{whole}{part:0<4}").parse().ok()).flatten();
        millionths.filter(|millionths| *millionths <= 1_000_000).map(Self).ok_or_else(wrong)
    }
}

/// What all links between the validators do to datagrams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) latency: Latency,
    pub(super) loss: Loss,
}

impl Link {
    /// Whether datagrams pass as they are.
    pub(super) fn is_perfect(&self) -> bool {
        self.latency == Latency::default() && self.loss == Loss::default()
    }

    /// The delay of the next datagram; none where it is lost.
    fn draw(&self, numbers: &mut Numbers) -> Option<Duration> {
        if numbers.below(1_000_000) < self.loss.0 {
            return None;
        }
        let Latency { middle_ms, spread_ms } = self.latency;
        let microseconds = numbers.below((2 * spread_ms).saturating_mul(1_000).saturating_add(1));
        Some(Duration::from_millis((middle_ms - spread_ms).into()) + Duration::from_micros(microseconds.into()))
    }
}

/// Random numbers that follow from a seed (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one, which is not 0.
    fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(self.next() % u64::from(bound)).expect("it is below a u32")
    }
}

/// A relay in front of a validator.
pub(super) struct Relay {
    front: Arc<UdpSocket>,
    address: SocketAddr,
}

impl Relay {
    /// Takes a free port.
    pub(super) async fn bind() -> Result<Self, Failure> {
        let front = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(super::node_failure)?;
        Ok(Self { address: front.local_addr().map_err(super::node_failure)?, front: Arc::new(front) })
    }

    /// Where the other validators reach it.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Passes datagrams on to the validator, and its answers back, for as long as the runtime runs.
    pub(super) fn start(self, validator: SocketAddr, link: Link, seed: u64) {
        tokio::spawn(relay(self.front, validator, link, seed));
    }
}

async fn relay(front: Arc<UdpSocket>, validator: SocketAddr, link: Link, seed: u64) {
    let mut numbers = Numbers(seed);
    let mut senders: HashMap<SocketAddr, mpsc::Sender<Datagram>> = HashMap::new();
    let mut datagram = vec![0; MAX_DATAGRAM];
    loop {
        // An error here is the news that a datagram of before was not received.
        let Ok((length, sender)) = front.recv_from(&mut datagram).await else { continue };
        if !senders.contains_key(&sender) {
            if senders.len() == MAX_SENDERS {
                continue;
            }
            let Ok(back) = open(validator).await else { continue };
            let (there, back_again) = (mpsc::channel(ON_THE_WAY), mpsc::channel(ON_THE_WAY));
            tokio::spawn(deliver(there.1, back.clone(), None));
            tokio::spawn(deliver(back_again.1, front.clone(), Some(sender)));
            tokio::spawn(answers(back, back_again.0, link, Numbers(numbers.next())));
            senders.insert(sender, there.0);
        }
        send(&senders[&sender], &datagram[..length], &link, &mut numbers);
    }
}

/// A socket from which the validator hears of one sender.
async fn open(validator: SocketAddr) -> std::io::Result<Arc<UdpSocket>> {
    let back = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    back.connect(validator).await?;
    Ok(Arc::new(back))
}

/// Takes the validator's answers to one sender.
async fn answers(back: Arc<UdpSocket>, queue: mpsc::Sender<Datagram>, link: Link, mut numbers: Numbers) {
    let mut datagram = vec![0; MAX_DATAGRAM];
    loop {
        if let Ok(length) = back.recv(&mut datagram).await {
            send(&queue, &datagram[..length], &link, &mut numbers);
        }
    }
}

/// A datagram, and when it arrives.
type Datagram = (Instant, Vec<u8>);

/// Puts a datagram on its way, unless it is lost.
fn send(queue: &mpsc::Sender<Datagram>, datagram: &[u8], link: &Link, numbers: &mut Numbers) {
    if let Some(delay) = link.draw(numbers) {
        // Where too many are on their way, it is lost.
        let _ = queue.try_send((Instant::now() + delay, datagram.to_vec()));
    }
}

/// Hands datagrams over when they arrive. One does not overtake another.
async fn deliver(mut queue: mpsc::Receiver<Datagram>, socket: Arc<UdpSocket>, to: Option<SocketAddr>) {
    while let Some((arrives, datagram)) = queue.recv().await {
        sleep_until(arrives).await;
        // A receiver that is not there loses it.
        let _ = match to {
            Some(to) => socket.send_to(&datagram, to).await,
            None => socket.send(&datagram).await,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Latencies and shares are read as people write them, and refused with an example.
    #[test]
    fn links_are_read() {
        let latency = |middle_ms, spread_ms| Ok(Latency { middle_ms, spread_ms });
        assert_eq!("80ms±20ms".parse::<Latency>().map_err(|_| ()), latency(80, 20));
        assert_eq!("5ms".parse::<Latency>().map_err(|_| ()), latency(5, 0));
        for wrong in ["", "80", "80ms±", "20ms±80ms", "-1ms", "99999ms", "1s"] {
            assert!(wrong.parse::<Latency>().is_err_and(|said| said.contains("80ms±20ms")), "{wrong}");
        }
        for (text, millionths) in [("2%", 20_000), ("0.5%", 5_000), ("0.0001%", 1), ("100%", 1_000_000), ("0%", 0)] {
            assert_eq!(text.parse::<Loss>(), Ok(Loss(millionths)), "{text}");
        }
        for wrong in ["", "%", "2", "-1%", "101%", "0.00001%", "two%", ".5%"] {
            assert!(wrong.parse::<Loss>().is_err_and(|said| said.contains("0.5%")), "{wrong}");
        }
    }

    /// The same seed loses and delays the same datagrams, as many and as long as the link says.
    #[test]
    fn what_a_link_does_follows_from_the_seed() {
        let link = Link { latency: "80ms±20ms".parse().expect("a latency"), loss: "2%".parse().expect("a share") };
        let draws = |seed| {
            let mut numbers = Numbers(seed);
            (0..50_000).map(|_| link.draw(&mut numbers)).collect::<Vec<_>>()
        };
        let drawn = draws(7);
        assert!(drawn == draws(7) && drawn != draws(8));
        let lost = drawn.iter().filter(|delay| delay.is_none()).count();
        assert!((800..1_200).contains(&lost), "{lost} of 50,000 are lost");
        let delays: Vec<u128> = drawn.into_iter().flatten().map(|delay| delay.as_micros()).collect();
        assert!(delays.iter().all(|delay| (60_000..=100_000).contains(delay)));
        let mean = delays.iter().sum::<u128>() / u128::try_from(delays.len()).expect("it fits");
        assert!((79_000..81_000).contains(&mean), "{mean} µs");
    }

    /// Datagrams go through in both directions, and each sender has its own way back.
    #[test]
    fn datagrams_pass_both_ways() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0));
            let (validator, one, two) = (bind().await.expect("a port"), bind().await.expect("a port"), bind().await.expect("a port"));
            let relay = Relay::bind().await.expect("a port");
            let front = relay.address();
            let link = Link { latency: "2ms±1ms".parse().expect("a latency"), loss: Loss::default() };
            relay.start(validator.local_addr().expect("an address"), link, 1);
            let mut datagram = [0; 16];
            for (peer, said) in [(&one, b"one"), (&two, b"two"), (&one, b"six")] {
                peer.send_to(said, front).await.expect("it is sent");
                let (length, from) = validator.recv_from(&mut datagram).await.expect("it comes");
                assert_eq!(&datagram[..length], said);
                validator.send_to(&datagram[..length], from).await.expect("it is sent");
                let (length, from) = peer.recv_from(&mut datagram).await.expect("it comes back");
                assert_eq!((&datagram[..length], from), (&said[..], front));
            }
        });
    }
}
