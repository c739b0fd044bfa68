//! The repr of texts and bytes of any length: it may grow as far as the run is allowed to.

use super::Vm;
use crate::costs::TEXT_WRITTEN;
use crate::error::Outcome;
use crate::escapes::{push_byte, push_text, quote};

/// Bytes of a source between two looks at how large its repr has become.
const PIECE: usize = 4_096;

impl Vm {
    /// The repr of a text.
    pub(crate) fn write_quoted_text(&mut self, out: &mut String, text: &str) -> Outcome<()> {
        let quote = quote(|byte| text.as_bytes().contains(&byte));
        out.push(quote);
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
            push_text(out, piece, quote);
            self.allow(out.len(), TEXT_WRITTEN.of(out.len()))?;
            rest = after;
        }
        out.push(quote);
        Ok(())
    }

    /// The repr of bytes; see [`push_byte`] for `mutable`.
    pub(crate) fn write_quoted_bytes(&mut self, out: &mut String, bytes: &[u8], mutable: bool) -> Outcome<()> {
        let quote = quote(|byte| bytes.contains(&byte));
        out.push('b');
        out.push(quote);
        for piece in bytes.chunks(PIECE) {
            for &byte in piece {
                push_byte(out, byte, quote, mutable);
            }
            self.allow(out.len(), TEXT_WRITTEN.of(out.len()))?;
        }
        out.push(quote);
        Ok(())
    }
}
