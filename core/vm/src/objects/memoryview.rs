//! `memoryview`: a window on the bytes of `bytes` or a `bytearray`, in items of a native format.

use super::bytes::octets;
use super::memoryview_items::{self as items, places};
use crate::costs::{BYTES_COPIED, ITEM_MADE, TEXT_HASHED, VIEW_COMPARED, VIEW_INDEX, VIEW_ITEM, VIEW_ITEM_COMPARED, VIEW_ITEM_READ};
use crate::error::{Outcome, Throw};
use crate::frame::CompareOp;
use crate::interp::native::{NativeKind, NativeRow};
use crate::interp::{Vm, operators::Number};
use crate::payload::{Format, Payload, View};
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

impl View {
    /// A view of all of some bytes.
    fn whole(object: Value, length: usize, is_readonly: bool) -> Self {
        Self { object, start: 0, shape: vec![length], strides: vec![1], format: Format::BYTES, is_readonly, hash: None }
    }

    /// Number of items.
    pub(super) fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Bytes of all items.
    pub(super) fn bytes(&self) -> usize {
        self.count() * self.format.size()
    }

    /// Whether the items lie side by side, the last dimension fastest or, as in Fortran, the first.
    pub(super) fn is_contiguous(&self, is_fortran: bool) -> bool {
        let size = i64::try_from(self.format.size()).unwrap_or(1);
        if let ([length], [stride]) = (self.shape.as_slice(), self.strides.as_slice()) {
            return *length == 1 || *stride == size;
        }
        if self.count() == 0 {
            return true;
        }
        let mut expected = size;
        let mut fits = |(&length, &stride): (&usize, &i64)| {
            let good = length <= 1 || stride == expected;
            expected = expected.saturating_mul(i64::try_from(length).unwrap_or(i64::MAX));
            good
        };
        let mut dimensions = self.shape.iter().zip(&self.strides);
        if is_fortran { dimensions.all(&mut fits) } else { dimensions.rev().all(&mut fits) }
    }
}

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

fn view(vm: &Vm, value: Value) -> Option<&View> {
    match vm.heap.payload(value.object()?) {
        Payload::MemoryView(view) => Some(view),
        _ => None,
    }
}

fn released(vm: &mut Vm) -> Throw {
    vm.value_error("operation forbidden on released memoryview object")
}

/// ValueError for a view that was released; anything else is fine.
pub(crate) fn check(vm: &mut Vm, value: Value) -> Outcome<()> {
    match view(vm, value) {
        Some(view) if view.object.is_undefined() => Err(released(vm)),
        _ => Ok(()),
    }
}

/// The view that a receiver is, while it is not released.
pub(super) fn live(vm: &mut Vm, value: Value) -> Outcome<View> {
    match view(vm, value) {
        Some(view) if !view.object.is_undefined() => Ok(view.clone()),
        Some(_) => Err(released(vm)),
        None => {
            let message = format!("a bytes-like object is required, not '{}'", vm.class_name(value));
            Err(vm.type_error(message))
        }
    }
}

/// A view of anything that has bytes, not yet an object; `None` for what has none.
pub(super) fn seen(vm: &mut Vm, value: Value) -> Outcome<Option<View>> {
    if view(vm, value).is_some() {
        return live(vm, value).map(Some);
    }
    let is_readonly = !matches!(value.object().map(|object| vm.heap.payload(object).core()), Some(Payload::ByteArray(..)));
    Ok(octets(vm, value).map(|bytes| View::whole(value, bytes.len(), is_readonly)))
}

/// Makes the object. The bytes stay alive and, in a bytearray, as many as they are.
pub(super) fn make(vm: &mut Vm, view: View) -> Value {
    vm.heap.retain(view.object);
    vm.heap.count_view(view.object, true);
    let made = vm.heap.make(ty::MEMORYVIEW, Payload::MemoryView(Box::new(View { hash: None, ..view })));
    vm.label_children(made);
    made
}

/// The items' bytes in their order, at a price by their number.
pub(super) fn gathered(vm: &mut Vm, view: &View, is_fortran: bool) -> Vec<u8> {
    let (length, size) = (view.bytes(), view.format.size());
    let is_dense = view.is_contiguous(is_fortran);
    vm.owe(if is_dense { BYTES_COPIED.of(length) } else { VIEW_ITEM.of(view.count()) });
    let Some(bytes) = octets(vm, view.object) else { return Vec::new() };
    if is_dense {
        return bytes.get(view.start..view.start + length).unwrap_or_default().to_vec();
    }
    let mut out = Vec::with_capacity(length);
    for place in places(view, is_fortran) {
        out.extend_from_slice(bytes.get(place..place + size).unwrap_or_default());
    }
    out
}

