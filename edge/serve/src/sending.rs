//! The body of an answer, in pieces that show how far the client has taken it.

use crate::idle::Busy;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// The most bytes that are handed to the connection at once: a frame of HTTP/2. The rest stays here, where it is counted, until the
/// client has made room.
pub(crate) const PIECE: usize = 16 * 1024;

/// A body whose request is busy until it and its pieces are sent or dropped.
pub(crate) struct Sending<B> {
    body: B,
    /// What is left of the body's last frame.
    rest: Bytes,
    busy: Arc<Busy>,
}

/// A part of a body that was handed to the connection, until it is sent or dropped. It is a copy: the connection may have it for longer than the body
/// counts, and as a slice it would keep the memory of the whole body.
struct Piece {
    bytes: Box<[u8]>,
    busy: Arc<Busy>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.busy.sends();
    }
}

impl<B> Sending<B> {
    pub(crate) fn new(body: B, busy: Busy) -> Self {
        busy.offers(0);
        Self { body, rest: Bytes::new(), busy: Arc::new(busy) }
    }
}

impl<B> Drop for Sending<B> {
    fn drop(&mut self) {
        // The client still has to take the pieces that the connection has.
        self.busy.offers(0);
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
        let part = this.rest.split_to(this.rest.len().min(PIECE));
        this.busy.offers(part.len());
        let piece = Piece { bytes: Box::from(&part[..]), busy: this.busy.clone() };
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_owner(piece)))))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idle::{Activity, Awaits};
    use http_body_util::Full;
    use std::{task::Waker, time::Duration};

    /// Memory of a body that shows whether it is still there.
    struct Watched {
        bytes: Vec<u8>,
        _there: Arc<()>,
    }

    impl AsRef<[u8]> for Watched {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }

    /// Polls a body until it waits or is over.
    fn pieces<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> Vec<Bytes> {
        let mut context = Context::from_waker(Waker::noop());
        let mut pieces = Vec::new();
        while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut *body).poll_frame(&mut context) {
            pieces.extend(frame.into_data().ok());
        }
        pieces
    }

    /// The connection may still have the pieces when the body is over: they keep none of its memory, and the client has to take them.
    #[test]
    fn pieces_outlive_their_body() {
        let (activity, there, after) = (Activity::new(), Arc::new(()), Duration::from_secs(60));
        let watched = Watched { bytes: vec![7; 2 * PIECE + 1], _there: there.clone() };
        let mut sending = Sending::new(Full::new(Bytes::from_owner(watched)), activity.begin(true));
        let mut handed = pieces(&mut sending);
        assert_eq!(handed.iter().map(Bytes::len).collect::<Vec<_>>(), [PIECE, PIECE, 1]);
        assert!(handed.iter().flatten().all(|byte| *byte == 7));
        drop(sending);
        assert_eq!(Arc::strong_count(&there), 1, "the body's memory is free");
        while handed.pop().is_some_and(|_| !handed.is_empty()) {
            assert!(matches!(activity.awaits(after), Awaits::Client(_)));
        }
        assert!(matches!(activity.awaits(after), Awaits::Request { .. }), "the client has all of it");
    }

    /// A client has to take what it was given of an answer that ended while nothing more came.
    #[test]
    fn what_is_handed_over_is_not_forgotten() {
        let (activity, after) = (Activity::new(), Duration::from_secs(60));
        let busy = Arc::new(activity.begin(true));
        busy.prepares();
        let mut sending = Sending { body: Full::new(Bytes::new()), rest: Bytes::new(), busy: busy.clone() };
        let _handed = Piece { bytes: vec![7].into_boxed_slice(), busy };
        assert!(pieces(&mut sending).is_empty());
        assert_eq!(activity.awaits(after), Awaits::Answer);
        drop(sending);
        assert!(matches!(activity.awaits(after), Awaits::Client(_)));
    }
}
