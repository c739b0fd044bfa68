//! Streams of blocks that end, fall silent, or say what is no block.

use super::*;
use cowboy_api::ApiError;
use cowboy_overlay::HttpSource;
use std::net::Ipv4Addr;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

/// A source that streams one chunk and falls silent, and says that its chain is this high; no height is no answer.
async fn source(heights: Vec<Option<u64>>) -> (HttpSource, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("the loopback has free ports");
    let url = format!("http://{}", listener.local_addr().expect("it listens"));
    let serving = tokio::spawn(async move {
        let (mut heights, mut open) = (heights.into_iter(), Vec::new());
        while let Ok((mut connection, _)) = listener.accept().await {
            let mut asked = [0; 1_024];
            let length = connection.read(&mut asked).await.unwrap_or(0);
            let answer = match asked[..length].starts_with(b"GET /follow") {
                true => "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\n\0\0\0\x05\0\0\0\x01a\r\n".to_owned(),
                false => match heights.next().flatten() {
                    Some(height) => {
                        let body = format!("{{\"height\":{height}}}");
                        format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())
                    }
                    None => String::new(),
                },
            };
            let _ = connection.write_all(answer.as_bytes()).await;
            // It stays open: nothing tells the follower.
            open.push(connection);
        }
    });
    (HttpSource::new(&url).expect("the address is good"), serving)
}

/// A source that is away for an hour makes six lines, not one a second. Another reason is printed at once, and so is that blocks come again.
#[test]
fn a_source_that_is_away_is_printed_rarely() {
    let lines = Lines::default();
    assert_eq!(lines.came("a"), None, "nothing was printed yet");
    let printed: Vec<String> = (0..3_600).filter_map(|_| lines.left("a", "no answer")).collect();
    assert_eq!((printed.len(), &*printed[0]), (6, "a is left (no answer); trying again"));
    assert!(lines.left("a", "it is silent").is_some());
    assert_eq!([lines.came("a"), lines.came("a")], [Some("a gives blocks".to_owned()), None]);
    assert!(lines.left("a", "it is silent").is_some(), "it had blocks meanwhile");
}

/// A stream that ends after it gave a block is opened again where it ended; one that gives nothing is the end of the source.
#[tokio::test]
async fn a_stream_that_ends_is_opened_again() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("the loopback has free ports");
    let url = format!("http://{}", listener.local_addr().expect("it listens"));
    let serving = tokio::spawn(async move {
        let mut asked = Vec::new();
        for blocks in [2, 1, 0] {
            let (mut connection, _) = listener.accept().await.expect("the follower asks");
            let mut request = [0; 1_024];
            let length = connection.read(&mut request).await.expect("a request");
            asked.extend(String::from_utf8_lossy(&request[..length]).lines().next().map(str::to_owned));
            let frames = "9\r\n\0\0\0\x05\0\0\0\x01a\r\n".repeat(blocks);
            let answer = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n{frames}0\r\n\r\n");
            connection.write_all(answer.as_bytes()).await.expect("the follower reads");
        }
        asked
    });
    let source = HttpSource::new(&url).expect("the address is good");
    let mut blocks = Blocks::open(&source, Position { number: 7, height: 7 }).await.expect("it streams");
    let times = (Duration::from_secs(30), Duration::ZERO);
    for _ in 0..3 {
        assert!(blocks.take(|| 7, times).await.is_ok());
    }
    assert!(matches!(blocks.take(|| 7, times).await, Err(Failed::Away(_))));
    let asked = serving.await.expect("no panic");
    assert_eq!(asked, [7, 9, 10].map(|height| format!("GET /follow?from={height} HTTP/1.1")));
}

/// A run is what is there, within its limits, and a fault behind it is seen after it.
#[tokio::test]
async fn a_run_is_what_is_there() {
    let source = HttpSource::new("http://127.0.0.1:1").expect("the address is good");
    let frame = |length: usize| Frame { block: vec![7; length], certificate: vec![] };
    let runs_of = |frames: Vec<Result<Frame, Failed>>| {
        let stream = futures::stream::iter(frames).chain(futures::stream::pending()).boxed();
        let mut blocks = Blocks { source: &source, stream, next: Position { number: 8, height: 8 }, has_given: true, failed: None };
        (blocks.run(frame(1)).len(), blocks)
    };
    assert_eq!(runs_of(Vec::new()).0, 1);
    assert_eq!(runs_of(vec![Ok(frame(1)); 2 * MAX_RUN]).0, MAX_RUN);
    assert_eq!(runs_of(vec![Ok(frame(RUN_BYTES / 2)); 9]).0, 3, "the last one may be beyond the limit");
    let (length, mut blocks) = runs_of(vec![Ok(frame(1)), Err(Failed::Malformed("no frame".into())), Ok(frame(1))]);
    assert_eq!((length, blocks.next.number), (2, 9));
    let found = blocks.take(|| 9, (SILENCE, RETRY)).await;
    assert!(matches!(found, Err(Failed::Malformed(_))), "{found:?}");
}