/// A copy of the content of a view, charged; `None` for anything else and for a view that was released.
pub(crate) fn scattered(vm: &mut Vm, value: Value) -> Option<Vec<u8>> {
    let view = view(vm, value).filter(|view| !view.object.is_undefined())?.clone();
    Some(gathered(vm, &view, false))
}

/// The same for a view whose items lie side by side, which is what most functions take.
pub(crate) fn content(vm: &mut Vm, value: Value) -> Option<Vec<u8>> {
    view(vm, value).filter(|view| view.is_contiguous(false))?;
    scattered(vm, value)
}

/// The bytes of a view whose items lie side by side, where they lie.
pub(crate) fn beside(vm: &Vm, value: Value) -> Option<&[u8]> {
    let view = view(vm, value).filter(|view| view.is_contiguous(false))?;
    octets(vm, view.object)?.get(view.start..view.start + view.bytes())
}

/// Why a view gives no bytes to a function that wants them side by side; anything else is fine.
pub(crate) fn check_contiguous(vm: &mut Vm, value: Value) -> Outcome<()> {
    check(vm, value)?;
    match view(vm, value) {
        Some(view) if !view.is_contiguous(false) => Err(vm.raise(ty::BUFFER_ERROR, "memoryview: underlying buffer is not C-contiguous")),
        _ => Ok(()),
    }
}

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.class_argument(args[0])?;
    match seen(vm, args[1])? {
        Some(view) => Ok(make(vm, view)),
        None => {
            let message = format!("memoryview: a bytes-like object is required, not '{}'", vm.class_name(args[1]));
            Err(vm.type_error(message))
        }
    }
}

/// The lengths in the argument `shape` of `cast`.
fn shape_of(vm: &mut Vm, value: Value) -> Outcome<Vec<usize>> {
    if !vm.is_instance(value, ty::LIST) && !vm.is_instance(value, ty::TUPLE) {
        return Err(vm.type_error("shape must be a list or a tuple"));
    }
    let parts = vm.sequence_snapshot(value);
    vm.spend(VIEW_INDEX.of(parts.len()))?;
    if parts.len() > DIMENSIONS {
        return Err(vm.value_error("memoryview: number of dimensions must not exceed 64"));
    }
    let mut shape = Vec::with_capacity(parts.len());
    for part in parts {
        match vm.number(part) {
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
    let length = vm.text(args[1]).map_or(0, str::len);
    vm.spend(BYTES_COPIED.of(length))?;
    let Some(format) = vm.text(args[1]).map(str::to_owned) else {
        let class = if args[1].is_none() { "None".to_owned() } else { vm.class_name(args[1]) };
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
    Ok(make(vm, View { shape, strides, format, ..view }))
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
    let length = vm.text(args[1]).map_or(0, str::len);
    vm.spend(BYTES_COPIED.of(length))?;
    let order = if args[1].is_undefined() || args[1].is_none() {
        "C".to_owned()
    } else if let Some(order) = vm.text(args[1]) {
        order.to_owned()
    } else {
        let message = format!("tobytes() argument 'order' must be str or None, not {}", vm.class_name(args[1]));
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
    Ok(make(vm, View { is_readonly: true, ..view }))
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

/// The item of a view of one dimension at a position; `None` past its end.
pub(crate) fn item(vm: &mut Vm, object: Ref, index: usize) -> Outcome<Option<Value>> {
    let Payload::MemoryView(view) = vm.heap.payload(object) else { return Ok(None) };
    let ([length], [stride]) = (view.shape.as_slice(), view.strides.as_slice()) else { return Ok(None) };
    if index >= *length || view.object.is_undefined() {
        return Ok(None);
    }
    let place = items::step(view.start, *stride, index);
    let (shown, format) = (view.object, view.format);
    items::read(vm, shown, place, format).map(Some)
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
        nm::SHAPE => vm.tuple(view.shape.iter().map(|&length| whole(length)).collect()),
        nm::STRIDES => vm.tuple(view.strides.iter().map(|&stride| Value::Int(stride)).collect()),
        nm::SUBOFFSETS => Value::Obj(crate::types::EMPTY_TUPLE),
        nm::C_CONTIGUOUS => Value::truth(view.is_contiguous(false)),
        nm::F_CONTIGUOUS => Value::truth(view.is_contiguous(true)),
        _ => Value::truth(view.is_contiguous(false) || view.is_contiguous(true)),
    }))
}
