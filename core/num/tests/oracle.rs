//! The two oracles: a seeded source of interesting numbers, and a CPython process that evaluates expressions.

use std::io::Write;
use std::process::{Command, Stdio};

/// Splitmix64: small, seeded, the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    /// A source whose seed is printed, so that a failure can be run again.
    pub(crate) fn new(seed: u64) -> Random {
        println!("seed {seed}");
        Random(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    /// Float bits: any pattern, an edge, few significant bits, or an exponent near one's, in equal shares.
    pub(crate) fn float_bits(&mut self) -> u64 {
        let bits = self.bits();
        match self.below(5) {
            0 => bits,
            1 => EDGES[usize::try_from(bits % EDGES.len() as u64).unwrap()] ^ (bits & 1 << 63),
            2 => bits & 0xfff0_0000_0000_0000 | 1u64.rotate_left((bits % 52) as u32) | (self.bits() & 0xf) << (bits % 48),
            3 => bits & 0x800f_ffff_ffff_ffff | (0x3ff - 60 + self.below(120)) << 52,
            _ => bits & 0x800f_ffff_ffff_ffff | (self.below(3) * 0x3ff + self.below(4)).min(0x7fe) << 52,
        }
    }

    /// A float that Python prints as a short decimal.
    pub(crate) fn short_decimal(&mut self) -> f64 {
        let digits = self.below(100_000) as i64 - 50_000;
        format!("{digits}e{}", self.below(14) as i64 - 8).parse().unwrap()
    }
}

/// Zeros, ones, ends of ranges, subnormals, infinities, NaN, and their neighbours.
pub(crate) const EDGES: [u64; 28] = [
    0,
    1,
    2,
    3,
    0x000f_ffff_ffff_ffff,
    0x000f_ffff_ffff_fffe,
    0x0010_0000_0000_0000,
    0x0010_0000_0000_0001,
    0x0008_0000_0000_0000,
    0x3cb0_0000_0000_0000,
    0x3ca0_0000_0000_0000,
    0x3fef_ffff_ffff_ffff,
    0x3ff0_0000_0000_0000,
    0x3ff0_0000_0000_0001,
    0x3fe0_0000_0000_0000,
    0x3ff8_0000_0000_0000,
    0x4000_0000_0000_0000,
    0x4008_0000_0000_0000,
    0x4330_0000_0000_0000,
    0x4330_0000_0000_0001,
    0x4340_0000_0000_0000,
    0x43e0_0000_0000_0000,
    0x43f0_0000_0000_0000,
    0x43ef_ffff_ffff_ffff,
    0x7fef_ffff_ffff_ffff,
    0x7fe0_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
];

const EVALUATOR: &str = r#"
import decimal, math, struct, sys, unicodedata
def F(bits): return struct.unpack("<d", struct.pack("<Q", bits))[0]
def B(x):
    if x != x: return "7ff8000000000000"
    return "%016x" % struct.unpack("<Q", struct.pack("<d", x))[0]
def power(x, y):
    try: z = x ** y
    except OverflowError as e:
        if "complex" in str(e): return "complex"
        raise
    return "complex" if type(z) is complex else B(z)
for line in sys.stdin:
    try: print(eval(line))
    except Exception as e: print(f"{type(e).__name__}: {e}")
"#;

/// The printed value of each expression in CPython 3.11 with hash seed 0, or `Type: message` where it raises;
/// `F(bits)` makes a float and `B(x)` gives its bits in hexadecimal. `None` where there is no such CPython.
pub(crate) fn python(expressions: &[String]) -> Option<Vec<String>> {
    let version = Command::new("python3").arg("--version").output().ok()?;
    if !String::from_utf8_lossy(&version.stdout).starts_with("Python 3.11") {
        println!("skipped: needs python3 3.11");
        return None;
    }
    let mut child = Command::new("python3")
        .args(["-X", "utf8", "-c", EVALUATOR])
        .env("PYTHONHASHSEED", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = expressions.join("\n") + "\n";
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<String> = text.split('\n').map(str::to_string).collect();
    assert_eq!(lines.len(), expressions.len() + 1, "one line an expression");
    Some(lines[..expressions.len()].to_vec())
}

/// A Python string literal.
pub(crate) fn quoted(text: &str) -> String {
    let inside: String = text
        .chars()
        .map(|character| match character {
            ' '..='~' if !matches!(character, '"' | '\\') => character.to_string(),
            _ => format!("\\U{:08x}", u32::from(character)),
        })
        .collect();
    format!("\"{inside}\"")
}

/// Asserts that each expression prints in CPython what stands beside it, naming the first that does not.
pub(crate) fn check_against_python(rows: &[(String, String)]) {
    let expressions: Vec<String> = rows.iter().map(|(expression, _)| expression.clone()).collect();
    let Some(answers) = python(&expressions) else {
        return;
    };
    let wrong: Vec<String> = rows
        .iter()
        .zip(&answers)
        .filter(|((_, ours), theirs)| ours != *theirs)
        .map(|((expression, ours), theirs)| format!("{expression}\n  ours   {ours}\n  theirs {theirs}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), rows.len(), wrong[..wrong.len().min(12)].join("\n"));
}
