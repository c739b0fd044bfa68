//! What is printed: results on stdout, as text or as JSON; progress and failures on stderr.
//!
//! Much of it was written by strangers: names, events, what actors print, what nodes answer. No character of it steers the terminal.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what this module is for")]

use crate::failure::Failure;
use serde::Serialize;
use std::{
    fmt::{self, Display, Write as _},
    io::{IsTerminal as _, Write as _},
    sync::atomic::{AtomicBool, Ordering},
};

/// Whether the last line of the terminal is one that the next line replaces.
static IS_MOVING: AtomicBool = AtomicBool::new(false);

/// To the beginning of the terminal's line, which is emptied.
const LINE_START: &str = "\r\x1b[2K";

/// Characters of a line that moves: one that a terminal wraps cannot be emptied.
const WIDTH: usize = 79;

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// As JSON instead of text.
    pub json: bool,
}

impl Output {
    /// Prints a result: its JSON, or the text of it.
    pub fn result(self, value: &impl Serialize, text: impl Display) {
        if self.json {
            line(json(value));
        } else {
            line(text);
        }
    }

    /// Prints a result that reads best as JSON either way.
    pub fn document(self, value: &impl Serialize) {
        line(json(value));
    }

    /// Says what is going on.
    pub fn progress(self, text: impl Display) {
        if !self.json {
            note(text);
        }
    }

    /// Whether what is going on is shown in one line of a terminal, see [`Self::moving`].
    pub fn has_moving_line(self) -> bool {
        !self.json && std::io::stderr().is_terminal()
    }

    /// Shows how far something is, in a line of the terminal that the next line replaces; nothing where there is no terminal.
    pub fn moving(self, text: impl Display) {
        if self.has_moving_line() {
            IS_MOVING.store(true, Ordering::Relaxed);
            let mut stderr = std::io::stderr();
            let _ = write!(stderr, "{LINE_START}{}", shortened(&Harmless(text).to_string()));
            let _ = stderr.flush();
        }
    }

    /// Says why it failed: one object on one line where results are JSON.
    pub fn failure(self, failure: &Failure) {
        match failure {
            failure if self.json => note(escaped(&failure.to_json().to_string())),
            Failure::Said | Failure::Silent(_) => {}
            Failure::Told(text) => note(text),
            failure => note(format_args!("error: {failure}")),
        }
    }
}

/// Empties the line that moves, so that another one takes its place.
fn end_moving() {
    if IS_MOVING.swap(false, Ordering::Relaxed) {
        let _ = write!(std::io::stderr(), "{LINE_START}");
    }
}

/// As much of a line as a terminal shows without wrapping it. The beginning says how far it is.
fn shortened(line: &str) -> String {
    let flat = |letter: char| if letter.is_whitespace() { ' ' } else { letter };
    if line.chars().count() <= WIDTH {
        return line.chars().map(flat).collect();
    }
    line.chars().take(WIDTH - 1).map(flat).chain(['…']).collect()
}

/// A line on stdout. A reader that has left is no failure.
pub fn line(text: impl Display) {
    end_moving();
    let _ = writeln!(std::io::stdout(), "{}", Harmless(text));
}

/// Text on stdout, without the end of a line.
pub fn text(text: &str) {
    end_moving();
    let _ = write!(std::io::stdout(), "{}", Harmless(text));
}

/// A line on stderr.
pub fn note(text: impl Display) {
    end_moving();
    let _ = writeln!(std::io::stderr(), "{}", Harmless(text));
}

/// Whether a terminal acts on this character, or shows what follows it in another order, instead of showing it.
fn is_control(letter: char) -> bool {
    let is_direction = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_direction || letter.is_control() && !matches!(letter, '\n' | '\t')
}

/// A text whose control characters are replaced by U+FFFD.
struct Harmless<T>(T);

impl<T: Display> Display for Harmless<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Filter<'a, 'b>(&'a mut fmt::Formatter<'b>);
        impl fmt::Write for Filter<'_, '_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                for (place, part) in text.split(is_control).enumerate() {
                    if place > 0 {
                        self.0.write_char(char::REPLACEMENT_CHARACTER)?;
                    }
                    self.0.write_str(part)?;
                }
                Ok(())
            }
        }
        write!(Filter(f), "{}", self.0)
    }
}

/// A value as JSON of which no character steers a terminal.
fn json(value: &impl Serialize) -> String {
    escaped(&serde_json::to_string_pretty(value).expect("results are JSON"))
}

/// JSON whose strings have escapes for the control characters that JSON allows as they are.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_control(letter) {
            let _ = write!(escaped, "\\u{:04x}", u32::from(letter));
        } else {
            escaped.push(letter);
        }
    }
    escaped
}

/// Rows of names and values, the values in one column.
pub fn table<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let rows: Vec<(&str, String)> = rows.into_iter().collect();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines: Vec<String> = rows.iter().map(|(name, value)| format!("{name:<width$}  {value}")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that moves is one line of a terminal, whatever the path in it.
    #[test]
    fn a_moving_line_is_one_line() {
        assert_eq!(shortened("1 of 2:\ta\nb"), "1 of 2: a b");
        assert_eq!(shortened(&"ä".repeat(WIDTH)), "ä".repeat(WIDTH));
        let cut = shortened(&"ä".repeat(WIDTH + 1));
        assert!(cut.chars().count() == WIDTH && cut.ends_with("ä…"), "{cut}");
    }

    /// What an actor prints neither moves the cursor nor changes the title, and JSON keeps it as it was.
    #[test]
    fn terminals_are_not_steered() {
        let said = "\u{1b}]0;TITLE\u{7}\u{1b}[2K\r\u{9b}31m\u{7f}\u{202e}\u{2066}\u{200f} ok\tÄ→\nnext\u{0}";
        let shown = Harmless(format_args!("<{said}>")).to_string();
        let marks = |count| "\u{fffd}".repeat(count);
        assert_eq!(shown, format!("<{}]0;TITLE{}[2K{}31m{} ok\tÄ→\nnext{}>", marks(1), marks(2), marks(2), marks(4), marks(1)));
        let written = json(&serde_json::json!({ "said": said }));
        assert!(!written.chars().any(is_control), "{written}");
        let read: serde_json::Value = serde_json::from_str(&written).expect("it is JSON");
        assert_eq!(read["said"], said);
    }
}
