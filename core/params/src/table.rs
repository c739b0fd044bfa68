//! How a row is written, and what is derived from it.

use std::fmt;

/// What a parameter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Base units of CBY.
    Amount,
    /// Hundredths of a percent.
    BasisPoints,
    /// Blocks, about a second each.
    Blocks,
    /// Bytes, outside the cell market.
    Bytes,
    /// Bytes that are paid for.
    Cells,
    /// A plain number.
    Count,
    /// Steps of compute.
    Cycles,
    /// Milliseconds.
    Milliseconds,
    /// Billionths of a second.
    Nanoseconds,
    /// Base units of CBY for a cycle or a cell.
    Price,
}

impl Unit {
    /// The unit's name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Amount => "base units",
            Self::BasisPoints => "basis points",
            Self::Blocks => "blocks",
            Self::Bytes => "bytes",
            Self::Cells => "cells",
            Self::Count => "count",
            Self::Cycles => "cycles",
            Self::Milliseconds => "ms",
            Self::Nanoseconds => "ns",
            Self::Price => "base units each",
        }
    }
}

/// Which kind of governance proposal may change a parameter (003 §13.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Never; another value is another chain.
    Fixed,
    /// Tier 0: routine tuning.
    T0,
    /// Tier 3: what the economy stands on.
    T3,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fixed => "fixed",
            Self::T0 => "0",
            Self::T3 => "3",
        })
    }
}

/// What a row may be marked with in the table, beside its tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The rule that would read the row does not exist yet, so that moving it would change nothing.
    NotActive,
}

/// One row of the parameter table, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The parameter's number, for ever: the group's number, then the row's.
    pub id: u16,
    /// `group.name`.
    pub name: &'static str,
    /// What it is and what happens when it is reached.
    pub doc: &'static str,
    /// The unit.
    pub unit: Unit,
    /// The value at genesis.
    pub genesis: u64,
    /// The least value that governance may set.
    pub min: u64,
    /// The greatest value that governance may set.
    pub max: u64,
    /// The tier of proposals that may change it.
    pub tier: Tier,
    /// Whether a rule reads it. Where none does, governance refuses to move it.
    pub is_active: bool,
    /// The section that gives it; "ours" where no document does.
    pub source: &'static str,
}

/// Why a parameter was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetError {
    /// No row has this number.
    Unknown,
    /// The row is fixed.
    Fixed,
    /// No rule reads the row yet.
    NotActive,
    /// The value lies outside the row's range.
    OutOfRange {
        /// The least that may be set.
        min: u64,
        /// The greatest that may be set.
        max: u64,
    },
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("no parameter has this number; the parameter table lists all"),
            Self::Fixed => f.write_str("the parameter is fixed; another value would be another chain"),
            Self::NotActive => f.write_str("the parameter is not active: the rule that would read it does not exist yet"),
            Self::OutOfRange { min, max } => write!(f, "the value is out of range: {min} to {max} are allowed"),
        }
    }
}

/// Declares groups of parameters: the structs that code reads, and the rows that everyone else reads.
macro_rules! parameters {
    ($(
        $(#[doc = $group_doc:literal])+
        $group_id:literal $group:ident: $Group:ident {
            $(
                $(#[doc = $doc:literal])+
                $row_id:literal $name:ident: $unit:ident = $genesis:literal in $min:literal..=$max:literal, $tier:ident $($mark:ident)?, $source:literal;
            )+
        }
    )+) => {
        $(
            $(#[doc = $group_doc])+
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $Group { $( $(#[doc = $doc])+ pub $name: u64, )+ }

            impl $Group {
                /// The values at genesis.
                pub const GENESIS: Self = Self { $( $name: $genesis, )+ };
            }
        )+

        /// Every number of the protocol. A block runs under one of these and never changes it.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Params { $( $(#[doc = $group_doc])+ pub $group: $Group, )+ }

        impl Params {
            /// The values at genesis.
            pub const GENESIS: Self = Self { $( $group: $Group::GENESIS, )+ };

            /// The table: one row a parameter, by number.
            pub const ROWS: &'static [Row] = &[ $( $( Row {
                id: ($group_id << 8) | $row_id,
                name: concat!(stringify!($group), ".", stringify!($name)),
                doc: concat!($($doc),+),
                unit: Unit::$unit,
                genesis: $genesis,
                min: $min,
                max: $max,
                tier: Tier::$tier,
                is_active: {
                    let marks: &[Mark] = &[$(Mark::$mark)?];
                    marks.is_empty()
                },
                source: $source,
            }, )+ )+ ];

            /// The groups, with what they are about.
            pub const GROUPS: &'static [(&'static str, &'static str)] = &[ $( (stringify!($group), concat!($($group_doc),+)), )+ ];

            pub(crate) fn slot(&mut self, id: u16) -> Option<&mut u64> {
                match id {
                    $( $( id if id == (($group_id << 8) | $row_id) => Some(&mut self.$group.$name), )+ )+
                    _ => None,
                }
            }

            /// The value of the row with this number.
            pub fn get(&self, id: u16) -> Option<u64> {
                match id {
                    $( $( id if id == (($group_id << 8) | $row_id) => Some(self.$group.$name), )+ )+
                    _ => None,
                }
            }
        }

        $( $( const _: () = {
            let (min, genesis, max): (u64, u64, u64) = ($min, $genesis, $max);
            assert!(min <= genesis && genesis <= max, concat!(stringify!($name), ": the genesis value lies in its range"));
        }; )+ )+
    };
}
pub(crate) use parameters;
