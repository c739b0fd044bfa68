//! Exceptions.

use super::exception_text::message;
use crate::error::{Outcome, Throw};
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::types::{nm, ty};
use crate::value::Value;

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;
const C: NativeKind = NativeKind::ClassMethod;

/// Rows of `BaseException` and what needs more.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "BaseException.__new__", "cls, /, *args, **kwargs", 10, new, ""),
    NativeRow(M, "BaseException.__init__", "self, /, *args, **kwargs", 12, init, ""),
    NativeRow(M, "BaseException.__str__", "self, /", 5, str, "exception_str"),
    NativeRow(M, "BaseException.__repr__", "self, /", 15, repr, "exception_repr"),
    NativeRow(M, "BaseException.with_traceback", "self, tb, /", 2, with_traceback, ""),
    NativeRow(M, "BaseException.add_note", "self, note, /", 3, add_note, ""),
    NativeRow(S, "BaseExceptionGroup.__new__", "cls, /, *args, **kwargs", 10, group_new, ""),
    NativeRow(C, "BaseExceptionGroup.__class_getitem__", "cls, item, /", 10, super::list::class_getitem, ""),
    NativeRow(M, "BaseExceptionGroup.__init__", "self, /, *args, **kwargs", 2, group_init, ""),
    NativeRow(M, "BaseExceptionGroup.derive", "self, excs, /", 3, derive, ""),
    NativeRow(M, "BaseExceptionGroup.split", "self, condition, /", 3, split, ""),
    NativeRow(M, "BaseExceptionGroup.subgroup", "self, condition, /", 3, subgroup, ""),
    NativeRow(M, "ImportError.__init__", "self, /, *args, **kwargs", 2, import_init, ""),
    NativeRow(M, "SyntaxError.__init__", "self, /, *args, **kwargs", 5, syntax_init, ""),
    NativeRow(M, "AttributeError.__init__", "self, /, *args, **kwargs", 2, import_init, ""),
    NativeRow(M, "NameError.__init__", "self, /, *args, **kwargs", 2, import_init, ""),
    NativeRow(M, "UnicodeEncodeError.__init__", "self, encoding, object, start, end, reason, /", 3, unicode_init, ""),
    NativeRow(M, "UnicodeDecodeError.__init__", "self, encoding, object, start, end, reason, /", 3, unicode_init, ""),
    NativeRow(M, "UnicodeTranslateError.__init__", "self, object, start, end, reason, /", 3, translate_init, ""),
    NativeRow(M, "HostError.__init__", "self, /, *args, **kwargs", 2, init, ""),
];

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    let exception = vm.new_builtin(class)?;
    set_args(vm, exception, &args[2..]);
    Ok(exception)
}

fn set_args(vm: &mut Vm, exception: Value, args: &[Value]) {
    let args = vm.heap.retain_all(args);
    let args = vm.heap.tuple(args);
    if let Some(row) = vm.heap.exception_row(exception) {
        let old = std::mem::replace(&mut row.args, args);
        vm.heap.release(old);
    }
}

fn init(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !vm.heap.dict_pairs(args[1]).is_empty() {
        let message = format!("{}() takes no keyword arguments", vm.heap.class_name(args[0]));
        return Err(vm.type_error(message));
    }
    set_args(vm, args[0], &args[2..]);
    Ok(Value::None)
}

fn import_init(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (class, names): (&str, &[crate::value::Ref]) = if vm.heap.is_instance(args[0], ty::IMPORT_ERROR) {
        ("ImportError", &[nm::NAME_ATTR, nm::PATH])
    } else if vm.heap.is_instance(args[0], ty::ATTRIBUTE_ERROR) {
        ("AttributeError", &[nm::NAME_ATTR, nm::OBJ])
    } else {
        ("NameError", &[nm::NAME_ATTR])
    };
    set_args(vm, args[0], &args[2..]);
    for &name in names {
        vm.put_attribute(args[0], name, Value::None);
    }
    let keywords = vm.heap.dict_pairs(args[1]);
    if keywords.len() > names.len() {
        let (most, given) = (names.len(), keywords.len());
        let plural = if most == 1 { "" } else { "s" };
        return Err(vm.type_error(format!("{class}() takes at most {most} keyword argument{plural} ({given} given)")));
    }
    for (key, value) in keywords {
        let name = vm.attribute_name(key)?;
        if !names.contains(&name) {
            let name = vm.heap.name_text(name).to_owned();
            return Err(vm.type_error(format!("'{name}' is an invalid keyword argument for {class}()")));
        }
        vm.put_attribute(args[0], name, value);
    }
    Ok(Value::None)
}

