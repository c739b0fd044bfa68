//! Documents that complete an upload or remove many files: a file that is completed has the parts that came, and nothing is removed from another bucket.

use cowboy_access::probe::{BIG, PART, Sent, ask_unsigned, complete, files};

pub(crate) fn body(bytes: &[u8]) {
    let answer = complete(bytes).expect("an upload begins and has a part");
    let mut expected = files();
    if let Some(content) = answer.files.get(BIG) {
        assert_eq!(content, PART);
        expected.insert(BIG.to_owned(), PART.to_vec());
    }
    assert_eq!(answer.files, expected);
    let answer = ask_unsigned(&Sent::with_body("POST", "/notes?delete", bytes)).expect("it is a request");
    let before = files();
    assert!(answer.files.iter().all(|(path, content)| before.get(path) == Some(content)));
    assert!(answer.files.contains_key("other/x"));
}
