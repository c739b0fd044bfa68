//! Builtin types and well-known names: their handles are fixed, because the base image makes them first and in this order.

use crate::value::Ref;

/// What an instance of a class holds besides attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Attributes only.
    Object,
    /// An integer.
    Int,
    /// A float.
    Float,
    /// A complex number.
    Complex,
    /// Text.
    Str,
    /// Bytes.
    Bytes,
    /// Mutable bytes.
    ByteArray,
    /// A list.
    List,
    /// A tuple.
    Tuple,
    /// A dict.
    Dict,
    /// A set.
    Set,
    /// An immutable set.
    FrozenSet,
    /// An exception.
    Exception,
    /// A class.
    Type,
    /// A property.
    Property,
    /// A static method.
    StaticMethod,
    /// A class method.
    ClassMethod,
    /// A class with type arguments.
    Alias,
    /// Anything that only the VM makes; not to be inherited from.
    Sealed,
}

/// A row of the table of builtin types.
pub(crate) struct TypeRow {
    /// `__name__`
    pub name: &'static str,
    /// The one base.
    pub base: Ref,
    /// What instances hold.
    pub layout: Layout,
    /// Whether it is a name of the builtins module.
    pub public: bool,
}

macro_rules! types {
    ($($constant:ident $name:literal $base:ident $layout:ident $public:literal;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "an index per constant")]
        #[derive(Clone, Copy)]
        #[repr(u64)]
        enum TypeIndex { $($constant,)* COUNT }

        /// Handles of the builtin types.
        pub(crate) mod ty {
            use super::{Ref, TypeIndex};
            $(#[doc = $name] pub(crate) const $constant: Ref = Ref(TypeIndex::$constant as u64);)*
        }

        /// Number of builtin types.
        pub(crate) const TYPE_COUNT: u64 = TypeIndex::COUNT as u64;

        /// The builtin types, in the order of their handles.
        pub(crate) const TYPES: &[TypeRow] = &[
            $(TypeRow { name: $name, base: ty::$base, layout: Layout::$layout, public: $public },)*
        ];
    };
}

