//! The part of the ledger's indexes that people search with: actors by the words of their source, and tokens by their holders.
//!
//! Like every index it holds nothing that the blocks, the receipts and the ledger's outlines of sources do not say. Only a delivery knows
//! the source of an actor that another actor deploys, so that the ledger keeps its outline.

use crate::{
    error::StoreError,
    position::{Place, place},
    tables::OUTLINES,
    view::View,
};
use cowboy_types::{
    Actor, Address, Block, Hash, Instruction, Receipt,
    cbor::{self, Value},
    instruction::{Custom, Ordinary},
};
use redb::{ReadableTable, Table, TableDefinition, WriteTransaction};

/// The system actor of tokens.
const TOKENS: Address = Address::system(cowboy_types::actors::BASEFEE);

/// The most words that are kept of one source, and the most letters of one.
const MAX_WORDS: usize = 128;
const MAX_LETTERS: usize = 64;

/// A word in lower case, actor → what the word is there, as [`Word::number`] has it, and its spelling.
const BY_WORD: TableDefinition<(&str, &[u8; 20]), (u8, &str)> = TableDefinition::new("by_word");
/// Actor → the block in which it got its source, and what that defines, as [`Outline::to_text`] has it. An upgrade replaces it.
const CURRENT: TableDefinition<&[u8; 20], (u64, &str)> = TableDefinition::new("sources");
/// Token, account → nothing: everybody who ever received the token.
const BY_TOKEN: TableDefinition<(&[u8; 32], &[u8; 20]), ()> = TableDefinition::new("by_token");
/// Account, token → nothing.
const BY_HOLDER: TableDefinition<(&[u8; 20], &[u8; 32]), ()> = TableDefinition::new("by_holder");
/// Token, place, event's index → nothing: what happened to the token.
const TOKEN_EVENTS: TableDefinition<(&[u8; 32], u64, u32, u32), ()> = TableDefinition::new("token_events");
/// There once every block of the ledger is in the catalog.
const COMPLETE: TableDefinition<(), ()> = TableDefinition::new("catalog_2");

/// What a word is in an actor's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// The name of a class.
    Class,
    /// The name of a function or method that does not begin with an underscore.
    Handler,
}

impl Word {
    const fn number(self) -> u8 {
        match self {
            Self::Class => 0,
            Self::Handler => 1,
        }
    }
}

/// A word that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The actor whose source has it.
    pub actor: Address,
    /// What it is there.
    pub word: Word,
    /// As it is spelled there.
    pub spelling: String,
}

/// The tables, open for writing.
pub(crate) struct Tables<'a> {
    by_word: Table<'a, (&'static str, &'static [u8; 20]), (u8, &'static str)>,
    current: Table<'a, &'static [u8; 20], (u64, &'static str)>,
    by_token: Table<'a, (&'static [u8; 32], &'static [u8; 20]), ()>,
    by_holder: Table<'a, (&'static [u8; 20], &'static [u8; 32]), ()>,
    token_events: Table<'a, (&'static [u8; 32], u64, u32, u32), ()>,
}

impl<'a> Tables<'a> {
    pub(crate) fn open(write: &'a WriteTransaction) -> Result<Self, StoreError> {
        Ok(Self {
            by_word: write.open_table(BY_WORD)?,
            current: write.open_table(CURRENT)?,
            by_token: write.open_table(BY_TOKEN)?,
            by_holder: write.open_table(BY_HOLDER)?,
            token_events: write.open_table(TOKEN_EVENTS)?,
        })
    }

    pub(crate) fn delete(write: &WriteTransaction) -> Result<(), StoreError> {
        write.delete_table(BY_WORD)?;
        write.delete_table(CURRENT)?;
        write.delete_table(BY_TOKEN)?;
        write.delete_table(BY_HOLDER)?;
        write.delete_table(TOKEN_EVENTS)?;
        Ok(())
    }

    /// Adds what a block says.
    pub(crate) fn index(&mut self, block: &Block, receipts: &[Receipt], outlines: &[Outline]) -> Result<(), StoreError> {
        let number = block.header.number.0;
        for (transaction, receipt) in block.transactions.iter().zip(receipts) {
            if let (Some(actor), Some(code)) = (receipt.created, deployed(&transaction.instruction)) {
                self.name(number, &Outline::of(actor, &String::from_utf8_lossy(code)))?;
            }
        }
        outlines.iter().try_for_each(|outline| self.name(number, outline))?;
        for (index, receipt) in (0..).zip(receipts) {
            for (position, event) in (0..).zip(receipt.events.iter()).filter(|(_, event)| event.emitter == TOKENS) {
                let Some((token, holders)) = token_event(&event.data) else { continue };
                self.token_events.insert((&token.0, number, index, position), ())?;
                for holder in holders {
                    self.by_token.insert((&token.0, &holder.0), ())?;
                    self.by_holder.insert((&holder.0, &token.0), ())?;
                }
            }
        }
        Ok(())
    }

