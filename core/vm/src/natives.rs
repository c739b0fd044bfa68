//! The table of native functions: the rows of all types, builtins and modules, numbered in this order.

use crate::runtime::native::Native;
use std::sync::OnceLock;

/// All native functions.
pub(crate) fn natives() -> &'static [Native] {
    static TABLE: OnceLock<Vec<Native>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut natives = Vec::new();
        for rows in crate::objects::ROWS.iter().chain(crate::builtins::ROWS).chain(crate::modules::ROWS) {
            natives.extend(rows.iter().map(Native::from_row));
        }
        natives.extend(crate::modules::derived_rows().iter().map(Native::from_row));
        natives
    })
}
