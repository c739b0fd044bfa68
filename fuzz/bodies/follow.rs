//! Any bytes are frames, the beginning of one, or refused; and frames come out as they went in, wherever the bytes are cut.

use cowboy_api::follow::{Frame, FrameError};

/// All frames that come out of the bytes when they arrive in these pieces, and what ends them.
fn frames(pieces: &[&[u8]]) -> (Vec<Frame>, Result<usize, FrameError>) {
    let (mut buffer, mut found) = (Vec::new(), Vec::new());
    for piece in pieces {
        buffer.extend_from_slice(piece);
        loop {
            match Frame::take(&mut buffer) {
                Ok(Some(frame)) => found.push(frame),
                Ok(None) => break,
                Err(error) => return (found, Err(error)),
            }
        }
    }
    (found, Ok(buffer.len()))
}

pub(crate) fn body(bytes: &[u8]) {
    let Some((cut, bytes)) = bytes.split_first_chunk() else { return };
    let cut = usize::from(u16::from_be_bytes(*cut));
    let whole = frames(&[bytes]);
    let (head, tail) = bytes.split_at(cut % (bytes.len() + 1));
    assert_eq!(frames(&[head, tail]), whole);
    let encoded: Vec<u8> = whole.0.iter().flat_map(Frame::encode).collect();
    assert!(bytes.starts_with(&encoded), "frames have one encoding");
}
