//! `memoryview`: a window on the bytes of `bytes` or a `bytearray`, in items of a native format.

use super::memoryview_items as items;
use super::views::{self, check, gathered, live, places, seen, view};
use crate::costs::{BYTES_COPIED, ITEM_MADE, TEXT_HASHED, VIEW_COMPARED, VIEW_INDEX, VIEW_ITEM_COMPARED, VIEW_ITEM_READ};
use crate::error::Outcome;
use crate::frame::CompareOp;
use crate::heap::numbers::Number;
use crate::payload::{Format, Payload, View};
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::protocol::{Compare, Hashing, Iterate, Subscript};
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use cowboy_num::sizes;

pub(crate) use super::memoryview_items::{get_item, no_deletion, set_item};

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;

/// Rows of `memoryview`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "memoryview.__new__", "cls, object", 5, new, ""),
    NativeRow(M, "memoryview.cast", "self, format, shape=", 5, cast, ""),
    NativeRow(M, "memoryview.hex", "self, sep=, bytes_per_sep=", 3, hex, ""),
    NativeRow(M, "memoryview.release", "self, /", 2, release, ""),
    NativeRow(M, "memoryview.tobytes", "self, order=", 3, tobytes, ""),
    NativeRow(M, "memoryview.tolist", "self, /", 3, tolist, ""),
    NativeRow(M, "memoryview.toreadonly", "self, /", 3, toreadonly, ""),
    NativeRow(M, "memoryview.__enter__", "self, /", 2, enter, ""),
    NativeRow(M, "memoryview.__exit__", "self, /, *args", 2, exit, ""),
    NativeRow(M, "memoryview.__len__", "self, /", 1, len, ""),
    NativeRow(M, "memoryview.__getitem__", "self, key, /", 2, getitem, ""),
    NativeRow(M, "memoryview.__setitem__", "self, key, value, /", 2, setitem, "setitem_slow"),
    NativeRow(M, "memoryview.__delitem__", "self, key, /", 2, delitem, ""),
    NativeRow(M, "memoryview.__iter__", "self, /", 1, iter, ""),
    NativeRow(M, "memoryview.__eq__", "self, value, /", 1, eq, ""),
    NativeRow(M, "memoryview.__ne__", "self, value, /", 1, ne, ""),
    NativeRow(M, "memoryview.__hash__", "self, /", 2, own_hash, ""),
];

/// Most dimensions, as in CPython.
const DIMENSIONS: usize = 64;

/// Strides of items side by side.
fn strides(shape: &[usize], size: usize) -> Vec<i64> {
    let mut stride = i64::try_from(size).unwrap_or(1);
    let mut strides: Vec<i64> = Vec::with_capacity(shape.len());
    for &length in shape.iter().rev() {
        strides.push(stride);
        stride = stride.saturating_mul(i64::try_from(length).unwrap_or(i64::MAX));
    }
    strides.reverse();
    strides
}

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.class_argument(args[0])?;
    match seen(vm, args[1])? {
        Some(view) => Ok(views::make(vm, view)),
        None => {
            let message = format!("memoryview: a bytes-like object is required, not '{}'", vm.heap.class_name(args[1]));
            Err(vm.type_error(message))
        }
    }
}

/// The lengths in the argument `shape` of `cast`.
fn shape_of(vm: &mut Vm, value: Value) -> Outcome<Vec<usize>> {
    if !vm.heap.is_instance(value, ty::LIST) && !vm.heap.is_instance(value, ty::TUPLE) {
        return Err(vm.type_error("shape must be a list or a tuple"));
    }
    let parts = vm.heap.sequence_snapshot(value);
    vm.spend(VIEW_INDEX.of(parts.len()))?;
    if parts.len() > DIMENSIONS {
        return Err(vm.value_error("memoryview: number of dimensions must not exceed 64"));
    }
    let mut shape = Vec::with_capacity(parts.len());
    for part in parts {
        match vm.heap.number(part) {
            Some(Number::Small(length)) if length > 0 => shape.push(sizes::index(length).unwrap_or(usize::MAX)),
            Some(Number::Small(_)) => return Err(vm.value_error("memoryview.cast(): elements of shape must be integers > 0")),
            Some(Number::Big(_)) => return Err(vm.raise(ty::OVERFLOW_ERROR, "Python int too large to convert to C ssize_t")),
            _ => return Err(vm.type_error("memoryview.cast(): elements of shape must be integers")),
        }
    }
    Ok(shape)
}

