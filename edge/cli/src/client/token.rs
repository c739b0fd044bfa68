//! `cowboy token`: tokens of the protocol. Amounts are in a token's smallest units.

use super::listing::{Rows, lines};
use super::method::instruction;
use super::session::{Session, unlisted};
use crate::send::{self, Sent, Terms};
use clap::{Args, Subcommand};
use cowboy_api::{HexHash, model};
use cowboy_console::{amount, failure::Failure, output::table};
use cowboy_system::basefee;
use cowboy_types::{Amount, error::MISSING_ENTITLEMENT};
use serde_json::{Value, json};

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Create a token; prints its id
    Create(Create),
    /// Send tokens
    Transfer {
        /// The token's id
        token: HexHash,
        /// The recipient's address
        to: String,
        /// The amount in the token's smallest unit
        amount: u128,
        /// The owner, if not the sender; needs an allowance
        #[arg(long, value_name = "ADDRESS")]
        from: Option<String>,
        #[command(flatten)]
        terms: Terms,
    },
    /// Allow an account to move a number of your tokens; replaces the previous allowance
    Approve {
        /// The token's id
        token: HexHash,
        /// The spender's address
        spender: String,
        /// The amount in the token's smallest unit
        amount: u128,
        #[command(flatten)]
        terms: Terms,
    },
    /// Mint tokens
    Mint {
        /// The token's id
        token: HexHash,
        /// The recipient's address
        to: String,
        /// The amount in the token's smallest unit
        amount: u128,
        #[command(flatten)]
        terms: Terms,
    },
    /// Burn tokens of your own
    Burn {
        /// The token's id
        token: HexHash,
        /// The amount in the token's smallest unit
        amount: u128,
        #[command(flatten)]
        terms: Terms,
    },
    /// Print a token
    Info {
        /// The token's id
        token: HexHash,
    },
    /// Print an account's balance of a token
    Balance {
        /// The token's id
        token: HexHash,
        /// The account [default: the key's account]
        account: Option<String>,
    },
    /// Print how many tokens a spender may move for an owner
    Allowance {
        /// The token's id
        token: HexHash,
        /// The owner's address
        owner: String,
        /// The spender's address
        spender: String,
    },
    /// Print the tokens
    List {
        #[command(flatten)]
        rows: Rows,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Create {
    /// A name for display
    #[arg(long)]
    name: String,
    /// The symbol, such as CBY
    #[arg(long)]
    symbol: String,
    /// The number of decimals for display
    #[arg(long, default_value_t = 9)]
    decimals: u8,
    /// The initial supply, which the sender receives
    #[arg(long, visible_alias = "initial-supply", default_value_t = 0)]
    supply: u128,
    /// The maximum supply, which never changes
    #[arg(long)]
    max_supply: Option<u128>,
    /// The actor whose hook is called for every transfer
    #[arg(long, value_name = "ADDRESS")]
    hook: Option<String>,
    /// A URI with more information
    #[arg(long, default_value = "")]
    metadata_uri: String,
    #[command(flatten)]
    terms: Terms,
}

impl Token {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Create(asked) => create(session, asked).await,
            Self::Transfer { token, to, amount, from, terms } => {
                let mut argument = json!({ "token_id": token, "to": session.address(&to)?.to_string(), "amount": amount.to_string() });
                let method = match from {
                    None => "token_transfer",
                    Some(owner) => {
                        argument["owner"] = session.address(&owner)?.to_string().into();
                        "token_transfer_from"
                    }
                };
                call(session, method, argument, &terms).await
            }
            Self::Approve { token, spender, amount, terms } => {
                let argument =
                    json!({ "token_id": token, "spender": session.address(&spender)?.to_string(), "amount": amount.to_string() });
                call(session, "token_approve", argument, &terms).await
            }
            Self::Mint { token, to, amount, terms } => {
                let argument = json!({ "token_id": token, "to": session.address(&to)?.to_string(), "amount": amount.to_string() });
                let sent = call(session, "token_mint", argument, &terms).await;
                match sent {
                    Err(failure) => Err(not_owner(session, token, failure).await),
                    Ok(()) => Ok(()),
                }
            }
            Self::Burn { token, amount, terms } => {
                call(session, "token_burn", json!({ "token_id": token, "amount": amount.to_string() }), &terms).await
            }
            Self::Info { token } => {
                let found = session.client.get(&format!("/token/{token}")).await;
                let found: model::Token = found.map_err(|error| unlisted(error, "cowboy token list"))?;
                session.output.result(&found, describe(&found));
                Ok(())
            }
            Self::Balance { token, account } => {
                let account = session.address_or_own(account.as_deref())?;
                let found: model::TokenBalance = session.client.get(&format!("/token/{token}/balance/{account}")).await?;
                session.output.result(&found, &found.amount);
                Ok(())
            }
            Self::Allowance { token, owner, spender } => {
                let (owner, spender) = (session.address(&owner)?, session.address(&spender)?);
                let found: model::TokenAllowance = session.client.get(&format!("/token/{token}/allowance/{owner}/{spender}")).await?;
                session.output.result(&found, &found.amount);
                Ok(())
            }
            Self::List { rows } => {
                let line = |token: &model::Token| format!("{}  {:<8} {}", token.token_id, token.symbol, token.name);
                rows.print::<model::Tokens>(session, "/tokens", |tokens| lines(tokens, line, "no tokens")).await
            }
        }
    }
}

