//! Fungible tokens of the protocol (003 §9, §17.3): they live at 0x06 beside the base fees, with keys of their own.
//!
//! Invariant: a token's supply is the sum of its balances, and never more than its most.
//!
//! An actor that a token names as its hook is asked about every transfer, and undoes it by failing; it may use a capped number of cycles.

pub mod handlers;
pub mod state;

use crate::actor::Method;

/// What 0x06 can be asked about tokens.
pub(crate) const METHODS: [Method; 12] = [
    Method {
        name: "token_create",
        doc: "{name, symbol, decimals?, initial_supply?, max_supply?, hook?, metadata_uri?} → the token's 32-byte id: makes a token of the sender's, who has the initial supply.",
        run: handlers::create,
    },
    Method {
        name: "token_transfer",
        doc: "{token_id, to, amount} → null: moves the sender's tokens. A token with a hook answers what the hook does.",
        run: handlers::transfer,
    },
    Method {
        name: "token_transfer_from",
        doc: "{token_id, owner, to, amount} → null: moves somebody's tokens, as far as they allowed it.",
        run: handlers::transfer_from,
    },
    Method {
        name: "token_approve",
        doc: "{token_id, spender, amount} → null: lets somebody move so many of the sender's tokens, in the place of what was allowed before.",
        run: handlers::approve,
    },
    Method {
        name: "token_mint",
        doc: "{token_id, to, amount} → null: makes tokens. The owner, or who holds the permission token_mint for it.",
        run: handlers::mint,
    },
    Method { name: "token_burn", doc: "{token_id, amount} → null: destroys the sender's tokens.", run: handlers::burn },
    Method { name: "token_balance_of", doc: "{token_id, account} → number: what somebody has.", run: handlers::balance_of },
    Method {
        name: "token_allowance",
        doc: "{token_id, owner, spender} → number: what somebody may move of another's.",
        run: handlers::allowance,
    },
    Method { name: "token_total_supply", doc: "{token_id} → number: how many there are.", run: handlers::total_supply },
    Method {
        name: "token_get",
        doc: "{token_id} → {name, symbol, decimals, owner, supply, max_supply, hook, metadata_uri}: a token.",
        run: handlers::get,
    },
    Method {
        name: "token_set_hook",
        doc: "{token_id, hook?} → null: names another hook, or none. The owner only.",
        run: handlers::set_hook,
    },
    Method {
        name: "token_transfer_ownership",
        doc: "{token_id, owner} → null: hands the token on. The owner only.",
        run: handlers::transfer_ownership,
    },
];
