//! The methods and events of tokens, which 0x06 answers.

use crate::actor::methods;
use crate::ledger::{NAME_BYTES, SYMBOL_BYTES, URI_BYTES};
use crate::schema::{events, form};
use cowboy_types::actors::BASEFEE as NUMBER;
use cowboy_types::{Address, Hash, Text};

form! {
    /// A token.
    pub(crate) struct Described {
        /// Its name, for people.
        name: Text<NAME_BYTES>,
        /// Its symbol, such as CBY.
        symbol: Text<SYMBOL_BYTES>,
        /// Decimal places, for people.
        decimals: u8,
        /// Who mints, names the hook, and transfers the ownership.
        owner: Address,
        /// The total supply.
        supply: u128,
        /// The largest supply.
        max_supply: u128,
        /// The actor that is asked about transfers.
        hook: Option<Address>,
        /// Where more is said of it.
        metadata_uri: Text<URI_BYTES>,
    }
}

form! {
    /// What a token's hook is called with: the transfer that it may undo by failing.
    pub(crate) struct HookCall {
        /// The token's id.
        token_id: Hash,
        /// The account or actor that transfers.
        operator: Address,
        /// The sender.
        from: Address,
        /// The recipient.
        to: Address,
        /// In the smallest unit of the token.
        amount: u128,
    }
}

methods! {
    /// What 0x06 is asked about tokens.
    pub(crate) METHODS by NUMBER;

    /// Creates a token and returns its id. The sender owns it and receives the initial supply.
    "token_create" Create [kept] {
        /// Its name, for people; not empty.
        name: Text<NAME_BYTES>,
        /// Its symbol, such as CBY; not empty.
        symbol: Text<SYMBOL_BYTES>,
        /// Decimal places, for people; at most 38.
        decimals: u8 = 9,
        /// What the sender receives.
        initial_supply: u128 = 0,
        /// The largest supply.
        max_supply: u128 = u128::MAX,
        /// The actor that is asked about every transfer, and undoes it by failing.
        hook: Option<Address>,
        /// Where more is said of it.
        metadata_uri: Text<URI_BYTES> = Text::default(),
    } -> Hash [token_create, token_create_cells];

    /// Transfers the sender's tokens. A token with a hook returns what the hook does.
    "token_transfer" Transfer [] {
        /// The token's id.
        token_id: Hash,
        /// The recipient.
        to: Address,
        /// In the smallest unit of the token.
        amount: u128,
    } -> () [token_transfer, token_transfer_cells];

    /// Transfers tokens of an owner who approved the sender as spender.
    "token_transfer_from" TransferFrom [] {
        /// The token's id.
        token_id: Hash,
        /// Whose tokens.
        owner: Address,
        /// The recipient.
        to: Address,
        /// How much; the allowance shrinks by it.
        amount: u128,
    } -> () [token_transfer_from, token_transfer_from_cells];

    /// Lets a spender transfer the sender's tokens. Replaces what the spender was allowed before. The sender puts `rent.record_deposit` down, and
    /// has it back when nothing is left to transfer.
    "token_approve" Approve [] {
        /// The token's id.
        token_id: Hash,
        /// Who may transfer them.
        spender: Address,
        /// How much in all.
        amount: u128,
    } -> () [token_approve, token_approve_cells];

    /// Mints tokens. The owner, or the holder of the permission token_mint.
    "token_mint" Mint [] {
        /// The token's id.
        token_id: Hash,
        /// The recipient.
        to: Address,
        /// In the smallest unit of the token.
        amount: u128,
    } -> () [token_mint, token_transfer_cells];

    /// Burns the sender's tokens.
    "token_burn" Burn [] {
        /// The token's id.
        token_id: Hash,
        /// In the smallest unit of the token.
        amount: u128,
    } -> () [token_burn, token_transfer_cells];

    /// Returns an account's balance.
    "token_balance_of" BalanceOf [view] {
        /// The token's id.
        token_id: Hash,
        /// The account.
        account: Address,
    } -> u128 [token_balance_of];

    /// Returns what a spender may transfer of an owner's tokens.
    "token_allowance" Allowance [view] {
        /// The token's id.
        token_id: Hash,
        /// Whose tokens.
        owner: Address,
        /// Who may transfer them.
        spender: Address,
    } -> u128 [token_balance_of];

    /// Returns the total supply.
    "token_total_supply" TotalSupply [view] {
        /// The token's id.
        token_id: Hash,
    } -> u128 [token_balance_of];

    /// Returns a token.
    "token_get" Get [view] {
        /// The token's id.
        token_id: Hash,
    } -> Described;

    /// Names another hook, or none. The owner only.
    "token_set_hook" SetHook [] {
        /// The token's id.
        token_id: Hash,
        /// The actor that is asked about transfers.
        hook: Option<Address>,
    } -> ();

    /// Transfers the ownership of a token. The owner only.
    "token_transfer_ownership" TransferOwnership [] {
        /// The token's id.
        token_id: Hash,
        /// The new owner.
        owner: Address,
    } -> ();
}

events! {
    /// What 0x06 emits about tokens.
    pub(crate) EVENTS by NUMBER;

    /// A token was created.
    "TokenCreated" Created {
        /// Its owner.
        owner: Address,
        /// The initial supply.
        supply: u128,
        /// The token's id.
        token_id: Hash,
    }

    /// Tokens were transferred.
    "TokenTransferred" Transferred {
        /// The sender.
        from: Address,
        /// The recipient.
        to: Address,
        /// In the smallest unit of the token.
        amount: u128,
        /// The token's id.
        token_id: Hash,
    }

    /// An owner allowed a spender.
    "TokenApproved" Approved {
        /// Whose tokens.
        owner: Address,
        /// Who may transfer them.
        spender: Address,
        /// How much in all.
        amount: u128,
        /// The token's id.
        token_id: Hash,
    }

    /// Tokens were minted.
    "TokenMinted" Minted {
        /// The recipient.
        to: Address,
        /// In the smallest unit of the token.
        amount: u128,
        /// The total supply after it.
        supply: u128,
        /// The token's id.
        token_id: Hash,
    }

    /// Tokens were burned.
    "TokenBurned" Burned {
        /// Whose tokens.
        from: Address,
        /// In the smallest unit of the token.
        amount: u128,
        /// The total supply after it.
        supply: u128,
        /// The token's id.
        token_id: Hash,
    }

    /// The owner named another hook, or none.
    "TokenHookSet" HookSet {
        /// The actor that is asked about transfers.
        hook: Option<Address>,
        /// The token's id.
        token_id: Hash,
    }

    /// A token has another owner.
    "TokenOwnershipTransferred" OwnershipTransferred {
        /// The new owner.
        owner: Address,
        /// The token's id.
        token_id: Hash,
    }
}
