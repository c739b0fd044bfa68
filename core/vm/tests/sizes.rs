//! Every conversion of a number to a size says what it does with one that has no size: `usize` has 32 bits in WebAssembly, where a plain
//! `try_from(…).unwrap_or(0)` makes nothing of four billion.

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// What follows the parenthesis that is open at the beginning.
fn after_parenthesis(text: &str) -> &str {
    let mut depth = 1;
    let end = text.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    });
    end.map_or("", |end| text[end + 1..].trim_start())
}

#[test]
fn numbers_become_sizes_in_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in ["src", "../compiler/src", "../num/src", "../unicode/src"] {
        sources(&root.join(folder), &mut paths);
    }
    assert!(paths.len() > 100, "only {} files read", paths.len());
    let mut wrong = Vec::new();
    for path in paths.iter().filter(|path| !path.ends_with("num/src/sizes.rs")) {
        let source = std::fs::read_to_string(path).expect("a readable source");
        for pattern in ["usize::try_from(", "isize::try_from("] {
            // What has to fit by construction says why.
            for (at, _) in
                source.match_indices(pattern).filter(|(at, _)| !after_parenthesis(&source[at + pattern.len()..]).starts_with(".expect("))
            {
                let line = source[..at].lines().count();
                wrong.push(format!("{}:{line}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "use cowboy_num::sizes, or expect() with the reason why it fits:\n{}", wrong.join("\n"));
}
