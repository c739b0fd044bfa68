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
        (vec![rule("jsonpath", "data.price")], "begins with $"),
        (vec![rule("jsonpath", "$..[?count($..*) > 1]")], "in a filter"),
        (vec![rule("jsonpath", "$..a..b..c")], "at most two"),
        (vec![rule("jsonpath", &format!("${}{}", "[?@.a".repeat(8), "]".repeat(8)))], ""),
        (vec![rule("jsonpath", &format!("${}{}", "[?@.a".repeat(9), "]".repeat(9)))], "at most eight filters"),
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

/// Decision 708: what no runner evaluates. A word is a name or an operator by what stands before it.
#[test]
fn xpaths() {
    let rows = [
        ("//div[@id='price']/span[1]/text()", ""),
        ("//a[text()='[']", ""),
        ("//a[b and (c or total = '1 to 2')]/to/child :: top", ""),
        ("//a[position() mod 2 = 1 and last()-1 > 1.5]/b-c[* * 2 = .5]/../@*", ""),
        ("//div[div div 2 eq 3 - -1] union //*:a[.='x'][1e-5 < 2]", ""),
        ("//a[(b])", "close in order"),
        ("title", "begins with /"),
        ("//li[//li]", "without // in a predicate"),
        ("//*[following::*]", "functions and axes"),
        ("//*[following ::*]", "functions and axes"),
        ("//a/ancestor\n:: b", "functions and axes"),
        ("//a[matches (text(), 'x')]", "functions and axes"),
        ("//café[@prix = '1 €']", ""),
        // A character that no version of Unicode has is one of a name, as a letter is.
        ("//a[last\u{378} () = 1]", "functions and axes"),
        ("//text:b//text:b", "functions and axes"),
        ("//a[b is c]", "operators"),
        ("//a[1 mod (:':)2 to 9999999 mod (:':)9]", "without comments"),
        ("(1 to 9999999)", "without ranges"),
        ("//x[3 idiv div to 9999999]", "without ranges"),
        ("//x[3- idiv to 9999999]", "without ranges"),
        ("//x[3 * div to 9999999]", "without ranges"),
        ("//x[* div * to 9999999]", "without ranges"),
        ("//a[1.e5to 9]", "without ranges"),
        ("//a[1to 9]", "without ranges"),
        ("//a[(1)to9]", "without ranges"),
        ("//a[. to 9]", "without ranges"),
        ("//a[b to 9]", "without ranges"),
        ("//a[b[c[d[e]]]]", "three deep"),
        ("//li[$x]", "without $"),
    ];
    for (path, expected) in rows {
        let found = check(&Value::Array(vec![rule("xpath", path)])).err().map_or_else(String::new, |mistake| mistake.explanation);
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{path}: {found:?}");
    }
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
