//! Lists the Python sources that the VM embeds: its frozen standard modules and the SDK.
#![allow(clippy::disallowed_methods, reason = "a build script is not part of the protocol")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Modules written in parts: folders, and their files in order.
const PARTS: &[(&str, &[&str])] = &[
    ("collections", &["deque", "dicts"]),
    ("decimal", &["conditions", "numbers", "helpers", "contexts"]),
    ("enum", &["classes", "members", "flags", "checks"]),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).map(|entries| entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect()).unwrap_or_default();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    found.sort();
    found
}

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let frozen = root.join("src/frozen");
    let sdk = root.join("../sdk/cowboy_sdk");
    let mut out = String::from("/// Modules that come with the VM.\npub(crate) const FROZEN_MODULES: &[FrozenModule] = &[\n");
    let mut add = |path: &str, file: &str, parts: &[PathBuf], package: bool| {
        let parts: Vec<String> =
            parts.iter().map(|part| format!("include_str!({:?})", part.canonicalize().expect("a file there"))).collect();
        let source = if parts.len() == 1 { parts.concat() } else { format!("concat!({})", parts.join(", ")) };
        writeln!(out, "    FrozenModule {{ path: {path:?}, file: {file:?}, source: {source}, package: {package} }},")
            .expect("writing to a string");
    };
    let mut modules: Vec<(PathBuf, Vec<PathBuf>)> = sources(&frozen).into_iter().map(|source| (source.clone(), vec![source])).collect();
    modules.extend(PARTS.iter().map(|(module, parts)| {
        let parts = parts.iter().map(|part| frozen.join(module).join(format!("{part}.py")));
        (frozen.join(format!("{module}.py")), parts.collect())
    }));
    modules.sort();
    for (source, parts) in modules {
        let stem = source.file_stem().and_then(|stem| stem.to_str()).expect("ASCII file names").to_owned();
        if stem.starts_with('_') {
            continue;
        }
        // `json.decoder.py` is the module json.decoder, and makes json a package.
        let package = stem == "collections" || stem == "json";
        add(&stem, &format!("{}.py", stem.replace('.', "/")), &parts, package);
        if stem == "collections_abc" {
            add("collections.abc", "collections/abc.py", &parts, false);
        }
    }
    for source in sources(&sdk) {
        let stem = source.file_stem().and_then(|stem| stem.to_str()).expect("ASCII file names").to_owned();
        if stem == "__init__" {
            add("cowboy_sdk", "cowboy_sdk/__init__.py", &[source], true);
        } else {
            add(&format!("cowboy_sdk.{stem}"), &format!("cowboy_sdk/{stem}.py"), &[source], false);
        }
    }
    out.push_str("];\n");
    // Compiling nested source and walking nested values takes stack, of which WebAssembly has 1 MiB unless told otherwise.
    if env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo:rustc-link-arg-examples=-zstack-size=8388608");
    }
    let target = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("frozen_modules.rs");
    fs::write(target, out).expect("the build folder can be written");
    println!("cargo:rerun-if-changed={}", frozen.display());
    // File by file: Python writes what it compiles beside them, which is no change, and would build everything again.
    for source in sources(&sdk) {
        println!("cargo:rerun-if-changed={}", source.display());
    }
}
