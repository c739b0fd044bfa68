//! Helpers: functions in Python that do what natives and instructions leave to them.

use super::Vm;
use crate::value::{Ref, Value};
use std::sync::Arc;

/// Helpers that the interpreter itself calls, in alphabetical order.
const HELPER_NAMES: &[&str] = &[
    "alias_getitem",
    "alias_iter",
    "alias_parameters",
    "and_slow",
    "anext_default",
    "as_tuple",
    "ascii",
    "async_generator_close",
    "bound_special",
    "build_class",
    "build_dict",
    "build_set",
    "compare_eq",
    "compare_ge",
    "compare_gt",
    "compare_le",
    "compare_lt",
    "compare_ne",
    "contains",
    "coroutine_await",
    "delegate_close",
    "delegate_throw",
    "delitem_slow",
    "dict_delitem",
    "dict_getitem",
    "dict_ior",
    "dict_setitem",
    "dict_update",
    "dir_slow",
    "drained",
    "enumerate_generator",
    "exception_group_derive",
    "exception_group_new",
    "exception_group_split",
    "exception_group_subgroup",
    "exception_set_args",
    "exception_str",
    "filter_new",
    "format_converted",
    "generator_abandoned",
    "generator_close",
    "generator_throw",
    "getattr_default",
    "getitem_index",
    "getitem_slice",
    "handler_entry",
    "hasattr_slow",
    "iadd_reflected",
    "identity",
    "imul_reflected",
    "in_base",
    "instantiate",
    "iter_by_index",
    "iter_sentinel",
    "keyword_merge",
    "list_extend",
    "list_iadd",
    "maketrans",
    "map_new",
    "match_class",
    "match_group",
    "match_keys",
    "match_rest",
    "math_fsum",
    "max_list",
    "max_slow",
    "min_list",
    "min_slow",
    "number_new",
    "object_ne",
    "or_slow",
    "percent_bytes",
    "percent_slow",
    "pow_three",
    "prepare_reraise_star",
    "raise_class",
    "range_slice",
    "range_slow",
    "repeat_in_place",
    "repeated",
    "repr_slow",
    "reversed_by_index",
    "set_add",
    "set_iand",
    "set_ior",
    "set_isub",
    "set_ixor",
    "set_update",
    "setitem_slow",
    "sorted_slow",
    "str_format",
    "str_subclass",
    "sub_slow",
    "sum_slow",
    "translate",
    "type_call",
    "type_new",
    "unpack",
    "xor_slow",
    "zip_generator",
];

impl Vm {
    /// Remembers which helper stands in for which native function.
    pub(crate) fn adopt_helpers(&mut self, dict: Ref) {
        let mut helpers = vec![Value::Undefined; self.natives.len()];
        for (index, native) in self.natives.iter().enumerate() {
            if !native.helper.is_empty() {
                let name = self.heap.intern(native.helper);
                match self.heap.dict_get_name(dict, name) {
                    Some(value) => helpers[index] = value,
                    None => panic!("the helper {} of {} is missing", native.helper, native.name),
                }
            }
        }
        for name in HELPER_NAMES {
            let interned = self.heap.intern(name);
            match self.heap.dict_get_name(dict, interned) {
                Some(value) => helpers.push(value),
                None => panic!("the helper {name} is missing"),
            }
        }
        self.helpers = Arc::new(helpers);
    }

    /// Position of a named helper.
    pub(crate) fn helper_position(&self, name: &str) -> Option<usize> {
        debug_assert!(HELPER_NAMES.is_sorted(), "helpers are found by bisection");
        HELPER_NAMES.binary_search(&name).ok().map(|index| self.natives.len() + index)
    }
}
