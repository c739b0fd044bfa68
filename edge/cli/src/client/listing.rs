//! Lists: which rows are printed, and how to continue. The same for all of them.

use super::session::Session;
use clap::{Args, builder::RangedU64ValueParser};
use cowboy_api::{
    model,
    pages::{MAX_PAGES, Page},
};
use cowboy_console::failure::Failure;
use cowboy_types::Address;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Which rows of a list are printed.
#[derive(Args, Clone, Debug)]
pub(crate) struct Rows {
    /// The maximum number of rows
    #[arg(long, default_value_t = model::DEFAULT_LIMIT, value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    limit: usize,
    /// Where to continue: the cursor that the rows before ended with
    #[arg(long)]
    cursor: Option<String>,
}

impl Rows {
    /// The rows of a list of the API, and the cursor of those that follow.
    pub(super) async fn fetch<P: Page>(&self, session: &Session, path: &str) -> Result<(P, Option<String>), Failure> {
        Ok(session.client.list(path, self.cursor.as_deref(), self.limit).await?)
    }

    /// Prints the rows of a list of the API, and says where there are more.
    pub(super) async fn print<P: Page>(
        &self,
        session: &Session,
        path: &str,
        text: impl FnOnce(&[P::Row]) -> String,
    ) -> Result<(), Failure> {
        let (page, next) = self.fetch::<P>(session, path).await?;
        show(session, &page, next, text(page.rows()));
        Ok(())
    }
}

/// Prints rows that were fetched. What follows is not left out unsaid: as JSON it is `next_cursor`.
pub(super) fn show<P: Page>(session: &Session, page: &P, next: Option<String>, text: String) {
    session.output.result(&document(page, next.as_deref()), text);
    if let Some(next) = next {
        session.output.progress(format_args!("There are more: give the same command with --cursor {next}"));
    }
}

/// A page as JSON, with the cursor of what follows its last row.
fn document<P: Page>(page: &P, next: Option<&str>) -> Value {
    let mut fields = match serde_json::to_value(page).expect("a page is JSON") {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    fields.remove("next_cursor");
    fields.extend(next.map(|next| ("next_cursor".to_owned(), json!(next))));
    Value::Object(fields)
}

/// One line for each row; what there is not, where there is none.
pub(super) fn lines<T>(rows: &[T], line: impl Fn(&T) -> String, none: &str) -> String {
    if rows.is_empty() { none.to_owned() } else { rows.iter().map(line).collect::<Vec<_>>().join("\n") }
}

/// All rows of a view of a system actor that begins a page at `first`. The key of a row is what `first` takes.
pub(super) async fn all_of_view(
    session: &Session,
    (actor, method): (u8, &str),
    argument: Value,
    key: impl Fn(&Value) -> &Value,
) -> Result<Vec<Value>, Failure> {
    let mut found = Found::default();
    for _ in 0..MAX_PAGES {
        let mut argument = argument.clone();
        argument["first"] = found.rows.last().map(&key).cloned().unwrap_or(Value::Null);
        let page = session.client.view(&Address::system(actor), method, &argument).await?.result;
        if !found.add(page.as_array().map(Vec::as_slice).unwrap_or_default(), &key) {
            return Ok(found.rows);
        }
    }
    Err(Failure::Node(format!("the node's {method} has no end")))
}

/// Rows of a view.
#[derive(Default)]
struct Found {
    rows: Vec<Value>,
    keys: BTreeSet<String>,
}

impl Found {
    /// Adds the rows of a page that are new: a page begins with the last row before it, where that is still there. False where none is.
    fn add(&mut self, page: &[Value], key: impl Fn(&Value) -> &Value) -> bool {
        let before = self.rows.len();
        let keys = &mut self.keys;
        self.rows.extend(page.iter().filter(|row| keys.insert(key(row).to_string())).cloned());
        self.rows.len() > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands below one whose options are looked for, by their names.
    fn commands(tree: &clap::Command, path: &str, found: &mut Vec<(String, [bool; 2])>) {
        let has = ["limit", "cursor"].map(|option| tree.get_arguments().any(|argument| argument.get_long() == Some(option)));
        found.push((path.to_owned(), has));
        for below in tree.get_subcommands() {
            commands(below, format!("{path} {}", below.get_name()).trim(), found);
        }
    }

    /// A list that ends before its end says how to continue. `actor failures` has the failures among a number of deliveries, and is no list of rows.
    #[test]
    fn every_list_with_a_limit_continues() {
        let mut found = Vec::new();
        commands(&crate::client_command(), "", &mut found);
        assert!(found.iter().filter(|(_, has)| *has == [true, true]).count() > 8);
        let others: Vec<&str> = found.iter().filter(|(_, has)| has[0] != has[1]).map(|(path, _)| path.as_str()).collect();
        assert_eq!(others, ["actor failures"]);
    }

    /// What follows is named by the last page that was fetched, and not by the first.
    #[test]
    fn json_names_what_follows() {
        let page = model::ActorNames { names: Vec::new(), next_cursor: Some("b".into()) };
        assert_eq!(document(&page, Some("c")), json!({ "names": [], "next_cursor": "c" }));
        assert_eq!(document(&page, None), json!({ "names": [] }));
        let counted = model::Names { names: Vec::new(), total_count: 3 };
        assert_eq!(document(&counted, Some("2")), json!({ "names": [], "total_count": 3, "next_cursor": "2" }));
    }

    /// A list without rows says so, and prints no empty line.
    #[test]
    fn a_list_without_rows_says_so() {
        assert_eq!(lines(&[1, 2], u64::to_string, "no numbers"), "1\n2");
        assert_eq!(lines(&[], u64::to_string, "no numbers"), "no numbers");
    }

    /// Pages of a view overlap by a row, unless that went away; a page without a new row is the last.
    #[test]
    fn pages_of_views_are_put_together() {
        let page = |keys: &[u64]| keys.iter().map(|key| json!({ "key": key })).collect::<Vec<_>>();
        let mut found = Found::default();
        let mut take = |keys: &[u64]| found.add(&page(keys), |row| &row["key"]);
        assert_eq!([take(&[1, 2]), take(&[2, 3]), take(&[4]), take(&[1, 2]), take(&[])], [true, true, true, false, false]);
        assert_eq!(found.rows, page(&[1, 2, 3, 4]));
    }
}
