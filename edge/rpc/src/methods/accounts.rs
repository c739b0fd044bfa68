//! Accounts.

use crate::{
    App,
    read::{self, Snapshot},
    refusal::{Answer, Asked, Named, Refusal},
    trace,
};
use axum::{Json, extract::State};
use cowboy_api::{Hex, convert, model};
use cowboy_state::{Key, Kind, Miss, records::Account};
use cowboy_store::{Place, View};
use cowboy_types::{Address, Block, Receipt, ReceiptKind};
use serde::Deserialize;

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
    let rows = view.receipts_before(filter.before()?, filter.looked_at())?;
    page(&app, &view, &filter, rows.into_iter().map(Ok))
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
    let mut block: Option<(u64, Block)> = None;
    for row in receipts {
        if entries.len() == limit {
            break;
        }
        let (place, receipt) = row?;
        (looked_at, last) = (looked_at + 1, Some(place));
        if !filter.takes(app, view, &receipt) {
            continue;
        }
        // Neighbours in the list are often of one block.
        if block.as_ref().is_none_or(|(number, _)| *number != place.number) {
            block = Some((place.number, read::block(view, place.number)?));
        }
        let Some((_, block)) = &block else { continue };
        let index = usize::try_from(place.index).unwrap_or(usize::MAX);
        let api_place = convert::place(&block.header, block.digest(), index);
        let transaction = block.transactions.get(index);
        entries.push(convert::history_entry(&receipt, &api_place, &trace::of(app, view, &receipt.id).brief(), transaction));
    }
    let has_more = entries.len() == limit || looked_at == filter.looked_at();
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
