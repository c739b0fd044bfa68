//! Queries of lists, and ranges: however a list is cut into parts, all of them are the whole list, and a part of a file is that of its content.

use cowboy_access::probe::{FILES, Sent, ask_unsigned, encoded, key_count, pages};

pub(crate) fn body(bytes: &[u8]) {
    let mut fields = bytes.splitn(4, |byte| *byte == 0);
    let [prefix, delimiter, after, range] = [(); 4].map(|()| fields.next().unwrap_or_default());
    if let (Ok(prefix), Ok(delimiter), Ok(after)) =
        (std::str::from_utf8(prefix), std::str::from_utf8(delimiter), std::str::from_utf8(after))
    {
        lists(prefix, delimiter, after);
    }
    let names = [("prefix", prefix), ("delimiter", delimiter), ("continuation-token", after), ("start-after", after)];
    let query: Vec<String> = names.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    for version in ["list-type=2&", ""] {
        let target = format!("/notes?{version}max-keys=2&{}", query.join("&"));
        let answer = ask_unsigned(&Sent { method: "GET".to_owned(), target, ..Sent::default() }).expect("it is a request");
        assert_ne!(answer.status, 500, "{}", String::from_utf8_lossy(&answer.body));
    }
    let headers = vec![("range".to_owned(), range.to_vec())];
    let (path, content) = FILES[0];
    let Some(answer) = ask_unsigned(&Sent { method: "GET".to_owned(), target: format!("/{path}"), headers, body: Vec::new() }) else {
        return;
    };
    match answer.status {
        200 => assert_eq!(answer.body, content),
        206 => {
            let said = answer.content_range.strip_prefix("bytes ").and_then(|said| said.strip_suffix("/11"));
            let (first, last) = said.and_then(|said| said.split_once('-')).expect("it says which part it is");
            let within = |text: &str| text.parse::<usize>().expect("a number");
            assert_eq!(answer.body, content[within(first)..=within(last)]);
        }
        status => assert!((400..500).contains(&status), "{status}"),
    }
}

/// Parts of any length are the whole list, each key once.
fn lists(prefix: &str, delimiter: &str, after: &str) {
    let sorted = |pages: Vec<Vec<String>>| {
        let mut names = pages.concat();
        names.sort();
        names
    };
    let whole = pages(prefix, delimiter, after, 1_000);
    assert_eq!(whole.len(), 1, "all keys fit");
    let whole = sorted(whole);
    assert!(whole.iter().all(|name| name.starts_with(prefix)));
    for most in 1..4 {
        let parts = pages(prefix, delimiter, after, most);
        assert!(parts.len() <= key_count() && parts.iter().all(|part| part.len() <= usize::try_from(most).expect("it is small")));
        assert_eq!(sorted(parts), whole, "{most} at once");
    }
}
