//! Bodies of answers that keep something until they are sent or dropped.

use http_body::{Body, Frame, SizeHint};
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// A body with a value that is dropped together with it.
#[derive(Debug)]
pub struct Keeping<B, K> {
    body: B,
    _kept: K,
}

impl<B, K> Keeping<B, K> {
    /// Keeps the value as long as the body.
    pub fn new(body: B, kept: K) -> Self {
        Self { body, _kept: kept }
    }
}

impl<B: Body + Unpin, K: Unpin> Body for Keeping<B, K> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
