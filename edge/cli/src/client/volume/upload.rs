//! Sending files of one partition to the relays.

use super::journal::Journal;
use super::local::{self, Item};
use super::progress::Progress;
use super::storage_failure;
use crate::client::session::Session;
use cowboy_console::failure::Failure;
use cowboy_host::clock;
use cowboy_types::Text;
use cowboy_volume::keys::PartitionKey;
use cowboy_volume::segments::Meta;
use cowboy_volume::{Change, Source, Volume};
use cowboy_volumes::{Leaf, Name, leaf};
use std::fs::Metadata;

/// What is to be committed.
#[derive(Default)]
pub(super) struct Sent {
    /// The leaves of the files.
    pub(super) changes: Vec<Change>,
    /// How many of them the relays had already.
    pub(super) resumed: usize,
}

/// When a file was written: ms since 1970.
fn written_ms(known: &Metadata) -> u64 {
    known.modified().map_or(0, clock::ms)
}

/// The leaf of a file that an earlier command sent and did not commit, where its content is the same and enough relays have it.
async fn kept(volume: &Volume, key: &PartitionKey, journal: &Journal, item: &Item, known: &Metadata) -> Result<Option<Leaf>, Failure> {
    let Some((leaf, height)) = journal.kept(&leaf::tag(key.tags(), &item.to)) else { return Ok(None) };
    let meta = Meta {
        path: Text::new(item.to.as_str()).expect("a path of a volume is short"),
        size: known.len(),
        hash: local::hash(&item.from).await?,
        written_ms: written_ms(known),
        kind: local::kind_of(&item.to),
    };
    Ok(volume.is_sent(key, (&leaf, height), &meta).await.then_some(leaf))
}

/// Sends files to the relays, but for those that they have from a command that was killed.
pub(super) async fn send(
    session: &Session,
    volume: &Volume,
    (partition, key): (&Name, &PartitionKey),
    items: &[&Item],
    progress: &mut Progress,
) -> Result<Sent, Failure> {
    let journal = Journal::of(session, volume, partition);
    journal.forget_old(|height| volume.is_recent(height));
    let mut sent = Sent::default();
    for item in items {
        let file = tokio::fs::File::open(&item.from).await.map_err(Failure::file(&item.from))?;
        let known = file.metadata().await.map_err(Failure::file(&item.from))?;
        progress.next(item.to.as_str());
        if let Some(leaf) = kept(volume, key, &journal, item, &known).await? {
            progress.skip(known.len());
            sent.resumed += 1;
            sent.changes.push(Change::Put(leaf));
            continue;
        }
        let height = volume.chain().height();
        let content = progress.counted(tokio::io::BufReader::new(file));
        let mut source = Source { content, size: known.len(), written_ms: written_ms(&known), kind: local::kind_of(&item.to) };
        let leaf = volume.put(&item.to, key, &mut source).await.map_err(storage_failure)?;
        // What cannot be kept is no failure: it would be sent again.
        if let Err(error) = journal.keep(&leaf, height) {
            session.output.progress(format_args!("{} would be sent again: {error}", item.to.as_str()));
        }
        sent.changes.push(Change::Put(leaf));
    }
    Ok(sent)
}
