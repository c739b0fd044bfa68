//! Real processes: the node, and runs of the client against it.

use serde_json::Value;
use std::{
    io::{BufRead as _, BufReader, Read, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread::JoinHandle,
    time::Duration,
};

/// How long a line, or what another process does by itself, may take to come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A node in a process of its own, killed with this value.
pub(crate) struct Node {
    pub(crate) url: String,
    /// What it said until it was ready.
    pub(crate) said: Vec<String>,
    /// What it says from then on, line by line.
    says: Receiver<String>,
    child: Child,
    /// Reads what it says on stderr, to its end.
    errors: Option<JoinHandle<Vec<u8>>>,
}

impl Node {
    /// `cowboyd` with these arguments, once it says that it is ready. Fails with what it said on stderr.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Result<Self, String> {
        Self::run(folder, Command::new(env!("CARGO_BIN_EXE_cowboyd")).args(arguments))
    }

    /// The same in a shell that sets a limit first, like `ulimit -n 64`.
    pub(crate) fn limited(folder: &Path, limit: &str, arguments: &[&str]) -> Result<Self, String> {
        let script = format!("{limit} && exec \"$0\" \"$@\"");
        Self::run(folder, Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_cowboyd")]).args(arguments))
    }

    fn run(folder: &Path, command: &mut Command) -> Result<Self, String> {
        let mut child = command
            .current_dir(folder)
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut output = BufReader::new(child.stdout.take().ok_or("the output is piped")?);
        let errors = child.stderr.take().ok_or("the errors are piped")?;
        let errors = std::thread::spawn(move || drain(errors));
        let mut said = Vec::new();
        loop {
            let mut line = String::new();
            if output.read_line(&mut line).map_err(|error| error.to_string())? == 0 {
                let reason = errors.join().map_err(|_| "reading does not panic")?;
                let code = child.wait().map_err(|error| error.to_string())?.code();
                return Err(format!("exit {code:?}: {}", String::from_utf8_lossy(&reason)));
            }
            let line = line.trim_end().to_owned();
            if let Some(url) = line.strip_prefix("ready: ") {
                let url = url.to_owned();
                let (tell, says) = mpsc::channel();
                // The node never waits for a reader. Nobody listens once the test is over.
                std::thread::spawn(move || output.lines().map_while(Result::ok).for_each(|line| drop(tell.send(line))));
                return Ok(Self { url, said, says, child, errors: Some(errors) });
            }
            said.push(line);
        }
    }

    /// A devnet whose blocks come as soon as there is work, on a free port.
    pub(crate) fn dev(folder: &Path, more: &[&str]) -> Self {
        let arguments = [&["dev", "--port", "0", "--block-time", "instant", "--runners", "0"], more].concat();
        Self::start(folder, &arguments).expect("the devnet starts")
    }

    /// The next line that it says with this text in it.
    pub(crate) fn line_with(&self, text: &str) -> String {
        let mut others = Vec::new();
        loop {
            match self.says.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => others.push(line),
                Err(_) => panic!("the node does not say {text:?} but {others:#?}"),
            }
        }
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it ends by itself, and answers its exit code and what it said on stderr.
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().expect("the node ends").code();
        let said = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        (code, String::from_utf8_lossy(&said).into_owned())
    }

    /// Tells it to stop, as the system does, and answers its exit code.
    pub(crate) fn terminate(mut self) -> Option<i32> {
        let told = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(told.is_ok_and(|told| told.success()), "the node can be told to stop");
        self.child.wait().expect("the node ends").code()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads to the end, so that the node never waits for a reader: a backtrace alone fills a pipe.
fn drain(mut output: impl Read) -> Vec<u8> {
    let mut text = Vec::new();
    // What was read before an error is all there is to show.
    let _ = output.read_to_end(&mut text);
    text
}

/// What a run of the client said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    /// The JSON on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs `cowboy` in this folder against this node.
pub(crate) fn cowboy(folder: &Path, url: &str, arguments: &[&str]) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_cowboy"))
        .args(arguments)
        .current_dir(folder)
        .env("COWBOY_RPC_URL", url)
        .env_remove("COWBOY_PRIVATE_KEY")
        .stdin(Stdio::null())
        .output()
        .expect("the client runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the client prints UTF-8");
    Said { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The whole response to a request for a path, its head included.
pub(crate) fn get_text(url: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).expect("the node listens");
    write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").expect("the node reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("the node answers");
    text
}

/// Listens to `/follow` until the node has a block of this height. As a follower does, it opens the stream again where the node ends it
/// or asks to be asked again, because it is still opening its chain.
pub(crate) fn wait_for_height(url: &str, height: u64) {
    const MOST_STREAMS: usize = 1_000;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let client = cowboy_api::Client::new(url).expect("the address is good");
        let path = format!("/follow?from={height}");
        for _ in 0..MOST_STREAMS {
            let stream = loop {
                match client.stream(&path).await {
                    Err(error) if error.code == cowboy_api::error::BUSY.code => {}
                    opened => break opened.expect("the stream opens"),
                }
            };
            let mut stream = Box::pin(stream);
            // A stream from a height that is yet to come begins with the next block.
            loop {
                if client.height().await.expect("the node answers") >= height {
                    return;
                }
                if futures::StreamExt::next(&mut stream).await.is_none_or(|bytes| bytes.is_err()) {
                    break;
                }
            }
        }
        panic!("height {height} does not come");
    });
}

/// Waits until the node has another block.
pub(crate) fn wait_for_block(url: &str) {
    let said = cowboy(Path::new("."), url, &["status", "--json"]).json();
    wait_for_height(url, said["health"]["height"].as_u64().expect("a height") + 1);
}
