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
    /// Services act in time of this number: governance lowers it step by step, so that they notice.
    Stepwise,
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
    /// Whether a decision lowers it to no less than half of what it was, also within as many of the last blocks as it counts (decision 554).
    pub is_stepwise: bool,
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
            Self::OutOfRange { min, max } => write!(f, "the value is out of range: {min} to {max} are allowed"),
        }
    }
}

/// Declares a group of parameters: the struct that code reads, and the rows that everyone else reads.
macro_rules! rows {
    (
        $(#[doc = $group_doc:literal])+
        $group_id:literal $group:ident: $Group:ident {
            $(
                $(#[doc = $doc:literal])+
                $row_id:literal $name:ident: $unit:ident = $genesis:literal in $min:literal..=$max:literal, $tier:ident $($mark:ident)?, $source:literal;
            )+
        }
    ) => {
        $(#[doc = $group_doc])+
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $Group { $( $(#[doc = $doc])+ pub $name: u64, )+ }

        impl $Group {
            /// The values at genesis.
            pub const GENESIS: Self = Self { $( $name: $genesis, )+ };

            /// The number of the group: the upper byte of its rows' numbers.
            pub(crate) const ID: u16 = $group_id;

            /// The name of the group, and what it is about.
            pub(crate) const ABOUT: (&'static str, &'static str) = (stringify!($group), concat!($($group_doc),+));

            /// The rows of the group, by number.
            pub(crate) const ROWS: &'static [$crate::table::Row] = &[ $( $crate::table::Row {
                id: ($group_id << 8) | $row_id,
                name: concat!(stringify!($group), ".", stringify!($name)),
                doc: concat!($($doc),+),
                unit: $crate::table::Unit::$unit,
                genesis: $genesis,
                min: $min,
                max: $max,
                tier: $crate::table::Tier::$tier,
                is_stepwise: {
                    let marks: &[$crate::table::Mark] = &[$($crate::table::Mark::$mark)?];
                    matches!(marks, [$crate::table::Mark::Stepwise])
                },
                source: $source,
            }, )+ ];

            /// The value of the row with this lower byte.
            pub(crate) fn slot(&mut self, row: u16) -> Option<&mut u64> {
                match row {
                    $( $row_id => Some(&mut self.$name), )+
                    _ => None,
                }
            }

            /// The same, to read.
            pub(crate) fn get(&self, row: u16) -> Option<u64> {
                match row {
                    $( $row_id => Some(self.$name), )+
                    _ => None,
                }
            }
        }

        $( const _: () = {
            let (min, genesis, max): (u64, u64, u64) = ($min, $genesis, $max);
            assert!(min <= genesis && genesis <= max, concat!(stringify!($name), ": the genesis value lies in its range"));
        }; )+
    };
}
pub(crate) use rows;

/// Declares all parameters, which are these groups.
macro_rules! parameters {
    ($($group:ident: $Group:ident,)+) => {
        /// Every number of the protocol. A block runs under one of these and never changes it.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Params { $(
            #[doc = concat!("The rows of `", stringify!($group), "`.")]
            pub $group: $Group,
        )+ }

        impl Params {
            /// The values at genesis.
            pub const GENESIS: Self = Self { $( $group: $Group::GENESIS, )+ };

            /// The table: one row a parameter, by number.
            pub const ROWS: &'static [Row] = &$crate::table::joined::<{ 0 $( + $Group::ROWS.len() )+ }>(&[ $( $Group::ROWS ),+ ]);

            /// The groups, with what they are about.
            pub const GROUPS: &'static [(&'static str, &'static str)] = &[ $( $Group::ABOUT ),+ ];

            pub(crate) fn slot(&mut self, id: u16) -> Option<&mut u64> {
                let (group, row) = (id >> 8, id & 0xFF);
                $( if group == $Group::ID { return self.$group.slot(row); } )+
                None
            }

            /// The value of the row with this number.
            pub fn get(&self, id: u16) -> Option<u64> {
                let (group, row) = (id >> 8, id & 0xFF);
                $( if group == $Group::ID { return self.$group.get(row); } )+
                None
            }
        }
    };
}
pub(crate) use parameters;

/// The rows of all groups as one table of `N` rows.
pub(crate) const fn joined<const N: usize>(mut groups: &[&[Row]]) -> [Row; N] {
    let [[first, ..], ..] = groups else { panic!("the first group has a row") };
    let mut table = [*first; N];
    let mut free: &mut [Row] = &mut table;
    while let [group, others @ ..] = groups {
        let (filled, rest) = free.split_at_mut(group.len());
        filled.copy_from_slice(group);
        (free, groups) = (rest, others);
    }
    table
}
