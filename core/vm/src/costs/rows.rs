//! The rows: what is charged beside the prices of instructions and native functions, once or by size.

use super::Cost;

macro_rules! costs {
    ($($symbol:ident $cycles:literal / $per:literal $(+ $weight:literal ns)? $unit:literal $source:literal $work:literal;)*) => {
        $(
            #[doc = $work]
            pub(crate) const $symbol: Cost = Cost {
                symbol: stringify!($symbol),
                cycles: $cycles,
                per: $per,
                weight: 0 $(+ $weight)?,
                unit: $unit,
                source: $source,
                work: $work,
            };
        )*

        /// All rows, in the order of the page.
        pub(crate) const COSTS: &[Cost] = &[$($symbol),*];
    };
}

costs! {
    // Calls, exceptions and classes.
    CALL_FORWARDED 10 / 1 "call" "003 §3.5" "a callee that only stands for another one: a method, a partial call, an instance with `__call__`";
    ARGUMENT_MOVED 1 / 8 "argument" "decision 364" "arguments moved for a callee that stands for another one";
    PARAMETER_PASSED 1 / 16 "parameter" "decision 282" "the parameters among which a keyword is looked for";
    KEYWORD_DEFAULT 3 / 1 "parameter" "003 §3.5" "a keyword-only parameter that takes its default";
    REGISTER_LEFT 1 / 8 "register" "decision 282" "the registers of a function beyond 64, when a call of it ends and when its generator is made or rests";
    INNER_CALL 60 / 1 "call" "decision 282" "a call inside more than two others that have no frame yet";
    ARGUMENT_SPREAD 1 / 1 "argument" "decision 364" "`f(*a)`";
    KEYWORD_SPREAD 12 / 1 "keyword" "decision 364" "`f(**b)`";
    SPECIAL_OPERATOR 5 / 1 "method" "decision 364" "the special method of an operator found, beside its call";
    SPECIAL_COMPARISON 5 / 1 "method" "decision 364" "the special method of a comparison found, beside its call";
    FUNCTOOLS_CALL 20 / 1 "call" "decision 364" "a function of `functools` found, beside its call";
    IMPORT 100 / 1 "import" "CIP-3" "an import that finds its module";
    NAME_IMPORTED 1 / 1 "name" "decision 364" "`from m import *`, `locals`";
    RAISED 40 / 1 + 1000 ns "exception" "decision 363" "an exception raised";
    EXCEPTION_MADE 10 / 1 "exception" "decision 364" "an exception made by calling its class";
    RAISE_PREPARED 40 / 1 "exception" "decision 364" "a missing attribute left to `__getattr__`";
    ATTRIBUTE_MISSED 15 / 1 "attribute" "decision 364" "an attribute that `hasattr` or `getattr` with a default misses";
    EXCEPTION_CLASS 2 / 1 "class" "decision 364" "`except` with a tuple";
    TRACEBACK_LINE 16 / 1 "line" "decision 282" "lines of a traceback beyond 512";
    INNER_TEXT 10 / 1 "exception" "decision 282" "the text of an exception that another one holds";
    CLASS_MADE 0 / 1 + 2000 ns "class" "decision 319" "a class made";
    CLASS_ENTRY 8 / 1 "entry" "decision 364" "a class made, by the entries of its namespace";
    CLASS_ANCESTOR 3 / 1 "ancestor" "decision 364" "a class made, by the ancestors of its bases";
    CLASS_ORDER 1 / 4 "ancestor" "decision 364" "a class made: the ancestors of its bases, once for each base";
    CLASS_SLOT 15 / 1 "slot" "decision 364" "a class made, by its slots";
    CLASS_COPIED 1 / 1 "entry" "decision 364" "the namespace of a class copied, the order of resolution that a metaclass gives";
    CLASS_CHANGED 50 / 1 "attribute" "decision 364" "an attribute of a class set or deleted, beside its instruction";
    CLASS_TESTED 4 / 1 "class" "decision 364" "`isinstance`, `issubclass` with a tuple";

    // Attributes.
    ATTRIBUTE_HELD 5 / 1 "object" "decision 282" "an attribute that is looked up in what holds another object";
    ANCESTOR_PASSED 1 / 4 "ancestor" "decision 364" "an attribute of a class with more than 10 ancestors, beside its instruction";
    ATTRIBUTE_NAME 1 / 4 "byte" "decision 364" "names of attributes as text";
    OWN_NAME 4 / 1 "name" "decision 364" "`dir`, by the attributes of the object";
    NAME_SORTED 12 / 1 "name" "decision 364" "`dir`, by all names";
    CLASS_DICT_SHOWN 1 / 1 "entry" "decision 364" "the attributes of a class as a dict shown";

    // Text.
    TEXT_WRITTEN 1 / 1 "byte" "003 §3.5" "text joined, formatted or shown";
    TEXT_APPENDED 1 / 1 "character" "003 §3.5" "`s += t` that nobody else sees, by the characters of `t`, whatever `s` holds";
    TEXT_PASSED 1 / 4 "byte" "decision 364" "ASCII text passed over: `in`, `find`, `count`, `replace`, `split`, `partition`, and what they look for";
    TEXT_PASSED_WIDE 3 / 4 "byte" "decision 364" "text beyond ASCII passed over, rounded up";
    TEXT_CASED 1 / 1 "byte" "decision 364" "text in another case, asked what it is";
    TEXT_CASED_WIDE 2 / 1 "byte" "decision 364" "text beyond ASCII in another case, asked what it is";
    CAPITAL_SIGMA 6 / 1 "character" "decision 726" "a capital sigma in text put into lower case: what is around it decides";
    TEXT_PART 3 / 1 "part" "decision 364" "text split; a tab or line of `expandtabs`";
    TEXT_HALVED 1 / 2 "byte" "decision 282" "tabs expanded, lines split";
    TEXT_JOINED_ITEM 1 / 1 "item" "decision 364" "texts joined, by their number";
    STRIP_SET 1 / 1 "byte" "decision 282" "characters stripped by a set beyond ASCII";
    CHARACTER_FOUND 4 / 1 "character" "decision 282" "a character of text beyond ASCII found by its number";
    TEXT_MARKED 1 / 8 "byte" "decision 282" "the first of them far from both ends";
    CHARACTER_MADE 4 / 1 "character" "decision 282" "characters beyond ASCII as a list; different ones as a set";
    CHARACTER_SEEN 2 / 1 "byte" "decision 282" "text beyond ASCII as a set";
    TEXT_READ 1 / 1 "byte" "decision 364" "a number read from text or bytes; text parsed";
    ASCII_READ 1 / 1 "byte" "decision 282" "`ascii`, by what it reads";
    TEXT_COPIED 1 / 8 "byte" "decision 364" "text taken by `str`";
    TEXT_HASHED 1 / 8 "byte" "decision 364" "text of more than 64 bytes hashed for the first time, bytes hashed";
    TEXT_COMPARED 1 / 32 "byte" "decision 364" "text and bytes compared, beyond 64 bytes";
    SHOWN_INSIDE 1 / 8 "container" "decision 282" "containers around the one that is shown";
    FLOAT_DIGITS 12 / 1 "float" "decision 364" "a float formatted, beside its text";
    FORMAT_SPEC 1 / 2 "byte" "decision 364" "specifications of formats";
    FIELD 8 / 1 "field" "decision 364" "a field of `format` or `%`, or with a specification of an f-string, beside its text";
    TEMPLATE_FILLED 0 / 1 + 200 ns "template" "decision 709" "`text % values`, beside its fields";
    TEMPLATE_COPIED 1 / 16 "byte" "decision 282" "a template and its values, each as a byte";
    KEYWORD_SOUGHT 1 / 8 "byte" "decision 282" "the name of a keyword of `format`";
    ENCODING_NAME 3 / 1 "byte" "decision 364" "names of encodings";
    HANDLER_NAME 1 / 1 "byte" "decision 364" "names of error handlers";
    STRETCH_HANDLED 4 / 1 "stretch" "decision 282" "what an encoding does not have, seen to by an error handler";
    CHARACTER_HANDLED 1 / 1 "character" "decision 282" "the characters of such a stretch";
    HANDLED_WRITTEN 1 / 2 "byte" "decision 282" "what an error handler writes for each of them at most";

    // Bytes and views.
    BYTES_MADE 1 / 4 "byte" "decision 364" "bytes joined, appended, repeated, encoded or passed over";
    TEXT_RECODED 1 / 4 "byte" "decision 726" "text encoded as UTF-16 or UTF-32, bytes decoded from them";
    BYTES_FILLED 1 / 8 "byte" "decision 364" "bytes of zeros, bytes moved or replaced";
    BYTES_COPIED 1 / 16 "byte" "decision 282" "bytes, views and values of `struct` copied; files; two views compared";
    BYTES_PART 8 / 1 "part" "decision 726" "bytes split";
    BYTES_JOINED_ITEM 3 / 1 "item" "decision 364" "bytes joined, by their number";
    BYTES_HALVED 1 / 2 "byte" "decision 282" "tabs expanded in bytes";
    BYTES_REPLACED 1 / 1 "part" "decision 364" "bytes replaced, by the number of their places";
    TAB_EXPANDED 1 / 1 "tab" "decision 282" "a tab of bytes, beside its blanks";
    HEX_WRITTEN 2 / 1 "byte" "decision 364" "bytes as hexadecimal digits";
    VIEW_ITEM 1 / 1 "item" "decision 364" "items of a view with gaps copied";
    VIEW_ITEM_READ 3 / 1 "item" "decision 364" "items of a view as a list";
    VIEW_ITEM_COMPARED 6 / 1 "item" "decision 364" "items of views of unlike formats compared";
    VIEW_COMPARED 2 / 1 "view" "decision 364" "a view compared, beside its bytes";
    VIEW_INDEX 2 / 1 "index" "decision 364" "the indices of a view, its lengths";

    // Lists and tuples.
    ITEM_MADE 1 / 1 "item" "decision 364" "a builtin iterable as a list; items overwritten; items of a dict compared";
    ITEM_PAIRED 8 / 1 "pair" "decision 364" "items of a dict as a list";
    ITEM_LOOKED_AT 2 / 1 "item" "decision 364" "`x in list`, `count`, `index`, by the items that are looked at; subsets";
    ITEMS_SLICED 1 / 2 "item" "decision 364" "slices read, lists copied";
    ITEMS_WRITTEN 1 / 2 "item" "decision 364" "slices written, by the items of the list";
    ITEMS_DELETED 1 / 4 "item" "decision 364" "slices deleted, by the items of the list";
    ITEMS_PASSED 1 / 8 "item" "decision 282" "items moved by `insert`, `pop`, `del` and `reverse`; snapshots; the list around items overwritten";
    BYTES_SHIFTED 1 / 32 "byte" "decision 364" "bytes moved by `del`";
    SEQUENCES_JOINED 4 / 1 "sequence" "decision 364" "lists and tuples joined";
    ITEMS_JOINED 1 / 2 "item" "decision 364" "the items of lists and tuples joined";
    ITEMS_REPEATED 2 / 1 "item" "decision 364" "lists and tuples repeated";
    ITEM_SORTED 1 / 1 "item a round" "decision 364" "`list.sort`, `sorted`: ⌊log₂ n⌋ + 1 rounds";
    ITEMS_COMPARED 10 / 1 "comparison" "decision 364" "lists and tuples compared";
    ITEMS_COMPARED_SHORT 1 / 2 "item" "decision 364" "lists and tuples compared, by the items of the shorter one";
    ITEMS_COMPARED_LONG 1 / 8 "item" "decision 364" "lists and tuples compared, by the items of the longer one";
    UNIONS_JOINED 1 / 1 "union" "decision 282" "a member joined to a union of types";
    UNION_MEMBER 1 / 4 "member" "decision 282" "the members of that union";
    CONTENT_TAKEN 1 / 16 "byte" "decision 282" "builtin content of a subclass's instance taken for its methods";

    // Dicts and sets.
    ENTRY_COPIED 5 / 1 "entry" "decisions 726, 742" "sets and dicts copied, made of items; `**mapping` in a dict, `|` and `|=` of dicts";
    GAP_COPIED 1 / 8 "gap" "decision 282" "deleted entries of what is copied";
    GAP_PASSED 1 / 8 "gap" "decision 364" "deleted entries of a dict passed over";
    ENTRY_COMPARED 4 / 1 "entry" "decision 726" "entries of two dicts compared, beside reading them";
    ENTRY_COMBINED 5 / 1 "entry" "decision 364" "sets combined";
    ENTRY_FOLDED 3 / 1 "entry" "decision 364" "sets combined in place; `dict.fromkeys`; a view of a class's attributes as a dict";
    ENTRY_AS_KEYWORD 24 / 1 "entry" "decision 726" "`**mapping` as keywords";
    KEYWORD_NAME 1 / 8 "byte" "decision 364" "the names of keywords from `**mapping`";
    ENTRY_LISTED 1 / 1 "entry" "decision 364" "entries of a dict or set read or shown";
    KEY_FAR 3 / 1 "place" "decision 364" "a key further than 16 places from where its hash says";
    KEY_STEP 2 / 1 "place" "decision 364" "places passed in search of a key that compares in Python";
    BARRIER_EDGE 1 / 1 "edge" "decision 364" "a store that moves labels of the cycle barrier";
    BARRIER_SEEN 1 / 4 "value" "decision 282" "the values that are looked at there";

    // Iteration.
    ITERATION 1 / 1 "item" "decision 364" "an item of a builtin iterator taken by a native function";
    ENUMERATED 4 / 1 "tuple" "decisions 709, 726" "a tuple of `enumerate` or `zip` that a native function takes";
    INNER_STEP 8 / 1 "step" "decision 282" "a step of an `enumerate` or `zip` over another builtin iterator";
    ITERATOR_MADE 6 / 1 "iterator" "decision 282" "a `zip` made, by its iterators beyond two";
    ZIPPED 1 / 1 "step" "decision 364" "a step of `zip`, and each iterator of the step";
    DRAINED_INTO_LIST 116 / 1 "generator" "decision 364" "`list` of a generator, beside its items";
    DRAINED_INTO_TUPLE 118 / 1 "generator" "decision 364" "`tuple` of a generator, beside its items";
    DRAINED_ONTO_LIST 96 / 1 "generator" "decision 364" "`list.extend` with a generator, beside its items";
    DRAINED_INTO_TEXT 14 / 1 "generator" "decision 364" "`str.join` of a generator, beside its items";
    DRAINED_INTO_SET 22 / 1 "generator" "decision 364" "`set`, `frozenset` of a generator, beside its items";
    DRAINED_ITEM 17 / 1 "item" "decision 364" "an item of a generator that goes into a list, and the end of the generator";
    DRAINED_ITEM_ONCE_MORE 18 / 1 "item" "decision 364" "an item of a generator that goes into a tuple, a text or a set, and the end of the generator";
    ITERATOR_RENEWED 15 / 1 "iterator" "decision 282" "a builtin iterator that begins again after an exception, or makes a step while another is under way";

    // Numbers.
    TRUTH_AS_NUMBER 2 / 1 "operation" "decision 364" "a truth value in arithmetic";
    INT_WITH_FLOAT 2 / 1 "comparison" "decision 364" "an integer compared with a float";
    UNLIKE_COMPARED 5 / 1 "comparison" "decision 364" "values compared that are not both numbers or both texts";
    LARGE 3 / 1 "operation" "decision 364" "an operation on integers above 64 bits";
    LIMBS_ADDED 1 / 1 "limb" "decision 282" "`+ - & | ^ >> <<` of integers above 64 bits, by the limbs of the larger operand";
    LIMBS_MULTIPLIED 1 / 1 "product of limbs" "decision 282" "`* / // % divmod` of integers above 64 bits, by their limbs";
    LIMBS_RAISED 112 / 1 "limb²" "decision 726" "`**` of integers above 64 bits, by their limbs";
    BITS_SHIFTED 1 / 256 "bit" "decision 282" "`<<`, by the bits that it shifts";
    LIMBS_COMPARED 1 / 4 "limb" "decision 364" "integers above 64 bits compared";
    MODULAR 3 / 1 "bit" "decision 282" "`pow` by a modulus, by the bits of the exponent, and one more";
    MODULAR_LIMBS 5 / 16 "limb²" "decision 726" "each of them, by the modulus";
    ROUNDED 8 / 1 "integer" "decision 282" "an integer rounded to a power of ten";
    LIMBS_ROUNDED 1 / 4 "limb²" "decision 282" "its limbs";
    LARGE_AS_FLOAT 20 / 1 "integer" "decisions 364, 742" "an integer above 64 bits made a float; `/` of integers of which one is above 53 bits, beside their limbs";
    BIT_READ 1 / 1 "bit" "decision 364" "`isqrt`; an integer above 64 bits as JSON";
    BITS_FOLDED 3 / 8 "bit" "decision 726" "`gcd`, `lcm`, by the bits of each argument; an inverse by `pow`, by twice the bits of the modulus";
    FLOAT_REMAINDER 8 / 1 "operation" "decision 364" "`//`, `%`, `divmod` of floats, `fmod`, `remainder`";
    EXPONENTS_APART 1 / 16 "exponent" "decisions 364, 726" "`//`, `%`, `divmod` of floats, `fmod`, `remainder`, by the difference of the exponents";
    FLOAT_ROOT 20 / 1 "operation" "decision 364" "`a ** 0.5`";
    FLOAT_POWER 120 / 1 "operation" "decision 364" "a power of floats";
    COMPLEX_POWER 600 / 1 "operation" "decision 726" "a power of complex numbers";
    FACTOR 16 / 1 "factor" "decision 364" "`factorial`, `comb`, `perm`";
    FLOAT_READ 4 / 1 "item" "decision 364" "`hypot`, `dist`, `fsum` and the like, by their arguments";
    FLOAT_SUMMED 8 / 1 "addition" "decision 772" "`fsum`: each item, and each partial sum that it is added to";
    SUM_ITEM 1 / 1 "item" "decision 726" "`sum`";
    SUM_UNLIKE 3 / 1 "item" "decision 726" "`sum`, of what is not of the type of the sum before it, or is no integer of 64 bits and no float";
    PRODUCT_ITEM 2 / 1 "item" "decision 364" "`math.prod`";
    LARGE_HASH 120 / 1 "integer" "decision 364" "`hash` of integers above 64 bits";
    INSTANCE_HASH 3 / 1 "instance" "decision 364" "`hash` of instances";
    INNER_HASH 10 / 1 "value" "decision 364" "`hash` of tuples that hold more than plain values, of aliases";
    ITEM_HASHED 1 / 1 "item" "decision 364" "`hash` of tuples and frozensets, by their items";
    FROZENSET_HASH 4 / 1 "frozenset" "decision 364" "`hash` of frozensets";

    // Modules.
    HOST_OBJECT 4 / 1 "object" "decision 364" "values passed to and from the host";
    HOST_BYTES 1 / 16 "byte" "decision 364" "bytes and texts passed to and from the host";
    CBOR_BYTE 1 / 1 "byte" "decision 364" "CBOR written and read";
    CBOR_OBJECT 5 / 1 "object" "decision 364" "an object of CBOR";
    CBOR_COPIED 1 / 16 "byte" "decision 364" "bytes and texts in CBOR copied";
    STRUCT_VALUE 3 / 1 "value" "decision 364" "a value of `struct`";
    STRUCT_FIELD 1 / 1 "field" "decision 364" "the fields of a format of `struct`";
    JSON_VALUE 4 / 1 "value" "decision 364" "a value of JSON written";
    JSON_READ 6 / 1 "value" "decision 364" "a value or key of JSON read";
    JSON_BYTES 1 / 8 "byte" "decision 282" "JSON written and read";
    JSON_ESCAPED 1 / 2 "byte" "decision 364" "what escapes add to a text of JSON";
    JSON_STEP 1 / 1 "step" "decision 282" "a key, an escape, a level of indent";
    JSON_FLOAT 16 / 1 "float" "decision 364" "a float of JSON written";
    JSON_SCALED 40 / 1 "float" "decision 709" "a float of JSON with an exponent or of more than 20 characters read";
    JSON_LOOKED_AT 1 / 64 "byte" "decision 364" "a text of JSON scanned before it is read";
    JSON_DIGIT 2 / 1 "digit" "decision 364" "an integer of JSON above 64 bits read";
    JSON_SORTED 1 / 1 "key a round" "decision 364" "keys of JSON sorted, different keys of a text that is read: ⌊log₂ n⌋ + 1 rounds";
    DECIMAL_WORDS 1 / 4 "word²" "decision 364" "a `Decimal` taken as operand";
    DECIMAL_READ 1 / 1 "byte" "decision 364" "a `Decimal` read from text";
    DECIMAL_READ_WORDS 1 / 1 "(16 bytes)²" "decision 364" "a `Decimal` of many digits read from text";
    DECIMAL_OF_FLOAT 320 / 1 "number" "decision 364" "a `Decimal` made of a float";
    DECIMAL_ROOT 200 / 1 "number" "decision 364" "`sqrt` of a `Decimal`";
    DECIMAL_TRANSCENDENTAL 8000 / 1 "number" "decision 364" "`exp`, `ln`, `log10` of a `Decimal`; a power is two of them";
    DECIMAL_DIGITS 2 / 1 "byte" "decision 364" "a `Decimal` written";
    DECIMAL_FORMAT 1 / 1 "byte" "decision 364" "the format of a `Decimal`, and what it writes";
    HASH_NAME 1 / 1 "byte" "decision 364" "the name of an algorithm of `hashlib`";
    HASH_COPIED 1 / 64 "byte" "decision 364" "bytes given to a hash object, a hash object copied";
    DIGEST 500 / 1 "digest" "003 §3.5" "a digest of `hashlib`, before its blocks; SHA-256 by the parameters `costs.sha256` and `costs.sha256_block`";
    KECCAK_DIGEST 0 / 1 "digest" "003 §3.5" "a digest of `hashlib.keccak256`, before its blocks";
    BLOCK_SHORT 8 / 1 "block" "003 §3.5" "a block of MD5, SHA-1, SHA-224, SHA-256, BLAKE2s";
    BLOCK_LONG 16 / 1 "block" "003 §3.5" "a block of SHA-384, SHA-512, BLAKE2b";
    BLOCK_SPONGE 45 / 1 "block" "decision 282" "a block of SHA-3 and SHAKE";
    BLOCK_KECCAK 26 / 1 "block" "003 §3.5" "a block of `hashlib.keccak256`";
    DIGEST_AS_TEXT 1 / 4 "byte" "decision 364" "a digest as hexadecimal digits";
    KECCAK_BLOCK 0 / 1 + 450 ns "block" "decision 132" "`keccak256`, by the blocks of 136 bytes";
    PATTERN_CHARACTER 40 / 1 "character" "decision 364" "a pattern of `re` compiled";
    PATTERN_SET 600 / 1 "set" "decision 282" "a set of a pattern";
    PATTERN_FOLDED 6 / 1 "character" "decision 282" "a character of a range whose case does not matter";
    MATCHER_STEP 1 / 1 "step" "decision 364" "`re`: a step of the matcher, a way taken back, a character gone back";
    MATCHER_LOOKUP 2 / 1 "character" "decision 282" "a set or either case in text beyond ASCII";
    MATCHER_RESET 1 / 32 "mark" "decision 282" "an attempt, by two marks a group";
    MATCHER_SKIPPED 1 / 2 "character" "decision 364" "characters at which no match begins";
    MATCHER_REPEATED 1 / 4 "byte" "decision 364" "the text of a group that stands again";
    MATCH_PIECE 5 / 1 "part" "decision 282" "a part of a text that `re` finds";
    MATCH_BYTES 1 / 16 "byte" "decision 282" "its bytes; text taken to search and written by `sub`";
    MATCH_MADE 4 / 1 "match" "decision 282" "a match";
    MATCH_MARK 1 / 1 "mark" "decision 282" "its marks, two a group";
    PART_REPLACED 1 / 1 "part" "decision 282" "the parts of what `sub` writes for a match";
}
