//! The frames of `/follow`: a block and its certificate.
//!
//! On the wire: the length of the rest as 4 bytes big-endian; the length of the block as 4 bytes big-endian; the block; the
//! certificate. The certificate is empty where the node holds only that of a later block, which finalizes this one too.

/// One finalized block as it travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The block in its canonical encoding.
    pub block: Vec<u8>,
    /// The finalization as the engine encodes it; empty where there is none of exactly this block.
    pub certificate: Vec<u8>,
}

/// The most bytes of a frame: a block's body and header, a certificate, and room.
pub const MAX_FRAME_BYTES: usize = 8 * 1024 * 1024;

/// Why bytes are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// It claims more bytes than any frame has.
    #[error("a frame of {0} bytes is announced, and at most {MAX_FRAME_BYTES} are allowed")]
    TooLarge(usize),
    /// The block's length is beyond the frame's end.
    #[error("the block of a frame is longer than the frame")]
    Malformed,
}

impl Frame {
    /// The frame with its lengths.
    pub fn encode(&self) -> Vec<u8> {
        let block = u32::try_from(self.block.len()).expect("a block is shorter than 4 GiB");
        let all = u32::try_from(4 + self.block.len() + self.certificate.len()).expect("a frame is shorter than 4 GiB");
        [all.to_be_bytes().as_slice(), &block.to_be_bytes(), &self.block, &self.certificate].concat()
    }

    /// Takes the first whole frame off the buffer; `None` where there is none yet.
    pub fn take(buffer: &mut Vec<u8>) -> Result<Option<Self>, FrameError> {
        let Some(length) = length(buffer) else { return Ok(None) };
        if length > MAX_FRAME_BYTES {
            return Err(FrameError::TooLarge(length));
        }
        let Some(body) = buffer.get(4..4 + length) else { return Ok(None) };
        let frame = Self::from_body(body)?;
        buffer.drain(..4 + length);
        Ok(Some(frame))
    }

    /// The frame whose bytes after the first length are these.
    pub fn from_body(body: &[u8]) -> Result<Self, FrameError> {
        let block = length(body).ok_or(FrameError::Malformed)?;
        let block = body[4..].get(..block).ok_or(FrameError::Malformed)?;
        Ok(Self { block: block.to_vec(), certificate: body[4 + block.len()..].to_vec() })
    }
}

/// The length at the beginning.
fn length(bytes: &[u8]) -> Option<usize> {
    let first = bytes.first_chunk::<4>()?;
    usize::try_from(u32::from_be_bytes(*first)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_out_as_they_went_in_however_they_are_cut() {
        let frames = [Frame { block: vec![1, 2, 3], certificate: vec![] }, Frame { block: vec![], certificate: vec![9; 40] }];
        let bytes: Vec<u8> = frames.iter().flat_map(Frame::encode).collect();
        let (mut buffer, mut found) = (Vec::new(), Vec::new());
        for byte in bytes {
            buffer.push(byte);
            found.extend(Frame::take(&mut buffer).expect("the frames are whole"));
        }
        assert_eq!((found.as_slice(), buffer.len()), (frames.as_slice(), 0));
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(Frame::take(&mut vec![0xff; 8]), Err(FrameError::TooLarge(0xffff_ffff)));
        assert_eq!(Frame::take(&mut vec![0, 0, 0, 4, 0, 0, 0, 1]), Err(FrameError::Malformed));
        assert_eq!(Frame::take(&mut vec![0, 0, 0, 1, 0]), Err(FrameError::Malformed));
    }
}
