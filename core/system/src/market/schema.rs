//! JSON schemas: a subset that is decided in one walk, without patterns and without references.
//!
//! `type`, `enum`, `const`, `properties`, `required`, `additionalProperties` (a truth value), `items`, `minItems`,
//! `maxItems`, `minLength`, `maxLength`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`. What only
//! describes (`title`, `description`, `default`, `examples`, `$schema`, `$id`, `$comment`, `format`) is skipped. A schema with any other
//! word is refused at submission: a rule that nobody checks would be worse than none.

use super::json::{Json, UNIT};
use cowboy_types::cbor::Value;

/// Words that describe and do not decide.
const DESCRIPTIONS: [&str; 8] = ["$comment", "$id", "$schema", "default", "description", "examples", "format", "title"];

const ARRAY: u8 = 1;
const BOOLEAN: u8 = 2;
const INTEGER: u8 = 4;
const NULL: u8 = 8;
const NUMBER: u8 = 16;
const OBJECT: u8 = 32;
const STRING: u8 = 64;

/// Names of types, with a bit for each.
const TYPES: [(&str, u8); 7] = [
    ("array", ARRAY),
    ("boolean", BOOLEAN),
    ("integer", INTEGER),
    ("null", NULL),
    ("number", NUMBER),
    ("object", OBJECT),
    ("string", STRING),
];

/// A schema that can be decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema(Rules);

/// What a schema says, in the form in which values are compared with it: its lists are in ascending order and without duplicates, so
/// that each is searched by halves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rules {
    /// It is `false`.
    is_never: bool,
    /// The types that it names, a bit each in the order of [`TYPES`]; nothing where it names none.
    types: Option<u8>,
    /// The values of `enum`.
    values: Option<Vec<Json>>,
    /// The value of `const`.
    constant: Option<Json>,
    /// Its bounds of sizes and numbers.
    bounds: Vec<(Bound, i128)>,
    /// Names and schemas of `properties`.
    properties: Vec<(String, Rules)>,
    /// Whether an object has no other members than `properties`.
    is_closed: bool,
    /// The names of `required`.
    required: Vec<String>,
    /// The schema of `items`.
    items: Option<Box<Rules>>,
}

/// A keyword that bounds a size or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    MinItems,
    MaxItems,
    MinLength,
    MaxLength,
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
}

impl Bound {
    fn from_keyword(word: &str) -> Option<Self> {
        Some(match word {
            "minItems" => Self::MinItems,
            "maxItems" => Self::MaxItems,
            "minLength" => Self::MinLength,
            "maxLength" => Self::MaxLength,
            "minimum" => Self::Minimum,
            "maximum" => Self::Maximum,
            "exclusiveMinimum" => Self::ExclusiveMinimum,
            "exclusiveMaximum" => Self::ExclusiveMaximum,
            _ => return None,
        })
    }

    /// Whether it bounds a count, which is whole and not negative.
    fn is_of_size(self) -> bool {
        matches!(self, Self::MinItems | Self::MaxItems | Self::MinLength | Self::MaxLength)
    }

    /// Whether a value keeps it. Values of other types do.
    fn holds(self, bound: i128, value: &Json) -> bool {
        match (self, value) {
            (Self::MinItems, Json::Array(items)) => whole(items.len()) >= bound,
            (Self::MaxItems, Json::Array(items)) => whole(items.len()) <= bound,
            (Self::MinLength, Json::Text(text)) => whole(text.chars().count()) >= bound,
            (Self::MaxLength, Json::Text(text)) => whole(text.chars().count()) <= bound,
            (Self::Minimum, Json::Number(number)) => *number >= bound,
            (Self::Maximum, Json::Number(number)) => *number <= bound,
            (Self::ExclusiveMinimum, Json::Number(number)) => *number > bound,
            (Self::ExclusiveMaximum, Json::Number(number)) => *number < bound,
            _ => true,
        }
    }
}

impl Schema {
    /// Reads a schema. Nothing where it is no JSON object, or holds a rule that cannot be decided.
    pub fn parse(text: &str) -> Option<Self> {
        Rules::read(Json::parse(text.as_bytes()).ok()?).map(Self)
    }

