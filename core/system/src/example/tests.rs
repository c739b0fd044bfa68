use super::{NUMBER, state};
use crate::actor::{Context, Draw, Method, Work};
use crate::registry::{self, Argument};
use crate::schema::Emit as _;
use cowboy_params::Params;
use cowboy_state::{Stop, World};
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::{Amount, ChainId, Count, Height, TimestampMs};
use cowboy_types::{Abort, Address, Hash, actors, error};

const STRANGER: Address = Address([7; 20]);

/// Runs something against a state without records; also what the refusal of an argument says.
fn run(
    world: &mut World,
    sender: Address,
    value: u64,
    ask: impl Fn(&mut Context<'_>) -> Result<Value, Stop>,
) -> (Result<Value, Abort>, String) {
    let params = Params::GENESIS;
    loop {
        let mut context = Context {
            world,
            params: &params,
            genesis_params: &params,
            deployers: &[],
            rules: crate::Versions::ALL.nearest(u8::MAX),
            actors: registry::ACTORS,
            paused: &[],
            height: Height(1),
            timestamp: TimestampMs(1),
            is_dev: true,
            sender,
            value: Amount(value),
            id: Hash::ZERO,
            draw: Draw { beacon: bytes::Bytes::new(), epoch: 0, view: 0 },
            work: Work::default(),
            budget: Work { cycles: u64::MAX, cells: u64::MAX, weight: u64::MAX },
            chain_id: ChainId(1),
            genesis: Hash::ZERO,
            forward: None,
            is_due: false,
            refused: None,
            explanation: None,
        };
        let answer = ask(&mut context);
        let refused = context.refused.take();
        match answer {
            Ok(value) => return (Ok(value), String::new()),
            Err(Stop::Abort(abort)) => {
                let text = refused.map(|refused| refused.text(super::api::METHODS[0].arguments)).unwrap_or_default();
                return (Err(abort), text);
            }
            Err(Stop::Miss(miss)) => {
                for digest in world.want(miss) {
                    world.fill(&digest, None);
                }
            }
        }
    }
}

/// Calls a method by its name.
fn call(world: &mut World, sender: Address, value: u64, method: &str, fields: &[(&str, Value)]) -> (Result<Value, Abort>, String) {
    let payload = Value::dict(fields.iter().map(|(name, value)| (*name, value.clone()))).encode();
    run(world, sender, value, |context| {
        let answer = registry::call(context, Address::system(NUMBER), method, Argument::Encoded(&payload))?;
        Ok(cbor::decode(&answer).expect("answers are canonical"))
    })
}

fn named(name: &str) -> (&'static str, Value) {
    ("name", Value::text(name))
}

#[test]
fn a_method_is_found_decoded_executed_and_answered() {
    let mut world = World::default();
    let checkpoint = world.checkpoint();
    assert_eq!(call(&mut world, STRANGER, 5, "sign", &[named("ada")]).0, Ok(Value::uint(1)));
    assert_eq!(call(&mut world, STRANGER, 0, "sign", &[named("ada"), ("times", Value::uint(3))]).0, Ok(Value::uint(4)));
    assert_eq!(call(&mut world, STRANGER, 0, "signatures", &[named("ada")]).0, Ok(Value::uint(4)));
    let events = world.events_since(&checkpoint);
    assert_eq!(events.len(), 2);
    assert_eq!((events[0].emitter, &*events[0].name), (Address::system(NUMBER), "Signed"));
    assert_eq!(cbor::decode(&events[0].data), Ok(Value::dict([named("ada"), ("paid", Value::uint(5))])));
    let governance = Address::system(actors::GOVERNANCE);
    assert_eq!(call(&mut world, governance, 0, "erase", &[named("ada")]).0, Ok(Value::Null));
    assert_eq!(state::signatures(&world, "ada"), Ok(Count::ZERO));
}

#[test]
fn the_row_decides_who_may_call_and_with_what() {
    let mut world = World::default();
    let rows = [
        ("sign", 0, vec![], error::INVALID_ARGUMENT, "argument `name`: missing, expected text of at most 8 bytes"),
        ("sign", 0, vec![named("a long name")], error::INVALID_ARGUMENT, "argument `name`: expected text of at most 8 bytes"),
        ("sign", 0, vec![named("ada"), ("times", Value::text("3"))], error::INVALID_ARGUMENT, "argument `times`: expected an integer"),
        ("signatures", 1, vec![named("ada")], error::NOT_PAYABLE, ""),
        ("erase", 0, vec![named("ada")], error::SYSTEM_UNAUTHORIZED, ""),
        ("burn", 0, vec![], error::UNAVAILABLE, ""),
    ];
    for (method, value, fields, abort, text) in rows {
        assert_eq!(call(&mut world, STRANGER, value, method, &fields), (Err(abort), text.to_string()), "{method}");
    }
    assert_eq!(world.events_since(&World::default().checkpoint()), &[]);
}

/// Whatever a row says to be a view changes no state and emits nothing.
#[test]
fn a_view_that_changes_anything_fails() {
    let writes = |context: &mut Context<'_>, _: &Value| {
        context.world.write(state::key("ada"), &Count(1));
        Ok(Value::Null)
    };
    let emits = |context: &mut Context<'_>, _: &Value| {
        super::api::Signed { name: Default::default(), paid: Amount::ZERO }.emit(context.world);
        Ok(Value::Null)
    };
    let mut world = World::default();
    for method in [Method::untyped("writes", "", writes), Method::untyped("emits", "", emits)] {
        let name = method.name;
        assert_eq!(run(&mut world, STRANGER, 0, |context| method.call(context, &Value::Null)).0, Ok(Value::Null), "{name}");
        let view = method.view();
        assert_eq!(run(&mut world, STRANGER, 0, |context| view.call(context, &Value::Null)).0, Err(error::INTERNAL), "{name}");
    }
}

/// What a new actor takes outside its folder: its module, its row of the registry, and here that it is no part of the docs.
#[test]
#[expect(clippy::disallowed_methods, reason = "it counts lines of the crate's own sources")]
fn an_actor_takes_few_lines_outside_its_folder() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut lines) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && path != root.join("example") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = std::fs::read_to_string(&path).expect("a source");
                let all: Vec<&str> = source.lines().map(str::trim).collect();
                for (place, line) in all.iter().enumerate() {
                    if line.contains("mod example;") || line.contains("example::") {
                        lines.push((*line).to_string());
                        let attribute = place.checked_sub(1).and_then(|before| all.get(before)).filter(|before| before.starts_with("#["));
                        lines.extend(attribute.map(|attribute| (*attribute).to_string()));
                    }
                }
            }
        }
    }
    assert!((2..=5).contains(&lines.len()), "{lines:#?}");
}
