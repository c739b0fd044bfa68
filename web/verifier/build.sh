#!/usr/bin/env bash
# Builds the verifier for browsers, and puts it beside the programs: a node that finds it there serves it with the explorer.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-target}
rustup target list --installed | grep -qx wasm32-unknown-unknown || rustup target add wasm32-unknown-unknown
cargo build --quiet --profile wasm --target wasm32-unknown-unknown -p cowboy-verifier
# A node may be reading the one that is there, and two builds may end at once: each has its own file until it is whole.
for folder in "$target/debug" "$target/release"; do
    mkdir -p "$folder"
    gzip -9nc "$target/wasm32-unknown-unknown/wasm/cowboy_verifier.wasm" > "$folder/verifier.$$"
    mv "$folder/verifier.$$" "$folder/verifier.wasm.gz"
done
ls -l "$target/release/verifier.wasm.gz" | awk '{ print $NF ": " $5 " bytes" }'
