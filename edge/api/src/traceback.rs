//! Python's tracebacks as people read them.

use std::fmt::Display;

/// How a frame begins.
const FRAME: &str = "  File ";
/// How a frame of the SDK begins.
const SDK_FRAME: &str = "  File \"cowboy_sdk/";
/// How the frames of a traceback begin.
const HEADER: &str = "Traceback (most recent call last):";

/// What stands between two tracebacks of one failure.
const CHAINED: [&str; 2] = [
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
];
/// How the line ends that names the handler of a traceback.
const FAILED: &str = " failed:";
/// Frames of the longest round of a recursion that is shortened.
const MAX_ROUND: usize = 4;
/// Rounds of a recursion that stay, as in CPython.
const SHOWN_ROUNDS: usize = 3;

/// A traceback of the author's own lines: the frames of the SDK are left out, and a recursion is shortened. One without a line of the
/// author's is the exception alone.
pub fn folded(lines: &[String]) -> String {
    let lines: Vec<&str> = lines.iter().flat_map(|line| line.lines()).collect();
    let mut kept: Vec<String> = Vec::with_capacity(lines.len());
    let mut rest = lines.as_slice();
    while let Some((line, after)) = rest.split_first() {
        rest = after;
        if line.trim_end() != HEADER {
            kept.push((*line).to_owned());
            continue;
        }
        let end = rest.iter().position(|line| !line.starts_with(' ')).unwrap_or(rest.len());
        let (frames, after) = rest.split_at(end);
        let frames = own(frames);
        if !frames.is_empty() {
            kept.push(HEADER.to_owned());
            kept.extend(shortened(&frames));
        }
        rest = after;
    }
    kept.join("\n")
}

/// The frames that are not the SDK's, each with the lines under it: its source, marks, and the count of repetitions.
fn own<'a>(lines: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut frames: Vec<Vec<&str>> = Vec::new();
    let mut is_own = false;
    for &line in lines {
        if line.starts_with(FRAME) {
            is_own = !line.starts_with(SDK_FRAME);
            if is_own {
                frames.push(Vec::new());
            }
        }
        if is_own && let Some(frame) = frames.last_mut() {
            frame.push(line);
        }
    }
    frames
}

/// The lines of frames, with the first rounds of a recursion and the number of further ones.
fn shortened(frames: &[Vec<&str>]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = frames;
    while !rest.is_empty() {
        let (length, rounds) = recursion(rest);
        let (all, after) = rest.split_at(length * rounds);
        kept.extend(all.iter().take(length * rounds.min(SHOWN_ROUNDS)).flatten().map(|line| (*line).to_owned()));
        let more = rounds.saturating_sub(SHOWN_ROUNDS);
        let times = if more == 1 { "time" } else { "times" };
        match (more, length) {
            (0, _) => {}
            (_, 1) => kept.push(format!("  [Previous line repeated {more} more {times}]")),
            _ => kept.push(format!("  [Previous {length} frames repeated {more} more {times}]")),
        }
        rest = after;
    }
    kept
}

/// The length of the recursion with which frames begin, and its number of rounds; one frame once where there is none.
fn recursion(frames: &[Vec<&str>]) -> (usize, usize) {
    let rounds = |length: usize| match frames.get(..length) {
        Some(first) => frames.chunks(length).take_while(|round| *round == first).count(),
        None => 0,
    };
    (1..=MAX_ROUND).map(|length| (length, rounds(length))).find(|(_, rounds)| *rounds > SHOWN_ROUNDS).unwrap_or((1, 1))
}

/// The exception at the end of a traceback, in a line: its type and its message.
pub fn exception(trace: &str) -> Option<&str> {
    let lines: Vec<&str> = trace.lines().collect();
    let is_mark = |line: &&str| CHAINED.contains(line) || line.trim_end() == HEADER || line.ends_with(FAILED);
    // A message may end as a mark does, and nothing follows it.
    let before = lines.len().saturating_sub(1);
    let begin = lines.iter().take(before).rposition(is_mark).map_or(0, |place| place + 1);
    lines.into_iter().skip(begin).find(|line| !line.is_empty() && !line.starts_with(' '))
}

/// The traceback of another actor's handler than the one that was called.
pub fn of_handler(actor: &impl Display, handler: &str, traceback: &str) -> String {
    format!("{actor}.{handler}{FAILED}\n{traceback}")
}

/// The exception with the author's innermost line: `ValueError: no (line 7 of actor.py, in go)`.
pub fn headline(trace: &str) -> Option<String> {
    let exception = exception(trace)?;
    Some(match frame(trace.lines()) {
        Some((file, line, Some(handler))) => format!("{exception} (line {line} of {file}, in {handler})"),
        Some((file, line, None)) => format!("{exception} (line {line} of {file})"),
        None => exception.to_owned(),
    })
}

