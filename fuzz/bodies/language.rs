//! A random program prints what it prints under CPython 3.11, which has to be there as `python3`.

#[path = "../../core/vm/tests/generated.rs"]
mod generated;

pub(crate) fn body(bytes: &[u8]) {
    let Some((seed, _)) = bytes.split_first_chunk() else { return };
    let seed = u32::from_be_bytes(*seed).min(u32::MAX - 1);
    let scratch = std::env::temp_dir().join(format!("cowboy-language-{}-{seed}", std::process::id()));
    let found = generated::differences(seed, 1, &scratch);
    assert!(found.is_empty(), "LANGUAGE_SEED={seed}: {}", scratch.display());
}
