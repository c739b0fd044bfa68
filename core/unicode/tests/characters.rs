//! Characters against CPython 3.11, all 1,112,064 of them.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "tests are not part of the protocol: they run CPython and print"
)]

use cowboy_unicode as unicode;

#[allow(dead_code, reason = "the tests of numbers use the rest of it")]
#[path = "../../num/tests/oracle.rs"]
mod oracle;

type Property = (&'static str, fn(char) -> bool);
type Change = (&'static str, fn(&str) -> String);
type Question = (&'static str, fn(&str) -> bool);

fn characters() -> impl Iterator<Item = char> {
    (0..0x11_0000).filter_map(char::from_u32)
}

/// The checksum of zlib, which both sides have.
fn crc32(bytes: impl IntoIterator<Item = u8>) -> u32 {
    !bytes
        .into_iter()
        .fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 }))
}

const ALL: &str = "(c for c in map(chr, range(0x110000)) if not '\\ud800' <= c <= '\\udfff')";

#[test]
fn every_character_has_the_properties_it_has_in_cpython() {
    let rows: [Property; 14] = [
        ("c.isalpha()", unicode::is_alpha),
        ("c.isdecimal()", unicode::is_decimal),
        ("c.isdigit()", unicode::is_digit),
        ("c.isnumeric()", unicode::is_numeric),
        ("c.isalnum()", unicode::is_alnum),
        ("c.isspace()", unicode::is_space),
        ("c.isprintable()", unicode::is_printable),
        ("c.islower()", unicode::is_lower),
        ("c.isupper()", unicode::is_upper),
        ("unicodedata.category(c) == 'Lt'", unicode::is_title),
        ("c.isidentifier()", unicode::is_identifier_start),
        ("('a' + c).isidentifier()", unicode::is_identifier_continue),
        ("('a' + c + '\\u03a3').lower()[-1] == '\\u03c2'", |c| unicode::is_cased(c) || unicode::is_case_ignorable(c)),
        ("('1' + c + '\\u03a3').lower()[-1] == '\\u03c2'", |c| unicode::is_cased(c) && !unicode::is_case_ignorable(c)),
    ];
    let checked: Vec<(String, String)> = rows
        .into_iter()
        .map(|(python, ours)| {
            let sum = crc32(characters().map(|character| u8::from(ours(character))));
            (format!("__import__('zlib').crc32(bytes({python} for c in {ALL}))"), sum.to_string())
        })
        .collect();
    oracle::check_against_python(&checked);
}

#[test]
fn every_character_has_the_images_it_has_in_cpython() {
    let rows: [Change; 6] = [
        ("lower", unicode::lower),
        ("upper", unicode::upper),
        ("title", unicode::title),
        ("casefold", unicode::casefold),
        ("capitalize", unicode::capitalize),
        ("swapcase", unicode::swapcase),
    ];
    let mut checked: Vec<(String, String)> = rows
        .into_iter()
        .map(|(python, ours)| {
            let text: String = characters().map(|character| ours(character.encode_utf8(&mut [0; 4]))).collect();
            (format!("__import__('zlib').crc32(''.join(c.{python}() for c in {ALL}).encode())"), crc32(text.bytes()).to_string())
        })
        .collect();
    let digits: String = characters().filter_map(unicode::decimal_value).map(|digit| digit.to_string()).collect();
    let python = format!("__import__('zlib').crc32(''.join(str(int(c)) for c in {ALL} if c.isdecimal()).encode())");
    checked.push((python, crc32(digits.bytes()).to_string()));
    oracle::check_against_python(&checked);
}

#[test]
fn texts_change_case_as_in_cpython() {
    let texts = [
        "",
        "hello world",
        "HELLO",
        "they're bill's",
        "ΑΣ",
        "ΑΣ ΣΑ",
        "Σ",
        "ΑΣ.",
        "Α.Σ",
        "Α\u{301}Σ\u{301}",
        "ΑΣΒ",
        "ß ﬁ ŉ",
        "ǅ ǆ Ǆ",
        "İstanbul",
        "ÀÉ àé",
        "x2y Z3",
        "1a",
        "Title Case",
        "Not title",
        "UPPER 1",
        "lower 1",
        "ǅ",
        "Ǆ",
        "ª",
        "\u{345}",
        "a_b",
        "_",
        "1x",
        "été",
        "日本",
        "a b",
        "ﬃ",
        "\u{1e9e}",
    ];
    let mut rows = Vec::new();
    for text in texts {
        let literal = oracle::quoted(text);
        let changes: [Change; 6] = [
            ("lower", unicode::lower),
            ("upper", unicode::upper),
            ("title", unicode::title),
            ("casefold", unicode::casefold),
            ("capitalize", unicode::capitalize),
            ("swapcase", unicode::swapcase),
        ];
        for (name, ours) in changes {
            rows.push((format!("{literal}.{name}()"), ours(text)));
        }
        let questions: [Question; 4] = [
            ("islower", unicode::is_lower_text),
            ("isupper", unicode::is_upper_text),
            ("istitle", unicode::is_title_text),
            ("isidentifier", unicode::is_identifier),
        ];
        for (name, ours) in questions {
            rows.push((format!("int({literal}.{name}())"), u8::from(ours(text)).to_string()));
        }
    }
    oracle::check_against_python(&rows);
}
