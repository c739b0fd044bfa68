//! The page of costs is the tables..

#[test]
fn the_page_of_costs_is_that_of_the_tables() {
    let page = include_str!("../../../docs/costs.md");
    assert_eq!(page, cowboy_vm::costs(), "run: cargo run -p cowboy-vm --example costs > docs/costs.md");
}

#[test]
fn prices_that_the_whitepaper_fixes_stand_in_the_table() {
    // 003 §3.5
    let rows = [("Add", 1), ("Mul", 1), ("Less", 1), ("Call", 10), ("In", 3), ("SetItem", 3), ("ListAppend", 2)];
    for (name, cycles) in rows {
        let row = cowboy_vm::OPCODES.iter().find(|row| row.name == name).expect("an instruction");
        assert_eq!(row.cycles, cycles, "{name}");
    }
}
