#!/usr/bin/env bash
# Builds the verifier for browsers, and puts it beside the programs: a node that finds it there serves it with the explorer.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-target}
rustup target list --installed | grep -qx wasm32-unknown-unknown || rustup target add wasm32-unknown-unknown
cargo build --quiet --profile wasm --target wasm32-unknown-unknown -p cowboy-verifier
mkdir -p "$target/debug" "$target/release"
gzip -9nc "$target/wasm32-unknown-unknown/wasm/cowboy_verifier.wasm" > "$target/release/verifier.wasm.gz"
cp "$target/release/verifier.wasm.gz" "$target/debug/verifier.wasm.gz"
ls -l "$target/release/verifier.wasm.gz" | awk '{ print $NF ": " $5 " bytes" }'
