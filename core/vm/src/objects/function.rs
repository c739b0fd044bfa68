//! Functions, properties, generators, iterators and the like.

mod descriptors;
mod generators;
mod iterators;

use crate::error::Outcome;
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::value::Value;
use descriptors::{
    classmethod, descriptor_get, member_delete, member_set, method_new, property_delete, property_deleter, property_get, property_getter,
    property_init, property_new, property_set, property_setter, proxy_new, staticmethod, super_get, super_new,
};
use generators::{
    async_close, async_next, async_send, async_throw, coroutine_await, generator_close, generator_next, generator_send, generator_throw,
};
use iterators::{dressed_next, enumerate, filter, iterator_next, length_hint, map, reversed, zip};

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;

/// Rows of these types.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "property.__new__", "cls, /, *args, **kwargs", 12, property_new, ""),
    NativeRow(M, "property.__init__", "self, fget=, fset=, fdel=, doc=", 12, property_init, ""),
    NativeRow(M, "property.getter", "self, fget, /", 12, property_getter, ""),
    NativeRow(M, "property.setter", "self, fset, /", 12, property_setter, ""),
    NativeRow(M, "property.deleter", "self, fdel, /", 12, property_deleter, ""),
    NativeRow(M, "property.__get__", "self, instance, owner=, /", 12, property_get, ""),
    NativeRow(M, "property.__set__", "self, instance, value, /", 12, property_set, ""),
    NativeRow(S, "staticmethod.__new__", "cls, function, /, *rest", 3, staticmethod, ""),
    NativeRow(S, "classmethod.__new__", "cls, function, /, *rest", 3, classmethod, ""),
    NativeRow(M, "staticmethod.__get__", "self, instance, owner=, /", 3, descriptor_get, ""),
    NativeRow(M, "classmethod.__get__", "self, instance, owner=, /", 3, descriptor_get, ""),
    NativeRow(M, "function.__get__", "self, instance, owner=, /", 3, descriptor_get, ""),
    NativeRow(M, "member_descriptor.__get__", "self, instance, owner=, /", 3, descriptor_get, ""),
    NativeRow(M, "getset_descriptor.__get__", "self, instance, owner=, /", 3, descriptor_get, ""),
    NativeRow(S, "super.__new__", "cls, type=, object=, /", 3, super_new, ""),
    NativeRow(M, "super.__get__", "self, instance, owner=, /", 3, super_get, ""),
    NativeRow(M, "member_descriptor.__set__", "self, instance, value, /", 3, member_set, ""),
    NativeRow(M, "member_descriptor.__delete__", "self, instance, /", 3, member_delete, ""),
    NativeRow(M, "property.__delete__", "self, instance, /", 12, property_delete, ""),
    NativeRow(S, "method.__new__", "cls, function, instance, /", 3, method_new, ""),
    NativeRow(S, "mappingproxy.__new__", "cls, mapping, /", 3, proxy_new, ""),
    NativeRow(M, "generator.__iter__", "self, /", 1, same, ""),
    NativeRow(M, "generator.__next__", "self, /", 3, generator_next, ""),
    NativeRow(M, "generator.send", "self, value, /", 3, generator_send, ""),
    NativeRow(M, "generator.throw", "self, type, value=, traceback=, /", 3, generator_throw, ""),
    NativeRow(M, "generator.close", "self, /", 3, generator_close, ""),
    NativeRow(M, "coroutine.send", "self, value, /", 3, generator_send, ""),
    NativeRow(M, "coroutine.throw", "self, type, value=, traceback=, /", 3, generator_throw, ""),
    NativeRow(M, "coroutine.close", "self, /", 3, generator_close, ""),
    NativeRow(M, "coroutine.__await__", "self, /", 3, coroutine_await, ""),
    NativeRow(M, "coroutine_wrapper.__iter__", "self, /", 1, same, ""),
    NativeRow(M, "coroutine_wrapper.__next__", "self, /", 3, generator_next, ""),
    NativeRow(M, "coroutine_wrapper.send", "self, value, /", 3, generator_send, ""),
    NativeRow(M, "coroutine_wrapper.throw", "self, type, value=, traceback=, /", 3, generator_throw, ""),
    NativeRow(M, "coroutine_wrapper.close", "self, /", 3, generator_close, ""),
    NativeRow(M, "async_generator.__aiter__", "self, /", 1, same, ""),
    NativeRow(M, "async_generator.__anext__", "self, /", 3, async_next, ""),
    NativeRow(M, "async_generator.asend", "self, value, /", 3, async_send, ""),
    NativeRow(M, "async_generator.athrow", "self, type, value=, traceback=, /", 3, async_throw, "async_generator_throw"),
    NativeRow(M, "async_generator.aclose", "self, /", 3, async_close, ""),
    NativeRow(M, "async_generator_asend.__await__", "self, /", 1, same, ""),
    NativeRow(S, "enumerate.__new__", "cls, iterable, start=", 3, enumerate, "retry_last"),
    NativeRow(S, "zip.__new__", "cls, /, *iterables, strict=", 3, zip, ""),
    NativeRow(S, "map.__new__", "cls, /, *args, **kwargs", 3, map, ""),
    NativeRow(S, "filter.__new__", "cls, function, iterable, /", 3, filter, ""),
    NativeRow(S, "reversed.__new__", "cls, sequence, /", 3, reversed, ""),
];

macro_rules! iterators {
    ($($name:literal $next:ident $helper:literal;)*) => {
        /// Rows of the builtin iterators.
        pub(crate) const ITERATORS: &[NativeRow] = &[
            $(
                NativeRow(M, concat!($name, ".__iter__"), "self, /", 1, same, ""),
                NativeRow(M, concat!($name, ".__next__"), "self, /", 1, $next, $helper),
            )*
        ];
    };
}

iterators! {
    "list_iterator" iterator_next ""; "tuple_iterator" iterator_next ""; "str_ascii_iterator" iterator_next "";
    "bytes_iterator" iterator_next ""; "bytearray_iterator" iterator_next ""; "range_iterator" iterator_next "";
    "dict_keyiterator" iterator_next ""; "dict_valueiterator" iterator_next ""; "dict_itemiterator" iterator_next "";
    "set_iterator" iterator_next ""; "reversed" dressed_next ""; "list_reverseiterator" iterator_next "";
    "dict_reversekeyiterator" iterator_next ""; "dict_reversevalueiterator" iterator_next ""; "dict_reverseitemiterator" iterator_next "";
    "enumerate" dressed_next ""; "zip" dressed_next ""; "map" generator_next ""; "filter" generator_next "";
    "callable_iterator" generator_next ""; "iterator" generator_next "";
}

macro_rules! sized {
    ($($name:literal;)*) => {
        /// Rows of the iterators that know how much is left.
        pub(crate) const SIZED_ITERATORS: &[NativeRow] = &[
            $(NativeRow(M, concat!($name, ".__length_hint__"), "self, /", 2, length_hint, ""),)*
        ];
    };
}

sized! {
    "list_iterator"; "tuple_iterator"; "str_ascii_iterator"; "bytes_iterator"; "bytearray_iterator"; "range_iterator"; "dict_keyiterator";
    "dict_valueiterator"; "dict_itemiterator"; "set_iterator"; "reversed"; "list_reverseiterator"; "dict_reversekeyiterator";
    "dict_reversevalueiterator"; "dict_reverseitemiterator";
}

fn same(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(vm.heap.retain(args[0]))
}
