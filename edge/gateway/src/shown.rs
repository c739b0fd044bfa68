//! An actor's answer as a client takes it: a part, or less bytes, or only that it has not changed.

use crate::{compress, conditional};
use bytes::Bytes;
use cowboy_ingress::signed::Said;
use hyper::{HeaderMap, Method, Response};

/// Bytes of a body that are hashed and compressed on the thread that reads requests. Longer ones go to the workers.
pub(crate) const AT_ONCE_BYTES: usize = 64 * 1_024;

/// An answer as a request wants it, and what is signed of it: what the actor answered, whatever part of it the client wants, and however it is
/// encoded.
pub(crate) type Shown = (Response<Bytes>, Said);

/// The answer as a request with this method and these headers wants it.
pub(crate) fn shown(method: &Method, headers: &HeaderMap, response: Response<Bytes>) -> Shown {
    let said = Said::of(response.status().as_u16(), response.headers(), response.body());
    let response = conditional::answer(method, headers, response);
    (compress::answer(headers, response), said)
}
