//! `cowboy call`: the methods of system actors. Commands, flags and checks derive from the tables of the protocol.

use super::leaving::{self, Leaving};
use super::session::Session;
use crate::send::{self, Terms};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, builder::PossibleValuesParser, error::ErrorKind};
use cowboy_api::system::{self, is_declared};
use cowboy_console::{amount, failure::Failure, payload};
use cowboy_system::{
    ACTORS,
    actor::{Actor, Method},
    schema::{Field, Shape},
};
use cowboy_types::{Address, Amount, Blob, Text, instruction::Actor as ActorInstruction, instruction::Instruction};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, sync::LazyLock};

/// The flag of the CBY that come along.
const VALUE: &str = "value";

/// The flag of the whole argument of a method that has more fields than its table.
const ARGUMENT: &str = "argument";

/// A system actor with its names on the command line: `route-registry` and `0x0e`.
struct Named {
    actor: &'static Actor,
    slug: String,
    number: String,
}

static NAMED: LazyLock<Vec<Named>> = LazyLock::new(|| {
    let named = |actor: &'static Actor| Named { actor, slug: system::slug(actor), number: format!("{:#04x}", actor.number) };
    ACTORS.iter().filter(|actor| !actor.tables.is_empty()).map(named).collect()
});

/// The flag of each field: `token-id` of `token_id`.
static FLAGS: LazyLock<BTreeMap<&'static str, String>> = LazyLock::new(|| {
    let fields = ACTORS.iter().flat_map(Actor::methods).flat_map(|method| method.arguments);
    fields.map(|field| (field.name, field.name.replace('_', "-"))).collect()
});

