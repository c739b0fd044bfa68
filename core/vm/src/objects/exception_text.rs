//! The texts of exceptions, which may hold those of exceptions inside them.

use super::bytes;
use super::codec::escaped;
use crate::costs::{INNER_TEXT, TEXT_COPIED, TEXT_MARKED};
use crate::error::{Outcome, Throw};
use crate::heap::numbers::Number;
use crate::limits::NATIVE_DEPTH;
use crate::runtime::Vm;
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use cowboy_num::sizes;

/// `str(exception)`.
pub(crate) fn message(vm: &mut Vm, exception: Value) -> Outcome<String> {
    let args = match vm.heap.exception_data(exception) {
        Some(row) => row.args,
        None => return Ok(String::new()),
    };
    if vm.heap.is_instance(exception, ty::UNICODE_ERROR) {
        if let Some(text) = unicode_error_message(vm, exception) {
            return Ok(text);
        }
    }
    if let Some(text) = os_error_message(vm, exception)? {
        return Ok(text);
    }
    let items = vm.heap.tuple_ref(args);
    // Of more than two, all that is needed here is that they are more.
    let items = items[..items.len().min(3)].to_vec();
    if vm.heap.is_instance(exception, ty::BASE_EXCEPTION_GROUP) && items.len() == 2 {
        let count = items[1].object().map_or(0, |members| vm.heap.sequence_length(members));
        let length = vm.heap.text(items[0]).map_or(0, str::len);
        vm.spend(TEXT_COPIED.of(length))?;
        let text = vm.heap.text(items[0]).unwrap_or_default();
        return Ok(format!("{text} ({count} sub-exception{})", if count == 1 { "" } else { "s" }));
    }
    match items.as_slice() {
        [] => Ok(String::new()),
        [one] if vm.heap.is_instance(exception, ty::KEY_ERROR) => vm.repr_native(*one),
        [one] => display(vm, *one),
        _ => vm.repr_native(args),
    }
}

/// `str(value)` without Python code.
pub(crate) fn display(vm: &mut Vm, value: Value) -> Outcome<String> {
    if vm.own_str(value).is_some() {
        return Err(Throw::Fallback);
    }
    let length = vm.heap.text(value).map_or(0, str::len);
    vm.owe(TEXT_COPIED.of(length));
    if let Some(text) = vm.heap.text(value) {
        return Ok(text.to_owned());
    }
    if vm.heap.exception_data(value).is_none() {
        return vm.repr_native(value);
    }
    // The text of an exception may be that of one inside it, and so on.
    if vm.native_depth > NATIVE_DEPTH {
        return Err(vm.raise(ty::RECURSION_ERROR, "maximum recursion depth exceeded while getting the str of an object"));
    }
    if vm.native_depth > 0 {
        vm.spend(INNER_TEXT.once())?;
    }
    vm.native_depth += 1;
    let text = message(vm, value);
    vm.native_depth -= 1;
    text
}

/// The text of an `OSError`, `SyntaxError` or `ImportError` as its attributes say it now; `None` where the arguments alone say it.
pub(crate) fn os_error_message(vm: &mut Vm, exception: Value) -> Outcome<Option<String>> {
    let class = vm.heap.class_of(exception);
    let own = |vm: &mut Vm, name: Ref| vm.heap.instance_attribute(exception, name).filter(|value| !value.is_none());
    if vm.heap.is_subclass(class, ty::OS_ERROR) {
        let (Some(number), Some(text)) = (own(vm, nm::ERRNO), own(vm, nm::STRERROR)) else { return Ok(None) };
        let (number, text) = (display(vm, number)?, display(vm, text)?);
        return Ok(Some(match own(vm, nm::FILENAME) {
            Some(filename) => format!("[Errno {number}] {text}: {}", vm.repr_native(filename)?),
            None => format!("[Errno {number}] {text}"),
        }));
    }
    if vm.heap.is_subclass(class, ty::IMPORT_ERROR) {
        return Ok(own(vm, nm::MSG).and_then(|text| vm.heap.text(text).map(str::to_owned)));
    }
    if !vm.heap.is_subclass(class, ty::SYNTAX_ERROR) {
        return Ok(None);
    }
    let (file, line) = (vm.heap.intern("filename"), vm.heap.intern("lineno"));
    let file = own(vm, file).and_then(|file| vm.heap.text(file).map(|file| file.rsplit('/').next().unwrap_or_default().to_owned()));
    let line = own(vm, line).and_then(|line| vm.heap.as_int(line));
    let text = match own(vm, nm::MSG) {
        Some(text) => display(vm, text)?,
        None => {
            let args = vm.heap.exception_data(exception).map_or(Value::None, |row| row.args);
            let first = vm.heap.tuple_items(args).first().copied().unwrap_or(Value::None);
            display(vm, first)?
        }
    };
    Ok(Some(match (file, line) {
        (Some(file), Some(line)) => format!("{text} ({file}, line {line})"),
        (Some(file), None) => format!("{text} ({file})"),
        (None, Some(line)) => format!("{text} (line {line})"),
        (None, None) => text,
    }))
}

/// `str()` of a UnicodeEncodeError, UnicodeDecodeError or UnicodeTranslateError with all its arguments.
pub(crate) fn unicode_error_message(vm: &mut Vm, exception: Value) -> Option<String> {
    let attribute = |vm: &mut Vm, name| vm.heap.instance_attribute(exception, name);
    let object = attribute(vm, nm::OBJECT)?;
    let number = |vm: &mut Vm, value: Value| match vm.heap.number(value) {
        Some(Number::Small(number)) => u64::try_from(number).ok(),
        _ => None,
    };
    let start = attribute(vm, nm::START)?;
    let start = number(vm, start)?;
    let end = attribute(vm, nm::END)?;
    let end = number(vm, end)?;
    let reason = attribute(vm, nm::REASON)?;
    let reason = display(vm, reason).ok()?;
    let encoding = match attribute(vm, nm::ENCODING) {
        Some(name) => display(vm, name).ok()?,
        None => String::new(),
    };
    let last = end.saturating_sub(1);
    if vm.heap.is_instance(exception, ty::UNICODE_DECODE_ERROR) {
        let bytes = bytes::content(vm, object)?;
        return Some(match bytes.get(sizes::saturating(start)) {
            Some(byte) if end == start + 1 => format!("'{encoding}' codec can't decode byte 0x{byte:02x} in position {start}: {reason}"),
            _ => format!("'{encoding}' codec can't decode bytes in position {start}-{last}: {reason}"),
        });
    }
    let length = vm.heap.text(object)?.len();
    // The characters before it are counted.
    vm.owe(TEXT_MARKED.of(length.min(sizes::saturating(start).saturating_mul(4))));
    let text = vm.heap.text(object)?;
    let verb = if vm.heap.is_instance(exception, ty::UNICODE_ENCODE_ERROR) {
        format!("'{encoding}' codec can't encode")
    } else {
        "can't translate".to_owned()
    };
    Some(match text.chars().nth(sizes::saturating(start)) {
        Some(c) if end == start + 1 => format!("{verb} character '{}' in position {start}: {reason}", escaped(u32::from(c))),
        _ => format!("{verb} characters in position {start}-{last}: {reason}"),
    })
}
