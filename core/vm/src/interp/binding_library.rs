//! Functions that CPython writes in C and our library in Python. A wrong call of one of them is refused in the words that follow from its
//! parameters there.

use super::Vm;
use super::binding_native::Shown;
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
    Row("re.py", "Match.groups", M, "Match.groups", "self, default="),
    Row("re.py", "Match.groupdict", M, "Match.groupdict", "self, default="),
    Row("re.py", "Match.expand", M, "Match.expand", "self, template"),
    Row("re.py", "Match.start", M, "Match.start", "self, group=, /"),
    Row("re.py", "Match.end", M, "Match.end", "self, group=, /"),
    Row("re.py", "Match.span", M, "Match.span", "self, group=, /"),
    Row("struct.py", "calcsize", F, "_struct.calcsize", "format, /"),
    Row("struct.py", "unpack", F, "_struct.unpack", "format, buffer, /"),
    Row("struct.py", "unpack_from", F, "_struct.unpack_from", "format, /, buffer, offset="),
    Row("struct.py", "iter_unpack", F, "_struct.iter_unpack", "format, buffer, /"),
    Row("struct.py", "Struct.__init__", M, "Struct.__init__", "self, format"),
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
        if given == 0 && native.kind != NativeKind::Function {
            return error;
        }
        match Shown::of(native).refusal(native, given, &keywords) {
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
