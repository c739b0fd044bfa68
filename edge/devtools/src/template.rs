//! `cowboy init NAME` and `cowboy actor new`: a project, or a single source, to change.

use cowboy_api::keystore::CONFIG_DIRECTORY;
use cowboy_console::{failure::Failure, output::Output};
use serde_json::json;
use std::path::{Path, PathBuf};

/// What stands for the class of the actor, and for the project, in the files.
const CLASS: &str = "NAME";
const PROJECT: &str = "PROJECT";

/// What comes before the first deployment where the folder has no key.
const ACCOUNT: &str = "cowboy wallet create\n      cowboy faucet\n      ";

/// A first source: it deploys as it is.
const SOURCE: &str = include_str!("project/hello.py");

/// The files of a project.
const FILES: &[(&str, &str)] = &[
    ("actor.py", include_str!("project/actor.py")),
    ("test_actor.py", include_str!("project/test_actor.py")),
    ("manifest.json", include_str!("project/manifest.json")),
    ("README.md", include_str!("project/README.md")),
    ("script.py", include_str!("project/script.py")),
    (".gitignore", include_str!("project/gitignore")),
    (".github/workflows/test.yml", include_str!("project/test.yml")),
];

/// The names of a project's or actor's folder and class.
struct Names {
    folder: PathBuf,
    class: String,
    project: String,
}

impl Names {
    fn of(name: &str, example: &str) -> Result<Self, Failure> {
        let folder = PathBuf::from(name);
        let project = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let class = class_name(&project).ok_or_else(|| {
            Failure::argument(format!("{name:?} does not give a valid class name"), format!("start with a letter, like: {example}"))
        })?;
        Ok(Self { folder, class, project })
    }

    fn write(&self, file: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.folder.join(file);
        if path.exists() {
            return Err(Failure::refused(format!("{} exists already", path.display()), "choose another name"));
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(Failure::file(folder))?;
        std::fs::write(&path, text.replace(CLASS, &self.class).replace(PROJECT, &self.project)).map_err(Failure::file(&path))?;
        Ok(path)
    }
}

/// Writes the folder `name` with a source that deploys as it is.
pub fn write(output: Output, name: &str) -> Result<(), Failure> {
    let names = Names::of(name, "cowboy actor new hello")?;
    let path = names.write("actor.py", SOURCE)?;
    output.result(
        &json!({ "code": path }),
        format_args!(
            "Wrote {}\nNext: {}cowboy actor deploy {}\n      cowboy actor execute {name} greet Ada\n      cowboy actor query {name} greetings",
            path.display(),
            if Path::new(CONFIG_DIRECTORY).join("key").exists() { "" } else { ACCOUNT },
            path.display()
        ),
    );
    Ok(())
}

/// Writes the project `name`: an actor with a timer and a query, its tests, its manifest and what CI needs.
pub fn project(output: Output, name: &str) -> Result<PathBuf, Failure> {
    let names = Names::of(name, "cowboy init myagent")?;
    if names.folder.join(CONFIG_DIRECTORY).exists() {
        return Err(Failure::refused(format!("{name} is a project already"), "choose another name"));
    }
    let mut written = Vec::new();
    for (file, text) in FILES {
        written.push(names.write(file, text)?.display().to_string());
    }
    output.progress(format_args!("Wrote {}", written.join(", ")));
    Ok(names.folder)
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
