//! Heads of requests of S3 that nobody signed: none is done, whatever they say of a signature. And where everybody is let in, none that reads changes anything.

use cowboy_access::probe::{Sent, ask, ask_unsigned, files};

pub(crate) fn body(bytes: &[u8]) {
    let sent = Sent::parse(bytes);
    if let Some(answer) = ask(&sent) {
        assert!(answer.status >= 400, "{sent:?}: {}", answer.status);
        assert_eq!(answer.files, files());
    }
    if !matches!(sent.method.as_str(), "PUT" | "POST" | "DELETE")
        && let Some(answer) = ask_unsigned(&sent)
    {
        assert_eq!(answer.files, files());
    }
}
