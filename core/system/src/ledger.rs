//! The records of tokens, which 0x06 keeps. No other file spells their keys.

use cowboy_state::{Directory, Key, Kind, Miss, Step, World};
pub use cowboy_types::actors::BASEFEE as NUMBER;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, Text, error, keccak256, record};

/// The most bytes of a token's name.
pub(crate) const NAME_BYTES: usize = 64;

/// The most bytes of a token's symbol.
pub(crate) const SYMBOL_BYTES: usize = 16;

/// The most bytes of the address where more is said of a token.
pub(crate) const URI_BYTES: usize = 256;

record! {
    /// A token.
    pub struct Token {
        /// Who mints, names the hook, and hands it on.
        pub owner: Address,
        /// A name for display.
        pub name: Text<NAME_BYTES>,
        /// The symbol, such as CBY.
        pub symbol: Text<SYMBOL_BYTES>,
        /// Places behind the point, for people.
        pub decimals: u8,
        /// The total supply.
        pub supply: u128,
        /// How many there may be.
        pub max_supply: u128,
        /// Who is asked about transfers.
        pub hook: Option<Address>,
        /// Where more is said of it.
        pub metadata_uri: Text<URI_BYTES>,
        /// The height of its creation.
        pub created_at: Height,
    }
}

record! {
    /// A number of tokens.
    pub struct Units {
        /// The amount.
        pub amount: u128,
    }
}

record! {
    /// What a spender may move of another's tokens.
    pub struct Allowed {
        /// The amount; never none.
        pub amount: u128,
        /// What the owner put down for this record.
        pub deposit: Amount,
    }
}

const OWNER: Address = Address::system(NUMBER);

/// What separates the ids of tokens from every other.
const ID_DOMAIN: &[u8] = b"cowboy-token:";

fn named(prefix: &[u8], parts: &[&[u8]]) -> Key {
    Key::named(Kind::System, OWNER, [prefix, &parts.concat()].concat())
}

/// The id of somebody's n-th token: keccak256(domain ‖ creator ‖ n, eight bytes, big-endian).
pub fn token_id(creator: Address, number: u64) -> Hash {
    keccak256(&[ID_DOMAIN, &creator.0, &number.to_be_bytes()])
}

/// A token's record.
pub fn token_key(id: &Hash) -> Key {
    named(b"token:", &[&id.0])
}

/// What somebody has of a token.
pub fn balance_key(id: &Hash, account: Address) -> Key {
    named(b"token-balance:", &[&id.0, &account.0])
}

/// What somebody may move of another's.
pub fn allowance_key(id: &Hash, owner: Address, spender: Address) -> Key {
    named(b"token-allowance:", &[&id.0, &owner.0, &spender.0])
}

/// How many tokens somebody made.
pub fn made_key(creator: Address) -> Key {
    named(b"tokens-made:", &[&creator.0])
}

/// Every token, by id.
pub const fn tokens() -> Directory {
    Directory::of_system(OWNER, 32)
}

/// A token, where there is one.
pub fn find(world: &World, id: &Hash) -> Result<Option<Token>, Miss> {
    world.read(&token_key(id))
}

/// A token; fails where there is none.
pub fn read(world: &World, id: &Hash) -> Step<Token> {
    Ok(find(world, id)?.ok_or(error::TOKEN_NOT_FOUND)?)
}

/// A number of tokens under a key; none where nothing stands there.
pub fn units(world: &World, key: &Key) -> Result<u128, Miss> {
    Ok(world.read::<Units>(key)?.map_or(0, |units| units.amount))
}

/// What a spender may move, where it may move anything.
pub fn allowed(world: &World, key: &Key) -> Result<Option<Allowed>, Miss> {
    world.read(key)
}

/// Keeps a number of tokens; nothing stands for none.
pub fn set_units(world: &mut World, key: Key, amount: u128) {
    if amount == 0 { world.remove(key) } else { world.write(key, &Units { amount }) }
}

/// How many tokens somebody made.
pub fn made(world: &World, creator: Address) -> Result<u64, Miss> {
    Ok(world.read::<Count>(&made_key(creator))?.map_or(0, |count| count.0))
}
