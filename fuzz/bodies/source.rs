//! Any text compiles or is refused, and what compiles ends within its cycles.

use cowboy_vm::{Limits, build_image, compile};

pub(crate) fn body(bytes: &[u8]) {
    let Ok(source) = std::str::from_utf8(bytes) else { return };
    if let Ok(unit) = compile(source, "fuzz.py") {
        let _ = build_image(&unit, Limits { cycles: 1_000_000, ..Limits::default() });
    }
}
