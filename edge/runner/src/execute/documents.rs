//! What a JSON document may take in memory, counted before it is built (decision 739), and what a JSON path may take on it, counted before it is applied
//! (decision 729).
//!
//! The library makes a list of all that each step of a path finds, before anybody takes the first of them. A value is in it as often as it is found.

use super::Fault;
use serde_json::Value as Json;

/// Memory that a value takes, beside its text, in bytes.
const VALUE_BYTES: usize = 72;

/// Memory that a list takes for the values in it, at least.
const LIST_BYTES: usize = 4 * VALUE_BYTES;

/// Memory that an object takes for its members, at least.
const OBJECT_BYTES: usize = 480;

/// Memory that a member takes beside its value and the text of its name.
const MEMBER_BYTES: usize = 64;

/// The most memory of a document that is read for its paths.
pub(super) const MAX_DOCUMENT_BYTES: usize = 96 * 1024 * 1024;

/// The most memory of what becomes a result: a result has at most 64 KiB, and no JSON of that length takes as much.
pub(super) const MAX_RESULT_BYTES: usize = 16 * 1024 * 1024;

/// Refuses a text that would take more memory than `most` bytes as a document. Texts in it are not counted: they take no more than they do here.
///
/// # Errors
///
/// If so.
pub(super) fn require_small(text: &str, most: usize) -> Result<(), Fault> {
    let (mut memory, mut is_text, mut is_escaped) = (VALUE_BYTES, false, false);
    for byte in text.bytes() {
        if is_text {
            (is_text, is_escaped) = (is_escaped || byte != b'"', !is_escaped && byte == b'\\');
            continue;
        }
        is_text = byte == b'"';
        memory += match byte {
            b'[' => LIST_BYTES,
            b'{' => OBJECT_BYTES,
            b',' => VALUE_BYTES,
            b':' => MEMBER_BYTES,
            _ => 0,
        };
        if memory > most {
            return Err(Fault::Impossible(format!("the document has too many values: it would take more than {most} bytes of memory")));
        }
    }
    Ok(())
}

/// The most values that a step may find: each takes some 10 bytes and up to 300 ns.
const MAX_ITEMS: usize = 8_000_000;

/// Values that filters look at as fast as one is found.
const LOOKS_PER_ITEM: usize = 64;

/// Refuses a path that may take too much on a document.
///
/// # Errors
///
/// If so.
pub(super) fn require_few(document: &Json, path: &str) -> Result<(), Fault> {
    let items = items(document, path);
    if items <= MAX_ITEMS {
        return Ok(());
    }
    Err(Fault::Impossible(format!("jsonpath: the rule may find {items} values in this document, and may find {MAX_ITEMS}")))
}

/// The values that a path may find, as if each of its steps found all.
fn items(document: &Json, path: &str) -> usize {
    let (values, depth) = extent(document);
    // Each selector of a bracket finds a value once more. Commas in texts count, too, and those after inner brackets multiply: it is never too few.
    let ways = path.split('[').fold(1_usize, |ways, part| ways.saturating_mul(1 + part.matches(',').count()));
    // The second `..` finds a value from all that it is in.
    let deep = if path.matches("..").count() > 1 { depth } else { 1 };
    let found = values.saturating_mul(ways).saturating_mul(deep);
    // A filter takes each of its steps for each value, and a comparison looks at all within: at each value from all that it is in.
    let filters = path.split_once('?').map_or("", |(_, filters)| filters);
    let looks = filters.matches(['@', '.', '[']).count().saturating_mul(depth);
    found.saturating_add(found.saturating_mul(looks) / LOOKS_PER_ITEM)
}