fn cast(vm: &mut Vm, args: &[Value]) -> Outcome {
    let view = live(vm, args[0])?;
    let length = vm.heap.text(args[1]).map_or(0, str::len);
    vm.spend(BYTES_COPIED.of(length))?;
    let Some(format) = vm.heap.text(args[1]).map(str::to_owned) else {
        let class = if args[1].is_none() { "None".to_owned() } else { vm.heap.class_name(args[1]) };
        return Err(vm.type_error(format!("cast() argument 'format' must be str, not {class}")));
    };
    if !view.is_contiguous(false) {
        return Err(vm.type_error("memoryview: casts are restricted to C-contiguous views"));
    }
    let wants_shape = !args[2].is_undefined();
    if (wants_shape || view.shape.len() != 1) && view.shape.contains(&0) {
        return Err(vm.type_error("memoryview: cannot cast view with zeros in shape or strides"));
    }
    let wanted = if wants_shape { Some(shape_of(vm, args[2])?) } else { None };
    if view.shape.len() != 1 && wanted.as_ref().is_some_and(|shape| shape.len() != 1) {
        return Err(vm.type_error("memoryview: cast must be 1D -> ND or ND -> 1D"));
    }
    let Some(format) = Format::parse(&format) else {
        let message = "memoryview: destination format must be a native single character format prefixed with an optional '@'";
        return Err(vm.value_error(message));
    };
    if !format.is_byte() && !view.format.is_byte() {
        return Err(vm.type_error("memoryview: cannot cast between two non-byte formats"));
    }
    let (length, size) = (view.bytes(), format.size());
    if !length.is_multiple_of(size) {
        return Err(vm.type_error("memoryview: length is not a multiple of itemsize"));
    }
    let shape = wanted.unwrap_or_else(|| vec![length / size]);
    let Some(total) = shape.iter().try_fold(size, |total, &part| total.checked_mul(part)).filter(|&total| i64::try_from(total).is_ok())
    else {
        return Err(vm.value_error("memoryview.cast(): product(shape) > SSIZE_MAX"));
    };
    if total != length {
        return Err(vm.type_error("memoryview: product(shape) * itemsize != buffer size"));
    }
    let strides = strides(&shape, size);
    Ok(views::make(vm, View { shape, strides, format, ..view }))
}

fn bytes_of(vm: &mut Vm, view: &View, is_fortran: bool) -> Outcome {
    vm.spend(BYTES_COPIED.of(view.bytes()))?;
    vm.reserve(view.bytes())?;
    let bytes = gathered(vm, view, is_fortran);
    Ok(vm.heap.make(ty::BYTES, Payload::Bytes(bytes)))
}

fn hex(vm: &mut Vm, args: &[Value]) -> Outcome {
    let view = live(vm, args[0])?;
    let bytes = bytes_of(vm, &view, false)?;
    let text = super::bytes_methods::hex(vm, &[bytes, args[1], args[2]]);
    vm.heap.release(bytes);
    text
}

