//! Functions that CPython writes in C and our library in Python. A wrong call of one of them is refused in the words that follow from its
//! parameters there.

use super::Vm;
use super::binding_native::{Shown, without_receiver};
use crate::error::{Outcome, Throw};
use crate::image::LinkedCode;
use crate::runtime::native::NativeKind::{self, ClassMethod as C, Function as F, Method as M, Static as S};
use crate::runtime::native::{Native, NativeRow};
use crate::value::Value;
use std::sync::OnceLock;

/// A function: the file of its module, its `__qualname__`, how CPython binds it, its name in messages, and its parameters.
struct Row(&'static str, &'static str, NativeKind, &'static str, &'static str);

const ROWS: &[Row] = &[
    Row("<builtins>", "ascii", F, "ascii", "obj, /"),
    Row("itertools.py", "count.__init__", M, "count.__init__", "self, start=, step="),
    Row("itertools.py", "repeat.__init__", M, "repeat.__init__", "self, object, times="),
    Row("itertools.py", "chain.__init__", M, "chain.__init__", "self, /, *iterables"),
    Row("itertools.py", "chain.from_iterable", C, "chain.from_iterable", "cls, iterable, /"),
    Row("itertools.py", "cycle", S, "cycle.__new__", "cls, iterable, /"),
    Row("itertools.py", "accumulate", S, "accumulate.__new__", "cls, iterable, func=, *, initial="),
    Row("itertools.py", "compress", S, "compress.__new__", "cls, data, selectors"),
    Row("itertools.py", "dropwhile", S, "dropwhile.__new__", "cls, predicate, iterable, /"),
    Row("itertools.py", "takewhile", S, "takewhile.__new__", "cls, predicate, iterable, /"),
    Row("itertools.py", "filterfalse", S, "filterfalse.__new__", "cls, function, iterable, /"),
    Row("itertools.py", "starmap", S, "starmap.__new__", "cls, function, iterable, /"),
    Row("itertools.py", "pairwise.__init__", M, "pairwise.__init__", "self, iterable, /"),
    Row("itertools.py", "islice", S, "islice.__new__", "cls, iterable, stop, more=, step=, /"),
    Row("itertools.py", "groupby.__init__", M, "groupby.__init__", "self, iterable, key="),
    Row("itertools.py", "tee", F, "itertools.tee", "iterable, n=, /"),
    Row("itertools.py", "product", S, "product.__new__", "cls, /, *iterables, repeat="),
    Row("itertools.py", "permutations", S, "permutations.__new__", "cls, iterable, r="),
    Row("itertools.py", "combinations", S, "combinations.__new__", "cls, iterable, r"),
    Row("itertools.py", "combinations_with_replacement", S, "combinations_with_replacement.__new__", "cls, iterable, r"),
    Row("collections.py", "deque.__init__", M, "deque.__init__", "self, iterable=, maxlen="),
    Row("collections.py", "deque.append", M, "deque.append", "self, x, /"),
    Row("collections.py", "deque.appendleft", M, "deque.appendleft", "self, x, /"),
    Row("collections.py", "deque.extend", M, "deque.extend", "self, iterable, /"),
    Row("collections.py", "deque.extendleft", M, "deque.extendleft", "self, iterable, /"),
    Row("collections.py", "deque.pop", M, "deque.pop", "self, /"),
    Row("collections.py", "deque.popleft", M, "deque.popleft", "self, /"),
    Row("collections.py", "deque.clear", M, "deque.clear", "self, /"),
    Row("collections.py", "deque.copy", M, "deque.copy", "self, /"),
    Row("collections.py", "deque.reverse", M, "deque.reverse", "self, /"),
    Row("collections.py", "deque.count", M, "deque.count", "self, x, /"),
    Row("collections.py", "deque.index", M, "deque.index", "self, x, start=, stop=, /"),
    Row("collections.py", "deque.insert", M, "deque.insert", "self, index, x, /"),
    Row("collections.py", "deque.remove", M, "deque.remove", "self, x, /"),
    Row("collections.py", "deque.rotate", M, "deque.rotate", "self, n=, /"),
    Row("collections.py", "OrderedDict.move_to_end", M, "OrderedDict.move_to_end", "self, key, last="),
    Row("collections.py", "OrderedDict.popitem", M, "OrderedDict.popitem", "self, last="),
    Row("collections.py", "OrderedDict.fromkeys", C, "OrderedDict.fromkeys", "cls, iterable, value="),
    Row("re.py", "Pattern.search", M, "Pattern.search", "self, string, pos=, endpos="),
    Row("re.py", "Pattern.match", M, "Pattern.match", "self, string, pos=, endpos="),
    Row("re.py", "Pattern.fullmatch", M, "Pattern.fullmatch", "self, string, pos=, endpos="),
    Row("re.py", "Pattern.findall", M, "Pattern.findall", "self, string, pos=, endpos="),
    Row("re.py", "Pattern.finditer", M, "Pattern.finditer", "self, string, pos=, endpos="),
    Row("re.py", "Pattern.split", M, "Pattern.split", "self, string, maxsplit="),
    Row("re.py", "Pattern.sub", M, "Pattern.sub", "self, repl, string, count="),
    Row("re.py", "Pattern.subn", M, "Pattern.subn", "self, repl, string, count="),
    Row("re.py", "Match.group", M, "Match.group", "self, /, *groups"),
    Row("re.py", "Match.groups", M, "Match.groups", "self, default="),
    Row("re.py", "Match.groupdict", M, "Match.groupdict", "self, default="),
    Row("re.py", "Match.expand", M, "Match.expand", "self, template"),
    Row("re.py", "Match.start", M, "Match.start", "self, group=, /"),
    Row("re.py", "Match.end", M, "Match.end", "self, group=, /"),
    Row("re.py", "Match.span", M, "Match.span", "self, group=, /"),
    Row("decimal.py", "Decimal.__new__", M, "Decimal.__new__", "cls, value=, context="),
    Row("decimal.py", "Decimal.from_float", C, "Decimal.from_float", "cls, f, /"),
    Row("decimal.py", "Decimal.conjugate", M, "Decimal.conjugate", "self, /"),
    Row("decimal.py", "Decimal.as_tuple", M, "Decimal.as_tuple", "self, /"),
    Row("decimal.py", "Decimal.as_integer_ratio", M, "Decimal.as_integer_ratio", "self, /"),
    Row("decimal.py", "Decimal.adjusted", M, "Decimal.adjusted", "self, /"),
    Row("decimal.py", "Decimal.canonical", M, "Decimal.canonical", "self, /"),
    Row("decimal.py", "Decimal.is_canonical", M, "Decimal.is_canonical", "self, /"),
    Row("decimal.py", "Decimal.is_finite", M, "Decimal.is_finite", "self, /"),
    Row("decimal.py", "Decimal.is_infinite", M, "Decimal.is_infinite", "self, /"),
    Row("decimal.py", "Decimal.is_nan", M, "Decimal.is_nan", "self, /"),
    Row("decimal.py", "Decimal.is_qnan", M, "Decimal.is_qnan", "self, /"),
    Row("decimal.py", "Decimal.is_snan", M, "Decimal.is_snan", "self, /"),
    Row("decimal.py", "Decimal.is_zero", M, "Decimal.is_zero", "self, /"),
    Row("decimal.py", "Decimal.is_signed", M, "Decimal.is_signed", "self, /"),
    Row("decimal.py", "Decimal.radix", M, "Decimal.radix", "self, /"),
    Row("decimal.py", "Decimal.copy_abs", M, "Decimal.copy_abs", "self, /"),
    Row("decimal.py", "Decimal.copy_negate", M, "Decimal.copy_negate", "self, /"),
    Row("decimal.py", "Decimal.to_eng_string", M, "Decimal.to_eng_string", "self, context="),
    Row("decimal.py", "Decimal.is_normal", M, "Decimal.is_normal", "self, context="),
    Row("decimal.py", "Decimal.is_subnormal", M, "Decimal.is_subnormal", "self, context="),
    Row("decimal.py", "Decimal.number_class", M, "Decimal.number_class", "self, context="),
    Row("decimal.py", "Decimal.sqrt", M, "Decimal.sqrt", "self, context="),
    Row("decimal.py", "Decimal.exp", M, "Decimal.exp", "self, context="),
    Row("decimal.py", "Decimal.ln", M, "Decimal.ln", "self, context="),
    Row("decimal.py", "Decimal.log10", M, "Decimal.log10", "self, context="),
    Row("decimal.py", "Decimal.logb", M, "Decimal.logb", "self, context="),
    Row("decimal.py", "Decimal.normalize", M, "Decimal.normalize", "self, context="),
    Row("decimal.py", "Decimal.next_plus", M, "Decimal.next_plus", "self, context="),
    Row("decimal.py", "Decimal.next_minus", M, "Decimal.next_minus", "self, context="),
    Row("decimal.py", "Decimal.logical_invert", M, "Decimal.logical_invert", "self, context="),
    Row("decimal.py", "Decimal.compare", M, "Decimal.compare", "self, other, context="),
    Row("decimal.py", "Decimal.compare_signal", M, "Decimal.compare_signal", "self, other, context="),
    Row("decimal.py", "Decimal.compare_total", M, "Decimal.compare_total", "self, other, context="),
    Row("decimal.py", "Decimal.compare_total_mag", M, "Decimal.compare_total_mag", "self, other, context="),
    Row("decimal.py", "Decimal.copy_sign", M, "Decimal.copy_sign", "self, other, context="),
    Row("decimal.py", "Decimal.max", M, "Decimal.max", "self, other, context="),
    Row("decimal.py", "Decimal.min", M, "Decimal.min", "self, other, context="),
    Row("decimal.py", "Decimal.max_mag", M, "Decimal.max_mag", "self, other, context="),
    Row("decimal.py", "Decimal.min_mag", M, "Decimal.min_mag", "self, other, context="),
    Row("decimal.py", "Decimal.remainder_near", M, "Decimal.remainder_near", "self, other, context="),
    Row("decimal.py", "Decimal.same_quantum", M, "Decimal.same_quantum", "self, other, context="),
    Row("decimal.py", "Decimal.scaleb", M, "Decimal.scaleb", "self, other, context="),
    Row("decimal.py", "Decimal.next_toward", M, "Decimal.next_toward", "self, other, context="),
    Row("decimal.py", "Decimal.logical_and", M, "Decimal.logical_and", "self, other, context="),
    Row("decimal.py", "Decimal.logical_or", M, "Decimal.logical_or", "self, other, context="),
    Row("decimal.py", "Decimal.logical_xor", M, "Decimal.logical_xor", "self, other, context="),
    Row("decimal.py", "Decimal.rotate", M, "Decimal.rotate", "self, other, context="),
    Row("decimal.py", "Decimal.shift", M, "Decimal.shift", "self, other, context="),
    Row("decimal.py", "Decimal.quantize", M, "Decimal.quantize", "self, exp, rounding=, context="),
    Row("decimal.py", "Decimal.to_integral_value", M, "Decimal.to_integral_value", "self, rounding=, context="),
    Row("decimal.py", "Decimal.fma", M, "Decimal.fma", "self, other, third, context="),
    Row("decimal.py", "Context.add", M, "Context.add", "self, a, b, /"),
    Row("decimal.py", "Context.subtract", M, "Context.subtract", "self, a, b, /"),
    Row("decimal.py", "Context.multiply", M, "Context.multiply", "self, a, b, /"),
    Row("decimal.py", "Context.divide", M, "Context.divide", "self, a, b, /"),
    Row("decimal.py", "Context.divide_int", M, "Context.divide_int", "self, a, b, /"),
    Row("decimal.py", "Context.remainder", M, "Context.remainder", "self, a, b, /"),
    Row("decimal.py", "Context.divmod", M, "Context.divmod", "self, a, b, /"),
    Row("decimal.py", "Context.plus", M, "Context.plus", "self, a, /"),
    Row("decimal.py", "Context.minus", M, "Context.minus", "self, a, /"),
    Row("decimal.py", "Context.abs", M, "Context.abs", "self, a, /"),
    Row("decimal.py", "Context.to_sci_string", M, "Context.to_sci_string", "self, a, /"),
    Row("decimal.py", "Context.create_decimal_from_float", M, "Context.create_decimal_from_float", "self, a, /"),
    Row("decimal.py", "Context.power", M, "Context.power", "self, a, b, modulo="),
    Row("decimal.py", "Context.clear_flags", M, "Context.clear_flags", "self, /"),
    Row("decimal.py", "Context.clear_traps", M, "Context.clear_traps", "self, /"),
    Row("decimal.py", "Context.copy", M, "Context.copy", "self, /"),
    Row("decimal.py", "Context.Etiny", M, "Context.Etiny", "self, /"),
    Row("decimal.py", "Context.Etop", M, "Context.Etop", "self, /"),
    Row("decimal.py", "Context.radix", M, "Context.radix", "self, /"),
    Row("decimal.py", "getcontext", F, "decimal.getcontext", ""),
    Row("decimal.py", "setcontext", F, "decimal.setcontext", "context, /"),
    Row("struct.py", "calcsize", F, "_struct.calcsize", "format, /"),
    Row("struct.py", "pack", F, "_struct.pack", "format, /, *values"),
    Row("struct.py", "pack_into", F, "_struct.pack_into", "format, /, *arguments"),
    Row("struct.py", "unpack", F, "_struct.unpack", "format, buffer, /"),
    Row("struct.py", "unpack_from", F, "_struct.unpack_from", "format, /, buffer, offset="),
    Row("struct.py", "iter_unpack", F, "_struct.iter_unpack", "format, buffer, /"),
    Row("struct.py", "Struct.__init__", M, "Struct.__init__", "self, format"),
    Row("struct.py", "Struct.pack", M, "Struct.pack", "self, /, *values"),
    Row("struct.py", "Struct.pack_into", M, "Struct.pack_into", "self, /, *arguments"),
    Row("struct.py", "Struct.unpack", M, "Struct.unpack", "self, buffer, /"),
    Row("struct.py", "Struct.unpack_from", M, "Struct.unpack_from", "self, buffer, offset="),
    Row("struct.py", "Struct.iter_unpack", M, "Struct.iter_unpack", "self, buffer, /"),
];

