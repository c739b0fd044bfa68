//! Python's tracebacks as people read them.

/// How a frame begins.
const FRAME: &str = "  File ";
/// How a frame of the SDK begins.
const SDK_FRAME: &str = "  File \"cowboy_sdk/";
/// How the frames of a traceback begin.
const HEADER: &str = "Traceback (most recent call last):";

/// A traceback of the author's own lines: the frames of the SDK are left out. One without a line of the author's stays whole.
pub fn folded(lines: &[String]) -> String {
    let lines: Vec<&str> = lines.iter().flat_map(|line| line.lines()).collect();
    let mut kept: Vec<&str> = Vec::with_capacity(lines.len());
    let mut rest = lines.as_slice();
    while let Some((line, after)) = rest.split_first() {
        kept.push(line);
        rest = after;
        if line.trim_end() == HEADER {
            let end = rest.iter().position(|line| !line.starts_with(' ')).unwrap_or(rest.len());
            let (frames, after) = rest.split_at(end);
            kept.extend(own(frames));
            rest = after;
        }
    }
    kept.join("\n")
}

/// The lines of a traceback's frames that are not the SDK's; all lines where all frames are.
fn own<'a>(frames: &[&'a str]) -> Vec<&'a str> {
    let mut is_own = true;
    let mut kept: Vec<&str> = Vec::with_capacity(frames.len());
    for line in frames {
        // The lines under a frame are its source, marks, and the count of repetitions.
        if line.starts_with(FRAME) {
            is_own = !line.starts_with(SDK_FRAME);
        }
        if is_own {
            kept.push(line);
        }
    }
    if kept.iter().any(|line| line.starts_with(FRAME)) { kept } else { frames.to_vec() }
}

/// The author's innermost line in a traceback: `line 7 of actor.py`.
pub fn place(lines: &[String]) -> Option<String> {
    let own = lines.iter().flat_map(|line| line.lines()).rfind(|line| line.starts_with(FRAME) && !line.starts_with(SDK_FRAME))?;
    let (file, rest) = own.strip_prefix("  File \"")?.split_once("\", line ")?;
    Some(format!("line {} of {file}", rest.split(',').next()?))
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
                "Traceback (most recent call last):\n  File \"actor.py\", line 7, in go\n    wrapped()\n  File \"actor.py\", line 12, in inner\n    1 / 0\n    ~~^~~\nZeroDivisionError: no\nDuring handling of the above exception, another exception occurred:\nTraceback (most recent call last):\n  File \"cowboy_sdk/call.py\", line 3, in call\nValueError: no",
            ),
            (
                "Traceback (most recent call last):\n  File \"cowboy_sdk/actor.py\", line 5, in run\nTypeError: greet() takes name",
                "Traceback (most recent call last):\n  File \"cowboy_sdk/actor.py\", line 5, in run\nTypeError: greet() takes name",
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
}
