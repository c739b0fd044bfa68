//! Builtin types, one file each: their payload operations and their rows of native methods.

mod ascii;
pub(crate) mod bytes;
mod bytes_methods;
pub(crate) mod codec;
pub(crate) mod complex;
pub(crate) mod dict_methods;
pub(crate) mod exception;
pub(crate) mod exception_text;
pub(crate) mod float;
pub(crate) mod function;
pub(crate) mod int;
pub(crate) mod list;
pub(crate) mod memoryview;
pub(crate) mod memoryview_items;
pub(crate) mod object;
pub(crate) mod os_error;
pub(crate) mod packed;
pub(crate) mod percent;
pub(crate) mod sequences;
pub(crate) mod set;
mod set_plain;
pub(crate) mod sorting;
pub(crate) mod str;
pub(crate) mod tables;
pub(crate) mod template;
pub(crate) mod tuple;
pub(crate) mod views;

use crate::costs::{BYTES_MADE, CONTENT_TAKEN, LIMBS_COMPARED, UNION_MEMBER, UNIONS_JOINED};
use crate::error::{Outcome, Throw};
use crate::frame::CompareOp;
use crate::heap::numbers::Number;
use crate::payload::{DictPart, Payload};
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::operator::BinaryOp;
use crate::runtime::protocol::{Compare, Iterate, Operate};
use crate::types::ty;
use crate::value::{Ref, Value};
use sequences::{joined, repeat, repeated};

/// Rows of every type.
pub(crate) const ROWS: &[&[NativeRow]] = &[
    object::ROWS,
    int::ROWS,
    float::ROWS,
    complex::ROWS,
    str::ROWS,
    bytes::ROWS,
    bytes_methods::ROWS,
    memoryview::ROWS,
    list::ROWS,
    tuple::ROWS,
    dict_methods::ROWS,
    set::ROWS,
    function::ROWS,
    function::ITERATORS,
    function::SIZED_ITERATORS,
    exception::ROWS,
    os_error::ROWS,
    OPERATORS,
];

macro_rules! binary_natives {
    ($($function:ident $reflected:ident $op:ident;)*) => {
        $(
            fn $function(vm: &mut Vm, args: &[Value]) -> Outcome {
                if int_with_other(vm, args) {
                    return Ok(Value::NotImplemented);
                }
                vm.binary_core(BinaryOp::$op, args[0], args[1]).map(|value| value.unwrap_or(Value::NotImplemented))
            }

            fn $reflected(vm: &mut Vm, args: &[Value]) -> Outcome {
                if int_with_other(vm, args) {
                    return Ok(Value::NotImplemented);
                }
                vm.binary_core(BinaryOp::$op, args[1], args[0]).map(|value| value.unwrap_or(Value::NotImplemented))
            }
        )*
    };
}

/// An integer's own methods leave everything else to what that is: how a float compares, how a list is repeated.
fn int_with_other(vm: &Vm, args: &[Value]) -> bool {
    let is_int = |value| matches!(vm.heap.number(value), Some(Number::Small(_) | Number::Big(_)));
    is_int(args[0]) && !is_int(args[1])
}

binary_natives! {
    add radd Add; sub rsub Sub; mul rmul Mul; truediv rtruediv TrueDiv; floordiv rfloordiv FloorDiv; modulo rmodulo Mod;
    power rpower Pow; lshift rlshift LeftShift; rshift rrshift RightShift; and rand And; or ror Or; xor rxor Xor; divmod rdivmod DivMod;
}

/// `__pow__` of an integer or a float, of which only integers take a modulus.
fn pow(vm: &mut Vm, args: &[Value]) -> Outcome {
    match by_modulus(vm, args[0], args[1], args)? {
        None => power(vm, args),
        Some(value) => Ok(value),
    }
}

fn rpow(vm: &mut Vm, args: &[Value]) -> Outcome {
    match by_modulus(vm, args[1], args[0], args)? {
        None => rpower(vm, args),
        Some(value) => Ok(value),
    }
}

