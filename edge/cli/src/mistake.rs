//! Mistakes in the arguments of a program, for people and for programs that read JSON.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use cowboy_console::failure::Failure;
use std::ffi::OsString;

/// What to do about most of them.
const FIX: &str = "--help lists what the command takes";

/// The commands whose last argument is that of a handler, as they are written after the program's name.
const CALLS: [&str; 3] = ["actor execute", "actor query", "query"];

/// A mistake for which clap does not say what to do: a command that there is not, a number below 0, and more than one argument of a handler. Nothing for
/// all others.
pub(crate) fn own(refusal: &clap::Error, program: &clap::Command, arguments: &[OsString]) -> Option<Failure> {
    let named = |kind| match refusal.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match refusal.kind() {
        ErrorKind::InvalidSubcommand => {
            let wrong = named(ContextKind::InvalidSubcommand)?;
            let (path, commands) = commands(program, arguments, wrong);
            let fix = format!("{path} has the commands {}", commands.join(", "));
            (!commands.is_empty()).then(|| Failure::argument(format!("unrecognized subcommand '{wrong}'"), fix))
        }
        ErrorKind::UnknownArgument => {
            let wrong = named(ContextKind::InvalidArg)?;
            let is_number = wrong.strip_prefix('-').is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
            if is_number {
                return Some(Failure::argument(format!("{wrong} is below 0, and no number here is"), FIX));
            }
            let (path, _) = commands(program, arguments, wrong);
            let is_of_handler = path.split_once(' ').is_some_and(|(_, command)| CALLS.contains(&command));
            let fix = "put all arguments of the handler into one list of JSON, in quotes: '[\"Ada\", 3]'";
            (is_of_handler && !wrong.starts_with('-')).then(|| Failure::argument(format!("unexpected argument '{wrong}'"), fix))
        }
        _ => None,
    }
}

/// The command below which the wrong word stands, and the commands that are there.
fn commands<'a>(program: &'a clap::Command, arguments: &[OsString], wrong: &str) -> (String, Vec<&'a str>) {
    let (mut command, mut path) = (program, program.get_name().to_owned());
    for argument in arguments.iter().skip(1).filter_map(|argument| argument.to_str()) {
        match command.find_subcommand(argument) {
            Some(below) => {
                command = below;
                path = format!("{path} {}", below.get_name());
            }
            None if argument == wrong => break,
            // An option, or what it is given.
            None => {}
        }
    }
    let is_shown = |below: &&clap::Command| !below.is_hide_set() && below.get_name() != "help";
    (path, command.get_subcommands().filter(is_shown).map(clap::Command::get_name).collect())
}

/// A mistake in clap's words. Nothing where help or the version was asked for.
pub(crate) fn of(refusal: &clap::Error) -> Option<Failure> {
    if !refusal.use_stderr() {
        return None;
    }
    if refusal.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Some(Failure::argument("a command or an argument is missing", FIX));
    }
    let text = refusal.render().to_string();
    let end = ["\n\nUsage:", "\n\nFor more information"].iter().filter_map(|mark| text.find(mark)).min().unwrap_or(text.len());
    // What is missing is listed in lines of its own.
    let what = text[..end].split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Failure::argument(what.strip_prefix("error: ").unwrap_or(&what), FIX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Cli;
    use clap::{CommandFactory as _, Parser as _};

    #[test]
    fn mistakes_are_json_too() {
        let rows = [
            (vec!["cowboy", "chain", "mine", "many", "--json"], Some("invalid value 'many' for '[BLOCKS]'")),
            (vec!["cowboy", "chain", "mine", "0", "--json"], Some("invalid value '0' for '[BLOCKS]'")),
            (vec!["cowboy", "volume", "grant", "memory", "notes", "0x00", "--mode", "q"], Some("invalid value 'q' for '--mode <MODE>'")),
            (vec!["cowboy", "actor", "execute", "--json"], Some("the following required arguments were not provided: <ACTOR> <HANDLER>")),
            (vec!["cowboy", "--json", "--no-such-option"], Some("unexpected argument '--no-such-option' found")),
            (vec!["cowboy", "--json", "chain"], Some("a command or an argument is missing")),
            (vec!["cowboy", "chain", "--json", "--help"], None),
        ];
        for (arguments, expected) in rows {
            let refusal = Cli::try_parse_from(&arguments).expect_err("it does not run");
            let said = of(&refusal).map(|failure| failure.to_json()["error"]["what"].as_str().unwrap_or_default().to_owned());
            assert_eq!(said.is_some(), expected.is_some(), "{arguments:?}: {said:?}");
            assert!(said.is_none_or(|said| said.starts_with(expected.unwrap_or_default()) && !said.contains("Usage")), "{arguments:?}");
        }
    }

    /// Who mistypes a command reads which there are, at the place where it stands, also behind an option with a value.
    #[test]
    fn a_command_that_there_is_not_names_those_that_are() {
        let mut program = Cli::command();
        program.build();
        let rows: [(&[&str], &str); 9] = [
            (&["job", "show"], "unrecognized subcommand 'show'\n  fix: cowboy job has the commands submit, status, watch, list,"),
            (&["--rpc-url", "http://localhost:4000", "relay", "show"], "fix: cowboy relay has the commands list, status"),
            (&["call", "nobody"], "fix: cowboy call has the commands runner-registry, "),
            (&["nonsense"], "fix: cowboy has the commands init, config, "),
            (&["chain", "mine", "-3"], "-3 is below 0, and no number here is\n"),
            (&["transfer", "0x00", "-5cby"], "-5 is below 0"),
            (
                &["actor", "execute", "shop", "buy", "boots", "2"],
                "unexpected argument '2'\n  fix: put all arguments of the handler into one list",
            ),
            (&["query", "shop", "price", "boots", "2"], "unexpected argument '2'\n  fix: put all arguments of the handler into one list"),
            (&["actor", "query", "shop", "price", "boots", "2"], "fix: put all arguments of the handler into one list"),
        ];
        for (arguments, expected) in rows {
            let arguments: Vec<OsString> = std::iter::once("cowboy").chain(arguments.iter().copied()).map(OsString::from).collect();
            let refusal = Cli::try_parse_from(&arguments).expect_err("it does not run");
            let said = own(&refusal, &program, &arguments).map(|failure| failure.to_string()).unwrap_or_default();
            assert!(said.contains(expected), "{arguments:?}: {said}");
        }
        // Others that only have the name of such a command, and what is an argument of them, have no handler.
        for arguments in [&["status", "--nothing"][..], &["gov", "execute", "5", "6"], &["status", "execute"]] {
            let arguments: Vec<OsString> = std::iter::once("cowboy").chain(arguments.iter().copied()).map(OsString::from).collect();
            let refusal = Cli::try_parse_from(&arguments).expect_err("it does not run");
            assert!(own(&refusal, &program, &arguments).is_none(), "{arguments:?}: clap says that well enough");
        }
    }
}