types! {
    OBJECT "object" OBJECT Object true;
    TYPE "type" OBJECT Type true;
    NONE "NoneType" OBJECT Sealed false;
    NOT_IMPLEMENTED "NotImplementedType" OBJECT Sealed false;
    ELLIPSIS "ellipsis" OBJECT Sealed false;
    INT "int" OBJECT Int true;
    BOOL "bool" INT Sealed true;
    FLOAT "float" OBJECT Float true;
    COMPLEX "complex" OBJECT Complex true;
    STR "str" OBJECT Str true;
    BYTES "bytes" OBJECT Bytes true;
    BYTEARRAY "bytearray" OBJECT ByteArray true;
    LIST "list" OBJECT List true;
    TUPLE "tuple" OBJECT Tuple true;
    DICT "dict" OBJECT Dict true;
    SET "set" OBJECT Set true;
    FROZENSET "frozenset" OBJECT FrozenSet true;
    RANGE "range" OBJECT Sealed true;
    SLICE "slice" OBJECT Sealed true;
    FUNCTION "function" OBJECT Sealed false;
    NATIVE "builtin_function_or_method" OBJECT Sealed false;
    METHOD_DESCRIPTOR "method_descriptor" OBJECT Sealed false;
    METHOD "method" OBJECT Sealed false;
    MODULE "module" OBJECT Sealed false;
    CELL "cell" OBJECT Sealed false;
    PROPERTY "property" OBJECT Property true;
    STATICMETHOD "staticmethod" OBJECT StaticMethod true;
    CLASSMETHOD "classmethod" OBJECT ClassMethod true;
    SUPER "super" OBJECT Sealed true;
    GENERATOR "generator" OBJECT Sealed false;
    COROUTINE "coroutine" OBJECT Sealed false;
    COROUTINE_WRAPPER "coroutine_wrapper" OBJECT Sealed false;
    ASYNC_GENERATOR "async_generator" OBJECT Sealed false;
    ASYNC_STEP "async_generator_asend" OBJECT Sealed false;
    LIST_ITERATOR "list_iterator" OBJECT Sealed false;
    TUPLE_ITERATOR "tuple_iterator" OBJECT Sealed false;
    STR_ITERATOR "str_ascii_iterator" OBJECT Sealed false;
    BYTES_ITERATOR "bytes_iterator" OBJECT Sealed false;
    RANGE_ITERATOR "range_iterator" OBJECT Sealed false;
    DICT_KEY_ITERATOR "dict_keyiterator" OBJECT Sealed false;
    DICT_VALUE_ITERATOR "dict_valueiterator" OBJECT Sealed false;
    DICT_ITEM_ITERATOR "dict_itemiterator" OBJECT Sealed false;
    SET_ITERATOR "set_iterator" OBJECT Sealed false;
    REVERSED "reversed" OBJECT Sealed true;
    ENUMERATE "enumerate" OBJECT Sealed true;
    ZIP "zip" OBJECT Sealed true;
    MAP "map" OBJECT Sealed true;
    FILTER "filter" OBJECT Sealed true;
    CALLABLE_ITERATOR "callable_iterator" OBJECT Sealed false;
    LIST_REVERSE_ITERATOR "list_reverseiterator" OBJECT Sealed false;
    DICT_REVERSE_KEY_ITERATOR "dict_reversekeyiterator" OBJECT Sealed false;
    DICT_REVERSE_VALUE_ITERATOR "dict_reversevalueiterator" OBJECT Sealed false;
    DICT_REVERSE_ITEM_ITERATOR "dict_reverseitemiterator" OBJECT Sealed false;
    BYTEARRAY_ITERATOR "bytearray_iterator" OBJECT Sealed false;
    MEMORYVIEW "memoryview" OBJECT Sealed true;
    MEMORY_ITERATOR "memory_iterator" OBJECT Sealed false;
    SEQUENCE_ITERATOR "iterator" OBJECT Sealed false;
    DICT_KEYS "dict_keys" OBJECT Sealed false;
    DICT_VALUES "dict_values" OBJECT Sealed false;
    DICT_ITEMS "dict_items" OBJECT Sealed false;
    MAPPING_PROXY "mappingproxy" OBJECT Sealed false;
    MEMBER "member_descriptor" OBJECT Sealed false;
    GETSET "getset_descriptor" OBJECT Sealed false;
    GENERIC_ALIAS "types.GenericAlias" OBJECT Alias false;
    UNION "types.UnionType" OBJECT Sealed false;
    TRACEBACK "traceback" OBJECT Sealed false;
    HASHER "_hashlib.HASH" OBJECT Sealed false;
    REGEX "_re.Program" OBJECT Sealed false;
    DECIMAL "_decimal.Number" OBJECT Sealed false;
    BASE_EXCEPTION "BaseException" OBJECT Exception true;
    EXCEPTION "Exception" BASE_EXCEPTION Exception true;
    GENERATOR_EXIT "GeneratorExit" BASE_EXCEPTION Exception true;
    KEYBOARD_INTERRUPT "KeyboardInterrupt" BASE_EXCEPTION Exception true;
    SYSTEM_EXIT "SystemExit" BASE_EXCEPTION Exception true;
    DETERMINISM_ERROR "DeterminismError" BASE_EXCEPTION Exception true;
    BASE_EXCEPTION_GROUP "BaseExceptionGroup" BASE_EXCEPTION Exception true;
    EXCEPTION_GROUP "ExceptionGroup" BASE_EXCEPTION_GROUP Exception true;
    ARITHMETIC_ERROR "ArithmeticError" EXCEPTION Exception true;
    FLOATING_POINT_ERROR "FloatingPointError" ARITHMETIC_ERROR Exception true;
    OVERFLOW_ERROR "OverflowError" ARITHMETIC_ERROR Exception true;
    ZERO_DIVISION_ERROR "ZeroDivisionError" ARITHMETIC_ERROR Exception true;
    ASSERTION_ERROR "AssertionError" EXCEPTION Exception true;
    ATTRIBUTE_ERROR "AttributeError" EXCEPTION Exception true;
    BUFFER_ERROR "BufferError" EXCEPTION Exception true;
    EOF_ERROR "EOFError" EXCEPTION Exception true;
    IMPORT_ERROR "ImportError" EXCEPTION Exception true;
    MODULE_NOT_FOUND_ERROR "ModuleNotFoundError" IMPORT_ERROR Exception true;
    LOOKUP_ERROR "LookupError" EXCEPTION Exception true;
    INDEX_ERROR "IndexError" LOOKUP_ERROR Exception true;
    KEY_ERROR "KeyError" LOOKUP_ERROR Exception true;
    MEMORY_ERROR "MemoryError" EXCEPTION Exception true;
    NAME_ERROR "NameError" EXCEPTION Exception true;
    UNBOUND_LOCAL_ERROR "UnboundLocalError" NAME_ERROR Exception true;
    OS_ERROR "OSError" EXCEPTION Exception true;
    FILE_NOT_FOUND_ERROR "FileNotFoundError" OS_ERROR Exception true;
    PERMISSION_ERROR "PermissionError" OS_ERROR Exception true;
    TIMEOUT_ERROR "TimeoutError" OS_ERROR Exception true;
    CONNECTION_ERROR "ConnectionError" OS_ERROR Exception true;
    FILE_EXISTS_ERROR "FileExistsError" OS_ERROR Exception true;
    IS_A_DIRECTORY_ERROR "IsADirectoryError" OS_ERROR Exception true;
    NOT_A_DIRECTORY_ERROR "NotADirectoryError" OS_ERROR Exception true;
    BLOCKING_IO_ERROR "BlockingIOError" OS_ERROR Exception true;
    CHILD_PROCESS_ERROR "ChildProcessError" OS_ERROR Exception true;
    INTERRUPTED_ERROR "InterruptedError" OS_ERROR Exception true;
    PROCESS_LOOKUP_ERROR "ProcessLookupError" OS_ERROR Exception true;
    BROKEN_PIPE_ERROR "BrokenPipeError" CONNECTION_ERROR Exception true;
    CONNECTION_ABORTED_ERROR "ConnectionAbortedError" CONNECTION_ERROR Exception true;
    CONNECTION_REFUSED_ERROR "ConnectionRefusedError" CONNECTION_ERROR Exception true;
    CONNECTION_RESET_ERROR "ConnectionResetError" CONNECTION_ERROR Exception true;
    REFERENCE_ERROR "ReferenceError" EXCEPTION Exception true;
    RUNTIME_ERROR "RuntimeError" EXCEPTION Exception true;
    NOT_IMPLEMENTED_ERROR "NotImplementedError" RUNTIME_ERROR Exception true;
    RECURSION_ERROR "RecursionError" RUNTIME_ERROR Exception true;
    STOP_ITERATION "StopIteration" EXCEPTION Exception true;
    STOP_ASYNC_ITERATION "StopAsyncIteration" EXCEPTION Exception true;
    SYNTAX_ERROR "SyntaxError" EXCEPTION Exception true;
    INDENTATION_ERROR "IndentationError" SYNTAX_ERROR Exception true;
    TAB_ERROR "TabError" INDENTATION_ERROR Exception true;
    SYSTEM_ERROR "SystemError" EXCEPTION Exception true;
    TYPE_ERROR "TypeError" EXCEPTION Exception true;
    VALUE_ERROR "ValueError" EXCEPTION Exception true;
    UNICODE_ERROR "UnicodeError" VALUE_ERROR Exception true;
    UNICODE_DECODE_ERROR "UnicodeDecodeError" UNICODE_ERROR Exception true;
    UNICODE_ENCODE_ERROR "UnicodeEncodeError" UNICODE_ERROR Exception true;
    UNICODE_TRANSLATE_ERROR "UnicodeTranslateError" UNICODE_ERROR Exception true;
    WARNING "Warning" EXCEPTION Exception true;
    DEPRECATION_WARNING "DeprecationWarning" WARNING Exception true;
    FUTURE_WARNING "FutureWarning" WARNING Exception true;
    RUNTIME_WARNING "RuntimeWarning" WARNING Exception true;
    SYNTAX_WARNING "SyntaxWarning" WARNING Exception true;
    USER_WARNING "UserWarning" WARNING Exception true;
    PENDING_DEPRECATION_WARNING "PendingDeprecationWarning" WARNING Exception true;
    IMPORT_WARNING "ImportWarning" WARNING Exception true;
    UNICODE_WARNING "UnicodeWarning" WARNING Exception true;
    BYTES_WARNING "BytesWarning" WARNING Exception true;
    RESOURCE_WARNING "ResourceWarning" WARNING Exception true;
    ENCODING_WARNING "EncodingWarning" WARNING Exception true;
    HOST_ERROR "HostError" EXCEPTION Exception false;
}

