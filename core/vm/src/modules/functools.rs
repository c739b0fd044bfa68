//! Functions of `functools` that, as classes' attributes, must not bind: builtin ones, which leave the work to Python.

use crate::costs::FUNCTOOLS_CALL;
use crate::error::{Outcome, Throw, Trap};
use crate::frame::OnReturn;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::native::NativeKind::Function;
use crate::runtime::native::NativeRow;
use crate::types::MODULES_DICT;
use crate::value::Value;

/// Rows of the module `_functools`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(Function, "_functools.reduce", "function, iterable, initial=, /", 5, |vm, a| leave(vm, "_reduce", a), ""),
    NativeRow(Function, "_functools.cmp_to_key", "mycmp", 5, |vm, a| leave(vm, "_cmp_to_key", a), ""),
];

/// Calls a function of the module `functools`.
pub(super) fn leave(vm: &mut Vm, name: &str, arguments: &[Value]) -> Outcome {
    vm.spend(FUNCTOOLS_CALL.once())?;
    let (module, name) = (vm.heap.intern("functools"), vm.heap.intern(name));
    let module = vm.heap.dict_get_name(MODULES_DICT, module).and_then(Value::object);
    let dict = match module.map(|module| vm.heap.payload(module)) {
        Some(Payload::Module { dict, .. }) => *dict,
        _ => return Err(Throw::Trap(Trap::Internal)),
    };
    let Some(function) = vm.heap.dict_get_name(dict, name) else { return Err(Throw::Trap(Trap::Internal)) };
    let given: Vec<Value> = arguments.iter().copied().filter(|argument| !argument.is_undefined()).collect();
    Err(vm.call_later(function, &given, OnReturn::Store))
}