    /// Removes the events of tokens in a block.
    pub(crate) fn forget(&mut self, number: u64, receipts: &[Receipt]) -> Result<(), StoreError> {
        for (index, receipt) in (0..).zip(receipts) {
            for (position, event) in (0..).zip(receipt.events.iter()).filter(|(_, event)| event.emitter == TOKENS) {
                if let Some((token, _)) = token_event(&event.data) {
                    self.token_events.remove((&token.0, number, index, position))?;
                }
            }
        }
        Ok(())
    }

    /// Adds the source that an actor got in a block.
    fn name(&mut self, number: u64, outline: &Outline) -> Result<(), StoreError> {
        let actor = &outline.actor.0;
        // A block that was lost comes back after later ones, which may have upgraded the actor.
        let is_newest = self.current.get(actor)?.is_none_or(|known| known.value().0 <= number);
        if is_newest {
            self.current.insert(actor, (number, &*outline.to_text()))?;
        }
        // A class counts more than a handler that is spelled alike, so it is written last.
        let (classes, handlers): (Vec<_>, Vec<_>) = outline.words.iter().partition(|(word, _)| *word == Word::Class);
        for (word, spelling) in handlers.into_iter().chain(classes) {
            self.by_word.insert((spelling.to_lowercase().as_str(), actor), (word.number(), spelling.as_str()))?;
        }
        Ok(())
    }
}

/// What the source of an actor defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// The actor.
    pub actor: Address,
    /// The name of its class: the one that is marked `@actor`, or else the last one.
    class: Option<String>,
    /// The names of classes and functions, in the order of the source; at most [`MAX_WORDS`].
    words: Vec<(Word, String)>,
}

impl Outline {
    /// The outline of a source that this actor has.
    pub fn of(actor: Address, source: &str) -> Self {
        let words = words(source).into_iter().map(|(word, name)| (word, name.to_owned())).collect();
        Self { actor, class: class(source).map(str::to_owned), words }
    }

    /// The class's name on the first line, and the definitions as Python spells them on the others.
    pub(crate) fn to_text(&self) -> String {
        let mut text = self.class.clone().unwrap_or_default();
        for (word, name) in &self.words {
            text.push_str(if *word == Word::Class { "\nclass " } else { "\ndef " });
            text.push_str(name);
        }
        text
    }

    /// The outline that was written as this text.
    fn from_text(actor: Address, text: &str) -> Self {
        let (class, definitions) = text.split_once('\n').unwrap_or((text, ""));
        Self { class: Some(class).filter(|class| !class.is_empty()).map(str::to_owned), ..Self::of(actor, definitions) }
    }
}

