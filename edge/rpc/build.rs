//! The explorer's files are part of the program: when one of them changes, the program does. So are the files of Swagger UI, compressed, and
//! the verifier for browsers where the environment asks for it: it is built here for wasm32. A program without it says how to build it.

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs::{self, File},
    io::{Cursor, Read as _, Write as _},
    path::{Path, PathBuf},
    process::Command,
};
use zip::ZipArchive;

const TARGET: &str = "wasm32-unknown-unknown";

/// With `1`, the verifier is embedded. It takes a second build of the VM and of the protocol, which few builds need.
const EMBED: &str = "COWBOY_EMBED_VERIFIER";

/// What the verifier is made of.
const SOURCES: &[&str] = &["web/verifier/src", "web/verifier/Cargo.toml", "core", "Cargo.lock"];

/// What the page of Swagger UI loads; the archive has two more copies of the same scripts, for other pages.
const SWAGGER: [&str; 7] = [
    "favicon-16x16.png",
    "favicon-32x32.png",
    "index.css",
    "index.html",
    "swagger-ui-bundle.js",
    "swagger-ui-standalone-preset.js",
    "swagger-ui.css",
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let target = PathBuf::from(env::var("OUT_DIR")?);
    swagger(&target)?;
    let embedded = target.join("verifier.wasm.gz");
    println!("cargo:rerun-if-changed=../../web/explorer/site");
    println!("cargo:rerun-if-env-changed={EMBED}");
    if env::var(EMBED).as_deref() != Ok("1") {
        return Ok(fs::write(embedded, [])?);
    }
    SOURCES.iter().for_each(|source| println!("cargo:rerun-if-changed={}", root.join(source).display()));
    if !has_target()? {
        return Err(format!("{EMBED} is 1, and the compiler has no library for {TARGET}. Install it: rustup target add {TARGET}").into());
    }
    compress(&fs::read(verifier(&root)?)?, &embedded)
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

/// Writes the files of Swagger UI, which its archive has in `swagger-ui-VERSION/dist`, and `swagger-ui.rs`: the names with the bytes.
fn swagger(target: &Path) -> Result<(), Box<dyn Error>> {
    let folder = target.join("swagger-ui");
    fs::create_dir_all(&folder)?;
    let mut archive = ZipArchive::new(Cursor::new(utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED))?;
    let mut rows = String::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index)?;
        let inside: PathBuf = file.enclosed_name().unwrap_or_default().iter().skip(1).collect();
        if let Some(name) = SWAGGER.into_iter().find(|name| inside == Path::new("dist").join(name)) {
            let (mut content, compressed) = (Vec::new(), folder.join(format!("{name}.gz")));
            file.read_to_end(&mut content)?;
            compress(&content, &compressed)?;
            writeln!(rows, "({name:?}, include_bytes!({compressed:?}).as_slice()),")?;
        }
    }
    Ok(fs::write(target.join("swagger-ui.rs"), format!("&[\n{rows}]\n"))?)
}

fn compress(content: &[u8], target: &Path) -> Result<(), Box<dyn Error>> {
    let mut file = flate2::write::GzEncoder::new(File::create(target)?, flate2::Compression::best());
    file.write_all(content)?;
    file.finish()?;
    Ok(())
}
