//! Accounts.

use crate::{
    App,
    methods::blocks::PAGE_BYTES,
    read::{self, Last, Snapshot},
    refusal::{Answer, Asked, Named, Refusal},
    trace,
};
use axum::{Json, extract::State};
use commonware_codec::EncodeSize as _;
use cowboy_api::{Hex, convert, model};
use cowboy_state::{Key, Kind, Miss, records::Account};
use cowboy_store::{Place, View};
use cowboy_types::{Address, Block, Receipt, ReceiptKind};
use serde::Deserialize;
use std::collections::VecDeque;

/// Receipts of a list that are in memory at once.
const AT_ONCE: usize = 16;

pub(crate) async fn account(State(app): State<App>, Named(address): Named<Address>) -> Answer<model::Account> {
    let mut state = Snapshot::newest(&app);
    let found: Option<Account> = state.ask(|world| world.read(&Key::account(address))).await?;
    let found = found.ok_or_else(|| Refusal::missing("account", address))?;
    Ok(Json(convert::account(address, found.nonce.get(), found.balance.get())))
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cursor {
    pub(crate) cursor: Option<String>,
    pub(crate) limit: Option<usize>,
}

/// A page of receipts, and which of them to answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    cursor: Option<String>,
    limit: Option<usize>,
    kind: Option<String>,
    status: Option<String>,
    handler: Option<String>,
}

impl Filter {
    fn before(&self) -> Result<Option<Place>, Refusal> {
        self.cursor.as_deref().map(place_of).transpose()
    }

    fn is_everything(&self) -> bool {
        self.kind.is_none() && self.status.is_none() && self.handler.is_none()
    }

    /// How many receipts to look at for a page.
    fn looked_at(&self) -> usize {
        if self.is_everything() { super::limit(self.limit) } else { model::FILTERED_RECEIPTS }
    }

    /// Whether the receipt is filter. A timer of the SDK counts as the handler that its payload names.
    fn takes(&self, app: &App, view: &View, receipt: &Receipt) -> bool {
        let is = |given: &Option<String>, found: &str| given.as_ref().is_none_or(|given| given == found);
        is(&self.kind, convert::kind(&receipt.kind))
            && is(&self.status, convert::status(receipt))
            && (is(&self.handler, &receipt.handler)
                || receipt.kind == ReceiptKind::Timer && is(&self.handler, &convert::ran(receipt, &trace::of(app, view, &receipt.id)).0))
    }
}

pub(crate) async fn history(
    State(app): State<App>,
    Named(address): Named<Address>,
    Asked(filter): Asked<Filter>,
) -> Answer<model::History> {
    let view = read::ledger(&app)?;
    let places = view.of_account(&address, filter.before()?, filter.looked_at())?;
    let receipts = places.into_iter().filter_map(|place| Some(view.receipt(place).transpose()?.map(|receipt| (place, receipt))));
    page(&app, &view, &filter, receipts.map(|row| row.map_err(Into::into)))
}

/// Receipts of all blocks.
pub(crate) async fn receipts(State(app): State<App>, Asked(filter): Asked<Filter>) -> Answer<model::History> {
    let view = read::ledger(&app)?;
    let rows = few_at_once(filter.before()?, filter.looked_at(), |before, limit| Ok(view.receipts_before(before, limit)?));
    page(&app, &view, &filter, rows)
}

/// Up to `left` rows before a place, which `read` reads a few at a time: each may have megabytes (decision 704).
fn few_at_once<T>(
    mut before: Option<Place>,
    mut left: usize,
    mut read: impl FnMut(Option<Place>, usize) -> Result<Vec<(Place, T)>, Refusal>,
) -> impl Iterator<Item = Result<(Place, T), Refusal>> {
    let mut rows = VecDeque::new();
    std::iter::from_fn(move || {
        if rows.is_empty() && left > 0 {
            let limit = left.min(AT_ONCE);
            match read(before, limit) {
                Ok(found) => rows.extend(found),
                Err(refusal) => {
                    left = 0;
                    return Some(Err(refusal));
                }
            }
            left = if rows.len() == limit { left - limit } else { 0 };
            before = rows.back().map(|(place, _)| *place);
        }
        rows.pop_front().map(Ok)
    })
}

/// The first of these receipts that are filter. The cursor is the last one that was looked at, where there may be more.
fn page(
    app: &App,
    view: &View,
    filter: &Filter,
    receipts: impl Iterator<Item = Result<(Place, Receipt), Refusal>>,
) -> Answer<model::History> {
    let limit = super::limit(filter.limit);
    let (mut entries, mut looked_at, mut last) = (Vec::new(), 0, None);
    // Neighbours in the list are often of one block.
    let (mut last_block, mut bytes): (Last<u64, Block>, usize) = (Last::default(), 0);
    for row in receipts {
        if entries.len() == limit || bytes > PAGE_BYTES {
            break;
        }
        let (place, receipt) = row?;
        (looked_at, last) = (looked_at + 1, Some(place));
        if !filter.takes(app, view, &receipt) {
            continue;
        }
        let block = last_block.get(place.number, || {
            let block = read::block(view, place.number)?;
            bytes = bytes.saturating_add(block.encode_size());
            Ok(block)
        })?;
        let index = usize::try_from(place.index).unwrap_or(usize::MAX);
        let api_place = convert::place(&block.header, block.digest(), index);
        let transaction = block.transactions.get(index);
        entries.push(convert::history_entry(&receipt, &api_place, &trace::of(app, view, &receipt.id).brief(), transaction));
    }
    let has_more = entries.len() == limit || looked_at == filter.looked_at() || bytes > PAGE_BYTES;
    let next_cursor = last.filter(|_| has_more).map(|place| format!("{}-{}", place.number, place.index));
    Ok(Json(model::History { entries, next_cursor }))
}

