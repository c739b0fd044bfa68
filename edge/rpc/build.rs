//! The explorer's files are part of the program: when one of them changes, the program does. In a release, so is the verifier for
//! browsers, which is built here for wasm32; without that target the program has none, and says so.

use std::{
    env,
    error::Error,
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

const TARGET: &str = "wasm32-unknown-unknown";

/// What the verifier is made of.
const SOURCES: &[&str] = &["web/verifier/src", "web/verifier/Cargo.toml", "core", "Cargo.lock"];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let embedded = PathBuf::from(env::var("OUT_DIR")?).join("verifier.wasm.gz");
    println!("cargo:rerun-if-changed=../../web/explorer/site");
    let is_release = env::var("PROFILE")? == "release";
    if is_release {
        SOURCES.iter().for_each(|source| println!("cargo:rerun-if-changed={}", root.join(source).display()));
    }
    match is_release && has_target()? {
        true => compress(&verifier(&root)?, &embedded),
        false if is_release => {
            println!("cargo:warning=the explorer is built without the verifier for browsers: rustup target add {TARGET}");
            Ok(fs::write(embedded, [])?)
        }
        false => Ok(fs::write(embedded, [])?),
    }
}

/// Whether the compiler has the standard library of the target.
fn has_target() -> Result<bool, Box<dyn Error>> {
    let asked = Command::new(env::var("RUSTC")?).args(["--print", "target-libdir", "--target", TARGET]).output()?;
    Ok(asked.status.success() && Path::new(String::from_utf8(asked.stdout)?.trim()).exists())
}

/// Builds the verifier, in a profile of its own whose folder no other build holds, and answers where it is.
fn verifier(root: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let folder = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let built = Command::new(env::var("CARGO")?)
        .current_dir(root)
        .args(["build", "--quiet", "--profile", "wasm", "--target", TARGET, "-p", "cowboy-verifier", "--target-dir"])
        .arg(&folder)
        // Flags for this machine's compiler are none for the target's.
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("RUSTFLAGS")
        .status()?;
    if !built.success() {
        return Err("the verifier for browsers (web/verifier) does not build".into());
    }
    Ok(folder.join(TARGET).join("wasm/cowboy_verifier.wasm"))
}

fn compress(program: &Path, target: &Path) -> Result<(), Box<dyn Error>> {
    let mut file = flate2::write::GzEncoder::new(File::create(target)?, flate2::Compression::best());
    file.write_all(&fs::read(program)?)?;
    file.finish()?;
    Ok(())
}