async fn create(session: &Session, asked: Create) -> Result<(), Failure> {
    let mut argument = json!({
        "name": asked.name,
        "symbol": asked.symbol,
        "decimals": asked.decimals,
        "initial_supply": asked.supply.to_string(),
        "metadata_uri": asked.metadata_uri,
    });
    if let Some(most) = asked.max_supply {
        argument["max_supply"] = most.to_string().into();
    }
    if let Some(hook) = &asked.hook {
        argument["hook"] = session.address(hook)?.to_string().into();
    }
    let sent = post(session, "token_create", &argument, &asked.terms).await?;
    let id = sent.receipt.as_ref().map(|receipt| receipt.return_value.clone()).unwrap_or_default();
    let shown = id.as_str().map_or_else(String::new, |id| format!("\nToken:  {id}"));
    session.output.result(
        &json!({ "tx_hash": sent.tx_hash, "token_id": id, "receipt": sent.receipt }),
        format_args!("Transaction hash: {}{shown}", sent.tx_hash),
    );
    Ok(())
}

async fn post(session: &Session, method: &str, argument: &Value, terms: &Terms) -> Result<Sent, Failure> {
    send::send(&session.client, &session.key()?, instruction(basefee::NUMBER, method, argument, Amount::ZERO)?, terms).await
}

async fn call(session: &Session, method: &str, argument: Value, terms: &Terms) -> Result<(), Failure> {
    session.submit(instruction(basefee::NUMBER, method, &argument, Amount::ZERO)?, terms).await
}

/// Says whose token it is, where the sender may not mint: an account has no manifest that could be changed.
async fn not_owner(session: &Session, token: HexHash, failure: Failure) -> Failure {
    match failure {
        Failure::Api(mut error) if error.code == MISSING_ENTITLEMENT.code => {
            let found: Option<model::Token> = session.client.get(&format!("/token/{token}")).await.ok();
            let owner = found.map_or_else(String::new, |found| format!(" {}", found.owner));
            error.what = format!("The sender may not mint {token}.");
            error.why = format!("Only its owner{owner} may, and whom it grants token_mint.");
            error.fix = format!(
                "Send it with the owner's key, or let the owner grant it: cowboy entitlement grant ADDRESS token:{token} token_mint."
            );
            Failure::Api(error)
        }
        other => other,
    }
}

fn describe(token: &model::Token) -> String {
    table([
        ("token", token.token_id.to_string()),
        ("name", format!("{} ({}), {}", token.name, token.symbol, amount::counted(token.decimals, "decimal"))),
        ("owner", token.owner.to_string()),
        ("supply", format!("{} of at most {}", token.supply, token.max_supply)),
        ("hook", token.hook.map_or_else(|| "none".to_owned(), |hook| hook.to_string())),
        ("made at", token.created_at.to_string()),
    ])
}
