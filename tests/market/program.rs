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
        ["read", ref paths @ ..] => paths.iter().for_each(|path| println!("{}", std::fs::read_to_string(path).unwrap_or_else(|error| error.kind().to_string()))),
        // Every file below a folder, with its length.
        ["list", folder] => list(folder).into_iter().for_each(|(path, length)| println!("{path} {length}")),
        // Texts into files, and folders for them.
        ["write", ref files @ ..] => files.chunks(2).for_each(|file| match write(file[0], file[1]) {
            Ok(()) => println!("written"),
            Err(error) => println!("{}", error.kind()),
        }),
        // A file of this length, or as much of it as there is room for.
        ["fill", path, bytes] => {
            let (mut file, bytes) = (std::fs::File::create(path).expect("a file"), bytes.parse().expect("a number"));
            file.write_all(&vec![7; bytes]).expect("room");
            println!("filled");
        }
        ["fail", code, text] => {
            eprintln!("{text}");
            std::process::exit(code.parse().expect("a number"));
        }
        // Whether a file is what a variable of the environment is.
        ["same", path, name] => println!("{}", std::fs::read_to_string(path).expect("text") == std::env::var(name).expect("a variable")),
        ["tell", name] => {
            eprintln!("it is {}", std::env::var(name).expect("a variable"));
            std::process::exit(3);
        }
        // A file, and a text that is no result: a variable, or one of this length.
        ["leak", path, name] => println!("{} {:?}", std::env::var(name).expect("a variable"), write(path, "x")),
        ["long", path, bytes] => println!("{} {:?}", "x".repeat(bytes.parse().expect("a number")), write(path, "x")),
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
        // What the proxy answers, into a file.
        ["fetched", path, host, ref to] => println!("{}", write(to, &get(host, path)).map_or_else(|error| error.kind().to_string(), |()| "written".into())),
        ["direct", address] => println!("{}", TcpStream::connect(address).map_or_else(|error| error.kind().to_string(), |_| "reached".into())),
        _ => println!("hello"),
    }
}

fn write(path: &str, text: &str) -> std::io::Result<()> {
    let above = std::path::Path::new(path).parent().expect("it is in a folder");
    std::fs::create_dir_all(above)?;
    std::fs::write(path, text)
}

fn list(folder: &str) -> Vec<(String, u64)> {
    let (mut found, mut waiting) = (Vec::new(), vec![std::path::PathBuf::from(folder)]);
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("it is read").path();
            let known = path.symlink_metadata().expect("it is there");
            if known.is_dir() { waiting.push(path) } else { found.push((path.display().to_string(), known.len())) }
        }
    }
    found.sort();
    found
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