fn tobytes(vm: &mut Vm, args: &[Value]) -> Outcome {
    let view = live(vm, args[0])?;
    let length = vm.heap.text(args[1]).map_or(0, str::len);
    vm.spend(BYTES_COPIED.of(length))?;
    let order = if args[1].is_undefined() || args[1].is_none() {
        "C".to_owned()
    } else if let Some(order) = vm.heap.text(args[1]) {
        order.to_owned()
    } else {
        let message = format!("tobytes() argument 'order' must be str or None, not {}", vm.heap.class_name(args[1]));
        return Err(vm.type_error(message));
    };
    if !matches!(order.as_str(), "C" | "F" | "A") {
        return Err(vm.value_error("order must be 'C', 'F' or 'A'"));
    }
    let is_fortran = order == "F" || (order == "A" && view.is_contiguous(true) && !view.is_contiguous(false));
    bytes_of(vm, &view, is_fortran)
}

fn tolist(vm: &mut Vm, args: &[Value]) -> Outcome {
    let view = live(vm, args[0])?;
    let size = view.count().saturating_mul(view.shape.len().max(1));
    vm.spend(VIEW_ITEM_READ.of(size))?;
    vm.reserve(size.saturating_mul(8))?;
    items::nested(vm, &view, 0, i64::try_from(view.start).unwrap_or(0))
}

fn toreadonly(vm: &mut Vm, args: &[Value]) -> Outcome {
    let view = live(vm, args[0])?;
    Ok(views::make(vm, View { is_readonly: true, ..view }))
}

fn release(vm: &mut Vm, args: &[Value]) -> Outcome {
    let shown = view(vm, args[0]).map_or(Value::Undefined, |view| view.object);
    if let (false, Value::Obj(object)) = (shown.is_undefined(), args[0]) {
        if let Payload::MemoryView(view) = vm.heap.payload_mut(object) {
            view.object = Value::Undefined;
        }
        vm.heap.count_view(shown, false);
        vm.heap.release(shown);
    }
    Ok(Value::None)
}

fn enter(vm: &mut Vm, args: &[Value]) -> Outcome {
    check(vm, args[0])?;
    Ok(vm.heap.retain(args[0]))
}

fn exit(vm: &mut Vm, args: &[Value]) -> Outcome {
    release(vm, args)
}

fn len(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.length(args[0])
}

fn getitem(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.get_item_native(args[0], args[1])
}

fn setitem(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.set_item_native(args[0], args[1], args[2]).map(|()| Value::None)
}

fn delitem(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.delete_item_native(args[0], args[1]).map(|()| Value::None)
}

fn iter(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.iterator(args[0])
}

/// Whether a view can be iterated: while it is not released and has one dimension.
pub(crate) fn check_iterable(vm: &mut Vm, value: Value) -> Outcome<()> {
    match live(vm, value)?.shape.len() {
        0 => Err(vm.type_error("invalid indexing of 0-dim memory")),
        1 => Ok(()),
        _ => Err(vm.raise(ty::NOT_IMPLEMENTED_ERROR, "multi-dimensional sub-views are not implemented")),
    }
}

fn eq(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(equals(vm, args[0], args[1])?.map_or(Value::NotImplemented, Value::truth))
}

fn ne(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(equals(vm, args[0], args[1])?.map_or(Value::NotImplemented, |same| Value::truth(!same)))
}

/// Whether a view has the same items as other bytes; `None` when neither is a view or one of them has no bytes.
pub(crate) fn equals(vm: &mut Vm, left: Value, right: Value) -> Outcome<Option<bool>> {
    let gone = |vm: &Vm, value: Value| view(vm, value).map(|view| view.object.is_undefined());
    match (gone(vm, left), gone(vm, right)) {
        (None, None) => return Ok(None),
        (Some(true), _) | (_, Some(true)) => return Ok(Some(left.is(right))),
        _ => {}
    }
    let (Some(one), Some(other)) = (seen(vm, left)?, seen(vm, right)?) else { return Ok(None) };
    if one.shape != other.shape {
        return Ok(Some(false));
    }
    vm.spend(VIEW_COMPARED.once() + BYTES_COPIED.of(one.bytes().max(other.bytes())))?;
    vm.reserve(one.bytes().saturating_add(other.bytes()))?;
    if one.format.code == other.format.code && !matches!(one.format.code, b'f' | b'd') {
        return Ok(Some(gathered(vm, &one, false) == gathered(vm, &other, false)));
    }
    vm.spend(VIEW_ITEM_COMPARED.of(one.count()))?;
    for (here, there) in places(&one, false).zip(places(&other, false)) {
        let (a, b) = (items::read(vm, one.object, here, one.format)?, items::read(vm, other.object, there, other.format)?);
        let same = vm.compare_native(CompareOp::Eq, a, b);
        vm.heap.release(a);
        vm.heap.release(b);
        if same? != Some(true) {
            return Ok(Some(false));
        }
    }
    Ok(Some(true))
}

