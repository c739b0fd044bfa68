//! Releases that the account opened: the committee's answers, who is paid for them, and who is accused (decisions 144, 651).

use super::{unproven, unread};
use crate::client::{
    method::{encoded_call, instruction},
    session::Session,
};
use crate::send::{self, Sent, Terms};
use cowboy_api::{model, sender::Request};
use cowboy_console::failure::Failure;
use cowboy_proxy::{CollectError, Collected, FalseAnswer, collect};
use cowboy_sealing::TransportSecret;
use cowboy_service::Chain;
use cowboy_system::secrets::NUMBER;
use cowboy_types::Hash;
use cowboy_types::units::Amount;
use serde_json::json;

/// The answers to a release, put together. Members whose answers do not hold are accused, also where the others are too few.
pub(crate) async fn collected(
    session: &Session,
    chain: &Chain,
    release: &Hash,
    transport: &TransportSecret,
    terms: &Terms,
) -> Result<Collected, Failure> {
    match collect(chain, release, transport).await {
        Ok(collected) => Ok(collected),
        Err(error) => {
            accuse(session, error.false_answers(), terms).await;
            Err(uncollected(error))
        }
    }
}

/// A failure to have something released.
fn uncollected(error: CollectError) -> Failure {
    match error {
        CollectError::Chain(error) => unread(error),
        CollectError::NotFound | CollectError::Few { .. } => unproven(error),
    }
}

/// Closes a release: those who answered are paid, and those who signed what does not hold are accused. A failure here costs the reader nothing.
pub(crate) async fn close(session: &Session, release: &Hash, collected: &Collected, terms: &Terms) -> Result<(), Failure> {
    let closing = json!({ "release_id": release.to_string(), "epoch": collected.epoch, "served": collected.served });
    let closing = instruction(NUMBER, "close_release", &closing, Amount::ZERO)?;
    // An accusation takes the nonce after this.
    let own = Terms { no_wait: terms.no_wait && collected.false_answers.is_empty(), ..terms.clone() };
    if let Err(failure) = send::send(&session.client, &session.key()?, closing, &own).await {
        session.output.progress(format_args!("the release was not closed: {failure}"));
    }
    accuse(session, &collected.false_answers, terms).await;
    Ok(())
}

/// Accuses those who signed what does not hold. A failure here costs the reader nothing.
async fn accuse(session: &Session, answers: &[FalseAnswer], terms: &Terms) {
    // Each takes the nonce after the one before, and one that the chain would refuse is not paid for.
    let terms = &Terms { no_wait: false, force: false, ..terms.clone() };
    for answer in answers {
        let Request { actor, method, argument } = answer.accusation();
        let sending = async {
            let accusing = encoded_call(actor, method, argument.encode(), Amount::ZERO)?;
            send::send(&session.client, &session.key()?, accusing, terms).await
        };
        match sending.await {
            Ok(_) => session.output.progress("a proxy signed an answer that does not hold: it loses stake and its seat"),
            Err(failure) => {
                session.output.progress(format_args!("a proxy signed an answer that does not hold, and was not accused: {failure}"))
            }
        }
    }
}

/// The release that a transaction opened.
pub(crate) fn opened(sent: &Sent) -> Result<Hash, Failure> {
    let event = |receipt: &model::Receipt| {
        let event = receipt.events.iter().find(|event| event.name == "release.opened")?;
        event.value["release_id"].as_str()?.parse().ok()
    };
    sent.receipt.as_ref().and_then(event).ok_or_else(|| unproven("the receipt names no release"))
}
