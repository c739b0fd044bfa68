//! The core of the module `json`: values to text and back without running Python code. What needs some (hooks, `default`, odd keys) is
//! left to `frozen/json.py`.
//!
//! Neither direction recurses on the host's stack: open containers wait on a stack of their own, at most as many as Python calls may nest.

mod reader;
mod writer;

use crate::runtime::native::{NativeKind::Function, NativeRow};
use cowboy_num::sizes;
use reader::{decode, scan_string};
use writer::{encode, quote};

/// Rows of the module `_json`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(
        Function,
        "_json.encode",
        "obj, skipkeys, ensure_ascii, allow_nan, sort_keys, indent, item_separator, key_separator, /",
        10,
        encode,
        "",
    ),
    NativeRow(Function, "_json.quote", "text, ensure_ascii, /", 4, quote, ""),
    NativeRow(Function, "_json.decode", "text, index, strict, /", 10, decode, ""),
    NativeRow(Function, "_json.scan_string", "text, index, strict, /", 4, scan_string, ""),
];

/// How often each of `count` keys is compared where they are sorted, or where one of them is found.
fn rounds(count: usize) -> usize {
    sizes::saturating(count.max(1).ilog2()) + 1
}
