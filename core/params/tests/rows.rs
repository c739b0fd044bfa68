//! The table is well formed, and its docs page is current.

use cowboy_params::{Params, SetError, Tier, markdown};

#[test]
fn numbers_and_names_are_unique_and_ascend() {
    for pair in Params::ROWS.windows(2) {
        assert!(pair[0].id < pair[1].id, "{} stands before {}", pair[0].name, pair[1].name);
        assert_ne!(pair[0].name, pair[1].name);
    }
    for row in Params::ROWS {
        assert_eq!(Params::GENESIS.get(row.id), Some(row.genesis), "{}", row.name);
        assert!(row.doc.trim().ends_with('.'), "{} is explained in a sentence", row.name);
    }
}

/// What an error says of a parameter is true: the row is there.
#[test]
fn errors_name_rows_that_are_there() {
    let groups: Vec<&str> = Params::ROWS.iter().filter_map(|row| Some(row.name.split_once('.')?.0)).collect();
    for row in cowboy_types::error::TABLE {
        let text = [row.what, row.why, row.fix].join(" ");
        for word in text.split(|letter: char| !(letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_' || letter == '.')) {
            let word = word.trim_end_matches('.');
            let is_row = word.split_once('.').is_some_and(|(group, name)| groups.contains(&group) && name != "md");
            assert!(!is_row || Params::row(word).is_some(), "{}: {word}", row.code);
        }
    }
}

/// the lanes' budgets add up to the block's cap.
#[test]
fn the_lanes_add_up_to_the_block() {
    let lanes = Params::GENESIS.lanes;
    let sum = lanes.system_cycles + lanes.timer_cycles + lanes.runner_cycles + lanes.user_cycles;
    assert_eq!(sum, Params::GENESIS.fees.block_cycles);
    assert_eq!(sum, 4 * Params::GENESIS.fees.cycles_target);
}

/// shares are whole.
#[test]
fn shares_are_whole() {
    let jobs = Params::GENESIS.jobs;
    assert_eq!(jobs.payout_runners + jobs.payout_burn + jobs.payout_treasury, 10_000);
    assert_eq!(jobs.slash_burn + jobs.slash_submitter + jobs.slash_treasury, 10_000);
}

#[test]
fn setting_is_refused_outside_the_row() {
    let mut params = Params::GENESIS;
    let alpha = Params::row("fees.alpha").expect("a row").id;
    let epoch = Params::row("consensus.epoch").expect("a row");
    assert_eq!(epoch.tier, Tier::Fixed);
    let rows: [(&str, u16, u64, Result<(), SetError>); 4] = [
        ("unknown number", 0xFFFF, 1, Err(SetError::Unknown)),
        ("fixed", epoch.id, 100, Err(SetError::Fixed)),
        ("below its range", alpha, 0, Err(SetError::OutOfRange { min: 1, max: 10_000 })),
        ("within its range", alpha, 48, Ok(())),
    ];
    for (case, id, value, expected) in rows {
        assert_eq!(params.set(id, value), expected, "{case}");
    }
    assert_eq!(params.fees.alpha, 48);
}

#[test]
fn the_docs_page_is_current() {
    let page = include_str!("../../../docs/parameters.md");
    assert_eq!(page, markdown(), "run: cargo run -p cowboy-params --example page > docs/parameters.md");
}
