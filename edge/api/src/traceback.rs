//! Python's tracebacks as people read them.

/// How a frame of the SDK begins.
const SDK_FRAME: &str = "  File \"cowboy_sdk/";
/// How the frames of a traceback begin.
const HEADER: &str = "Traceback (most recent call last):";

/// A traceback that begins at the author's first line: the frames of the SDK before it are left out. One without a line of the author's
/// stays whole.
pub fn folded(lines: &[String]) -> String {
    let lines: Vec<&str> = lines.iter().flat_map(|line| line.lines()).collect();
    let mut kept: Vec<&str> = Vec::with_capacity(lines.len());
    let mut rest = lines.as_slice();
    while let Some((line, after)) = rest.split_first() {
        kept.push(line);
        rest = after;
        if line.trim_end() == HEADER {
            rest = &rest[leading(rest)..];
        }
    }
    kept.join("\n")
}

/// The author's innermost line in a traceback: `line 7 of actor.py`.
pub fn place(lines: &[String]) -> Option<String> {
    let own = lines.iter().flat_map(|line| line.lines()).rfind(|line| line.starts_with("  File ") && !line.starts_with(SDK_FRAME))?;
    let (file, rest) = own.strip_prefix("  File \"")?.split_once("\", line ")?;
    Some(format!("line {} of {file}", rest.split(',').next()?))
}

/// The number of lines before the first frame that is not the SDK's; none where all frames are.
fn leading(lines: &[&str]) -> usize {
    let end = lines.iter().position(|line| !line.starts_with(' ')).unwrap_or(lines.len());
    let own = lines[..end].iter().position(|line| line.starts_with("  File ") && !line.starts_with(SDK_FRAME));
    own.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_frame_is_the_authors() {
        let rows = [
            (
                "Traceback (most recent call last):\n  File \"cowboy_sdk/dispatch.py\", line 27, in enter\n    return dispatch(method)\n  File \"actor.py\", line 7, in go\n    call(x)\n  File \"cowboy_sdk/call.py\", line 3, in call\nValueError: no",
                "Traceback (most recent call last):\n  File \"actor.py\", line 7, in go\n    call(x)\n  File \"cowboy_sdk/call.py\", line 3, in call\nValueError: no",
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
        assert_eq!(place(&[rows[1].0.to_owned()]), None);
    }
}