/// The values of a document, and how deep the deepest is.
fn extent(document: &Json) -> (usize, usize) {
    let (mut waiting, mut values, mut deepest) = (vec![(document, 1_usize)], 0_usize, 0_usize);
    while let Some((value, depth)) = waiting.pop() {
        (values, deepest) = (values + 1, deepest.max(depth));
        match value {
            Json::Array(inner) => waiting.extend(inner.iter().map(|value| (value, depth + 1))),
            Json::Object(inner) => waiting.extend(inner.values().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    (values, deepest)
}

/// Memory that a copy of a value takes, in bytes. Beyond `most`, looking ends.
pub(super) fn size(value: &Json, most: usize) -> usize {
    let (mut waiting, mut size) = (vec![value], 0_usize);
    while let Some(value) = waiting.pop().filter(|_| size <= most) {
        size += VALUE_BYTES;
        match value {
            Json::String(text) => size += text.len(),
            Json::Array(inner) => {
                size += LIST_BYTES;
                waiting.extend(inner);
            }
            Json::Object(inner) => {
                size += OBJECT_BYTES + inner.keys().map(|name| MEMBER_BYTES + name.len()).sum::<usize>();
                waiting.extend(inner.values());
            }
            _ => {}
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_counted_as_often_as_they_are_found() {
        let document = json!({ "a": [[1, 2], [3]], "b": "x" });
        let rows = [
            ("$.a[0][1]", 8),
            ("$..*", 8),
            ("$..a..b", 8 * 4),
            ("$['a','b'][0,1,2]", 8 * 2 * 3),
            // A bracket in a text hides no selector.
            ("$[*,*,']',*,*]", 8 * 5),
            ("$[*,'[',*]", 8 * 2 * 2),
            // One `@`, seven dots and two brackets, on a document that is 4 deep.
            ("$.a[?@.x.y.z.x.y.z.x[0][0] > 1]", 8 + 8 * 10 * 4 / 64),
        ];
        for (path, expected) in rows {
            assert_eq!(items(&document, path), expected, "{path}");
        }
    }

    #[test]
    fn sizes_are_of_texts_and_values() {
        let document = json!({ "name": ["four", 1, { "x": null }] });
        let (values, texts) = (6 * VALUE_BYTES, 4 + 4 + 1);
        assert_eq!(size(&document, 10_000), values + texts + LIST_BYTES + 2 * OBJECT_BYTES + 2 * MEMBER_BYTES);
        assert!(size(&document, 3) > 3);
    }

    /// Decision 739: values, lists, objects and members count, and nothing that stands in a text.
    #[test]
    fn documents_are_counted_before_they_are_built() {
        let rows = [
            ("1", VALUE_BYTES),
            ("[1,2]", 2 * VALUE_BYTES + LIST_BYTES),
            (r#"[{"a":1},{"a":1}]"#, 2 * (VALUE_BYTES + OBJECT_BYTES + MEMBER_BYTES) + LIST_BYTES),
            (r#""[,{:""#, VALUE_BYTES),
            (r#""\",[{""#, VALUE_BYTES),
            (r#"["\\",1]"#, 2 * VALUE_BYTES + LIST_BYTES),
            (r#"["\\\",1]"#, VALUE_BYTES + LIST_BYTES),
        ];
        for (text, memory) in rows {
            assert_eq!(require_small(text, memory), Ok(()), "{text}");
            assert!(require_small(text, memory - 1).is_err(), "{text}");
        }
        let of = |item: &str, bytes: usize| format!("[{}]", vec![item; bytes / item.len()].join(","));
        for (item, is_read) in [(r#"{"a":1}"#, false), ("[]", false), ("1", false), (r#"{"id":12345,"name":"a name","price":42}"#, true)] {
            let text = of(item, 4 << 20);
            assert_eq!(require_small(&text, MAX_DOCUMENT_BYTES).is_ok(), is_read, "{item}");
        }
    }

    /// Decision 729: ten letters, and a rule of 1 KB that finds the number in them 10,000,000,000 times.
    #[test]
    fn paths_that_find_too_much_are_refused() {
        let all = format!("[{}]", ["*"; 100].join(","));
        let (small, deep) = (json!([[[[[1]]]]]), json!(vec![json!([[[[[[1]]]]]]); 200_000]));
        let compared = format!("..[?{}]", ["@!=@"; 100].join("||"));
        let rows = [
            (&small, all.repeat(5), false),
            (&small, all.repeat(2), true),
            (&deep, "..*..*".into(), false),
            (&deep, "..*".into(), true),
            (&deep, compared, false),
            (&deep, "..[?@==1]".into(), true),
        ];
        for (document, steps, is_taken) in rows {
            assert_eq!(require_few(document, &format!("${steps}")).is_ok(), is_taken, "{steps}");
        }
    }
}