    /// Reads a schema that stands in a submission: JSON in a text, or the value itself. Nothing where [`Schema::parse`] would refuse its text.
    pub fn of(value: &Value) -> Option<Self> {
        let json = match value.as_text() {
            Some(text) => Json::parse(text.as_bytes()).ok()?,
            None => Json::of(value)?,
        };
        Rules::read(json).map(Self)
    }

    /// Whether the schema's own words show that no value is as it says: bounds that exclude each other, an empty list of
    /// values, `false`, or a member that must be there and cannot be anything.
    pub fn admits_nothing(&self) -> bool {
        self.0.is_impossible()
    }

    /// Whether a value is as the schema says.
    pub fn admits(&self, value: &Json) -> bool {
        self.0.admits(value)
    }

    /// The most comparisons that [`Self::admits`] makes for each byte of a value's text.
    pub fn steps(&self) -> u64 {
        self.0.steps()
    }
}

/// Comparisons that a search by halves makes among `count` items.
fn halves(count: usize) -> u64 {
    u64::from(count.checked_ilog2().map_or(0, |log| log.saturating_add(1)))
}

impl Rules {
    fn read(schema: Json) -> Option<Self> {
        let words = match schema {
            Json::Object(words) => words,
            Json::Bool(admits) => return Some(Self { is_never: !admits, ..Self::default() }),
            _ => return None,
        };
        let mut rules = Self::default();
        for (word, rule) in words {
            rules.take(&word, rule)?;
        }
        Some(rules)
    }

    /// Takes a keyword and what it says. Nothing where that cannot be decided.
    fn take(&mut self, word: &str, rule: Json) -> Option<()> {
        match (word, rule) {
            ("type", Json::Text(name)) => self.types = Some(bit_of(&name)?),
            ("type", Json::Array(names)) => {
                let bit = |name: &Json| if let Json::Text(name) = name { bit_of(name) } else { None };
                self.types = Some(names.iter().try_fold(0, |types, name| Some(types | bit(name)?))?);
            }
            ("enum", Json::Array(values)) => self.values = Some(ascending(values)),
            ("const", value) => self.constant = Some(value),
            ("additionalProperties", Json::Bool(is_open)) => self.is_closed = !is_open,
            // The members of an object are in ascending order already.
            ("properties", Json::Object(properties)) => {
                let read = |(name, property)| Some((name, Self::read(property)?));
                self.properties = properties.into_iter().map(read).collect::<Option<_>>()?;
            }
            ("required", Json::Array(names)) => {
                let text = |name| if let Json::Text(name) = name { Some(name) } else { None };
                self.required = ascending(names.into_iter().map(text).collect::<Option<_>>()?);
            }
            ("items", items) => self.items = Some(Box::new(Self::read(items)?)),
            (word, Json::Number(number)) if Bound::from_keyword(word).is_some() => {
                let bound = Bound::from_keyword(word)?;
                if bound.is_of_size() && (number < 0 || number % UNIT != 0) {
                    return None;
                }
                self.bounds.push((bound, number));
            }
            (word, _) => return DESCRIPTIONS.contains(&word).then_some(()),
        }
        Some(())
    }

    fn is_impossible(&self) -> bool {
        let number = |bound: Bound| self.bounds.iter().find(|(of, _)| *of == bound).map(|(_, number)| *number);
        // Each of these excludes a value only of the type that it is about.
        let is_of = |types: u8| self.types.is_some_and(|named| named != 0 && named & !types == 0);
        let exceeds = |least, most| matches!((number(least), number(most)), (Some(least), Some(most)) if least > most);
        let meets = |least, most| matches!((number(least), number(most)), (Some(least), Some(most)) if least >= most);
        let has_no_number = || {
            exceeds(Bound::Minimum, Bound::Maximum)
                || meets(Bound::ExclusiveMinimum, Bound::Maximum)
                || meets(Bound::Minimum, Bound::ExclusiveMaximum)
                || meets(Bound::ExclusiveMinimum, Bound::ExclusiveMaximum)
        };
        let has_no_member =
            || self.properties.iter().any(|(name, property)| self.required.binary_search(name).is_ok() && property.is_impossible());
        self.is_never
            || self.values.as_ref().is_some_and(Vec::is_empty)
            || is_of(NUMBER | INTEGER) && has_no_number()
            || is_of(STRING) && exceeds(Bound::MinLength, Bound::MaxLength)
            || is_of(ARRAY) && exceeds(Bound::MinItems, Bound::MaxItems)
            || is_of(OBJECT) && has_no_member()
    }