/// A method of a system actor, with the fields that were given.
#[derive(Debug)]
pub(crate) struct Call {
    actor: u8,
    method: &'static str,
    fields: Vec<(&'static Field, String)>,
    argument: Option<String>,
    value: Option<String>,
    terms: Terms,
}

impl Args for Call {
    fn augment_args(command: Command) -> Command {
        command.subcommand_required(true).arg_required_else_help(true).subcommand_value_name("ACTOR").defer(|command| {
            command.subcommands(NAMED.iter().map(|named| {
                let Named { actor, slug, number } = named;
                let command = Command::new(slug.as_str()).visible_alias(number.as_str()).about(actor.doc);
                let command = command.subcommand_required(true).arg_required_else_help(true).subcommand_value_name("METHOD");
                command.subcommands(actor.methods().map(method_command))
            }))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn method_command(method: &'static Method) -> Command {
    let mut command = Command::new(method.name);
    for field in method.arguments.iter().filter(|_| is_declared(method)) {
        command = command.arg(field_arg(field));
    }
    if !is_declared(method) {
        command = command.arg(Arg::new(ARGUMENT).long(ARGUMENT).value_name("JSON").help("The argument: JSON, or @FILE"));
    }
    if method.is_payable {
        command = command.arg(Arg::new(VALUE).long(VALUE).value_name("AMOUNT").help("CBY to send along: base units, or CBY like 2.5cby"));
    }
    // The terms bring a description of their own: that of the method comes after it.
    let command = if method.is_view { command } else { Terms::augment_args(command) };
    command.about(method.doc.trim())
}

/// A default, which the table has as an expression of Rust, for people.
fn said(default: &str) -> &str {
    match default.split_once("::") {
        None => default,
        Some(("Value", _)) => "null",
        Some(("Text" | "List" | "Vec" | "Blob", _)) => "empty",
        Some((_, "MAX")) => "the largest",
        Some(("Amount", _)) => "0",
        Some(_) => "0 in each field",
    }
}

fn field_arg(field: &'static Field) -> Arg {
    let (shape, is_required) = match field.shape {
        Shape::Optional(inner) => (*inner, false),
        shape => (shape, field.default.is_none()),
    };
    let default = field.default.map(|default| format!(" [default: {}]", said(default))).unwrap_or_default();
    let arg = Arg::new(field.name)
        .long(FLAGS[field.name].as_str())
        .required(is_required)
        .allow_hyphen_values(true)
        .help(format!("{} ({shape}){default}", field.doc.trim()));
    match shape {
        Shape::Word(words) => arg.value_parser(PossibleValuesParser::new(words)),
        Shape::Bool => arg.value_parser(PossibleValuesParser::new(["true", "false"])),
        Shape::Number | Shape::Units => arg.value_name("INTEGER"),
        Shape::Text(_) => arg.value_name("TEXT"),
        Shape::Bytes(_) | Shape::Fixed(_) | Shape::Hash => arg.value_name("HEX"),
        Shape::Address => arg.value_name("ADDRESS"),
        _ => arg.value_name("JSON"),
    }
}

impl FromArgMatches for Call {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(ErrorKind::MissingSubcommand);
        let (slug, matches) = matches.subcommand().ok_or_else(missing)?;
        let named = NAMED.iter().find(|named| named.slug == slug).ok_or_else(missing)?;
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let method = named.actor.method(name).ok_or_else(missing)?;
        let given = |name: &str| matches.try_get_one::<String>(name).ok().flatten().cloned();
        let fields = method.arguments.iter().filter_map(|field| Some((field, given(field.name)?))).collect();
        let argument = if is_declared(method) { None } else { given(ARGUMENT) };
        let value = if method.is_payable { given(VALUE) } else { None };
        let terms = if method.is_view { Terms::default() } else { Terms::from_arg_matches(matches)? };
        Ok(Self { actor: named.actor.number, method: method.name, fields, argument, value, terms })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Call {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        let argument = match &self.argument {
            Some(text) => payload::json(text)?,
            None => {
                let entry = |(field, text): &(&Field, String)| Ok((field.name.to_owned(), value_of(session, &field.shape, text)?));
                Value::Object(self.fields.iter().map(entry).collect::<Result<Map<_, _>, Failure>>()?)
            }
        };
        let (address, method) = (Address::system(self.actor), declared(self.actor, self.method)?);
        if method.is_view {
            encoded(method, &argument)?;
            let answer = session.client.view(&address, method.name, &argument).await?;
            session.output.document(&answer.result);
            return Ok(());
        }
        let value = self.value.as_deref().map_or(Ok(Amount::ZERO), amount::argument)?;
        let instruction = instruction(self.actor, method.name, &argument, value)?;
        let sent = send::send(&session.client, &session.key()?, instruction, &self.terms).await?;
        let returned = sent.receipt.as_ref().map(|receipt| system::json_of_bytes(&method.result, &receipt.return_data.0));
        let shown = returned.filter(|returned| !returned.is_null()).map(|returned| format!("\nReturned: {returned}")).unwrap_or_default();
        let leaving = Leaving::of(session, self.actor, method.name, &sent).await;
        let text = format!("Transaction hash: {}{shown}{}", sent.tx_hash, leaving::lines(leaving.as_ref()));
        session.output.result(&leaving::document(&sent, leaving.as_ref()), text);
        Ok(())
    }
}

/// The JSON of a flag: texts as they are, addresses by name too, CBY with their unit, bytes as `@FILE` too; what has parts as JSON.
fn value_of(session: &Session, shape: &Shape, text: &str) -> Result<Value, Failure> {
    Ok(match shape {
        Shape::Optional(inner) => value_of(session, inner, text)?,
        Shape::Address => session.address(text)?.to_string().into(),
        Shape::Bool => (text == "true").into(),
        Shape::Number if text.to_ascii_lowercase().ends_with("cby") => amount::argument(text)?.get().into(),
        Shape::Bytes(_) => format!("0x{}", hex::encode(payload::bytes(text)?)).into(),
        Shape::Number | Shape::Units | Shape::Text(_) | Shape::Word(_) | Shape::Fixed(_) | Shape::Hash => text.into(),
        Shape::Null | Shape::Any | Shape::List(..) | Shape::Map(_) => payload::json(text)?,
    })
}

fn declared(actor: u8, method: &str) -> Result<&'static Method, Failure> {
    let found = ACTORS.iter().find(|one| one.number == actor).and_then(|one| one.method(method));
    found.ok_or_else(|| Failure::argument(format!("the protocol has no method {method:?} at {actor:#04x}"), "see docs/methods.md"))
}

fn encoded(method: &Method, argument: &Value) -> Result<Vec<u8>, Failure> {
    let value = system::argument(method, argument)
        .map_err(|error| Failure::argument(format!("{}: {error}", method.name), "docs/methods.md lists the arguments of each method"))?;
    Ok(value.encode())
}

/// A call of a system actor's method. The argument is checked against the method's table.
pub(super) fn instruction(actor: u8, method: &str, argument: &Value, value: Amount) -> Result<Instruction, Failure> {
    let method = declared(actor, method)?;
    encoded_call(actor, method.name, encoded(method, argument)?, value)
}

/// A call of a system actor's method with an argument in canonical CBOR.
pub(super) fn encoded_call(actor: u8, method: &'static str, argument: Vec<u8>, value: Amount) -> Result<Instruction, Failure> {
    let payload = Blob::new(argument).ok_or_else(|| Failure::argument("the argument is too long for a transaction", "shorten it"))?;
    let handler = Text::new(method).expect("names of methods are short");
    Ok(Instruction::Actor(ActorInstruction::Execute { target: Address::system(actor), handler, payload, value }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Cli;
    use clap::{CommandFactory as _, Parser as _};
    use serde_json::json;

    /// No flag of a method is one of another argument's.
    #[test]
    fn commands_are_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_method_is_a_command() {
        let mut command = Cli::command();
        command.build();
        let call = command.find_subcommand("call").expect("the command exists");
        for named in NAMED.iter() {
            let actor = call.find_subcommand(&named.slug).expect("an actor is a command");
            for method in named.actor.methods() {
                let command = actor.find_subcommand(method.name).expect("a method is a command");
                assert_eq!(command.get_about().map(ToString::to_string).as_deref(), Some(method.doc.trim()), "{}", method.name);
                let has = |flag: &str| command.get_arguments().any(|arg| arg.get_long() == Some(flag));
                let is_declared = is_declared(method);
                assert_eq!(has(ARGUMENT), !is_declared, "{}", method.name);
                for field in method.arguments.iter().filter(|_| is_declared) {
                    assert!(has(&field.name.replace('_', "-")), "{}", field.name);
                }
            }
        }
    }

    /// The help of a flag is for people: it names no function of Rust.
    #[test]
    fn defaults_are_said_in_words() {
        let fields = || ACTORS.iter().flat_map(Actor::methods).flat_map(|method| method.arguments);
        assert!(fields().filter_map(|field| field.default).any(|default| default.contains("::")), "else there is nothing to say");
        for field in fields() {
            let help = field_arg(field).get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.contains("::"), "{}: {help}", field.name);
        }
        let rows = [
            ("Text::default()", "empty"),
            ("Vec::new()", "empty"),
            ("Value::Null", "null"),
            ("Amount::ZERO", "0"),
            ("Rates::default()", "0 in each field"),
            ("u128::MAX", "the largest"),
            ("false", "false"),
        ];
        for (default, words) in rows {
            assert_eq!(said(default), words);
        }
    }

    #[test]
    fn flags_are_parsed() {
        let id = format!("0x{}", "11".repeat(32));
        let parsed = Cli::try_parse_from(["cowboy", "call", "0x06", "token_burn", "--token-id", &id, "--amount", "5", "--nonce", "3"]);
        assert!(parsed.is_ok(), "{:?}", parsed.err());
        let missing = Cli::try_parse_from(["cowboy", "call", "0x06", "token_burn", "--amount", "5"]).expect_err("a field is missing");
        assert!(missing.to_string().contains("--token-id"), "{missing}");
    }

    /// What docs/jobs.md declares is a runner's declaration.
    #[test]
    fn a_declaration_is_an_argument() {
        let rates = json!({ "http_request_base": 1_000, "max_job_value": 5_000_000_000_u64 });
        let key = format!("0x{}", "11".repeat(32));
        let declaration = json!({ "result_key": key, "kinds": ["http"], "rates": rates, "max_concurrent": 4 });
        let made = instruction(0x01, "register", &declaration, Amount::ZERO);
        assert!(made.is_ok(), "{:?}", made.err());
    }

    /// What a table does not allow is refused with the field's name, before anything is sent.
    #[test]
    fn arguments_are_checked() {
        let id = format!("0x{}", "11".repeat(32));
        let rows = [
            (json!({ "token_id": id, "amount": u128::MAX.to_string() }), None),
            (json!({ "token_id": id, "amount": "12x" }), Some("token_burn: argument `amount`: expected an integer of 128 bits")),
            (json!({ "token_id": "0x11", "amount": 1 }), Some("token_burn: argument `token_id`: expected a hash")),
            (json!({ "amount": 1 }), Some("token_burn: argument `token_id`: missing, expected a hash")),
            (
                json!({ "token_id": id, "amount": 1, "to": 2 }),
                Some("token_burn: argument `to` is unknown; the method takes token_id, amount"),
            ),
        ];
        for (argument, expected) in rows {
            let refused = instruction(0x06, "token_burn", &argument, Amount::ZERO).err().map(|failure| failure.to_string());
            assert_eq!(refused.as_deref().and_then(|text| text.lines().next()), expected, "{argument}");
        }
    }
}
