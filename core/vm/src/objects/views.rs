//! Memory views: what they see of the bytes below them.

use crate::costs::{BYTES_COPIED, VIEW_ITEM};
use crate::error::{Outcome, Throw};
use crate::payload::{Format, Payload, View};
use crate::runtime::Vm;
use crate::types::ty;
use crate::value::Value;
use cowboy_num::sizes;

/// The content of bytes or a bytearray, where it lies.
pub(crate) fn octets(vm: &Vm, value: Value) -> Option<&[u8]> {
    match value.object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::Bytes(bytes) | Payload::ByteArray(bytes, _)) => Some(bytes),
        _ => None,
    }
}

impl View {
    /// A view of all of some bytes.
    pub(crate) fn whole(object: Value, length: usize, is_readonly: bool) -> Self {
        Self { object, start: 0, shape: vec![length], strides: vec![1], format: Format::BYTES, is_readonly, hash: None }
    }

    /// Number of items.
    pub(crate) fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Bytes of all items.
    pub(crate) fn bytes(&self) -> usize {
        self.count() * self.format.size()
    }

    /// Whether the items lie side by side, the last dimension fastest or, as in Fortran, the first.
    pub(crate) fn is_contiguous(&self, is_fortran: bool) -> bool {
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

pub(crate) fn view(vm: &Vm, value: Value) -> Option<&View> {
    match vm.heap.payload(value.object()?) {
        Payload::MemoryView(view) => Some(view),
        _ => None,
    }
}

pub(crate) fn released(vm: &mut Vm) -> Throw {
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
pub(crate) fn live(vm: &mut Vm, value: Value) -> Outcome<View> {
    match view(vm, value) {
        Some(view) if !view.object.is_undefined() => Ok(view.clone()),
        Some(_) => Err(released(vm)),
        None => {
            let message = format!("a bytes-like object is required, not '{}'", vm.heap.class_name(value));
            Err(vm.type_error(message))
        }
    }
}

/// A view of anything that has bytes, not yet an object; `None` for what has none.
pub(crate) fn seen(vm: &mut Vm, value: Value) -> Outcome<Option<View>> {
    if view(vm, value).is_some() {
        return live(vm, value).map(Some);
    }
    let is_readonly = !matches!(value.object().map(|object| vm.heap.payload(object).core()), Some(Payload::ByteArray(..)));
    Ok(octets(vm, value).map(|bytes| View::whole(value, bytes.len(), is_readonly)))
}

/// Makes the object. The bytes stay alive and, in a bytearray, as many as they are.
pub(crate) fn make(vm: &mut Vm, view: View) -> Value {
    vm.heap.retain(view.object);
    vm.heap.count_view(view.object, true);
    let made = vm.heap.make(ty::MEMORYVIEW, Payload::MemoryView(Box::new(View { hash: None, ..view })));
    vm.heap.label_children(made);
    made
}

/// The items' bytes in their order, at a price by their number.
pub(crate) fn gathered(vm: &mut Vm, view: &View, is_fortran: bool) -> Vec<u8> {
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

/// The byte that so many strides lead to.
pub(crate) fn step(start: usize, stride: i64, index: usize) -> usize {
    let distance = stride.saturating_mul(i64::try_from(index).unwrap_or(i64::MAX));
    sizes::saturating(i64::try_from(start).unwrap_or(i64::MAX).saturating_add(distance))
}

/// Where the items lie, in order: the last dimension fastest or, as in Fortran, the first.
pub(crate) fn places(view: &View, is_fortran: bool) -> impl Iterator<Item = usize> + use<> {
    let mut dimensions: Vec<(usize, i64, usize)> =
        view.shape.iter().zip(&view.strides).map(|(&length, &stride)| (length, stride, 0)).collect();
    if !is_fortran {
        dimensions.reverse();
    }
    let (mut at, mut left) = (i64::try_from(view.start).unwrap_or(0), view.count());
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        let place = sizes::index(at).unwrap_or(usize::MAX / 2);
        for (length, stride, index) in &mut dimensions {
            at += *stride;
            *index += 1;
            if *index < *length {
                break;
            }
            at -= stride.saturating_mul(i64::try_from(*length).unwrap_or(0));
            *index = 0;
        }
        Some(place)
    })
}