fn own_hash(vm: &mut Vm, args: &[Value]) -> Outcome {
    hash(vm, args[0]).map(Value::Int)
}

/// The hash of a view that only reads: that of its bytes.
pub(crate) fn hash(vm: &mut Vm, value: Value) -> Outcome<i64> {
    if let Some(hash) = view(vm, value).and_then(|view| view.hash) {
        return Ok(hash);
    }
    let view = live(vm, value)?;
    if !view.is_readonly {
        return Err(vm.value_error("cannot hash writable memoryview object"));
    }
    if !view.format.is_byte() {
        return Err(vm.value_error("memoryview: hashing is restricted to formats 'B', 'b' or 'c'"));
    }
    vm.hash_native(view.object)?;
    vm.spend(TEXT_HASHED.of(view.bytes()))?;
    let hash = cowboy_num::siphash13(&gathered(vm, &view, false));
    if let Some(Payload::MemoryView(row)) = value.object().map(|object| vm.heap.payload_mut(object)) {
        row.hash = Some(hash);
    }
    Ok(hash)
}

/// An attribute of a view; `None` when there is none of that name.
pub(crate) fn attribute(vm: &mut Vm, object: Value, name: Ref) -> Outcome<Option<Value>> {
    const KNOWN: [Ref; 12] = [
        nm::OBJ,
        nm::NBYTES,
        nm::READONLY,
        nm::ITEMSIZE,
        nm::FORMAT_NAME,
        nm::NDIM,
        nm::SHAPE,
        nm::STRIDES,
        nm::SUBOFFSETS,
        nm::C_CONTIGUOUS,
        nm::F_CONTIGUOUS,
        nm::CONTIGUOUS,
    ];
    if !KNOWN.contains(&name) {
        return Ok(None);
    }
    let dimensions = self::view(vm, object).map_or(1, |view| view.shape.len());
    vm.spend(ITEM_MADE.of(dimensions.saturating_sub(1)))?;
    let view = live(vm, object)?;
    let whole = |length: usize| Value::Int(i64::try_from(length).unwrap_or(i64::MAX));
    Ok(Some(match name {
        nm::OBJ => vm.heap.retain(view.object),
        nm::NBYTES => whole(view.bytes()),
        nm::READONLY => Value::truth(view.is_readonly),
        nm::ITEMSIZE => whole(view.format.size()),
        nm::FORMAT_NAME => vm.heap.str(&view.format.text()),
        nm::NDIM => whole(view.shape.len()),
        nm::SHAPE => vm.heap.tuple(view.shape.iter().map(|&length| whole(length)).collect()),
        nm::STRIDES => vm.heap.tuple(view.strides.iter().map(|&stride| Value::Int(stride)).collect()),
        nm::SUBOFFSETS => Value::Obj(crate::types::EMPTY_TUPLE),
        nm::C_CONTIGUOUS => Value::truth(view.is_contiguous(false)),
        nm::F_CONTIGUOUS => Value::truth(view.is_contiguous(true)),
        _ => Value::truth(view.is_contiguous(false) || view.is_contiguous(true)),
    }))
}