/// A stream that hands over one frame each time it is asked, as a client of HTTP does, and counts them.
fn hesitant(lengths: Vec<usize>, given: Arc<AtomicU64>) -> BlockStream {
    let frames = futures::stream::iter(lengths).then(move |length| {
        let given = given.clone();
        async move {
            tokio::task::yield_now().await;
            given.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Failed>(Frame { block: vec![7; length], certificate: vec![] })
        }
    });
    frames.chain(futures::stream::pending()).boxed()
}

/// Lets the other tasks of this thread do what they can.
async fn let_others_work() {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
}

/// Decision 695: what comes while the node works is read, as many blocks as a run has and about as many bytes, and is one run. Nothing is read for a
/// source that was left.
#[tokio::test]
async fn blocks_are_read_while_the_node_works() {
    let source = HttpSource::new("http://127.0.0.1:1").expect("the address is good");
    // Those in the channel, and one that waits for its place there.
    let rows = [(vec![1; 4 * MAX_RUN], MAX_RUN + 1, MAX_RUN), (vec![RUN_BYTES / 2; 9], 3, 3), (vec![2 * RUN_BYTES; 3], 2, 2)];
    for (lengths, read, run) in rows {
        let given = Arc::new(AtomicU64::new(0));
        let stream = ahead::ahead(hesitant(lengths.clone(), given.clone()));
        let mut blocks = Blocks { source: &source, stream, next: Position { number: 8, height: 8 }, has_given: true, failed: None };
        let_others_work().await;
        assert_eq!(given.load(Ordering::Relaxed), u64::try_from(read).expect("few"), "{} bytes each", lengths[0]);
        let first = Frame { block: vec![7; 1], certificate: vec![] };
        assert_eq!(blocks.run(first).len(), run, "{} bytes each", lengths[0]);
        drop(blocks);
        let_others_work().await;
        assert_eq!(Arc::strong_count(&given), 1, "the task has ended");
    }
}

/// What a source says last is not lost, and comes after the blocks before it.
#[tokio::test]
async fn what_is_read_ahead_ends_as_the_stream_does() {
    let frame = Frame { block: vec![7], certificate: vec![] };
    let ends: [Vec<Result<Frame, Failed>>; 2] = [vec![], vec![Err(Failed::Silent)]];
    for end in ends {
        let faults = end.len();
        let frames: Vec<Result<Frame, Failed>> = vec![Ok(frame.clone()), Ok(frame.clone())].into_iter().chain(end).collect();
        let found: Vec<_> = ahead::ahead(futures::stream::iter(frames).boxed()).collect().await;
        assert_eq!(found.iter().map(Result::is_ok).collect::<Vec<_>>(), [vec![true; 2], vec![false; faults]].concat());
    }
}

/// A source that falls silent while its chain continues, or answers nothing, is left; one whose chain rests is not.
#[tokio::test]
async fn silence_ends() {
    let silence = Duration::from_millis(50);
    for heights in [vec![Some(7)], vec![None], vec![Some(6), Some(6), Some(7)]] {
        let (source, serving) = source(heights).await;
        let mut stream = source.blocks(Position { number: 7, height: 7 }).await.expect("it streams");
        let first = more(&mut stream, &source, || 7, silence).await.and_then(Result::ok);
        assert_eq!(first, Some(Frame { block: b"a".to_vec(), certificate: vec![] }));
        let ended = tokio::time::timeout(Duration::from_secs(30), more(&mut stream, &source, || 7, silence)).await;
        assert!(matches!(ended, Ok(Some(Err(_)))), "{ended:?}");
        serving.abort();
    }
}

/// The commands of a node have no `--rpc-url`, which those of the client have.
#[test]
fn a_source_that_does_not_answer_has_a_remedy_of_its_own() {
    let said = failure_of(Failed::Away(ApiError::of_fault(UNREACHABLE))).to_string();
    assert!(said.contains("give the URL of another one") && !said.contains("--rpc-url"), "{said}");
}
