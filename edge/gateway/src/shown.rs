//! An actor's answer as a client takes it: a part, or less bytes, or only that it has not changed.

use crate::{compress, conditional, query::Runner, refusal::Refusal};
use bytes::Bytes;
use cowboy_ingress::signed::Said;
use cowboy_serve::Client;
use hyper::{HeaderMap, Method, Response, http::request::Parts};

/// Bytes of a body that are hashed and compressed on the thread that reads requests. Longer ones go to the workers.
const AT_ONCE_BYTES: usize = 64 * 1_024;

/// The answer as this request wants it, and what is signed of it: what the actor answered, whatever part of it the client wants, and however it
/// is encoded.
pub(crate) async fn answer(
    runner: &Runner,
    client: Client,
    asked: &Parts,
    response: Response<Bytes>,
) -> Result<(Response<Bytes>, Said), Refusal> {
    if response.body().len() <= AT_ONCE_BYTES {
        return Ok(shown(&asked.method, &asked.headers, response));
    }
    let (method, headers) = (asked.method.clone(), asked.headers.clone());
    runner.run(client, move |_| Ok(shown(&method, &headers, response))).await
}

fn shown(method: &Method, headers: &HeaderMap, response: Response<Bytes>) -> (Response<Bytes>, Said) {
    let said = Said::of(response.status().as_u16(), response.headers(), response.body());
    let response = conditional::answer(method, headers, response);
    (compress::answer(headers, response), said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;
    use std::{net::IpAddr, sync::mpsc, task::Poll};

    /// Long bodies wait for a worker, short ones for nobody; both come to the same.
    #[tokio::test]
    async fn long_bodies_are_work_for_the_workers() {
        let runner = Runner::start(Some(1)).expect("the system has threads");
        let client = Client::from(IpAddr::from([192, 0, 2, 1]));
        let (asked, ()) = Request::new(()).into_parts();
        let (release, released) = mpsc::channel::<()>();
        let busy = tokio::spawn({
            let runner = runner.clone();
            async move { runner.run(client, move |_| Ok(released.recv().is_err())).await }
        });
        let body = |bytes: usize| Response::new(Bytes::from(vec![b'a'; bytes]));
        let (short, said) = answer(&runner, client, &asked, body(AT_ONCE_BYTES)).await.expect("an answer");
        assert_eq!((short.body().len(), said.status), (AT_ONCE_BYTES, 200));
        let mut long = Box::pin(answer(&runner, client, &asked, body(AT_ONCE_BYTES + 1)));
        // The worker may not have begun what keeps it busy.
        tokio::task::yield_now().await;
        let first = std::future::poll_fn(|context| Poll::Ready(long.as_mut().poll(context).is_pending())).await;
        assert!(first, "it waits for the worker");
        drop(release);
        let (shown_long, said) = long.await.expect("an answer");
        let (expected, expected_said) = shown(&Method::GET, &asked.headers, body(AT_ONCE_BYTES + 1));
        assert_eq!((shown_long.body(), shown_long.headers(), said), (expected.body(), expected.headers(), expected_said));
        assert_eq!(busy.await.expect("no panic"), Ok(true));
    }
}
