//! Bodies in chunks, as clients of S3 sign them: what is kept is what was signed, and nothing of a body that was changed on the way.

use cowboy_access::probe::{NEW, Payload, ask, put_as, put_in_chunks};

pub(crate) fn body(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let length = usize::from(*first);
    // Any bytes as chunks: none has the signature that it needs, or the file is as long as the head says.
    if length > 0 {
        let answer = ask(&put_as(Payload::Signed, length, rest)).expect("it is a request");
        assert!(!answer.files.contains_key(NEW));
    }
    let answer = ask(&put_as(Payload::Trailing, length, rest)).expect("it is a request");
    assert!(answer.files.get(NEW).is_none_or(|content| content.len() == length));
    // The bytes in chunks, each signed.
    let pieces: Vec<&[u8]> = rest.chunks(1 + length).collect();
    let mut sent = put_in_chunks(&pieces);
    let answer = ask(&sent).expect("it is a request");
    assert_eq!((answer.status, answer.files.get(NEW).map(Vec::as_slice)), (200, Some(rest)));
    let place = (31 * length + bytes.len()) % sent.body.len();
    sent.body[place] ^= 1 << (length % 8);
    let answer = ask(&sent).expect("it is a request");
    assert!(answer.files.get(NEW).is_none_or(|content| content == rest), "a bit at {place} was changed");
}
