//! Tokens of the protocol. Their amounts have up to 128 bits and are decimal texts.

use crate::hex_text::{HexAddress, HexHash};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Tokens, by id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Tokens {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// The total number of rows.
    pub total_count: u64,
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Token {
    /// Its id.
    pub token_id: HexHash,
    /// A name for display.
    pub name: String,
    /// The symbol, such as CBY.
    pub symbol: String,
    /// Places behind the point, for people.
    pub decimals: u8,
    /// Who mints, names the hook, and hands it on.
    pub owner: HexAddress,
    /// The total supply.
    pub supply: String,
    /// How many there may be.
    pub max_supply: String,
    /// The actor that is asked about transfers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hook: Option<HexAddress>,
    /// Where more is said of it.
    pub metadata_uri: String,
    /// The height of its creation.
    pub created_at: u64,
}

/// What somebody has of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenBalance {
    /// The token's id.
    pub token_id: HexHash,
    /// The account's address.
    pub account: HexAddress,
    /// The amount.
    pub amount: String,
}

/// What somebody may move of another's tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenAllowance {
    /// The token's id.
    pub token_id: HexHash,
    /// The owner's address.
    pub owner: HexAddress,
    /// The spender's address.
    pub spender: HexAddress,
    /// The amount.
    pub amount: String,
}

/// Who holds a token, ascending by address. Accounts that hold nothing any more are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenHolders {
    /// The holders; there may be fewer than were asked for, also on a page that is not the last.
    pub holders: Vec<TokenBalance>,
    /// Give this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What happened to a token, newest first: `TokenCreated`, `TokenTransferred`, `TokenMinted`, `TokenBurned` and the like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TokenEvents {
    /// The events.
    pub events: Vec<super::Log>,
    /// Give this as `cursor` for older ones; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Tokens that an account holds, ascending by id. Those of which it holds nothing any more are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AccountTokens {
    /// The tokens; there may be fewer than were asked for, also on a page that is not the last.
    pub tokens: Vec<TokenHolding>,
    /// Give this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A token that an account holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenHolding {
    /// The token.
    pub token: Token,
    /// How many units of it.
    pub amount: String,
}