/// `SyntaxError(message, (filename, line, column, text[, end line, end column]))`
fn syntax_init(vm: &mut Vm, args: &[Value]) -> Outcome {
    init(vm, args)?;
    for name in ["filename", "lineno", "offset", "text", "end_lineno", "end_offset", "print_file_and_line"] {
        let name = vm.heap.intern(name);
        vm.put_attribute(args[0], name, Value::None);
    }
    let details = match args[2..] {
        [_, details] => details,
        _ => return Ok(Value::None),
    };
    let count = match details.object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::List(list)) => list.items.len(),
        Some(Payload::Tuple(items)) => items.len(),
        Some(Payload::Dict(table) | Payload::Set(table)) => table.len(),
        _ => 0,
    };
    if !matches!(count, 4 | 6) {
        let message = if count == 5 {
            "end_offset must be provided when end_lineno is provided".to_owned()
        } else {
            format!("function takes {} 4 arguments ({count} given)", if count < 4 { "at least" } else { "at most" })
        };
        return Err(vm.type_error(message));
    }
    let details = vm.heap.sequence_snapshot(details);
    for (name, value) in ["filename", "lineno", "offset", "text", "end_lineno", "end_offset"].into_iter().zip(details) {
        let name = vm.heap.intern(name);
        vm.put_attribute(args[0], name, value);
    }
    Ok(Value::None)
}

fn unicode_init(vm: &mut Vm, args: &[Value]) -> Outcome {
    unicode_parts(vm, args, &[nm::ENCODING, nm::OBJECT, nm::START, nm::END, nm::REASON])
}

fn translate_init(vm: &mut Vm, args: &[Value]) -> Outcome {
    unicode_parts(vm, args, &[nm::OBJECT, nm::START, nm::END, nm::REASON])
}

fn unicode_parts(vm: &mut Vm, args: &[Value], names: &[crate::value::Ref]) -> Outcome {
    let decoding = vm.heap.is_instance(args[0], ty::UNICODE_DECODE_ERROR);
    for (index, (&name, &value)) in names.iter().zip(&args[1..]).enumerate() {
        let fits = match name {
            nm::START | nm::END => vm.heap.as_int(value).is_some(),
            nm::OBJECT if decoding => super::bytes::content(vm, value).is_some(),
            _ => vm.heap.text(value).is_some(),
        };
        if !fits {
            let class = vm.heap.class_name(value);
            let message = match name {
                nm::START | nm::END => format!("'{class}' object cannot be interpreted as an integer"),
                nm::OBJECT if decoding => format!("a bytes-like object is required, not '{class}'"),
                _ => format!("argument {} must be str, not {class}", index + 1),
            };
            return Err(vm.type_error(message));
        }
    }
    set_args(vm, args[0], &args[1..]);
    for (&name, &value) in names.iter().zip(&args[1..]) {
        vm.put_attribute(args[0], name, value);
    }
    Ok(Value::None)
}

fn str(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = message(vm, args[0])?;
    Ok(vm.heap.string(text))
}

fn repr(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.heap.class_of(args[0]);
    let name = vm.full_name(class);
    let items = match vm.heap.exception_data(args[0]) {
        Some(row) => row.args,
        None => return Err(Throw::Fallback),
    };
    let text = vm.repr_native(items)?;
    let text = text.strip_suffix(",)").map_or(text.clone(), |text| format!("{text})"));
    Ok(vm.heap.string(format!("{name}{text}")))
}

fn with_traceback(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.set_attribute(args[0], nm::TRACEBACK, args[1])?;
    Ok(vm.heap.retain(args[0]))
}

fn add_note(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.heap.text(args[1]).is_none() {
        let message = format!("note must be a str, not '{}'", vm.heap.class_name(args[1]));
        return Err(vm.type_error(message));
    }
    let notes = match vm.heap.instance_attribute(args[0], nm::NOTES) {
        Some(notes) => notes,
        None => {
            let notes = vm.heap.list(Vec::new());
            vm.put_attribute(args[0], nm::NOTES, notes);
            vm.heap.release(notes);
            notes
        }
    };
    if !vm.heap.is_instance(notes, ty::LIST) {
        return Err(vm.type_error("Cannot add note: __notes__ is not a list"));
    }
    let note = vm.heap.retain(args[1]);
    vm.list_push(notes, note)?;
    Ok(Value::None)
}

fn group_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let arguments = vm.heap.retain_all(&args[2..]);
    let arguments = vm.heap.tuple(arguments);
    let outcome = vm.call_helper("exception_group_new", &[args[0], arguments]);
    vm.heap.release(arguments);
    outcome
}

fn group_init(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.heap.dict_pairs(args[1]).is_empty() {
        return Ok(Value::None);
    }
    let message = format!("{}() takes no keyword arguments", vm.heap.class_name(args[0]));
    Err(vm.type_error(message))
}

fn derive(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.call_helper("exception_group_derive", &[args[0], args[1]])
}

fn split(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.call_helper("exception_group_split", &[args[0], args[1]])
}

fn subgroup(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.call_helper("exception_group_subgroup", &[args[0], args[1]])
}
