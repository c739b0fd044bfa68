//! JSON as the verifier reads it: bounded in depth and size, numbers as decimals, no host floats.
//!
//! Texts are compared by their characters and numbers by their value, so that `1.0` and `1.00` agree.

use cowboy_types::cbor::Value;

/// Ten to the eighteenth: a decimal's unit.
pub const UNIT: i128 = 1_000_000_000_000_000_000;

/// How deep values nest.
const MAX_DEPTH: usize = 32;

/// How many values there are.
const MAX_VALUES: usize = 65_536;

/// The greatest exponent that is read.
const MAX_EXPONENT: i64 = 64;

/// The longest text that is read as a number, in bytes: several checks may read the same text.
const MAX_DECIMAL: usize = 128;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Json {
    /// `null`
    Null,
    /// A truth value.
    Bool(bool),
    /// A number in 10⁻¹⁸; further digits are cut off.
    Number(i128),
    /// A text.
    Text(String),
    /// A list.
    Array(Vec<Json>),
    /// Pairs in ascending order of their names; each name once.
    Object(Vec<(String, Json)>),
}

/// Why bytes are no JSON that the verifier reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {at}: {reason}")]
pub struct JsonError {
    /// The offset in bytes.
    pub at: usize,
    /// What is wrong.
    pub reason: &'static str,
}

impl Json {
    /// The one value that these bytes write.
    pub fn parse(bytes: &[u8]) -> Result<Self, JsonError> {
        let mut parser = Parser { bytes, at: 0, values: 0 };
        let value = parser.value(0)?;
        parser.blanks();
        if parser.at == bytes.len() { Ok(value) } else { Err(parser.fault("something follows the value")) }
    }

    /// The JSON that runners make of a value: bytes are hex with `0x`. Nothing where it nests too deeply, has too many values, or has a number or a
    /// name that JSON does not have.
    pub fn of(value: &Value) -> Option<Self> {
        of_value(value, 0, &mut 0)
    }

    /// The value at a path like `a.b.0`; the value itself where the path is empty.
    pub fn at(&self, path: &str) -> Option<&Self> {
        if path.is_empty() {
            return Some(self);
        }
        path.split('.').try_fold(self, |value, name| match value {
            Self::Object(pairs) => pairs.binary_search_by(|(key, _)| key.as_str().cmp(name)).ok().map(|place| &pairs[place].1),
            Self::Array(items) => items.get(name.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// The number, in 10⁻¹⁸; of a text that writes one, too.
    pub fn number(&self) -> Option<i128> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => decimal(text),
            _ => None,
        }
    }
}

/// Recursive, as deep as parsed values are.
fn of_value(value: &Value, depth: usize, values: &mut usize) -> Option<Json> {
    *values += 1;
    if depth > MAX_DEPTH || *values > MAX_VALUES {
        return None;
    }
    Some(match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Integer(number) if u64::try_from(*number).is_ok() || i64::try_from(*number).is_ok() => {
            Json::Number(number.checked_mul(UNIT)?)
        }
        Value::Integer(number) => Json::Text(number.to_string()),
        Value::Bignum { .. } => return None,
        Value::Float(bits) => Json::Number(of_float(*bits)?),
        Value::Bytes(bytes) => Json::Text(["0x", &bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()].concat()),
        Value::Text(text) => Json::Text(text.clone()),
        Value::Array(items) => Json::Array(items.iter().map(|item| of_value(item, depth + 1, values)).collect::<Option<_>>()?),
        Value::Map(pairs) => {
            let pair = |(name, item): &(Value, Value)| Some((name.as_text()?.to_string(), of_value(item, depth + 1, values)?));
            let mut pairs = pairs.iter().map(pair).collect::<Option<Vec<_>>>()?;
            pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
            Json::Object(pairs)
        }
    })
}

/// A binary64 by its bits, in 10⁻¹⁸; further digits are cut off. Nothing where it is too great, or no number.
fn of_float(bits: u64) -> Option<i128> {
    let (exponent, fraction) = ((bits >> 52) & 0x7FF, bits & ((1 << 52) - 1));
    // The number is mantissa × 2^(exponent − 1075).
    let (mantissa, exponent) = match exponent {
        0 => (fraction, 1),
        0x7FF => return None,
        exponent => (fraction | (1 << 52), exponent),
    };
    let scaled = i128::from(mantissa).checked_mul(UNIT)?;
    let magnitude = match exponent.checked_sub(1_075) {
        Some(up) if up < 64 => scaled.checked_mul(1_i128 << up)?,
        Some(_) => return None,
        None => scaled >> (1_075 - exponent).min(127),
    };
    Some(if bits >> 63 == 1 { -magnitude } else { magnitude })
}

/// A decimal like `-12.5` or `3e2`, in 10⁻¹⁸. Nothing where the text is none, it is too great, or the text has more than 128 bytes.
pub fn decimal(text: &str) -> Option<i128> {
    if text.len() > MAX_DECIMAL {
        return None;
    }
    let mut parser = Parser { bytes: text.as_bytes(), at: 0, values: 0 };
    let number = parser.number().ok()?;
    (parser.at == text.len()).then_some(number)
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    values: usize,
}

impl Parser<'_> {
    fn fault(&self, reason: &'static str) -> JsonError {
        JsonError { at: self.at, reason }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn take(&mut self, word: &[u8]) -> bool {
        let is_there = self.bytes[self.at..].starts_with(word);
        if is_there {
            self.at += word.len();
        }
        is_there
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.values += 1;
        if depth > MAX_DEPTH {
            return Err(self.fault("values nest too deeply"));
        }
        if self.values > MAX_VALUES {
            return Err(self.fault("there are too many values"));
        }
        self.blanks();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.text().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            _ if self.take(b"null") => Ok(Json::Null),
            _ if self.take(b"true") => Ok(Json::Bool(true)),
            _ if self.take(b"false") => Ok(Json::Bool(false)),
            _ => Err(self.fault("no value begins so")),
        }
    }

