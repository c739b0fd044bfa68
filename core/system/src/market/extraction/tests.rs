use super::*;

fn rule(kind: &str, text: &str) -> Value {
    Value::map([("name", Value::text("price")), ("type", Value::text(kind)), ("rule", Value::text(text))])
}

/// The rule with one more field.
fn with(rule: &Value, name: &str, value: Value) -> Value {
    let Value::Map(fields) = rule else { unreachable!("a rule is a map") };
    let fields = fields.iter().map(|(name, value)| (name.as_text().expect("text"), value.clone())).filter(|(known, _)| *known != name);
    Value::dict(fields.collect::<Vec<_>>().into_iter().chain([(name, value)]))
}

/// A-232: CSS, XPath, JSONPath and regular expressions; what no runner reads is refused by its field, one row each.
#[test]
fn rules() {
    let long = "a".repeat(MAX_RULE_BYTES + 1);
    let css = rule("css", "b");
    let rows = [
        (vec![rule("css", "table.prices td[data-id=\"btc\"]")], ""),
        (vec![rule("css", "li[class~=item] + li b")], ""),
        (vec![rule("xpath", "//div[@id='price']/span[1]/text()")], ""),
        (vec![rule("xpath", "//a[text()='[']")], ""),
        (vec![rule("jsonpath", "$.data[0].price")], ""),
        (vec![rule("regex", r"price: (\d+\.\d+)")], ""),
        (vec![with(&rule("regex", r"(d)ata-(id)"), "group", Value::uint(2))], ""),
        (vec![with(&rule("regex", r"(?P<a>d)(?:ata)-(id)?"), "group", Value::uint(2))], ""),
        (vec![with(&rule("regex", r"(?P<a>d)(?:ata)-(id)?"), "group", Value::uint(3))], "has the group"),
        (vec![with(&with(&css, "attr", Value::text("data-id")), "as", Value::text("list"))], ""),
        (vec![with(&css, "attr", Value::Null)], ""),
        (vec![], "extract: it has to be a list of 1 to 32"),
        (vec![css.clone(); 33], "extract: it has to be a list of 1 to 32"),
        (vec![Value::uint(1)], "extract: it has to be a list of maps"),
        (vec![with(&css, "flags", Value::text("i"))], "extract.flags: it has to be left out"),
        (vec![with(&css, "name", Value::text(""))], "extract.name"),
        (vec![with(&css, "name", Value::text("n".repeat(MAX_NAME_BYTES + 1)))], "extract.name"),
        (vec![with(&css, "name", Value::Null)], "extract.name: a rule has to have it"),
        (vec![css.clone(), rule("css", "a")], "extract.name: it has to be another one"),
        (vec![rule("sql", "select 1")], "extract.type"),
        (vec![rule("css", "")], "extract.rule"),
        (vec![rule("css", &long)], "extract.rule"),
        (vec![rule("css", "td[data-id")], "close in order"),
        (vec![rule("css", "li:has(b)")], ":has"),
        (vec![rule("css", "li ~ li")], "without ~"),
        (vec![rule("css", "li:not(b~li)")], "without ~"),
        (vec![with(&css, "attr", Value::text(long.as_str()))], "extract.attr"),
        (vec![with(&css, "as", Value::text("poem"))], "extract.as: it has to be text, number, integer, list"),
        (vec![with(&css, "group", Value::text("1"))], "extract.group"),
        (vec![rule("xpath", "//a[(b])")], "close in order"),
        (vec![rule("xpath", "title")], "begins with /"),
        (vec![rule("xpath", "//li[//li]")], "without // in a predicate"),
        (vec![rule("xpath", "//*[following::*]")], "functions and axes"),
        (vec![rule("xpath", "//a[b[c[d[e]]]]")], "three deep"),
        (vec![rule("xpath", "//li[$x]")], "without $"),
        (vec![rule("jsonpath", "data.price")], "begins with $"),
        (vec![rule("jsonpath", "$..[?count($..*) > 1]")], "in a filter"),
        (vec![rule("jsonpath", "$..a..b..c")], "at most two"),
        (vec![rule("regex", r"(a)\1")], "regular expression"),
        (vec![rule("regex", r"(?=a)b")], "regular expression"),
        (vec![rule("regex", &"(".repeat(100))], "regular expression"),
        (vec![with(&rule("regex", "data-id"), "group", Value::uint(1))], "has the group"),
    ];
    for (rules, expected) in rows {
        let found = check(&Value::Array(rules.clone())).err().map_or_else(String::new, |mistake| mistake.explanation);
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{rules:?}: {found:?}");
        assert!(found.is_ascii(), "{found}");
    }
    assert!(check(&Value::map([])).is_err(), "no list");
}

/// The chain works out no class of characters: as many as fit, of everything and with cases folded, would take it many seconds. Runners find out
/// whether there are such classes.
#[test]
fn expressions_are_looked_at_by_their_form() {
    let of = |classes: usize| format!("(?i){}", "[\0-\u{10FFFF}]".repeat(classes));
    let named = |number: usize| with(&rule("regex", &of(32)), "name", Value::text(number.to_string()));
    assert_eq!(check(&Value::Array((0..MAX_RULES).map(named).collect())), Ok(()));
    assert_eq!(check(&Value::Array(vec![rule("regex", r"\p{nothing}")])), Ok(()));
    let within = format!("[{}]", r"\w".repeat(32));
    for costly in [of(33), of(127), r"\d".repeat(33), within] {
        assert!(costly.len() <= MAX_RULE_BYTES);
        let refused = check(&Value::Array(vec![rule("regex", &costly)])).expect_err("it has too many classes").explanation;
        assert!(refused.contains("32 classes"), "{refused}");
    }
}

#[test]
fn selectors() {
    for (selector, is_right) in
        [("title", true), ("$.b.names[1]", true), ("", false), ("li ~ li", false), ("$..[?@.a == $.b]", false), ("a[", false)]
    {
        assert_eq!(check_selector(&Value::text(selector)).is_ok(), is_right, "{selector}");
    }
    assert!(check_selector(&Value::uint(1)).is_err());
}