macro_rules! names {
    ($($constant:ident $text:literal;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "an index per constant")]
        #[derive(Clone, Copy)]
        #[repr(u64)]
        enum NameIndex { $($constant,)* COUNT }

        /// Handles of identifiers that the VM itself looks up.
        pub(crate) mod nm {
            use super::{NameIndex, Ref, TYPE_COUNT};
            $(#[doc = concat!("`", $text, "`")] pub(crate) const $constant: Ref = Ref(TYPE_COUNT + NameIndex::$constant as u64);)*
        }

        /// The identifiers, in the order of their handles.
        pub(crate) const NAMES: &[&str] = &[$($text,)*];

        /// Number of well-known names.
        pub(crate) const NAME_COUNT: u64 = NameIndex::COUNT as u64;
    };
}

names! {
    INIT "__init__"; NEW "__new__"; CALL "__call__"; NAME "__name__"; QUALNAME "__qualname__"; MODULE "__module__"; DOC "__doc__";
    DICT "__dict__"; CLASS "__class__"; BASES "__bases__"; MRO "__mro__"; SLOTS "__slots__"; ANNOTATIONS "__annotations__";
    WRAPPED "__wrapped__"; DEFAULTS "__defaults__"; KWDEFAULTS "__kwdefaults__"; FUNC "__func__"; SELF "__self__"; ARGS "args";
    GETATTR "__getattr__"; GETATTRIBUTE "__getattribute__"; SETATTR "__setattr__"; DELATTR "__delattr__"; GET "__get__"; SET "__set__";
    DELETE "__delete__"; SET_NAME "__set_name__"; INIT_SUBCLASS "__init_subclass__"; CLASS_GETITEM "__class_getitem__";
    MRO_ENTRIES "__mro_entries__"; PREPARE "__prepare__"; INSTANCECHECK "__instancecheck__"; SUBCLASSCHECK "__subclasscheck__";
    REPR "__repr__"; STR "__str__"; FORMAT "__format__"; BYTES "__bytes__"; HASH "__hash__"; BOOL "__bool__"; LEN "__len__";
    ITER "__iter__"; NEXT "__next__"; REVERSED "__reversed__"; CONTAINS "__contains__"; GETITEM "__getitem__"; SETITEM "__setitem__";
    DELITEM "__delitem__"; MISSING "__missing__"; LENGTH_HINT "__length_hint__"; ENTER "__enter__"; EXIT "__exit__"; INDEX "__index__";
    INT "__int__"; FLOAT "__float__"; TRUNC "__trunc__"; FLOOR "__floor__"; CEIL "__ceil__"; ROUND "__round__"; ABS "__abs__";
    NEG "__neg__"; POS "__pos__"; INVERT "__invert__"; LT "__lt__"; LE "__le__"; EQ "__eq__"; NE "__ne__"; GT "__gt__"; GE "__ge__";
    ADD "__add__"; SUB "__sub__"; MUL "__mul__"; TRUEDIV "__truediv__"; FLOORDIV "__floordiv__"; MOD "__mod__"; POW "__pow__";
    LSHIFT "__lshift__"; RSHIFT "__rshift__"; AND "__and__"; OR "__or__"; XOR "__xor__"; MATMUL "__matmul__"; DIVMOD "__divmod__";
    RADD "__radd__"; RSUB "__rsub__"; RMUL "__rmul__"; RTRUEDIV "__rtruediv__"; RFLOORDIV "__rfloordiv__"; RMOD "__rmod__";
    RPOW "__rpow__"; RLSHIFT "__rlshift__"; RRSHIFT "__rrshift__"; RAND "__rand__"; ROR "__ror__"; RXOR "__rxor__";
    RMATMUL "__rmatmul__"; RDIVMOD "__rdivmod__"; IADD "__iadd__"; ISUB "__isub__"; IMUL "__imul__"; ITRUEDIV "__itruediv__";
    IFLOORDIV "__ifloordiv__"; IMOD "__imod__"; IPOW "__ipow__"; ILSHIFT "__ilshift__"; IRSHIFT "__irshift__"; IAND "__iand__";
    IOR "__ior__"; IXOR "__ixor__"; IMATMUL "__imatmul__"; AWAIT "__await__"; AITER "__aiter__"; ANEXT "__anext__";
    AENTER "__aenter__"; AEXIT "__aexit__"; TRACEBACK "__traceback__"; CAUSE "__cause__"; CONTEXT "__context__";
    SUPPRESS_CONTEXT "__suppress_context__"; NOTES "__notes__"; MATCH_ARGS "__match_args__"; ABSTRACT_METHODS "__abstractmethods__";
    IS_ABSTRACT "__isabstractmethod__"; ALL "__all__"; FILE "__file__"; BUILTINS "__builtins__"; MAIN "__main__"; VALUE "value";
    MESSAGE "message"; CODE "code"; NAME_ATTR "name"; OBJ "obj"; KEYS "keys"; UPDATE "update"; MSG "msg"; PATH "path"; EXCEPTIONS "exceptions";
    SEND "send"; THROW "throw"; CLOSE "close"; JOIN "join"; SORT "sort"; APPEND "append"; FGET "fget"; FSET "fset"; FDEL "fdel";
    START "start"; STOP "stop"; STEP "step"; ORIGIN "__origin__"; PARAMETERS "__parameters__"; ALIAS_ARGS "__args__"; WEAKREF "__weakref__";
    SUBCLASSHOOK "__subclasshook__"; MUTABLE_MAPPING "_mutable"; END "end"; SEP "sep"; ENCODING "encoding"; OBJECT "object"; REASON "reason";
    ERRNO "errno"; FILENAME "filename"; STRERROR "strerror"; METACLASS "metaclass"; GENERIC_NAME "_name"; DIR "__dir__"; SIZEOF "__sizeof__";
    ORIG_CLASS "__orig_class__"; ORIG_BASES "__orig_bases__"; EMPTY ""; OBJCLASS "__objclass__"; GI_RUNNING "gi_running"; CR_RUNNING "cr_running"; MRO_METHOD "mro";
    REAL "real"; IMAG "imag"; NUMERATOR "numerator"; DENOMINATOR "denominator"; DIGEST_SIZE "digest_size"; BLOCK_SIZE "block_size";
    ERROR_SLUG "ERROR_SLUG"; REDUCE "__reduce__"; TEXT_SIGNATURE "__text_signature__"; BASE "__base__"; COPY "__copy__"; COMPLEX "__complex__"; MAPPING "mapping"; MATCH_SEQUENCE "__match_sequence__"; MATCH_MAPPING "__match_mapping__"; DEEPCOPY "__deepcopy__";
    UNPACKED "__unpacked__"; UNPACKED_ARGS "__typing_unpacked_tuple_args__";
    DECIMAL "Decimal"; DECIMAL_MODULE "decimal"; DECIMAL_NUMBER "_n"; NAME_IN_MESSAGES "_name_in_messages";
    NBYTES "nbytes"; READONLY "readonly"; ITEMSIZE "itemsize"; FORMAT_NAME "format"; NDIM "ndim"; SHAPE "shape"; STRIDES "strides";
    SUBOFFSETS "suboffsets"; C_CONTIGUOUS "c_contiguous"; F_CONTIGUOUS "f_contiguous"; CONTIGUOUS "contiguous";
}

/// Handle of the one-character text of a code point below 256.
pub(crate) const fn latin1(byte: u8) -> Ref {
    Ref(TYPE_COUNT + NAME_COUNT + byte as u64)
}

/// Handle of the empty tuple.
pub(crate) const EMPTY_TUPLE: Ref = Ref(TYPE_COUNT + NAME_COUNT + 256);
/// Handle of the empty bytes.
pub(crate) const EMPTY_BYTES: Ref = Ref(TYPE_COUNT + NAME_COUNT + 257);
/// Handle of the builtins module's dict.
pub(crate) const BUILTINS_DICT: Ref = Ref(TYPE_COUNT + NAME_COUNT + 258);
/// Handle of the dict of imported modules.
pub(crate) const MODULES_DICT: Ref = Ref(TYPE_COUNT + NAME_COUNT + 259);
/// First handle that is not fixed.
pub(crate) const FIXED_COUNT: u64 = TYPE_COUNT + NAME_COUNT + 260;