    /// What stands between the values of a list: whether another follows.
    fn separator(&mut self, end: u8) -> Result<bool, JsonError> {
        self.blanks();
        let found = self.peek();
        self.at += usize::from(found.is_some());
        match found {
            Some(b',') => Ok(true),
            Some(byte) if byte == end => Ok(false),
            _ => Err(self.fault("a comma or an end is missing")),
        }
    }

    /// Whether a list that just began is empty.
    fn is_empty(&mut self, end: u8) -> bool {
        self.blanks();
        let is_empty = self.peek() == Some(end);
        self.at += usize::from(is_empty);
        is_empty
    }

    fn array(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        if self.is_empty(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if !self.separator(b']')? {
                return Ok(Json::Array(items));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.at += 1;
        let mut pairs: Vec<(String, Json)> = Vec::new();
        if self.is_empty(b'}') {
            return Ok(Json::Object(pairs));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.fault("a name is a text"));
            }
            let name = self.text()?;
            self.blanks();
            if !self.take(b":") {
                return Err(self.fault("a colon is missing"));
            }
            pairs.push((name, self.value(depth + 1)?));
            if !self.separator(b'}')? {
                break;
            }
        }
        pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
        if pairs.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(self.fault("a name stands twice"));
        }
        Ok(Json::Object(pairs))
    }

    fn text(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let byte = self.peek().ok_or_else(|| self.fault("a text does not end"))?;
            self.at += 1;
            match byte {
                b'"' => break,
                b'\\' => self.escape(&mut text)?,
                0..=0x1F => return Err(self.fault("a text holds a control character")),
                _ => text.push(byte),
            }
        }
        String::from_utf8(text).map_err(|_| self.fault("a text is not UTF-8"))
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), JsonError> {
        let byte = self.peek().ok_or_else(|| self.fault("an escape does not end"))?;
        self.at += 1;
        let plain = match byte {
            b'"' | b'\\' | b'/' => byte,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return self.unicode(text),
            _ => return Err(self.fault("an unknown escape")),
        };
        text.push(plain);
        Ok(())
    }

    fn unicode(&mut self, text: &mut Vec<u8>) -> Result<(), JsonError> {
        let first = self.hex()?;
        let code = if (0xD800..0xDC00).contains(&first) {
            if !self.take(b"\\u") {
                return Err(self.fault("half of a pair stands alone"));
            }
            let second = self.hex()?;
            if !(0xDC00..0xE000).contains(&second) {
                return Err(self.fault("half of a pair stands alone"));
            }
            0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
        } else {
            first
        };
        let character = char::from_u32(code).ok_or_else(|| self.fault("half of a pair stands alone"))?;
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, JsonError> {
        let digits = self.bytes.get(self.at..self.at + 4).ok_or_else(|| self.fault("an escape does not end"))?;
        let mut code = 0;
        for digit in digits {
            code = code << 4 | char::from(*digit).to_digit(16).ok_or_else(|| self.fault("an escape is not hex"))?;
        }
        self.at += 4;
        Ok(code)
    }

    /// Reads digits into a whole number of at most 38 digits, and counts them. Digits beyond are counted only.
    fn digits(&mut self, mantissa: &mut i128, kept: &mut i64) -> i64 {
        let mut count = 0;
        while let Some(byte @ b'0'..=b'9') = self.peek() {
            self.at += 1;
            count += 1;
            if let Some(next) = mantissa.checked_mul(10).and_then(|number| number.checked_add(i128::from(byte - b'0'))) {
                *mantissa = next;
                *kept += 1;
            }
        }
        count
    }

    fn number(&mut self) -> Result<i128, JsonError> {
        let is_negative = self.take(b"-");
        let starts_with_zero = self.peek() == Some(b'0');
        let (mut mantissa, mut kept) = (0, 0);
        let whole = self.digits(&mut mantissa, &mut kept);
        if whole == 0 || (starts_with_zero && whole > 1) {
            return Err(self.fault("a number begins wrongly"));
        }
        // Every digit that was not kept, left of the point, makes the number ten times as great as what was.
        let mut exponent = whole - kept;
        if self.take(b".") {
            let before = kept;
            if self.digits(&mut mantissa, &mut kept) == 0 {
                return Err(self.fault("a number ends with its point"));
            }
            exponent -= kept - before;
        }
        if self.take(b"e") || self.take(b"E") {
            exponent += self.exponent()?;
        }
        let magnitude = scaled(mantissa, exponent + 18).ok_or_else(|| self.fault("a number is too great"))?;
        Ok(if is_negative { -magnitude } else { magnitude })
    }

    fn exponent(&mut self) -> Result<i64, JsonError> {
        let is_negative = self.take(b"-");
        if !is_negative {
            self.take(b"+");
        }
        let (mut exponent, mut kept) = (0, 0);
        if self.digits(&mut exponent, &mut kept) == 0 {
            return Err(self.fault("an exponent has no digits"));
        }
        let exponent = i64::try_from(exponent)
            .ok()
            .filter(|exponent| *exponent <= MAX_EXPONENT)
            .ok_or_else(|| self.fault("an exponent is too great"))?;
        Ok(if is_negative { -exponent } else { exponent })
    }
}

