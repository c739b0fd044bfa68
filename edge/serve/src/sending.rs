//! The body of an answer, in pieces that show how far the client has taken it.

use crate::idle::Busy;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// The most bytes that are handed to the connection at once: a frame of HTTP/2. The rest stays here, where it is counted, until the
/// client has made room.
pub(crate) const PIECE: usize = 16 * 1024;

/// A body whose request is busy until it is sent or dropped.
pub(crate) struct Sending<B> {
    body: B,
    /// What is left of the body's last frame.
    rest: Bytes,
    busy: Busy,
}

impl<B> Sending<B> {
    pub(crate) fn new(body: B, busy: Busy) -> Self {
        busy.offers(0);
        Self { body, rest: Bytes::new(), busy }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Sending<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        if this.rest.is_empty() {
            match Pin::new(&mut this.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => this.rest = data,
                    Err(trailers) => {
                        this.busy.offers(0);
                        return Poll::Ready(Some(Ok(trailers)));
                    }
                },
                Poll::Pending => {
                    this.busy.prepares();
                    return Poll::Pending;
                }
                end => return end,
            }
        }
        let piece = this.rest.split_to(this.rest.len().min(PIECE));
        this.busy.offers(piece.len());
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.body.size_hint(), u64::try_from(self.rest.len()).unwrap_or(u64::MAX));
        let mut hint = SizeHint::new();
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint.set_lower(inner.lower().saturating_add(rest));
        hint
    }
}