/// The power by the third argument; `None` where there is none.
fn by_modulus(vm: &mut Vm, base: Value, exponent: Value, args: &[Value]) -> Outcome<Option<Value>> {
    let modulus = args[2];
    if modulus.is_undefined() || modulus.is_none() {
        return Ok(None);
    }
    if vm.heap.as_int(args[0]).is_none() {
        return Err(vm.type_error("pow() 3rd argument not allowed unless all arguments are integers"));
    }
    Ok(Some(int::pow_modulo(vm, base, exponent, modulus)?.unwrap_or(Value::NotImplemented)))
}

macro_rules! set_inplace {
    ($($function:ident $helper:literal;)*) => {
        $(
            fn $function(vm: &mut Vm, args: &[Value]) -> Outcome {
                if vm.heap.is_set(args[1]) { vm.call_helper($helper, &[args[0], args[1]]) } else { Ok(Value::NotImplemented) }
            }
        )*
    };
}

set_inplace! { set_inplace_or "set_ior"; set_inplace_and "set_iand"; set_inplace_sub "set_isub"; set_inplace_xor "set_ixor"; }

macro_rules! compare_natives {
    ($($function:ident $op:ident;)*) => {
        $(
            fn $function(vm: &mut Vm, args: &[Value]) -> Outcome {
                compare(vm, CompareOp::$op, args[0], args[1])
            }
        )*
    };
}

compare_natives! { lt Lt; le Le; eq Eq; ne Ne; gt Gt; ge Ge; }

/// A comparison method: of the builtin content only, whatever the class.
fn compare(vm: &mut Vm, op: CompareOp, left: Value, right: Value) -> Outcome {
    let comparable = vm.heap.number(left).is_some() && vm.heap.number(right).is_some() || same_family(vm, left, right);
    if !comparable || int_with_other(vm, &[left, right]) {
        return Ok(if left.is(right) && op == CompareOp::Eq { Value::truth(true) } else { Value::NotImplemented });
    }
    for side in [left, right] {
        if let Some(Payload::BigInt(number)) = side.object().map(|object| vm.heap.payload(object).core()) {
            let limbs = cowboy_num::int::limbs(number);
            vm.spend(LIMBS_COMPARED.of(limbs))?;
        }
    }
    let (left, right) = (plain(vm, left), plain(vm, right));
    let outcome = vm.compare_native(op, left, right);
    vm.heap.release(left);
    vm.heap.release(right);
    outcome.map(|truth| truth.map_or(Value::NotImplemented, Value::truth))
}

/// Whether both hold the same sort of builtin content.
fn same_family(vm: &Vm, left: Value, right: Value) -> bool {
    let (Value::Obj(a), Value::Obj(b)) = (left, right) else { return false };
    match (vm.heap.payload(a).core(), vm.heap.payload(b).core()) {
        (Payload::ByteArray(..), Payload::Bytes(_) | Payload::MemoryView(_)) => true,
        (left, right) => std::mem::discriminant(left) == std::mem::discriminant(right),
    }
}

/// The builtin content of an instance of a subclass, as an object of its own; retained.
pub(crate) fn plain(vm: &mut Vm, value: Value) -> Value {
    let Value::Obj(object) = value else { return value };
    let inner = match vm.heap.payload(object) {
        Payload::Extended(extended) => match &extended.1 {
            Payload::Scalar(inner) => {
                let inner = *inner;
                return vm.heap.retain(inner);
            }
            Payload::Exception(_) => return vm.heap.retain(value),
            inner => inner.clone(),
        },
        _ => return vm.heap.retain(value),
    };
    vm.owe(CONTENT_TAKEN.of(inner.size()));
    let class = match &inner {
        Payload::Str(_) => ty::STR,
        Payload::Bytes(_) => ty::BYTES,
        Payload::ByteArray(..) => ty::BYTEARRAY,
        Payload::List(_) => ty::LIST,
        Payload::Tuple(_) => ty::TUPLE,
        Payload::Dict(_) => ty::DICT,
        Payload::Set(_) if vm.heap.is_subclass(vm.heap.slot(object).class, ty::FROZENSET) => ty::FROZENSET,
        Payload::Set(_) => ty::SET,
        _ => return vm.heap.retain(value),
    };
    let mut held = Vec::new();
    inner.each(&mut |value| held.push(value));
    vm.heap.retain_all(&held);
    let inner = match inner {
        Payload::Str(text) => {
            let mut text = text;
            text.interned = false;
            Payload::Str(text)
        }
        inner => inner,
    };
    vm.heap.make(class, inner)
}

