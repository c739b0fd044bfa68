//! `cowboy actor new`: a first source to change.

use super::session::Session;
use crate::failure::Failure;
use serde_json::json;
use std::path::Path;

const SOURCE: &str = r#"from cowboy_sdk import actor, emit, public


@actor
class NAME:
    @public
    def init(self) -> None:
        """Runs once, in the transaction that deploys the actor."""
        self.storage["greetings"] = 0

    @public
    def greet(self, name: str) -> str:
        """Greets `name`, counts the greeting and announces it."""
        count = self.storage["greetings"] + 1
        self.storage["greetings"] = count
        emit("greeted", {"name": name or "world", "count": count})
        return f"Hello, {name or 'world'}!"

    @public
    def greetings(self) -> int:
        """How many greetings there have been."""
        return self.storage["greetings"]
"#;

/// Writes the folder `name` with a source that deploys as it is.
pub(crate) fn write(session: &Session, name: &str) -> Result<(), Failure> {
    let folder = Path::new(name);
    let class = class_name(folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()).as_str());
    let Some(class) = class else {
        return Err(Failure::argument(format!("{name:?} makes no class name"), "begin with a letter, like: cowboy actor new hello"));
    };
    let path = folder.join("actor.py");
    if path.exists() {
        return Err(Failure::argument(format!("{} exists already", path.display()), "choose another name"));
    }
    std::fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    std::fs::write(&path, SOURCE.replace("NAME", &class)).map_err(Failure::file(&path))?;
    session.output.result(
        &json!({ "code": path }),
        format_args!(
            "Wrote {}\nNext: cowboy actor deploy --code {}\n      cowboy actor execute {name} greet --payload '\"Ada\"'\n      cowboy actor query {name} greetings",
            path.display(),
            path.display()
        ),
    );
    Ok(())
}

/// `my-first_actor` as `MyFirstActor`; none where that is no identifier.
fn class_name(name: &str) -> Option<String> {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let class: String = words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect();
    class.starts_with(|letter: char| letter.is_ascii_alphabetic()).then_some(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_become_classes() {
        for (name, class) in [("hello", Some("Hello")), ("my-first_actor", Some("MyFirstActor")), ("2x", None), ("", None), ("é", None)] {
            assert_eq!(class_name(name).as_deref(), class, "{name}");
        }
    }
}