/// A function of the table, as the builtin function that it is in CPython. It is never called.
struct Known {
    file: &'static str,
    qualname: &'static str,
    native: Native,
}

fn known() -> &'static [Known] {
    static TABLE: OnceLock<Vec<Known>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let native = |kind, name, signature| Native::from_row(&NativeRow(kind, name, signature, 0, nothing, ""));
        ROWS.iter()
            .map(|&Row(file, qualname, kind, name, signature)| Known { file, qualname, native: native(kind, name, signature) })
            .collect()
    })
}

fn nothing(_: &mut Vm, _: &[Value]) -> Outcome {
    Ok(Value::None)
}

impl Vm {
    /// The error of a wrong call of a function written in Python with `given` positional arguments, in the words of CPython where that writes
    /// it in C.
    pub(super) fn in_words_of_c(&mut self, linked: &LinkedCode, given: usize, names: &[Value], error: Throw) -> Throw {
        let Throw::Raise(exception) = error else { return error };
        let Some(native) = self.written_in_c(linked) else { return error };
        // A class that is a function here gets no class as argument.
        let given = given + usize::from(native.kind == NativeKind::Static);
        let keywords: Vec<&str> = names.iter().map(|&name| self.heap.text(name).unwrap_or_default()).collect();
        let lacks_receiver = given == 0 && native.kind != NativeKind::Function;
        // A slot, such as `__init__`, may be another class's in CPython.
        if lacks_receiver && native.is_slot() {
            return error;
        }
        let refusal = if lacks_receiver { Some(without_receiver(native)) } else { Shown::of(native).refusal(native, given, &keywords) };
        match refusal {
            Some(message) => {
                self.heap.release(exception);
                self.type_error(message)
            }
            None => error,
        }
    }

    fn written_in_c(&self, linked: &LinkedCode) -> Option<&'static Native> {
        let file = &self.program.files.get(linked.unit as usize)?.file;
        let known = known().iter().find(|known| known.file == file && known.qualname == linked.code.qualname)?;
        // The modules that come with the VM are before all others.
        let first = self.program.files.iter().position(|each| each.file == *file);
        (first == Some(linked.unit as usize)).then_some(&known.native)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name of the table that is not in its module would never be found.
    #[test]
    fn each_function_of_the_table_is_in_its_module() {
        let image = crate::script_image(&cowboy_compiler::compile("pass", "main.py").expect("valid"));
        let vm = Vm::start(image, crate::Entry::Script, crate::Limits::default());
        for Row(file, qualname, ..) in ROWS {
            let is_there = vm.program.codes.iter().any(|linked| {
                linked.code.qualname == *qualname
                    && vm.program.files[linked.unit as usize].file == *file
                    && vm.written_in_c(linked).is_some()
            });
            assert!(is_there, "{file} has no {qualname}");
        }
    }
}