/// Parts that `next` takes off, beside what is left then; after `most` of them all that is left is the last one.
fn cut<'a, T: AsRef<[u8]> + ?Sized>(whole: &'a T, most: usize, next: impl Fn(&'a T) -> (&'a T, &'a T)) -> impl Iterator<Item = &'a T>
where
    &'a T: Default,
{
    let (mut rest, mut cuts) = (whole, 0);
    std::iter::from_fn(move || {
        if rest.as_ref().is_empty() {
            return None;
        }
        if cuts == most {
            return Some(std::mem::take(&mut rest));
        }
        cuts += 1;
        let (part, after) = next(rest);
        rest = after;
        Some(part)
    })
}

const M: NativeKind = NativeKind::Method;

macro_rules! operator_rows {
    ($($row:expr;)*) => {
        /// Operators as methods, for subclasses and `super()`.
        const OPERATORS: &[NativeRow] = &[$($row,)*];
    };
}

operator_rows! {
    NativeRow(M, "int.__add__", "self, value, /", 1, add, ""); NativeRow(M, "int.__radd__", "self, value, /", 1, radd, "");
    NativeRow(M, "int.__sub__", "self, value, /", 1, sub, ""); NativeRow(M, "int.__rsub__", "self, value, /", 1, rsub, "");
    NativeRow(M, "int.__mul__", "self, value, /", 1, mul, ""); NativeRow(M, "int.__rmul__", "self, value, /", 1, rmul, "");
    NativeRow(M, "int.__truediv__", "self, value, /", 1, truediv, ""); NativeRow(M, "int.__rtruediv__", "self, value, /", 1, rtruediv, "");
    NativeRow(M, "int.__floordiv__", "self, value, /", 1, floordiv, ""); NativeRow(M, "int.__rfloordiv__", "self, value, /", 1, rfloordiv, "");
    NativeRow(M, "int.__mod__", "self, value, /", 1, modulo, ""); NativeRow(M, "int.__rmod__", "self, value, /", 1, rmodulo, "");
    NativeRow(M, "int.__pow__", "self, value, mod=, /", 1, pow, ""); NativeRow(M, "int.__rpow__", "self, value, mod=, /", 1, rpow, "");
    NativeRow(M, "int.__lshift__", "self, value, /", 1, lshift, ""); NativeRow(M, "int.__rlshift__", "self, value, /", 1, rlshift, "");
    NativeRow(M, "int.__rshift__", "self, value, /", 1, rshift, ""); NativeRow(M, "int.__rrshift__", "self, value, /", 1, rrshift, "");
    NativeRow(M, "int.__and__", "self, value, /", 1, and, ""); NativeRow(M, "int.__rand__", "self, value, /", 1, rand, "");
    NativeRow(M, "int.__or__", "self, value, /", 1, or, ""); NativeRow(M, "int.__ror__", "self, value, /", 1, ror, "");
    NativeRow(M, "int.__xor__", "self, value, /", 1, xor, ""); NativeRow(M, "int.__rxor__", "self, value, /", 1, rxor, "");
    NativeRow(M, "int.__divmod__", "self, value, /", 1, divmod, ""); NativeRow(M, "int.__rdivmod__", "self, value, /", 1, rdivmod, "");
    NativeRow(M, "bool.__and__", "self, value, /", 1, and, ""); NativeRow(M, "bool.__rand__", "self, value, /", 1, rand, "");
    NativeRow(M, "bool.__or__", "self, value, /", 1, or, ""); NativeRow(M, "bool.__ror__", "self, value, /", 1, ror, "");
    NativeRow(M, "bool.__xor__", "self, value, /", 1, xor, ""); NativeRow(M, "bool.__rxor__", "self, value, /", 1, rxor, "");
    NativeRow(M, "float.__add__", "self, value, /", 1, add, ""); NativeRow(M, "float.__radd__", "self, value, /", 1, radd, "");
    NativeRow(M, "float.__sub__", "self, value, /", 1, sub, ""); NativeRow(M, "float.__rsub__", "self, value, /", 1, rsub, "");
    NativeRow(M, "float.__mul__", "self, value, /", 1, mul, ""); NativeRow(M, "float.__rmul__", "self, value, /", 1, rmul, "");
    NativeRow(M, "float.__truediv__", "self, value, /", 1, truediv, ""); NativeRow(M, "float.__rtruediv__", "self, value, /", 1, rtruediv, "");
    NativeRow(M, "float.__floordiv__", "self, value, /", 1, floordiv, ""); NativeRow(M, "float.__mod__", "self, value, /", 1, modulo, "");
    NativeRow(M, "float.__pow__", "self, value, mod=, /", 1, pow, ""); NativeRow(M, "float.__rpow__", "self, value, mod=, /", 1, rpow, "");
    NativeRow(M, "float.__divmod__", "self, value, /", 1, divmod, ""); NativeRow(M, "float.__rdivmod__", "self, value, /", 1, rdivmod, "");
    NativeRow(M, "float.__rfloordiv__", "self, value, /", 1, rfloordiv, "");
    NativeRow(M, "str.__add__", "self, value, /", 1, joined, ""); NativeRow(M, "str.__mul__", "self, value, /", 1, repeated, "retry_last");
    NativeRow(M, "str.__rmul__", "self, value, /", 1, repeated, "retry_last"); NativeRow(M, "str.__mod__", "self, value, /", 1, modulo, "percent_slow");
    NativeRow(M, "bytes.__add__", "self, value, /", 1, joined, ""); NativeRow(M, "bytes.__mul__", "self, value, /", 1, repeated, "retry_last");
    NativeRow(M, "bytes.__rmul__", "self, value, /", 1, repeated, "retry_last"); NativeRow(M, "bytearray.__mul__", "self, value, /", 1, repeated, "retry_last");
    NativeRow(M, "bytearray.__rmul__", "self, value, /", 1, repeated, "retry_last"); NativeRow(M, "bytearray.__add__", "self, value, /", 1, joined, "");
    NativeRow(M, "list.__add__", "self, value, /", 1, joined, ""); NativeRow(M, "list.__mul__", "self, value, /", 1, repeated, "retry_last");
    NativeRow(M, "list.__rmul__", "self, value, /", 1, repeated, "retry_last");
    NativeRow(M, "tuple.__add__", "self, value, /", 1, joined, ""); NativeRow(M, "tuple.__mul__", "self, value, /", 1, repeated, "retry_last");
    NativeRow(M, "tuple.__rmul__", "self, value, /", 1, repeated, "retry_last");
    NativeRow(M, "dict.__or__", "self, value, /", 1, or, "or_slow"); NativeRow(M, "dict.__ror__", "self, value, /", 1, ror, "");
    NativeRow(M, "set.__or__", "self, value, /", 1, or, "or_slow"); NativeRow(M, "set.__and__", "self, value, /", 1, and, "and_slow");
    NativeRow(M, "set.__sub__", "self, value, /", 1, sub, "sub_slow"); NativeRow(M, "set.__xor__", "self, value, /", 1, xor, "xor_slow");
    NativeRow(M, "frozenset.__or__", "self, value, /", 1, or, "or_slow"); NativeRow(M, "frozenset.__and__", "self, value, /", 1, and, "and_slow");
    NativeRow(M, "frozenset.__sub__", "self, value, /", 1, sub, "sub_slow"); NativeRow(M, "frozenset.__xor__", "self, value, /", 1, xor, "xor_slow");
    NativeRow(M, "type.__or__", "self, value, /", 1, or, ""); NativeRow(M, "type.__ror__", "self, value, /", 1, ror, "");
    NativeRow(M, "int.__lt__", "self, value, /", 1, lt, ""); NativeRow(M, "int.__le__", "self, value, /", 1, le, "");
    NativeRow(M, "int.__eq__", "self, value, /", 1, eq, ""); NativeRow(M, "int.__ne__", "self, value, /", 1, ne, "");
    NativeRow(M, "int.__gt__", "self, value, /", 1, gt, ""); NativeRow(M, "int.__ge__", "self, value, /", 1, ge, "");
    NativeRow(M, "float.__lt__", "self, value, /", 1, lt, ""); NativeRow(M, "float.__le__", "self, value, /", 1, le, "");
    NativeRow(M, "float.__eq__", "self, value, /", 1, eq, ""); NativeRow(M, "float.__ne__", "self, value, /", 1, ne, "");
    NativeRow(M, "float.__gt__", "self, value, /", 1, gt, ""); NativeRow(M, "float.__ge__", "self, value, /", 1, ge, "");
    NativeRow(M, "str.__lt__", "self, value, /", 1, lt, ""); NativeRow(M, "str.__le__", "self, value, /", 1, le, "");
    NativeRow(M, "str.__eq__", "self, value, /", 1, eq, ""); NativeRow(M, "str.__ne__", "self, value, /", 1, ne, "");
    NativeRow(M, "str.__gt__", "self, value, /", 1, gt, ""); NativeRow(M, "str.__ge__", "self, value, /", 1, ge, "");
    NativeRow(M, "bytes.__lt__", "self, value, /", 1, lt, ""); NativeRow(M, "bytes.__le__", "self, value, /", 1, le, "");
    NativeRow(M, "bytes.__eq__", "self, value, /", 1, eq, ""); NativeRow(M, "bytes.__ne__", "self, value, /", 1, ne, "");
    NativeRow(M, "bytes.__gt__", "self, value, /", 1, gt, ""); NativeRow(M, "bytes.__ge__", "self, value, /", 1, ge, "");
    NativeRow(M, "bytearray.__lt__", "self, value, /", 1, lt, ""); NativeRow(M, "bytearray.__le__", "self, value, /", 1, le, "");
    NativeRow(M, "bytearray.__eq__", "self, value, /", 1, eq, ""); NativeRow(M, "bytearray.__ne__", "self, value, /", 1, ne, "");
    NativeRow(M, "bytearray.__gt__", "self, value, /", 1, gt, ""); NativeRow(M, "bytearray.__ge__", "self, value, /", 1, ge, "");
    NativeRow(M, "list.__lt__", "self, value, /", 1, lt, "compare_lt"); NativeRow(M, "list.__le__", "self, value, /", 1, le, "compare_le");
    NativeRow(M, "list.__eq__", "self, value, /", 1, eq, "compare_eq"); NativeRow(M, "list.__ne__", "self, value, /", 1, ne, "compare_ne");
    NativeRow(M, "list.__gt__", "self, value, /", 1, gt, "compare_gt"); NativeRow(M, "list.__ge__", "self, value, /", 1, ge, "compare_ge");
    NativeRow(M, "tuple.__lt__", "self, value, /", 1, lt, "compare_lt"); NativeRow(M, "tuple.__le__", "self, value, /", 1, le, "compare_le");
    NativeRow(M, "tuple.__eq__", "self, value, /", 1, eq, "compare_eq"); NativeRow(M, "tuple.__ne__", "self, value, /", 1, ne, "compare_ne");
    NativeRow(M, "tuple.__gt__", "self, value, /", 1, gt, "compare_gt"); NativeRow(M, "tuple.__ge__", "self, value, /", 1, ge, "compare_ge");
    NativeRow(M, "dict.__eq__", "self, value, /", 1, eq, "compare_eq"); NativeRow(M, "dict.__ne__", "self, value, /", 1, ne, "compare_ne");
    NativeRow(M, "set.__eq__", "self, value, /", 1, eq, "compare_eq"); NativeRow(M, "set.__ne__", "self, value, /", 1, ne, "compare_ne");
    NativeRow(M, "set.__lt__", "self, value, /", 1, lt, "compare_lt"); NativeRow(M, "set.__le__", "self, value, /", 1, le, "compare_le");
    NativeRow(M, "set.__gt__", "self, value, /", 1, gt, "compare_gt"); NativeRow(M, "set.__ge__", "self, value, /", 1, ge, "compare_ge");
    NativeRow(M, "set.__ror__", "self, value, /", 1, ror, ""); NativeRow(M, "set.__rand__", "self, value, /", 1, rand, "");
    NativeRow(M, "set.__rsub__", "self, value, /", 1, rsub, ""); NativeRow(M, "set.__rxor__", "self, value, /", 1, rxor, "");
    NativeRow(M, "frozenset.__ror__", "self, value, /", 1, ror, ""); NativeRow(M, "frozenset.__rand__", "self, value, /", 1, rand, "");
    NativeRow(M, "frozenset.__rsub__", "self, value, /", 1, rsub, ""); NativeRow(M, "frozenset.__rxor__", "self, value, /", 1, rxor, "");
    NativeRow(M, "set.__ior__", "self, value, /", 1, set_inplace_or, ""); NativeRow(M, "set.__iand__", "self, value, /", 1, set_inplace_and, "");
    NativeRow(M, "set.__isub__", "self, value, /", 1, set_inplace_sub, ""); NativeRow(M, "set.__ixor__", "self, value, /", 1, set_inplace_xor, "");
    NativeRow(M, "frozenset.__lt__", "self, value, /", 1, lt, "compare_lt"); NativeRow(M, "frozenset.__le__", "self, value, /", 1, le, "compare_le");
    NativeRow(M, "frozenset.__gt__", "self, value, /", 1, gt, "compare_gt"); NativeRow(M, "frozenset.__ge__", "self, value, /", 1, ge, "compare_ge");
    NativeRow(M, "frozenset.__eq__", "self, value, /", 1, eq, "compare_eq"); NativeRow(M, "frozenset.__ne__", "self, value, /", 1, ne, "compare_ne");
}

/// `left op right` for builtin types other than numbers; `None` when they do not do that.
pub(crate) fn binary(vm: &mut Vm, op: BinaryOp, left: Value, right: Value) -> Outcome<Option<Value>> {
    enum Sort {
        Text,
        Bytes,
        View,
        List,
        Tuple,
        Dict,
        Set,
        Type,
        Other,
    }
    let sort = |vm: &Vm, value: Value| match value {
        Value::Obj(object) => match vm.heap.payload(object).core() {
            Payload::Str(_) => Sort::Text,
            Payload::Bytes(_) | Payload::ByteArray(..) => Sort::Bytes,
            Payload::MemoryView(_) => Sort::View,
            Payload::List(_) => Sort::List,
            Payload::Tuple(_) => Sort::Tuple,
            Payload::Dict(_) => Sort::Dict,
            Payload::Set(_) | Payload::DictView { part: DictPart::Keys | DictPart::Items, .. } => Sort::Set,
            Payload::Class(_) | Payload::GenericAlias { .. } | Payload::Union(_) => Sort::Type,
            _ => Sort::Other,
        },
        Value::None => Sort::Type,
        _ => Sort::Other,
    };
    match (op, sort(vm, left), sort(vm, right)) {
        (BinaryOp::Add, Sort::Text, Sort::Text) => str::concatenate(vm, left, right).map(Some),
        (BinaryOp::Add, Sort::Bytes, Sort::Bytes | Sort::View) => bytes::concatenate(vm, left, right).map(Some),
        (BinaryOp::Add, Sort::List, Sort::List) => list::concatenate(vm, left, right).map(Some),
        (BinaryOp::Add, Sort::Tuple, Sort::Tuple) => tuple::concatenate(vm, left, right).map(Some),
        (BinaryOp::Mul, Sort::Text | Sort::Bytes | Sort::List | Sort::Tuple, _) => repeat(vm, left, right),
        (BinaryOp::Mul, _, Sort::Text | Sort::Bytes | Sort::List | Sort::Tuple) => repeat(vm, right, left),
        (BinaryOp::Mod, Sort::Text, _) => percent::format(vm, left, right).map(Some),
        (BinaryOp::Mod, Sort::Bytes, _) => percent::format_bytes(vm, left, right).map(Some),
        (BinaryOp::Or, Sort::Dict, Sort::Dict) => dict_methods::merged(vm, left, right).map(Some),
        (BinaryOp::Or | BinaryOp::And | BinaryOp::Sub | BinaryOp::Xor, Sort::Set, Sort::Set) => set::operate(vm, op, left, right).map(Some),
        (BinaryOp::Or, Sort::Type, Sort::Type) if !(left.is_none() && right.is_none()) => {
            let mut members = Vec::new();
            for part in [left, right] {
                let items = match part {
                    Value::Obj(object) => match vm.heap.payload(object) {
                        Payload::Union(items) => vm.heap.tuple_items(*items),
                        _ => vec![part],
                    },
                    part => vec![part],
                };
                for item in items {
                    vm.spend(UNION_MEMBER.of(members.len()) + UNIONS_JOINED.once())?;
                    let item = if item.is_none() { Value::Obj(ty::NONE) } else { item };
                    if !members.iter().any(|member: &Value| member.is(item)) {
                        members.push(item);
                    }
                }
            }
            let members = vm.heap.retain_all(&members);
            if let [only] = members[..] {
                return Ok(Some(only));
            }
            let members = vm.heap.tuple(members);
            Ok(Some(vm.heap.make(ty::UNION, Payload::Union(members))))
        }
        _ => Ok(None),
    }
}

/// `target op= right` for types that change in place; the result is retained.
pub(crate) fn inplace(vm: &mut Vm, op: BinaryOp, target: Ref, right: Value) -> Outcome<Option<Value>> {
    if vm.heap.is_python_instance(Value::Obj(target)) {
        return Ok(None);
    }
    let value = Value::Obj(target);
    match (op, vm.heap.payload(target)) {
        (BinaryOp::Add, Payload::List(_)) => {
            match vm.collect(right) {
                Ok(items) => vm.list_push_all(value, items)?,
                Err(Throw::Fallback) => return vm.call_helper("list_iadd", &[value, right]).map(Some),
                Err(throw) => return Err(throw),
            }
            Ok(Some(vm.heap.retain(value)))
        }
        (BinaryOp::Mul, Payload::List(_)) => {
            let Some(product) = repeat(vm, value, right)? else { return Ok(None) };
            list::replace(vm, target, product);
            Ok(Some(vm.heap.retain(value)))
        }
        (BinaryOp::Mul, Payload::ByteArray(..)) if vm.heap.as_int(right).is_some() => {
            let Some(product) = repeat(vm, value, right)? else { return Ok(None) };
            let length = vm.heap.sequence_word(target).1;
            let more = product.object().map_or(length, |product| vm.heap.sequence_word(product).1);
            if let Err(throw) = bytes::may_resize(vm, value, more != length) {
                vm.heap.release(product);
                return Err(throw);
            }
            bytes::take_over(vm, value, product);
            Ok(Some(vm.heap.retain(value)))
        }
        (BinaryOp::Add, Payload::ByteArray(..)) => {
            let Some(more) = bytes::content(vm, right) else { return Ok(None) };
            vm.spend(BYTES_MADE.of(more.len()))?;
            bytes::may_resize(vm, value, !more.is_empty())?;
            vm.reserve(more.len())?;
            vm.heap.use_memory(more.len());
            if let Payload::ByteArray(bytes, _) = vm.heap.payload_mut(target) {
                bytes.extend(more);
            }
            Ok(Some(vm.heap.retain(value)))
        }
        (BinaryOp::Or, Payload::Dict(_)) => dict_methods::ior(vm, &[value, right]).map(Some),
        (BinaryOp::Or | BinaryOp::And | BinaryOp::Sub | BinaryOp::Xor, Payload::Set(_))
            if vm.heap.slot(target).class == ty::SET && vm.heap.is_set(right) =>
        {
            let result = match set::operate(vm, op, value, right) {
                Err(Throw::Fallback) => {
                    let helper = match op {
                        BinaryOp::And => "set_iand",
                        BinaryOp::Sub => "set_isub",
                        BinaryOp::Xor => "set_ixor",
                        _ => "set_ior",
                    };
                    return vm.call_helper(helper, &[value, right]).map(Some);
                }
                outcome => outcome?,
            };
            set::replace(vm, target, result);
            Ok(Some(vm.heap.retain(value)))
        }
        _ => Ok(None),
    }
}
