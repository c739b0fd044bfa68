//! Builtins inside themselves and inside each other: iterators around iterators, values around values.
//!
//! For `calibrate`, which takes their time at growing depths, and for `tests/allowance.rs`, which takes their memory.

/// What makes an iterator of another one, `{}`.
const ITERATORS: &[&str] = &[
    "iter({})",
    "map(same, {})",
    "map(abs, {})",
    "filter(None, {})",
    "zip({})",
    "enumerate({})",
    "(x for x in {})",
    "delegating({})",
    "iter({}.__next__, None)",
    "reversed([*itertools.islice({}, 3)])",
    "itertools.chain({})",
    "itertools.chain.from_iterable([{}])",
    "itertools.islice({}, 1 << 40)",
    "itertools.takewhile(bool, {})",
    "itertools.dropwhile(bool, {})",
    "itertools.filterfalse(None, {})",
    "itertools.accumulate({}, first)",
    "itertools.compress({}, itertools.repeat(1))",
    "itertools.zip_longest({}, ())",
    "itertools.pairwise({})",
    "itertools.cycle({})",
    "itertools.starmap(first, zip({}, itertools.repeat(1)))",
    "itertools.tee({})[0]",
    "(k for k, g in itertools.groupby({}))",
];

const ITERATOR_HELP: &str = "import itertools\ndef same(x): return x\ndef first(a, b=0): return a\ndef delegating(x): yield from x\n";

/// What makes a value of another one, `{}`.
const VALUES: &[&str] = &[
    "[{}]",
    "({},)",
    "[{0}, {0}]",
    "{{1: {}}}",
    "ValueError({})",
    "slice({})",
    "functools.partial(print, {})",
    "collections.deque([{}])",
    "collections.OrderedDict(k={})",
    "Held({})",
    "Pair({}, 1)",
    "types_of({})",
];

const VALUE_HELP: &str = "import collections, dataclasses, functools, json, pvm_host\n@dataclasses.dataclass\nclass Held:\n    x: object\n\
Pair = collections.namedtuple('Pair', 'x y')\ndef types_of(x): return list[x]\n";

/// What is done with a nested value.
const USES: &[&str] = &[
    "repr(x)",
    "str(x)",
    "f'{x}'",
    "x == y",
    "hash(x)",
    "json.dumps(x)",
    "pvm_host.cbor_encode(x)",
    "[*x]",
    "sorted([x, y])",
    "dataclasses.asdict(x)",
    "'%s' % (x,)",
];

/// A name, what makes the nested thing at depth `N`, and what is done with it over and over; the form of `HOSTILE`.
pub(crate) type Nested = (String, String, String);

fn filled(maker: &str, inner: &str) -> String {
    maker.replace("{0}", inner).replace("{}", inner).replace("{{", "{").replace("}}", "}")
}

/// Each of `makers` around each other one, made `N` deep, as far as recursion limits allow.
fn deep(help: &str, makers: [&str; 2], variable: &str, begin: &str) -> String {
    let inner = filled(makers[1], variable);
    let around = filled(makers[0], "inner");
    format!(
        "{help}{variable} = {begin}\ntry:\n    for level in range(N):\n        inner = {inner}\n        {variable} = {around}\nexcept (RecursionError, MemoryError, TypeError): pass\n"
    )
}

/// All pairs of makers, those around themselves first.
fn pairs(makers: &'static [&'static str]) -> impl Iterator<Item = [&'static str; 2]> {
    let count = makers.len();
    (0..count).flat_map(move |distance| (0..count).map(move |at| [makers[at], makers[(at + distance) % count]]))
}

/// Every iterator around every other one.
pub(crate) fn iterators() -> impl Iterator<Item = Nested> {
    pairs(ITERATORS).map(|makers| {
        let name = format!("{} around {}", makers[0], makers[1]);
        (name, deep(ITERATOR_HELP, makers, "i", "iter(range(1, 1 << 40))"), "for step in range(20): next(i)".to_owned())
    })
}

/// Every value around every other one, and everything that is done with it.
pub(crate) fn values() -> impl Iterator<Item = Nested> {
    pairs(VALUES).flat_map(|makers| {
        USES.iter().map(move |using| {
            let setup = format!("{}y = x\n{}", deep(VALUE_HELP, makers, "x", "1"), deep("", makers, "x", "1"));
            (format!("{} around {}: {using}", makers[0], makers[1]), setup, (*using).to_owned())
        })
    })
}
