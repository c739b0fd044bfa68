//! `OSError`: the class by number, and what its arguments mean. The texts of the exceptions that are told by their attributes.

use crate::error::Outcome;
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::types::{nm, ty};
use crate::value::{Ref, Value};

/// Rows of `OSError`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(NativeKind::Static, "OSError.__new__", "cls, /, *args, **kwargs", 5, new, ""),
    NativeRow(NativeKind::Method, "OSError.__init__", "self, /, *args, **kwargs", 2, init, ""),
];

/// Classes of error numbers.
const CLASSES: &[(i64, Ref)] = &[
    (1, ty::PERMISSION_ERROR),
    (2, ty::FILE_NOT_FOUND_ERROR),
    (3, ty::PROCESS_LOOKUP_ERROR),
    (4, ty::INTERRUPTED_ERROR),
    (10, ty::CHILD_PROCESS_ERROR),
    (11, ty::BLOCKING_IO_ERROR),
    (13, ty::PERMISSION_ERROR),
    (17, ty::FILE_EXISTS_ERROR),
    (20, ty::NOT_A_DIRECTORY_ERROR),
    (21, ty::IS_A_DIRECTORY_ERROR),
    (32, ty::BROKEN_PIPE_ERROR),
    (103, ty::CONNECTION_ABORTED_ERROR),
    (104, ty::CONNECTION_RESET_ERROR),
    (108, ty::BROKEN_PIPE_ERROR),
    (110, ty::TIMEOUT_ERROR),
    (111, ty::CONNECTION_REFUSED_ERROR),
    (114, ty::BLOCKING_IO_ERROR),
    (115, ty::BLOCKING_IO_ERROR),
];

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let mut class = vm.class_argument(args[0])?;
    let given = &args[2..];
    if class == ty::OS_ERROR && (2..=5).contains(&given.len()) {
        if let Value::Int(number) = given[0] {
            class = CLASSES.iter().find(|row| row.0 == number).map_or(class, |row| row.1);
        }
    }
    let exception = vm.new_builtin(class)?;
    set(vm, exception, given);
    Ok(exception)
}

fn init(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !vm.heap.dict_pairs(args[1]).is_empty() {
        let message = format!("{}() takes no keyword arguments", vm.heap.class_name(args[0]));
        return Err(vm.type_error(message));
    }
    set(vm, args[0], &args[2..]);
    Ok(Value::None)
}

/// Number, text and file name are attributes; a file name is not among the arguments.
fn set(vm: &mut Vm, exception: Value, given: &[Value]) {
    let several = (2..=5).contains(&given.len());
    let part = |index: usize| if several { given.get(index).copied().unwrap_or(Value::None) } else { Value::None };
    let filename = part(2);
    for (name, value) in [(nm::ERRNO, part(0)), (nm::STRERROR, part(1)), (nm::FILENAME, filename)] {
        vm.put_attribute(exception, name, value);
    }
    let kept = if filename.is_none() { given } else { &given[..2] };
    let kept = vm.heap.retain_all(kept);
    let kept = vm.heap.tuple(kept);
    if let Some(row) = vm.heap.exception_row(exception) {
        let old = std::mem::replace(&mut row.args, kept);
        vm.heap.release(old);
    }
}
