//! `cowboy search`.

use super::session::Session;
use clap::Args;
use cowboy_api::model::{self, SEARCH_CHARACTERS};
use cowboy_console::{amount, failure::Failure};

/// Searches by the beginning of a name, of an actor's class or handler, or of an address.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cowboy search Oracle\n  cowboy search greet\n  cowboy search 0x88f8")]
pub(crate) struct Search {
    /// The first 2 to 64 characters of what you search, in upper or lower case
    text: String,
}

impl Search {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        let letters = self.text.trim().chars().count();
        if !SEARCH_CHARACTERS.contains(&letters) {
            let what = format!("{:?} has {}", self.text, amount::counted(letters, "character"));
            return Err(Failure::argument(what, format!("give {} to {}", SEARCH_CHARACTERS.start(), SEARCH_CHARACTERS.end())));
        }
        let url = reqwest::Url::parse_with_params("http://node/search", [("text", &self.text)])
            .map_err(|error| Failure::argument(error.to_string(), "give 2 to 64 letters"))?;
        let found: model::SearchResults = session.client.get(&format!("/search?{}", url.query().unwrap_or_default())).await?;
        let lines = found.results.iter().map(|one| format!("{:<8} {:<32} {}", one.kind, one.text, one.address));
        let said = lines.collect::<Vec<_>>().join("\n");
        session.output.result(&found, if said.is_empty() { format!("nothing begins with {:?}", self.text) } else { said });
        Ok(())
    }
}