/// The outlines of a block.
pub(crate) fn outlines_of(
    table: &impl ReadableTable<(u64, &'static [u8; 20]), &'static str>,
    number: u64,
) -> Result<Vec<Outline>, StoreError> {
    let rows = table.range((number, &[0; 20])..=(number, &[u8::MAX; 20]))?;
    rows.map(|row| row.map(|(key, text)| Outline::from_text(Address(*key.value().1), text.value())).map_err(Into::into)).collect()
}

/// The source that an instruction deploys.
fn deployed(instruction: &Instruction) -> Option<&[u8]> {
    match instruction {
        Instruction::Actor(Actor::Deploy { code, .. })
        | Instruction::Custom(Custom::Impersonate { instruction: Ordinary::Actor(Actor::Deploy { code, .. }), .. }) => Some(code),
        _ => None,
    }
}

/// The names of classes and functions in a source, in its order. A reading by lines: a text over several lines that looks like a
/// definition counts as one.
fn words(source: &str) -> Vec<(Word, &str)> {
    source.lines().filter_map(word).take(MAX_WORDS).collect()
}

/// What a line defines.
fn word(line: &str) -> Option<(Word, &str)> {
    let line = line.trim_start();
    let (word, rest) = match line.strip_prefix("class ") {
        Some(rest) => (Word::Class, rest),
        None => (Word::Handler, line.strip_prefix("async ").unwrap_or(line).trim_start().strip_prefix("def ")?),
    };
    let rest = rest.trim_start();
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    let name = &rest[..end];
    let is_name = !name.is_empty() && !name.starts_with('_') && name.chars().count() <= MAX_LETTERS;
    is_name.then_some((word, name))
}

/// The class that is marked `@actor`, or else the last one.
fn class(source: &str) -> Option<&str> {
    let (mut is_marked, mut last) = (false, None);
    for line in source.lines() {
        if let Some((Word::Class, name)) = word(line) {
            if is_marked {
                return Some(name);
            }
            last = Some(name);
        }
        let is_between = line.trim().is_empty() || line.starts_with(['@', '#']);
        is_marked = line.starts_with('@') && line.contains("actor") || is_marked && is_between;
    }
    last
}

/// The token that an event of the tokens' system actor is about, and who holds some of it since.
fn token_event(data: &[u8]) -> Option<(Hash, Vec<Address>)> {
    let value = cbor::decode(data).ok()?;
    let token = Hash(value.get("token_id")?.as_bytes()?.try_into().ok()?);
    let address = |name: &str| value.get(name).and_then(Value::as_bytes).and_then(|bytes| Some(Address(bytes.try_into().ok()?)));
    // Who creates a token owns its first supply; an owner that comes later has none of it by that.
    let receiver = if value.get("supply").is_some() { address("to").or_else(|| address("owner")) } else { address("to") };
    Some((token, receiver.into_iter().collect()))
}

/// Notes that every block of the ledger is in the catalog.
pub(crate) fn complete(write: &WriteTransaction) -> Result<(), StoreError> {
    drop(Tables::open(write)?);
    write.open_table(COMPLETE)?.insert((), ())?;
    Ok(())
}

/// Empties the catalog, as if an older program had written the ledger.
#[cfg(test)]
pub(crate) fn forget(write: &WriteTransaction) -> Result<(), StoreError> {
    Tables::delete(write)?;
    drop(Tables::open(write)?);
    write.delete_table(COMPLETE)?;
    Ok(())
}

impl View {
    /// Whether every block of the ledger is in the catalog.
    pub(crate) fn is_catalogued(&self) -> Result<bool, StoreError> {
        match self.read.open_table(COMPLETE) {
            Ok(table) => Ok(table.get(())?.is_some()),
            Err(redb::TableError::TableDoesNotExist(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// What the sources define that actors got in a block.
    pub(crate) fn outlines(&self, number: u64) -> Result<Vec<Outline>, StoreError> {
        self.read(|| format!("the outlines of block {number}"), || outlines_of(&self.read.open_table(OUTLINES)?, number))
    }

    /// Actors whose source has, or had before an upgrade, a class or a handler that begins with this text, by word; at most `limit`. The
    /// case of letters does not matter.
    pub fn actors_with(&self, text: &str, limit: usize) -> Result<Vec<Found>, StoreError> {
        let text = text.to_lowercase();
        let read = || {
            let rows = self.read.open_table(BY_WORD)?;
            let rows = rows.range((text.as_str(), &[0; 20])..)?;
            let mut found = Vec::new();
            for row in rows.take(limit) {
                let (key, value) = row?;
                let ((word, actor), (number, spelling)) = (key.value(), value.value());
                if !word.starts_with(&text) {
                    break;
                }
                let word = if number == Word::Class.number() { Word::Class } else { Word::Handler };
                found.push(Found { actor: Address(*actor), word, spelling: spelling.to_owned() });
            }
            Ok(found)
        };
        self.listed(|| format!("the actors with {text:?}"), read)
    }

    /// Whether the source that an actor has now defines a function of this name.
    pub fn has_handler(&self, actor: &Address, name: &str) -> Result<bool, StoreError> {
        let is_handler = |(word, spelling): &(Word, String)| *word == Word::Handler && spelling == name;
        Ok(self.current_outline(actor)?.is_some_and(|outline| outline.words.iter().any(is_handler)))
    }

    /// The name of the class of an actor's present source: the one that is marked `@actor`, or else the last one; `None` where it has
    /// none, or no block of this ledger says it.
    pub fn class_of(&self, actor: &Address) -> Result<Option<String>, StoreError> {
        Ok(self.current_outline(actor)?.and_then(|outline| outline.class))
    }

    fn current_outline(&self, actor: &Address) -> Result<Option<Outline>, StoreError> {
        let read = || {
            let row = self.read.open_table(CURRENT)?.get(&actor.0)?;
            Ok(row.map(|row| Outline::from_text(*actor, row.value().1)))
        };
        self.complete(|| format!("the source of {actor}"), read)
    }

    /// Accounts that ever received a token, from an address on, ascending; at most `limit`.
    pub fn holders(&self, token: &Hash, from: &Address, limit: usize) -> Result<Vec<Address>, StoreError> {
        let read = || {
            let rows = self.read.open_table(BY_TOKEN)?.range((&token.0, &from.0)..=(&token.0, &[u8::MAX; 20]))?;
            rows.take(limit).map(|row| row.map(|(key, _)| Address(*key.value().1)).map_err(Into::into)).collect()
        };
        self.listed(|| format!("the holders of token {token}"), read)
    }

    /// Tokens that an account ever received, from an id on, ascending; at most `limit`.
    pub fn tokens_of(&self, account: &Address, from: &Hash, limit: usize) -> Result<Vec<Hash>, StoreError> {
        let read = || {
            let rows = self.read.open_table(BY_HOLDER)?.range((&account.0, &from.0)..=(&account.0, &[u8::MAX; 32]))?;
            rows.take(limit).map(|row| row.map(|(key, _)| Hash(*key.value().1)).map_err(Into::into)).collect()
        };
        self.listed(|| format!("the tokens of {account}"), read)
    }

    /// Events of a token, newest first, older than `before` where given: the receipt's place and the event's index in it; at most
    /// `limit`.
    pub fn of_token(&self, token: &Hash, before: Option<(Place, u32)>, limit: usize) -> Result<Vec<(Place, u32)>, StoreError> {
        let (end, event) = before.unwrap_or((place(u64::MAX, u32::MAX), u32::MAX));
        let read = || {
            let rows = self.read.open_table(TOKEN_EVENTS)?;
            let rows = rows.range((&token.0, 0, 0, 0)..(&token.0, end.number, end.index, event))?;
            let event = |(_, number, index, event): (&[u8; 32], u64, u32, u32)| (place(number, index), event);
            rows.rev().take(limit).map(|row| row.map(|(key, _)| event(key.value())).map_err(Into::into)).collect()
        };
        self.listed(|| format!("the events of token {token}"), read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_classes_and_functions() {
        let source = "class Helper:\n    pass\n\n@actor\nclass  Oracle(Actor):\n    async def ask(self):\n        def _inner(): pass\n    def price (self): ...\ndefine = 1\n";
        let expected = [(Word::Class, "Helper"), (Word::Class, "Oracle"), (Word::Handler, "ask"), (Word::Handler, "price")];
        assert_eq!(words(source), expected);
        assert_eq!(class(source), Some("Oracle"));
        assert_eq!(class("@actor\n\nclass First:\n    pass\nclass Last:\n    pass\n"), Some("First"));
        assert_eq!(class("class First: ...\nclass Last: ...\n"), Some("Last"));
        assert_eq!(class("def greet(): ...\n"), None);
        assert_eq!(words(&"def a(): ...\n".repeat(1_000)).len(), MAX_WORDS);
        assert!(words(&format!("def {}(): ...", "a".repeat(65))).is_empty());
    }

    #[test]
    fn an_outline_comes_back_as_it_was() {
        let source = "class Helper: ...\n@actor\nclass Oracle:\n    async def ask(self): ...\nclass Last: ...\n";
        for source in [source, "def greet(): ...\n", "x = 1\n", ""] {
            let outline = Outline::of(Address([7; 20]), source);
            assert_eq!(Outline::from_text(outline.actor, &outline.to_text()), outline, "{source}");
        }
    }

    #[test]
    fn an_event_without_a_token_is_none() {
        let token = Value::Bytes(vec![1; 32]);
        let (owner, to) = (Value::Bytes(vec![2; 20]), Value::Bytes(vec![3; 20]));
        let event = |facts: Vec<(&str, Value)>| token_event(&Value::dict(facts).encode());
        let supply = ("supply", Value::uint(5));
        let (first, second) = (Address([2; 20]), Address([3; 20]));
        assert_eq!(event(vec![("token_id", token.clone()), ("owner", owner.clone()), supply.clone()]), Some((Hash([1; 32]), vec![first])));
        assert_eq!(event(vec![("token_id", token.clone()), ("to", to), supply]), Some((Hash([1; 32]), vec![second])));
        assert_eq!(event(vec![("token_id", token), ("owner", owner)]), Some((Hash([1; 32]), vec![])), "a new owner holds nothing yet");
        assert_eq!(event(vec![("owner", Value::Null)]), None);
        assert_eq!(token_event(b"\xff"), None);
    }
}