    fn admits(&self, value: &Json) -> bool {
        !self.is_never
            && self.types.is_none_or(|types| is_of_types(types, value))
            && self.values.as_ref().is_none_or(|values| values.binary_search(value).is_ok())
            && self.constant.as_ref().is_none_or(|constant| constant == value)
            && self.bounds.iter().all(|(bound, number)| bound.holds(*number, value))
            && match value {
                Json::Object(pairs) => self.has_required(pairs) && pairs.iter().all(|(name, value)| self.admits_member(name, value)),
                Json::Array(items) => self.items.as_ref().is_none_or(|schema| items.iter().all(|item| schema.admits(item))),
                _ => true,
            }
    }

    /// Whether an object has the members of `required`. Both are in ascending order, so each member is looked at once.
    fn has_required(&self, pairs: &[(String, Json)]) -> bool {
        let mut pairs = pairs.iter();
        self.required.iter().all(|name| pairs.find(|(key, _)| key >= name).is_some_and(|(key, _)| key == name))
    }

    fn admits_member(&self, name: &str, value: &Json) -> bool {
        match self.properties.binary_search_by(|(property, _)| property.as_str().cmp(name)) {
            Ok(place) => self.properties[place].1.admits(value),
            Err(_) => !self.is_closed,
        }
    }

    fn steps(&self) -> u64 {
        let inner = self.properties.iter().map(|(_, property)| property).chain(self.items.as_deref());
        let inner = inner.map(Self::steps).max().unwrap_or(0);
        let own = [self.types.is_some(), self.constant.is_some(), !self.required.is_empty()].map(u64::from).iter().sum::<u64>();
        let bounds = u64::try_from(self.bounds.len()).expect("there are eight bounds");
        let searches = halves(self.values.as_ref().map_or(0, Vec::len)).saturating_add(halves(self.properties.len()));
        [1, own, bounds, searches].into_iter().fold(inner, u64::saturating_add)
    }
}

fn ascending<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort_unstable();
    items.dedup();
    items
}

fn bit_of(name: &str) -> Option<u8> {
    TYPES.iter().find(|(known, _)| *known == name).map(|(_, bit)| *bit)
}

fn whole(length: usize) -> i128 {
    i128::try_from(length).expect("a length fits").saturating_mul(UNIT)
}

