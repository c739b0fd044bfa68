//! The program in the images of the tests: its first argument says what it does. It is linked statically and uses nothing but the standard library.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["echo"] => print!("{}", std::io::read_to_string(std::io::stdin()).expect("text")),
        ["env"] => std::env::vars().for_each(|(name, value)| println!("{name}={value}")),
        ["file", text] => std::fs::write("/workspace/output", text).expect("a file"),
        ["fail", code, text] => {
            eprintln!("{text}");
            std::process::exit(code.parse().expect("a number"));
        }
        ["memory"] => {
            let mut held = Vec::new();
            loop {
                held.push(vec![1_u8; 1 << 20]);
                std::hint::black_box(&held);
            }
        }
        ["disk"] => {
            let mut file = std::fs::File::create("/workspace/large").expect("a file");
            loop {
                file.write_all(&[1; 1 << 20]).expect("room");
            }
        }
        ["spin"] => loop {
            std::hint::spin_loop();
        },
        ["print", bytes] => print!("{}", "x".repeat(bytes.parse().expect("a number"))),
        ["errors", bytes] => {
            eprint!("{}", "x".repeat(bytes.parse().expect("a number")));
            print!("done");
        }
        // What the proxy answers, for each host.
        ["get", path, ref hosts @ ..] => hosts.iter().for_each(|host| println!("{host}: {}", get(host, path))),
        ["direct", address] => println!("{}", TcpStream::connect(address).map_or_else(|error| error.kind().to_string(), |_| "reached".into())),
        _ => println!("hello"),
    }
}

/// The status and the last line of the answer of a host, through the proxy.
fn get(host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect("127.0.0.1:3128").expect("the proxy");
    write!(stream, "GET http://{host}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    let status = answer.split(' ').nth(1).unwrap_or("nothing");
    format!("{status} {}", answer.trim_end().lines().last().unwrap_or_default())
}
