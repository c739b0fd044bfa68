//! What a JSON path may take on a document, counted before it is applied (decision 729).
//!
//! The library makes a list of all that each step of a path finds, before anybody takes the first of them. A value is in it as often as it is found.

use super::Fault;
use serde_json::Value as Json;

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

/// Bytes of the texts in a value, and one more for each value: what a copy of it is limited by. Beyond `most`, looking ends.
pub(super) fn size(value: &Json, most: usize) -> usize {
    let (mut waiting, mut size) = (vec![value], 0_usize);
    while let Some(value) = waiting.pop().filter(|_| size <= most) {
        size += 1;
        match value {
            Json::String(text) => size += text.len(),
            Json::Array(inner) => waiting.extend(inner),
            Json::Object(inner) => {
                size += inner.keys().map(String::len).sum::<usize>();
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
        assert_eq!(size(&document, 100), 4 + 4 + 1 + 6);
        assert!(size(&document, 3) > 3);
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