fn is_of_types(types: u8, value: &Json) -> bool {
    let bit = match value {
        Json::Null => NULL,
        Json::Bool(_) => BOOLEAN,
        Json::Number(number) => return types & NUMBER != 0 || types & INTEGER != 0 && number % UNIT == 0,
        Json::Text(_) => STRING,
        Json::Array(_) => ARRAY,
        Json::Object(_) => OBJECT,
    };
    types & bit != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A-215: one row a rule, admitted and not.
    #[test]
    fn rules() {
        let rows = [
            (r#"{"type":"integer"}"#, "3", true),
            (r#"{"type":"integer"}"#, "3.5", false),
            (r#"{"type":["string","null"]}"#, "null", true),
            (r#"{"type":["string","null"]}"#, "1", false),
            (r#"{"enum":["buy","sell"]}"#, r#""sell""#, true),
            (r#"{"enum":["buy","sell"]}"#, r#""hold""#, false),
            (r#"{"const":1}"#, "1.0", true),
            (r#"{"properties":{"a":{"type":"number"}}}"#, r#"{"a":"x"}"#, false),
            (r#"{"properties":{"a":{"type":"number"}}}"#, r#"{"b":"x"}"#, true),
            (r#"{"required":["a"]}"#, r#"{"a":null}"#, true),
            (r#"{"required":["a"]}"#, r#"{"b":1}"#, false),
            (r#"{"required":["c","a","c"]}"#, r#"{"a":1,"b":2,"c":3}"#, true),
            (r#"{"required":["c","a","b"]}"#, r#"{"a":1,"c":3}"#, false),
            (r#"{"required":["a","d"]}"#, r#"{"a":1,"c":3}"#, false),
            (r#"{"enum":[3,"b",1,[2,1],{"y":1,"x":2}]}"#, r#"{"x":2,"y":1}"#, true),
            (r#"{"enum":[3,"b",1,[2,1]]}"#, "[1,2]", false),
            (r#"{"type":["number","integer"]}"#, "0.5", true),
            (r#"{"type":[]}"#, "1", false),
            (r#"{"properties":{"b":{"minimum":2},"a":{"maximum":1}}}"#, r#"{"a":1,"b":1}"#, false),
            (r#"{"properties":{"a":true},"additionalProperties":false}"#, r#"{"a":1}"#, true),
            (r#"{"properties":{"a":true},"additionalProperties":false}"#, r#"{"b":1}"#, false),
            (r#"{"items":{"minimum":0}}"#, "[0,1]", true),
            (r#"{"items":{"minimum":0}}"#, "[0,-1]", false),
            (r#"{"minItems":1,"maxItems":2}"#, "[]", false),
            (r#"{"minItems":1,"maxItems":2}"#, "[1,2]", true),
            (r#"{"minLength":2,"maxLength":3}"#, r#""éé""#, true),
            (r#"{"minLength":2,"maxLength":3}"#, r#""é""#, false),
            (r#"{"exclusiveMinimum":0,"exclusiveMaximum":1}"#, "0.5", true),
            (r#"{"exclusiveMinimum":0,"exclusiveMaximum":1}"#, "1", false),
            ("false", "1", false),
        ];
        for (schema, value, expected) in rows {
            let parsed = Schema::parse(schema).expect(schema);
            assert_eq!(parsed.admits(&Json::parse(value.as_bytes()).expect(value)), expected, "{schema} on {value}");
        }
    }

    /// Lists of a schema are searched by halves whatever their order and however often an item stands there: the longest list of a schema of
    /// 8 KiB costs a dozen comparisons for a value, not thousands.
    #[test]
    fn long_lists_cost_few_comparisons() {
        let numbers = |count: u32| (0..count).rev().chain(0..9).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        let names = |count: u32| (0..count).rev().map(|number| format!("\"n{number}\":true")).collect::<Vec<_>>().join(",");
        let rows = [
            (r#"{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}"#.to_string(), 6),
            (format!(r#"{{"items":{{"enum":[{}]}}}}"#, numbers(1_600)), 13),
            (format!(r#"{{"properties":{{{}}},"additionalProperties":false}}"#, names(600)), 12),
            (format!(r#"{{"type":[{}"null"]}}"#, r#""null","#.repeat(1_000)), 2),
            (format!(r#"{{"required":[{}"a"]}}"#, r#""a","#.repeat(1_500)), 2),
        ];
        for (schema, most) in rows {
            assert!(schema.len() <= 8_192);
            let parsed = Schema::parse(&schema).expect("it can be decided");
            assert!(parsed.steps() <= most, "{} for {:.60}", parsed.steps(), schema);
        }
        let listed = Schema::parse(&format!(r#"{{"items":{{"enum":[{}]}}}}"#, numbers(1_600))).expect("it can be decided");
        assert!(!listed.admits(&Json::parse(b"[0,8,1599,1600.0e0]").expect("JSON")));
        assert!(listed.admits(&Json::parse(b"[0,8,1599,3]").expect("JSON")));
        let Rules { items, .. } = listed.0;
        assert_eq!(items.and_then(|items| items.values).map(|values| values.len()), Some(1_600));
    }

    #[test]
    fn rules_that_cannot_be_decided_are_refused() {
        let bomb = format!("{}1{}", r#"{"items":"#.repeat(5_000), "}".repeat(5_000));
        let rows = [
            r#"{"pattern":"a+"}"#,
            r##"{"$ref":"#/x"}"##,
            r#"{"allOf":[{}]}"#,
            r#"{"type":"date"}"#,
            r#"{"minItems":-1}"#,
            r#"{"minItems":0.5}"#,
            r#"{"items":1}"#,
            "[]",
            "{",
            &bomb,
        ];
        for schema in rows {
            assert_eq!(Schema::parse(schema), None, "{}", &schema[..schema.len().min(40)]);
        }
    }
}
