//! `text % values`: a helper written in Python takes the directives apart.

use crate::error::Outcome;
use crate::interp::Vm;
use crate::value::Value;

/// `text % values`
pub(crate) fn format(vm: &mut Vm, text: Value, values: Value) -> Outcome {
    vm.call_helper("percent_slow", &[text, values])
}

/// `bytes % values`
pub(crate) fn format_bytes(vm: &mut Vm, text: Value, values: Value) -> Outcome {
    vm.call_helper("percent_bytes", &[text, values])
}
