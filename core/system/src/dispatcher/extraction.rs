//! Rules by which runners cut what matters out of a page, and what a chain must refuse of a job before anybody works on it
//! (003 External Data; A-232, A-235).
//!
//! Runners apply the rules; the chain only sees to it that they can: a rule that nobody can read would cost a committee its time. What
//! they find is a JSON object with a member for each rule, and is compared field by field like any other result.

use crate::market::mistake::Mistake;
use crate::reader::Reader;
use cowboy_types::cbor::Value;

/// The most rules of a job.
const MOST_RULES: usize = 32;

/// The most bytes of a rule.
const RULE_BYTES: usize = 1_024;

/// The most bytes of a rule's name.
const NAME_BYTES: usize = 64;

/// The deepest nesting of a regular expression.
const NESTING: u32 = 32;

fn wrong(rule: &str) -> Mistake {
    Mistake::invalid(format!("extract: it has to be {rule}."))
}

/// Checks the rules of a job: `extract`, a list of `{"name", "type": "css" | "xpath" | "jsonpath" | "regex", "rule"}`. A job with
/// rules must have a result of JSON.
pub(super) fn check(extract: Option<&Value>, data_format: &str) -> Result<(), Mistake> {
    let rules = match extract {
        None => &[][..],
        Some(Value::Array(rules)) => rules,
        Some(_) => return Err(wrong("a list of {name, type, rule}")),
    };
    let is_json = data_format == "json" || data_format.starts_with('{');
    if rules.len() > MOST_RULES {
        return Err(wrong(&format!("at most {MOST_RULES} rules")));
    }
    if !rules.is_empty() && !is_json {
        return Err(wrong("left out unless data_format is json or a schema"));
    }
    let mut names: Vec<&str> = Vec::with_capacity(rules.len());
    for rule in rules {
        let reader = Reader::new(rule, "extract");
        let (name, text) = (reader.text_or_empty("name")?, reader.text_or_empty("rule")?);
        let is_named = !name.is_empty() && name.len() <= NAME_BYTES && !names.contains(&name);
        let is_right = !text.is_empty()
            && text.len() <= RULE_BYTES
            && match reader.text_or_empty("type")? {
                "css" => is_balanced(text),
                "xpath" => text.starts_with(['/', '.', '(']) && is_balanced(text),
                "jsonpath" => text.starts_with('$') && is_balanced(text),
                "regex" => is_expression(text),
                _ => false,
            };
        if !is_named {
            return Err(reader.wrong("name", &format!("a string of 1 to {NAME_BYTES} bytes that no other rule has")));
        }
        if !is_right {
            return Err(reader.wrong("rule", "an expression of its type: css, xpath, jsonpath or regex"));
        }
        names.push(name);
    }
    Ok(())
}

/// Whether an expression is regular: one that a machine without backtracking reads, so that no page keeps a runner busy for ever.
fn is_expression(text: &str) -> bool {
    regex_syntax::ParserBuilder::new().nest_limit(NESTING).build().parse(text).is_ok()
}

/// Whether quotes and brackets close in order.
fn is_balanced(text: &str) -> bool {
    let (mut open, mut quote) = (Vec::new(), None);
    for character in text.chars() {
        match (quote, character) {
            (Some(mark), _) if mark == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '(') => open.push(')'),
            (None, '[') => open.push(']'),
            (None, ')' | ']') if open.pop() != Some(character) => return false,
            _ => {}
        }
    }
    quote.is_none() && open.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A-232: CSS, XPath, JSONPath and regular expressions; what cannot be read is refused, one row each.
    #[test]
    fn rules() {
        let rule = |kind: &str, text: &str| {
            Value::dict([("name", Value::text("price")), ("type", Value::text(kind)), ("rule", Value::text(text))])
        };
        let long = "a".repeat(RULE_BYTES + 1);
        let rows = [
            ("a selector", "json", vec![rule("css", "table.prices td[data-id=\"btc\"]")], true),
            ("a path in a document", "json", vec![rule("xpath", "//div[@id='price']/span[1]/text()")], true),
            ("a path in JSON", "json", vec![rule("jsonpath", "$.data[0].price")], true),
            ("an expression", "json", vec![rule("regex", r"price: (\d+\.\d+)")], true),
            ("into a schema", r#"{"type":"object"}"#, vec![rule("css", "b")], true),
            ("no rules", "text", vec![], true),
            ("into a text", "text", vec![rule("css", "b")], false),
            ("a kind that is none", "json", vec![rule("sql", "select 1")], false),
            ("no rule", "json", vec![rule("css", "")], false),
            ("a rule of a kilobyte and one", "json", vec![rule("css", &long)], false),
            ("an open bracket", "json", vec![rule("css", "td[data-id")], false),
            ("brackets that cross", "json", vec![rule("xpath", "//a[(b])")], false),
            ("a bracket in quotes", "json", vec![rule("xpath", "//a[text()='[']")], true),
            ("a path from nowhere", "json", vec![rule("jsonpath", "data.price")], false),
            ("an expression that looks back", "json", vec![rule("regex", r"(a)\1")], false),
            ("an expression that looks around", "json", vec![rule("regex", r"(?=a)b")], false),
            ("an expression of a hundred brackets", "json", vec![rule("regex", &"(".repeat(100))], false),
            ("a name twice", "json", vec![rule("css", "a"), rule("css", "b")], false),
            ("a name of nothing", "json", vec![Value::dict([("type", Value::text("css")), ("rule", Value::text("b"))])], false),
            ("thirty-three", "json", vec![rule("css", "a"); 33], false),
        ];
        for (case, format, rules, expected) in rows {
            assert_eq!(check(Some(&Value::Array(rules)), format).is_ok(), expected, "{case}");
        }
    }
}
