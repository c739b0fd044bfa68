//! The examples are part of the program: when one of them changes, the program does.

fn main() {
    println!("cargo:rerun-if-changed=../../examples");
}