/// The place that a cursor names.
pub(crate) fn place_of(cursor: &str) -> Result<Place, Refusal> {
    let parts = cursor.split_once('-').and_then(|(number, index)| Some(Place { number: number.parse().ok()?, index: index.parse().ok()? }));
    parts.ok_or_else(|| Refusal::bad("cursor", "give `next_cursor` of the page before"))
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listed {
    cursor: Option<String>,
    limit: Option<usize>,
    prefix: Option<String>,
}

/// Accounts that appear in a receipt, by address.
pub(crate) async fn list(State(app): State<App>, Asked(asked): Asked<Listed>) -> Answer<model::Accounts> {
    let prefix = asked.prefix.as_deref().map_or(Some(String::new()), digits);
    let prefix = prefix.ok_or_else(|| Refusal::bad("prefix", "give up to 40 hex digits, with or without 0x"))?;
    let from = match &asked.cursor {
        Some(cursor) => crate::refusal::parse(cursor).map_err(|_| Refusal::bad("cursor", "give `next_cursor` of the page before"))?,
        None => lowest(&prefix),
    };
    let limit = super::limit(asked.limit);
    let mut addresses = with_prefix(&read::ledger(&app)?, &prefix, &from, limit.saturating_add(1))?;
    let next_cursor = (addresses.len() > limit).then(|| addresses.pop()).flatten().map(|next| Hex(next).to_string());
    let accounts = Snapshot::newest(&app)
        .ask(|world| {
            let keys = addresses.iter().flat_map(|address| [Key::account(*address), Key::of(Kind::Actor, *address)]);
            world.require(&keys.collect::<Vec<Key>>())?;
            let row = |address: &Address| {
                let account = world.account(*address)?;
                let is_actor = world.actor(*address)?.is_some();
                Ok(model::AccountRow { address: Hex(*address), nonce: account.nonce.get(), balance: account.balance.get(), is_actor })
            };
            addresses.iter().map(row).collect::<Result<Vec<_>, Miss>>()
        })
        .await?;
    Ok(Json(model::Accounts { accounts, next_cursor }))
}

/// Up to 40 hex digits in lower case, without `0x`.
pub(crate) fn digits(text: &str) -> Option<String> {
    let digits = text.strip_prefix("0x").unwrap_or(text).to_ascii_lowercase();
    (digits.len() <= 40 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())).then_some(digits)
}

/// The lowest address that begins with these hex digits.
pub(crate) fn lowest(prefix: &str) -> Address {
    format!("0x{prefix:0<40}").parse().unwrap_or(Address::ZERO)
}

/// Addresses of the ledger that begin with these hex digits, from one on.
pub(crate) fn with_prefix(view: &View, prefix: &str, from: &Address, limit: usize) -> Result<Vec<Address>, Refusal> {
    let mut addresses = view.accounts(from, limit)?;
    addresses.retain(|address| address.to_string().trim_start_matches("0x").starts_with(prefix));
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 704: a list of receipts has few of them in memory, and is the same as if it had all. It ends where there are no more, and where one cannot be read.
    #[test]
    fn receipts_are_read_a_few_at_a_time() {
        let place = |number: usize| Place { number: u64::try_from(number).expect("a small number"), index: 0 };
        for (there_are, wanted) in [(0, 5), (3, 5), (40, 5), (40, 16), (16, 17), (32, 40), (40, 40), (100, 33)] {
            let mut reads = Vec::new();
            let read = |before: Option<Place>, limit: usize| {
                reads.push(limit);
                let end = before.map_or(there_are, |before| usize::try_from(before.number).expect("a small number"));
                Ok((0..end).rev().take(limit).map(|number| (place(number), number)).collect())
            };
            let found: Vec<usize> = few_at_once(None, wanted, read).map(|row| row.expect("it can be read").1).collect();
            assert_eq!(found, (0..there_are).rev().take(wanted).collect::<Vec<_>>(), "{wanted} of {there_are}");
            assert!(reads.iter().all(|limit| *limit <= AT_ONCE) && reads.len() <= wanted.div_ceil(AT_ONCE), "{reads:?}");
        }
        let mut rows = few_at_once(None, 20, |before, limit| match before {
            None => Ok((20..20 + limit).rev().map(|number| (place(number), ())).collect()),
            Some(_) => Err(Refusal::missing("receipt", "it is damaged")),
        });
        assert_eq!(rows.by_ref().take_while(Result::is_ok).count(), AT_ONCE);
        assert!(rows.next().is_none());
    }
}
