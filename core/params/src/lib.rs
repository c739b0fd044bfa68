//! Every number of the protocol: one row each, with unit, range, tier, source and meaning.
//!
//! The structs that the transition reads, the table of `GET /params`, governance's range checks and the
//! docs page all derive from the rows in [`rows`]. A number that is consensus and not a row is a bug.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects, clippy::as_conversions, clippy::indexing_slicing))]

mod relations;
mod rows;
mod table;

pub use relations::Relation;
pub use rows::*;
pub use table::{Row, SetError, Tier, Unit};

impl Params {
    /// The row of a name like `fees.alpha`.
    pub fn row(name: &str) -> Option<&'static Row> {
        Self::ROWS.iter().find(|row| row.name == name)
    }

    /// The most cells that the messages of a block use together, and as many again its callbacks (decision 583). No single one of either gets more.
    pub fn delivery_cells(&self) -> u64 {
        self.fees.cells_target.min(self.fees.block_cells / 4)
    }

    /// These parameters with rows of these numbers moved, as governance left them. What is unknown here or out of range,
    /// as on a chain that is newer than this program, changes nothing.
    pub fn moved(&self, changes: impl IntoIterator<Item = (u16, u64)>) -> Self {
        let mut params = self.clone();
        for (row, value) in changes {
            // Governance checked the value when it set it.
            let _ = params.set_at_genesis(row, value);
        }
        params
    }

    /// Sets a parameter as governance would: known, not fixed, within its range.
    pub fn set(&mut self, id: u16, value: u64) -> Result<(), SetError> {
        let row = Self::ROWS.iter().find(|row| row.id == id).ok_or(SetError::Unknown)?;
        if row.tier == Tier::Fixed {
            return Err(SetError::Fixed);
        }
        self.set_at_genesis(id, value)
    }

    /// Sets a parameter before the chain begins: fixed rows too, within their range.
    pub fn set_at_genesis(&mut self, id: u16, value: u64) -> Result<(), SetError> {
        let row = Self::ROWS.iter().find(|row| row.id == id).ok_or(SetError::Unknown)?;
        if value < row.min || row.max < value {
            return Err(SetError::OutOfRange { min: row.min, max: row.max });
        }
        *self.slot(id).expect("every row has a slot") = value;
        Ok(())
    }
}

/// The docs page of the parameters, in Markdown.
pub fn markdown() -> String {
    let mut page = String::from(
        "# Parameters\n\nGenerated from `core/params/src/rows/` by `cargo run -p cowboy-params --example page > docs/parameters.md`.\nTier 0 and 3 say which governance proposal may change a row within its range; *fixed* rows are the chain's identity. *Stepwise* says that a decision lowers it to no less than half, so that services that act in time of it notice.\n",
    );
    for (group, about) in Params::GROUPS {
        page.push_str(&format!("\n## {group}\n\n{}\n\n| number | name | at genesis | unit | range | tier | source | meaning |\n|---|---|---|---|---|---|---|---|\n", about.trim()));
        for row in Params::ROWS.iter().filter(|row| row.name.split('.').next() == Some(group)) {
            page.push_str(&format!(
                "| 0x{:04X} | `{}` | {} | {} | {} – {} | {} | {} | {} |\n",
                row.id,
                row.name,
                grouped(row.genesis),
                row.unit.name(),
                grouped(row.min),
                grouped(row.max),
                tier_of(row),
                row.source,
                row.doc.trim()
            ));
        }
    }
    page.push_str("\n## Relations\n\nWhat holds between rows. A proposal that would break one that holds is refused as a whole: rows that depend on each other are changed by one proposal.\n\n| relation | what it keeps |\n|---|---|\n");
    for relation in Params::RELATIONS {
        page.push_str(&format!("| {relation} | {} |\n", relation.reason));
    }
    page
}

/// A row's tier, and what else governance has to heed.
fn tier_of(row: &Row) -> String {
    format!("{}{}", row.tier, if row.is_stepwise { ", *stepwise*" } else { "" })
}

/// A number with a comma after every third digit.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