/// The author's innermost line in a traceback: `line 7 of actor.py`.
pub fn place(lines: &[String]) -> Option<String> {
    let (file, line, _) = frame(lines.iter().flat_map(|line| line.lines()))?;
    Some(format!("line {line} of {file}"))
}

/// The author's innermost frame: file, line, and function where it has one.
fn frame<'a>(mut lines: impl DoubleEndedIterator<Item = &'a str>) -> Option<(&'a str, &'a str, Option<&'a str>)> {
    let own = lines.rfind(|line| line.starts_with(FRAME) && !line.starts_with(SDK_FRAME))?;
    let (file, rest) = own.strip_prefix("  File \"")?.split_once("\", line ")?;
    let (line, function) = rest.split_once(", in ").map_or((rest, None), |(line, function)| (line, Some(function)));
    Some((file, line, function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frames_are_the_authors() {
        let rows = [
            (
                "Traceback (most recent call last):\n  File \"cowboy_sdk/dispatch.py\", line 27, in enter\n    return dispatch(method)\n  File \"actor.py\", line 7, in go\n    call(x)\n  File \"cowboy_sdk/call.py\", line 3, in call\nValueError: no",
                "Traceback (most recent call last):\n  File \"actor.py\", line 7, in go\n    call(x)\nValueError: no",
            ),
            (
                "Traceback (most recent call last):\n  File \"actor.py\", line 7, in go\n    wrapped()\n  File \"cowboy_sdk/guards.py\", line 9, in wrapped\n    return function()\n  [Previous line repeated 3 more times]\n  File \"actor.py\", line 12, in inner\n    1 / 0\n    ~~^~~\nZeroDivisionError: no\nDuring handling of the above exception, another exception occurred:\nTraceback (most recent call last):\n  File \"cowboy_sdk/call.py\", line 3, in call\nValueError: no",
                "Traceback (most recent call last):\n  File \"actor.py\", line 7, in go\n    wrapped()\n  File \"actor.py\", line 12, in inner\n    1 / 0\n    ~~^~~\nZeroDivisionError: no\nDuring handling of the above exception, another exception occurred:\nValueError: no",
            ),
            (
                "Traceback (most recent call last):\n  File \"cowboy_sdk/actor.py\", line 5, in run\nTypeError: greet() takes name",
                "TypeError: greet() takes name",
            ),
            ("ValueError: no", "ValueError: no"),
            ("", ""),
        ];
        for (given, expected) in rows {
            let lines: Vec<String> = given.lines().map(str::to_owned).collect();
            assert_eq!(folded(&lines), expected);
        }
        let lines = vec![rows[0].0.to_owned()];
        assert_eq!(place(&lines).as_deref(), Some("line 7 of actor.py"));
        assert_eq!(place(&[rows[2].0.to_owned()]), None);
    }

    #[test]
    fn a_recursion_is_shortened() {
        let frame = |function: &str| format!("  File \"actor.py\", line 4, in {function}\n    {function}()\n");
        let sdk = "  File \"cowboy_sdk/guards.py\", line 9, in wrapped\n    return function()\n";
        let trace = |frames: &str| vec![format!("{HEADER}\n{frames}RecursionError: no")];
        let (one, two) = (frame("f") + sdk, frame("f") + sdk + &frame("g"));
        let rows = [
            (frame("a") + &one.repeat(9), frame("a") + &frame("f").repeat(3) + "  [Previous line repeated 6 more times]\n"),
            (two.repeat(4), (frame("f") + &frame("g")).repeat(3) + "  [Previous 2 frames repeated 1 more time]\n"),
            (frame("f").repeat(3), frame("f").repeat(3)),
        ];
        for (given, expected) in rows {
            assert_eq!(folded(&trace(&given)), trace(&expected)[0]);
        }
    }

    #[test]
    fn the_exception_is_the_headline() {
        let header = HEADER;
        let own = "  File \"actor.py\", line 7, in go\n    call(x)\n";
        let rows = [
            (format!("{header}\n{own}ValueError: no\nand more"), Some("ValueError: no (line 7 of actor.py, in go)")),
            (
                format!("{header}\n{own}KeyError: 1\n\n{}\n\n{header}\n{own}ValueError: no", CHAINED[0]),
                Some("ValueError: no (line 7 of actor.py, in go)"),
            ),
            (format!("{header}\n  File \"actor.py\", line 3\nSyntaxError: no"), Some("SyntaxError: no (line 3 of actor.py)")),
            ("TypeError: greet() takes name".to_owned(), Some("TypeError: greet() takes name")),
            (of_handler(&"0x01", "http.request", "KeyError: 'text'"), Some("KeyError: 'text'")),
            (of_handler(&"0x01", "tick", &format!("{header}\n{own}ValueError: no")), Some("ValueError: no (line 7 of actor.py, in go)")),
            ("ValueError: it failed:".to_owned(), Some("ValueError: it failed:")),
            (String::new(), None),
        ];
        for (trace, expected) in rows {
            assert_eq!(headline(&trace).as_deref(), expected);
        }
    }
}
