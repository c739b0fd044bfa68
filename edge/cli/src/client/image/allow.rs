//! Images that jobs may run: the list of 0x11 (003 §9).

use super::{Decide, Which, failure, name_of};
use crate::{
    client::{
        chain, gov,
        listing::{all_of_view, lines},
        method::instruction,
        session::Session,
    },
    send::{self, Terms},
};
use commonware_codec::Encode as _;
use cowboy_api::{Hex, model};
use cowboy_console::{failure::Failure, output::table};
use cowboy_image::{Digest, Limits};
use cowboy_system::containers::NUMBER;
use cowboy_types::{Address, Amount, Instruction, actors, instruction::Ordinary};
use serde_json::{Value, json};
use std::path::Path;

/// Names are as long as the chain keeps them.
const NAME_BYTES: usize = 128;

/// An image that is decided about.
struct Named {
    digest: Digest,
    name: String,
}

impl Decide {
    /// What the argument names. An image on this computer is verified first, if it is to be allowed: nobody could run what runners refuse.
    fn named(&self, allowed: bool) -> Result<Named, Failure> {
        let (digest, name) = match self.image.rsplit_once("sha256:") {
            Some((name, _)) if !Path::new(&self.image).exists() => {
                let digest = self.image[name.len()..]
                    .parse()
                    .map_err(|error| Failure::argument(format!("{error}"), "give a file, or NAME@sha256:…"))?;
                (digest, name.trim_end_matches('@').to_owned())
            }
            _ => {
                let which = Which { image: self.image.as_str().into(), digest: None };
                let opened = which.open()?;
                if allowed {
                    cowboy_image::verify(&opened.layout, &opened.digest, Limits::default()).map_err(failure)?;
                }
                (opened.digest, name_of(&which.image))
            }
        };
        let name = self.name.clone().unwrap_or(name);
        if name.len() > NAME_BYTES {
            return Err(Failure::argument(format!("the name has {} bytes", name.len()), format!("give at most {NAME_BYTES} with --name")));
        }
        Ok(Named { digest, name })
    }
}

pub(super) async fn decide(session: &Session, decide: &Decide, allowed: bool) -> Result<(), Failure> {
    let Named { digest, name } = decide.named(allowed)?;
    let argument = json!({ "digest": format!("0x{}", digest.hex()), "allowed": allowed, "name": name });
    let image = reference(&name, &digest.to_string());
    let done = if allowed { "allowed" } else { "forbidden" };
    if session.client.health().await?.dev {
        let receipt = as_governance(session, &argument).await?;
        let value = json!({ "image": image, "digest": digest, "allowed": allowed, "tx_hash": receipt.tx_hash });
        session.output.result(&value, table([("image", format!("{image} is {done}")), ("transaction", receipt.tx_hash.to_string())]));
        return Ok(());
    }
    let decision = json!({ "action": "call", "actor": Address::system(NUMBER).to_string(), "method": "set_image", "argument": argument });
    let terms = Terms { no_wait: false, ..decide.terms.clone() };
    let proposal = gov::proposal(session, &decision, decide.deposit.as_deref()).await?;
    let sent = send::send(&session.client, &session.key()?, proposal, &terms).await?;
    let made = sent.receipt.as_ref().and_then(|receipt| receipt.events.iter().find(|event| event.name == "proposal.made"));
    let number = made.map_or(Value::Null, |event| event.value["proposal"].clone());
    let value = json!({ "image": image, "digest": digest, "proposal": number, "tx_hash": sent.tx_hash });
    let text = table([
        ("image", format!("{image} is {done} when proposal {number} is executed")),
        ("vote", format!("cowboy gov vote {number} yes")),
        ("then", format!("cowboy gov count {number}; cowboy gov execute {number}")),
        ("transaction", sent.tx_hash.to_string()),
    ]);
    session.output.result(&value, text);
    Ok(())
}

/// Calls `set_image` as governance, as dev chains let everybody.
async fn as_governance(session: &Session, argument: &Value) -> Result<model::Receipt, Failure> {
    let Instruction::Actor(call) = instruction(NUMBER, "set_image", argument, Amount::ZERO)? else {
        unreachable!("it is a call of an actor")
    };
    let sender = Hex(Address::system(actors::GOVERNANCE));
    let wish = model::Impersonate { sender, instruction: Hex(Ordinary::Actor(call).encode().to_vec()) };
    chain::receipt(session.client.post("/dev/impersonate", &wish).await?)
}

/// How a job names an image.
fn reference(name: &str, digest: &str) -> String {
    format!("{}@{digest}", if name.is_empty() { "image" } else { name })
}

pub(super) async fn list(session: &Session, all: bool) -> Result<(), Failure> {
    let rows = all_of_view(session, (NUMBER, "list_images"), json!({}), |row| &row["digest"]).await?;
    let shown: Vec<Value> = rows.iter().filter(|row| all || row["allowed"] == json!(true)).map(row).collect();
    let line = |row: &Value| {
        let is_allowed = row["allowed"] == json!(true);
        let mark = if is_allowed { "" } else { "  forbidden" };
        format!("{}  since {}{mark}", row["image"].as_str().unwrap_or_default(), row["since"])
    };
    session.output.result(&shown, lines(&shown, line, "no image is allowed"));
    Ok(())
}

/// A row of the chain with the digest as images have it.
fn row(row: &Value) -> Value {
    let name = row["name"].as_str().unwrap_or_default();
    let digest = format!("sha256:{}", row["digest"].as_str().unwrap_or_default().trim_start_matches("0x"));
    json!({ "image": reference(name, &digest), "digest": digest, "name": name, "allowed": row["allowed"], "since": row["since"] })
}