/// A number times a power of ten, cut towards zero; nothing where it does not fit.
fn scaled(mantissa: i128, exponent: i64) -> Option<i128> {
    let power = |exponent: i64| u32::try_from(exponent).ok().and_then(|exponent| 10i128.checked_pow(exponent));
    if mantissa == 0 {
        return Some(0);
    }
    if exponent >= 0 {
        return mantissa.checked_mul(power(exponent)?);
    }
    Some(power(-exponent).map_or(0, |divisor| mantissa / divisor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimals() {
        let rows = [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("1", Some(UNIT)),
            ("1.00", Some(UNIT)),
            ("-2.5", Some(-5 * UNIT / 2)),
            ("3e2", Some(300 * UNIT)),
            ("25E-1", Some(5 * UNIT / 2)),
            ("0.1234567890123456789", Some(123_456_789_012_345_678)),
            ("1e-60", Some(0)),
            ("100000000000000000000", Some(100 * UNIT * UNIT)),
            ("1000000000000000000000", None),
            ("1e64", None),
            ("01", None),
            ("1.", None),
            (".5", None),
            ("1e", None),
            ("--1", None),
            ("", None),
            ("1 ", None),
            (&format!("0.5{}", "0".repeat(125)), Some(UNIT / 2)),
            (&format!("0.5{}", "0".repeat(126)), None),
        ];
        for (text, expected) in rows {
            assert_eq!(decimal(text), expected, "{text}");
        }
    }

    #[test]
    fn values_and_paths() {
        let value = Json::parse(br#" {"b": [1, {"c": "\u00e9\ud83d\ude00\n"}], "a": null, "t": true} "#).expect("JSON");
        assert_eq!(value.at("b.1.c"), Some(&Json::Text("é😀\n".to_string())));
        assert_eq!(value.at("b.0").and_then(Json::number), Some(UNIT));
        assert_eq!(value.at("a"), Some(&Json::Null));
        assert_eq!(value.at("b.2"), None);
        assert_eq!(value.at("t.x"), None);
        assert_eq!(Json::parse(br#"{"x":1,"y":2}"#), Json::parse(br#"{ "y" : 2.0, "x" : 1e0 }"#), "order and form do not matter");
    }

    /// A value of a submission is the JSON that its text would be.
    #[test]
    fn values_of_submissions() {
        let value = |bits: u64| Json::of(&Value::Float(bits));
        let floats = [
            (0x3FE0_0000_0000_0000, Some(UNIT / 2)),
            (0xC000_0000_0000_0000, Some(-2 * UNIT)),
            (0x0000_0000_0000_0001, Some(0)),
            (0x4415_AF1D_78B5_8C40, Some(100 * UNIT * UNIT)),
            (0x7E37_E43C_8800_759C, None),
            (0x7FF0_0000_0000_0000, None),
        ];
        for (bits, expected) in floats {
            assert_eq!(value(bits), expected.map(Json::Number), "{bits:#x}");
        }
        let pairs = [("bb", Value::uint(7)), ("c", Value::Bytes(vec![0, 255])), ("a", Value::Array(vec![Value::Null, Value::Bool(true)]))];
        assert_eq!(Json::of(&Value::map(pairs)), Json::parse(br#"{"a": [null, true], "bb": 7, "c": "0x00ff"}"#).ok());
        let nested = |levels: usize| (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        assert_eq!((Json::of(&nested(MAX_DEPTH)).is_some(), Json::of(&nested(MAX_DEPTH + 1))), (true, None));
        assert_eq!(Json::of(&Value::Array(vec![Value::Null; MAX_VALUES])), None);
        // As long as a submission may be: it takes time in proportion to its length.
        let long = 1 << 17;
        assert_eq!(Json::of(&Value::Bytes(vec![0xAB; long])), Some(Json::Text(["0x", &"ab".repeat(long)].concat())));
    }

    /// What hostile runners send: refused, never a panic, never deep recursion.
    #[test]
    fn hostile_bytes() {
        let deep = [vec![b'['; 10_000], vec![b']'; 10_000]].concat();
        let many = [b"[".to_vec(), b"0,".repeat(70_000), b"0]".to_vec()].concat();
        let rows: [(&str, &[u8]); 12] = [
            ("nothing", b""),
            ("a depth of 10,000", &deep),
            ("70,000 values", &many),
            ("a name twice", br#"{"a":1,"a":2}"#),
            ("half a pair", br#""\ud800""#),
            ("a lonely second half", br#""\udc00""#),
            ("a raw control character", b"\"\n\""),
            ("not UTF-8", b"\"\xff\""),
            ("an open text", b"\"abc"),
            ("trailing bytes", b"1 1"),
            ("a trailing comma", b"[1,]"),
            ("NaN", b"NaN"),
        ];
        for (case, bytes) in rows {
            assert!(Json::parse(bytes).is_err(), "{case}");
        }
    }
}
