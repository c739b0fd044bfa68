//! The actions of a proposal as arguments have them.

use super::named::{ParameterName, named_actor, named_row};
use super::types::Action;
use crate::actor::Context;
use crate::schema::{Field, Form, Record, Refused, Shape, field, form};
use cowboy_state::Step;
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Address, Blob, List, Text, error};

/// What an action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActionKind {
    SetParameter,
    Call,
    Disburse,
    SetCouncil,
    CircuitBreak,
    Resume,
    Upgrade,
    CancelUpgrade,
}

impl ActionKind {
    const ALL: [Self; 8] = [
        Self::SetParameter,
        Self::Call,
        Self::Disburse,
        Self::SetCouncil,
        Self::CircuitBreak,
        Self::Resume,
        Self::Upgrade,
        Self::CancelUpgrade,
    ];

    const WORDS: [&'static str; 8] = {
        let mut words = [""; 8];
        let mut at = 0;
        while at < words.len() {
            words[at] = Self::ALL[at].word();
            at += 1;
        }
        words
    };

    const fn word(self) -> &'static str {
        match self {
            Self::SetParameter => "set_parameter",
            Self::Call => "call",
            Self::Disburse => "disburse",
            Self::SetCouncil => "set_council",
            Self::CircuitBreak => "circuit_break",
            Self::Resume => "resume",
            Self::Upgrade => "upgrade",
            Self::CancelUpgrade => "cancel_upgrade",
        }
    }
}

impl Form for ActionKind {
    const SHAPE: Shape = Shape::Word(&Self::WORDS);

    fn read(value: &Value) -> Result<Self, Refused> {
        let word = value.as_text().ok_or(Refused::WHOLE)?;
        Self::ALL.into_iter().find(|kind| kind.word() == word).ok_or(Refused::WHOLE)
    }

    fn write(&self) -> Value {
        Value::text(self.word())
    }
}

form! {
    /// An action. Each kind has fields of its own, which must be there; others are not looked at beyond their form.
    pub(crate) struct ProposedAction {
        /// What it does.
        action: ActionKind,
        /// set_parameter: the parameter.
        name: Option<ParameterName>,
        /// set_parameter: its new value.
        value: Option<u64>,
        /// call, circuit_break and resume: the system actor, by its address or its number.
        actor: Option<Value>,
        /// call: the method, which is called as 0x09.
        method: Option<Text<64>>,
        /// call: the method's argument, a map; an empty one where it is absent.
        argument: Option<Value>,
        /// disburse: the bucket.
        bucket: Option<Text<64>>,
        /// disburse: who receives.
        to: Option<Address>,
        /// disburse: base units of CBY.
        amount: Option<Amount>,
        /// set_council: the members.
        members: Option<List<Address, 64>>,
        /// upgrade and cancel_upgrade: the protocol version.
        version: Option<u8>,
        /// upgrade: the first height at which the version applies.
        height: Option<Height>,
    }
}

/// The actions of a proposal: a list, or in its place the fields of a single one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proposed(List<ProposedAction, 16>);

/// The field of the list.
const ACTIONS: &str = "actions";

impl Record for Proposed {
    const FIELDS: &'static [Field] =
        &[Field { name: ACTIONS, doc: "What it does, in order.", shape: <List<ProposedAction, 16> as Form>::SHAPE, default: None }];
}

impl Form for Proposed {
    const SHAPE: Shape = Shape::Map(Self::FIELDS);

    fn read(value: &Value) -> Result<Self, Refused> {
        let listed: Option<List<ProposedAction, 16>> = field(value, ACTIONS, None)?;
        if let Some(actions) = listed {
            return Ok(Self(actions));
        }
        let single = ProposedAction::read(value).map_err(|refused| refused.within(ACTIONS))?;
        Ok(Self(List::new(vec![single]).expect("one fits")))
    }

    fn write(&self) -> Value {
        Value::map([(ACTIONS, self.0.write())])
    }
}

impl Proposed {
    /// The actions as they are kept.
    pub(super) fn into_actions(self, context: &mut Context<'_>) -> Step<List<Action, 16>> {
        let actions = self.0.into_vec().into_iter().map(|one| one.into_action(context)).collect::<Step<Vec<Action>>>()?;
        let actions = List::new(actions).filter(|actions| !actions.is_empty());
        Ok(actions.ok_or(error::PROPOSAL_ACTION)?)
    }
}

impl ProposedAction {
    fn into_action(self, context: &mut Context<'_>) -> Step<Action> {
        let actor = self.actor.as_ref();
        Ok(match self.action {
            ActionKind::SetParameter => {
                let row = named_row(&given(context, "name", self.name)?)?.id;
                Action::SetParameter { row, value: given(context, "value", self.value)? }
            }
            ActionKind::Call => {
                let method = given(context, "method", self.method)?;
                let argument = self.argument.unwrap_or(Value::Map(Vec::new())).encode();
                let argument = Blob::new(argument).ok_or(error::INVALID_ARGUMENT)?;
                Action::Call { actor: named_actor(context.actors, actor)?, method, argument }
            }
            ActionKind::Disburse => Action::Disburse {
                bucket: given(context, "bucket", self.bucket)?,
                to: given(context, "to", self.to)?,
                amount: given(context, "amount", self.amount)?,
            },
            ActionKind::SetCouncil => {
                let mut members = given(context, "members", self.members)?.into_vec();
                members.sort();
                members.dedup();
                Action::SetCouncil { members: List::new(members).expect("no more than before") }
            }
            ActionKind::CircuitBreak => Action::CircuitBreak { actor: named_actor(context.actors, actor)? },
            ActionKind::Resume => Action::Resume { actor: named_actor(context.actors, actor)? },
            ActionKind::Upgrade => {
                Action::Upgrade { version: given(context, "version", self.version)?, height: given(context, "height", self.height)? }
            }
            ActionKind::CancelUpgrade => Action::CancelUpgrade { version: given(context, "version", self.version)? },
        })
    }
}

/// A field that the action's kind needs.
fn given<T>(context: &mut Context<'_>, name: &'static str, value: Option<T>) -> Step<T> {
    match value {
        Some(value) => Ok(value),
        None => Err(context.refuse(Refused { path: vec![ACTIONS, name], is_missing: true }).into()),
    }
}
