//! The explorer's files are part of the program: when one of them changes, the program does.

fn main() {
    println!("cargo:rerun-if-changed=../../web/explorer/site");
}
