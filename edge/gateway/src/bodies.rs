//! Bodies of requests, as they come, and those of the gateway's own answers.

use crate::{Shared, refusal::Refusal};
use bytes::{Bytes, BytesMut};
use cowboy_serve::{Client, Held};
use http_body_util::BodyExt as _;
use hyper::{
    Response, StatusCode,
    body::{Body as _, Incoming},
    header,
};
use std::time::Duration;

/// There is no room for a body.
pub(crate) fn crowded() -> Refusal {
    Refusal::busy("MEMORY_FULL", "The bodies of other requests and answers fill the memory that is reserved for them.")
}

/// An answer of the gateway itself.
pub(crate) fn json_response(status: StatusCode, body: &serde_json::Value) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    response
}

impl Shared {
    /// The whole body, where it is not too long and does not take too long, and what counts it. What did not come yet counts nowhere.
    pub(crate) async fn body(&self, client: Client, mut body: Incoming, most: u64) -> Result<(Bytes, Held), Refusal> {
        if body.size_hint().lower() > most {
            return Err(Refusal::too_large(most));
        }
        let (mut held, mut bytes, longest) = (self.bodies.hold(client), BytesMut::new(), usize::try_from(most).unwrap_or(usize::MAX));
        let read = async {
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|_| Refusal::bad_request("The body ends too early, or is not what its head says."))?;
                let Ok(chunk) = frame.into_data() else { continue };
                if bytes.len().saturating_add(chunk.len()) > longest {
                    return Err(Refusal::too_large(most));
                }
                if !held.add(chunk.len()) {
                    return Err(crowded());
                }
                bytes.extend_from_slice(&chunk);
            }
            Ok(())
        };
        match tokio::time::timeout(Duration::from_millis(self.config.limits.body_timeout_ms), read).await {
            Ok(result) => result?,
            Err(_) => {
                let what = "The body did not come in time.";
                return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "REQUEST_TIMEOUT", what, "Send it faster."));
            }
        }
        Ok((bytes.freeze(), held))
    }
}
