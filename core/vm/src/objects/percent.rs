//! `text % values`: plain directives in `template`; a helper written in Python takes the others apart.

use crate::costs::TEMPLATE_FILLED;
use crate::error::Outcome;
use crate::runtime::Vm;
use crate::value::Value;

/// `text % values`
pub(crate) fn format(vm: &mut Vm, text: Value, values: Value) -> Outcome {
    vm.spend(TEMPLATE_FILLED.once())?;
    match super::template::percent(vm, text, values)? {
        Some(value) => Ok(value),
        None => vm.call_helper("percent_slow", &[text, values]),
    }
}

/// `bytes % values`
pub(crate) fn format_bytes(vm: &mut Vm, text: Value, values: Value) -> Outcome {
    vm.call_helper("percent_bytes", &[text, values])
}
