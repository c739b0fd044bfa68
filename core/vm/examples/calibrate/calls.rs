//! Programs that call native functions with arguments of many kinds and sizes: for `calibrate`, which takes their time, and for
//! `tests/allowance.rs`, which takes their memory.

use cowboy_vm::NativeCost;
use std::fmt::Write as _;

/// Programs' own random numbers (xorshift64*), from a printed seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let mixed = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(mixed).expect("31 bits") % bound.max(1)
    }

    pub(crate) fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}

/// What arguments may be, `N` being a size.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "N",
    "2**62",
    "2**N if N < 4000 else 2**4000",
    "1.5",
    "1e308",
    "5e-324",
    "None",
    "True",
    "''",
    "'a'",
    "'ab'*N",
    "'é'*N",
    "'1'*N",
    "' '*N",
    "'a,'*N",
    "'\\n'*N",
    "b''",
    "b'a'*N",
    "b'1,'*N",
    "bytearray(b'ab'*N)",
    "[]",
    "list(range(N))",
    "['a']*N",
    "[1.5]*N",
    "[[i] for i in range(min(N, 2000))]",
    "tuple(range(N))",
    "('a','b')",
    "{i: i for i in range(min(N, 5000))}",
    "{str(i): i for i in range(min(N, 5000))}",
    "set(range(min(N, 5000)))",
    "range(N)",
    "iter([1]*N)",
    "(i for i in range(N))",
    "len",
    "str",
    "int",
    "abs",
    "object()",
    "(lambda *a: 0)",
    "'%s'*min(N, 500)",
    "'{}'*min(N, 500)",
    "'(a*)*b'",
    "'[1, 2.5, \"x\", {}]'",
    "'['*min(N, 90)+']'*min(N, 90)",
    "'big'",
    "'little'",
    "'utf-8'",
    "'<%dQ' % min(N, 500)",
    "slice(None, None, -1)",
    "slice(0, N)",
    "shared(min(N, 40))",
    "shared(8)",
    "ValueError('x')",
    "type",
];

/// A list that holds another one twice, which holds another one twice.
const SHARED: &str = "def shared(depth):\n    made = [1]\n    for level in range(depth):\n        made = [made, made]\n    return made\n";

/// Receivers by owner.
const RECEIVERS: &[(&str, &[&str])] = &[
    ("int", &["7", "2**62", "2**4000"]),
    ("bool", &["True"]),
    ("float", &["1.5", "1e308", "5e-324"]),
    ("complex", &["(1+2j)"]),
    ("str", &["'ab'*N", "'é'*N", "'1'*N", "'a,'*N", "' '*N", "'Ab\\n'*N", "'{}'*min(N, 500)"]),
    ("bytes", &["b'ab'*N", "b'1'*N", "b'a,'*N"]),
    ("bytearray", &["bytearray(b'ab'*N)", "bytearray(b'a,'*N)"]),
    ("list", &["shared(min(N, 40))", "list(range(N))", "['ab']*N", "[[1]]*N", "[1.5]*N"]),
    ("tuple", &["tuple(range(N))", "('ab',)*N"]),
    ("dict", &["{i: i for i in range(min(N, 5000))}", "{str(i): [i] for i in range(min(N, 5000))}"]),
    ("set", &["set(range(min(N, 5000)))"]),
    ("frozenset", &["frozenset(range(min(N, 5000)))"]),
    ("range", &["range(N)", "range(0, 10**18, 7)"]),
    ("slice", &["slice(1, N, 2)"]),
    ("object", &["object()"]),
    ("type", &["int", "type('T', (), {})"]),
    ("property", &["property(len)"]),
    ("generator", &["(i for i in range(N))"]),
    ("function", &["(lambda *a: 0)"]),
    ("super", &["super(int, 7)"]),
    ("BaseException", &["ValueError('x'*N)"]),
    ("NoneType", &["None"]),
    ("ellipsis", &["..."]),
    ("dict_keys", &["{i: i for i in range(min(N, 5000))}.keys()"]),
    ("dict_values", &["{i: i for i in range(min(N, 5000))}.values()"]),
    ("dict_items", &["{i: i for i in range(min(N, 5000))}.items()"]),
    ("memoryview", &["memoryview(bytearray(N))", "memoryview(bytes(N))[::2]"]),
];

/// A program that calls one native function again and again, and what to call it.
pub(crate) struct Call {
    pub(crate) program: String,
    pub(crate) shown: String,
    /// Cycles of one measurement: enough for a few calls.
    pub(crate) budget: u64,
}

/// A call of a row with arguments that are drawn.
pub(crate) fn call_program(row: &NativeCost, size: usize, random: &mut Random) -> Option<Call> {
    let (owner, short) = row.name.rsplit_once('.').unwrap_or(("", row.name));
    let most = if row.takes_more { row.positional + 3 } else { row.positional };
    let bound = RECEIVERS.iter().find(|(name, _)| *name == owner);
    let (mut import, mut receiver) = (String::new(), String::new());
    let callee = match (bound, owner) {
        (None, "") => short.to_owned(),
        (None, module) => {
            let top = module.split('.').next().unwrap_or_default();
            import = format!("import {top}\n");
            format!("{module}.{short}")
        }
        (Some((_, receivers)), _) => {
            if receivers.is_empty() {
                return None;
            }
            receiver = random.of(receivers).to_owned();
            format!("R.{short}")
        }
    };
    // A method's own row counts its receiver.
    let skipped = usize::from(bound.is_some() && row.is_method);
    let least = row.required.saturating_sub(skipped);
    let count = least + random.below(most.saturating_sub(skipped).saturating_sub(least) + 1);
    let arguments: Vec<&str> = (0..count).map(|_| random.of(VALUES)).collect();
    let names: Vec<String> = (0..count).map(|index| format!("A{index}")).collect();
    let is_fresh = !receiver.is_empty() && random.below(3) == 0;
    let mut program = format!("{SHARED}{import}N = {size}\n");
    if !receiver.is_empty() {
        writeln!(program, "R = {receiver}").expect("a string takes everything");
    }
    for (name, value) in names.iter().zip(&arguments) {
        writeln!(program, "{name} = {value}").expect("a string takes everything");
    }
    let call = if is_fresh { format!("R = {receiver}\nR.{short}({})", names.join(", ")) } else { format!("F({})", names.join(", ")) };
    let given = names.join(", ");
    writeln!(program, "F = {callee}\ntry:\n    F({given})\nexcept Exception:\n    pass").expect("a string takes everything");
    let program = endless("turn", &program, &tried(&call));
    let shown = if receiver.is_empty() {
        format!("{callee}({})", arguments.join(", "))
    } else {
        format!("({receiver}).{short}({})", arguments.join(", "))
    };
    let budget = if size > 1_000 { 1_000_000 } else { 150_000 };
    Some(Call { program, shown: format!("N={size}: {shown}{}", if is_fresh { ", fresh" } else { "" }), budget })
}

/// A program that does something over and over, counted by a variable: its setup ends with the host call that marks the beginning.
pub(crate) fn endless(variable: &str, setup: &str, body: &str) -> String {
    let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
    format!("import pvm_host\n{setup}\ndef run():\n    pvm_host.current_block()\n    for {variable} in range(1000000000):\n{body}run()\n")
}

/// Statements whose exceptions are dropped.
fn tried(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!("try:\n{body}except Exception:\n    pass\n")
}

/// A program that makes something of size `N`, and then does something with it over and over.
pub(crate) fn hostile_program(setup: &str, body: &str, size: usize) -> String {
    endless("turn", &format!("{SHARED}N = {size}\n{setup}"), &tried(body))
}

/// Programs whose work, or whose memory, is a product of what they are given, or hides behind what is small: a name, what is made, and
/// what is done with it.
pub(crate) const HOSTILE: &[(&str, &str, &str)] = &[
    ("format, one field again and again", "f='{0}'*N\nt='a'*N", "f.format(t)"),
    ("format, fields in turn", "f='{}'*(N//10)\nt=('a'*N,)*(N//10)", "f.format(*t)"),
    ("format by keywords", "k={'k%d'%i:i for i in range(min(N,2000))}\nf='{k1999}'*(N//20)", "f.format(**k)"),
    ("format with a width", "f='{:>%d}'%N*100", "f.format(*range(100))"),
    ("percent", "f='%s'*(N//10)\nt=('a'*N,)*(N//10)", "f % t"),
    ("percent with a width", "f='%999s'*(N//10)\nt=('a',)*(N//10)", "f % t"),
    ("percent of bytes", "f=b'%s'*(N//100)\nt=(b'a'*N,)*(N//100)", "f % t"),
    ("an f-string of one text again and again", "t='a'*N", "f'{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}{t}'"),
    ("print with a separator", "t='a'*N", "print(*range(N//10), sep=t)"),
    ("print of one text again and again", "t=['a'*N]*1000", "print(*t)"),
    ("join with a separator", "t='a'*N\np=['']*(N//8)", "t.join(p)"),
    ("join of one text", "t=['a'*N]*(N//8)", "''.join(t)"),
    ("join of bytes", "t=b'a'*N\np=[b'']*(N//8)", "t.join(p)"),
    ("split", "t='a,'*(N*3)", "t.split(',')"),
    ("split at blanks", "t='a '*(N*3)", "t.split()"),
    ("split from the right", "t='a,'*(N*3)", "t.rsplit(',')"),
    ("split from the right at blanks", "t='a '*(N*3)", "t.rsplit()"),
    ("split of text beyond ASCII", "t='\u{5b57},'*N", "t.split(',')"),
    ("lines", "t='\\n'*(N*6)", "t.splitlines()"),
    ("lines with their ends", "t='\\n'*(N*6)", "t.splitlines(True)"),
    ("split of bytes", "t=b'a,'*(N*3)", "t.split(b',')"),
    ("split of bytes at blanks", "t=b'a '*(N*3)", "t.split()"),
    ("split of bytes from the right", "t=b'a,'*(N*3)", "t.rsplit(b',')"),
    ("lines of bytes", "t=b'\\n'*(N*6)", "t.splitlines()"),
    ("replace with more", "t='a'*N\nu='b'*1000", "t.replace('a',u)"),
    ("replace nothing with more", "t='a'*N\nu='b'*1000", "t.replace('',u)"),
    ("replace in bytes", "t=b'a'*N\nu=b'b'*1000", "t.replace(b'a',u)"),
    ("replace nothing in bytes", "t=b'a'*N\nu=b'b'*1000", "t.replace(b'',u)"),
    ("tabs", "t='\\t'*N", "t.expandtabs(1000)\nt.expandtabs()"),
    ("tabs of bytes", "t=b'\\t'*N", "t.expandtabs(1000)\nt.expandtabs()"),
    ("translate into more", "t='a'*N\nm={97:'b'*1000}", "t.translate(m)"),
    ("repr of what does not print", "t='\\0'*(N*5)", "repr(t)"),
    ("repr of characters that do not print", "t='\\U000e0001'*N", "repr(t)"),
    ("repr of bytes", "t=b'\\0'*(N*5)", "repr(t)"),
    ("repr of one list again and again", "l=[0]*100\nfor i in range(6): l=[l]*20", "repr(l)"),
    ("repr of one text again and again", "l=['a'*N]*(N//10)", "repr(l)"),
    ("ascii", "t='\u{5b57}'*(N*2)", "ascii(t)"),
    ("json of one list again and again", "import json\nl=[0]*100\nfor i in range(6): l=[l]*20", "json.dumps(l)"),
    ("json with a long indent", "import json\nl=[1]*(N//10)\nd=' '*N", "json.dumps(l,indent=d)"),
    ("json with long separators", "import json\nl=[1]*(N//10)\nd=','*N", "json.dumps(l,separators=(d,d))"),
    ("json with a deep indent", "import json\nl=[]\nfor i in range(200): l=[l]*2 if i<12 else [l]", "json.dumps(l,indent='ab'*500)"),
    ("json of what is escaped", "import json\nt='\\1'*(N*5)", "json.dumps(t)"),
    ("json of characters", "import json\nt='\u{1f600}'*N", "json.dumps(t)"),
    ("json of keys", "import json\nd={'\\1'*N:1}", "json.dumps([d]*1000)"),
    ("json read", "import json\nt='['+'\"a\",'*(N//2)+'1]'", "json.loads(t)"),
    ("json read, small integers", "import json\nt='['+'1,'*(N*2)+'1]'", "json.loads(t)"),
    ("encode with references", "t='\u{5b57}'*(N*2)", "t.encode('ascii','xmlcharrefreplace')\nt.encode('ascii','backslashreplace')"),
    ("encode what is there", "t='a'*(N*9)", "t.encode('ascii','replace')\nt.encode('latin-1')"),
    ("encode wide", "t='a'*(N*2)", "t.encode('utf-32')"),
    ("encode, every other character", "t='a\u{5b57}'*N", "t.encode('ascii','ignore')\nt.encode('latin-1','replace')"),
    ("decode with escapes", "t=b'\\xff'*(N*2)", "t.decode('ascii','backslashreplace')\nt.decode('utf-8','backslashreplace')"),
    ("decode with replacements", "t=b'\\xff'*(N*4)", "t.decode('ascii','replace')\nt.decode('utf-8','replace')"),
    ("a table that was emptied, copied", "d=dict.fromkeys(range(N//8))\nfor k in range(N//8-10): d.pop(k)", "d.copy()\ndict(d)\n{**d}"),
    (
        "a table that was emptied from its end, copied",
        "d=dict.fromkeys(range(N//8))\nfor k in range(N//8-10): d.popitem()",
        "d.copy()\nd|d",
    ),
    ("a set that was emptied, copied", "d=set(range(N//8))\nfor k in range(N//8-10): d.discard(k)", "d.copy()\nset(d)\nd|d\nfrozenset(d)"),
    ("a table that is filled and emptied", "d=dict.fromkeys(range(N//8))\nfor k in range(N//8): d.pop(k)", "d[1]=1\nd.pop(1)\nd.copy()"),
    (
        "a subclass of dict that was emptied, compared",
        "class D(dict): pass\nd=D.fromkeys(range(N//16))\nfor k in range(N//16-10): d.pop(k)",
        "d==d\nd|d",
    ),
    ("a subclass of text", "class S(str): pass\ns=S('a'*N)", "s=='b'\n'b' in s\ns<'b'"),
    ("a subclass of list", "class L(list): pass\ns=L([0]*(N//2))", "s==[1]\n1 in s\nlen(s)"),
    ("a set of text", "t='\u{5b57}'*N", "set(t)\nfrozenset(t)"),
    ("a list of text", "t='\u{5b57}'*N", "list(t)"),
    ("a dict of text", "t=''.join(chr(0x4e00+i) for i in range(min(N,20000)))", "dict.fromkeys(t)"),
    ("a slice far into text", "t='\u{e9}'*(N*2)\nn=len(t)-10", "t[n:n+3]\nt[n]\nt[N]\nt[N:N+3]"),
    ("a slice by steps", "t='\u{e9}'*(N*2)\nn=len(t)-10", "t[5:n:n-9]\nt[n:5:9-n]"),
    ("an iterator of text", "t='\u{5b57}'*(N*2)", "i=iter(t)\nfor j in range(1000): next(i)"),
    ("places in text", "t='\u{e9}'*(N*2)", "t.find('x',N)\nt.index('\u{e9}',N)\nt.count('\u{e9}',N,N+9)\nt.startswith('x',N)"),
    ("strip by a long set", "t='x'*N\nu='\u{e9}'*N+'x'", "t.strip(u)"),
    ("strip of bytes by a long set", "t=b'x'*N\nu=bytes(range(256))*9", "t.strip(u)\nt.translate(None,u)"),
    ("round to many places", "n=(1<<3500)-3", "round(n,-512)\nround(n,-4000)\nround(5,-4000)"),
    ("power by a modulus", "n=(1<<3500)-3", "pow(3,n,1000007)\npow(3,n,n)\npow(3,n,(1<<64)+1)"),
    ("integers just above 64 bits", "x=3", "x=(x*6364136223846793005+1442695040888963407)&0xFFFFFFFFFFFFFFFF"),
    ("integers of 4,000 bits", "x=(1<<4000)-1\ny=(1<<2000)-1", "x+y\nx//y\nx%y\ny*y\nx&y\nx>>9\nstr(x)\nint(str(y))\nhash(x)\n-x\nx<y"),
    ("unions of types", "c=[type('T%d'%i,(),{}) for i in range(100)]\nu=int\nfor t in c: u=u|t\nv=u", "u==v\nu|int\nhash(u)\nrepr(u)"),
    (
        "unions of types in another order",
        "c=[type('T%d'%i,(),{}) for i in range(100)]\nu=int\nv=str\nfor t in c: u=u|t; v=t|v",
        "u==v\nisinstance(1,u)",
    ),
    ("a bytearray that shrinks", "", "b=bytearray(N*9)\nc=[]\nfor i in range(30):\n    d=bytearray(N*5)\n    del d[10:]\n    c.append(d)"),
    (
        "bytearrays that shrink by one",
        "",
        "c=[]\nfor i in range(30):\n    d=bytearray(1000)\n    while len(d)>100: d.pop()\n    c.append(d)",
    ),
    ("lists that shrink", "", "c=[]\nfor i in range(30):\n    d=[0]*(N//2)\n    del d[10:]\n    c.append(d)"),
    ("lists that shrink by one", "", "c=[]\nfor i in range(30):\n    d=[0]*(N//10)\n    while len(d)>10: d.pop()\n    c.append(d)"),
    (
        "dicts that shrink",
        "",
        "c=[]\nfor i in range(30):\n    d=dict.fromkeys(range(N//20))\n    while len(d)>10: d.popitem()\n    c.append(d)",
    ),
    (
        "deques that shrink",
        "from collections import deque",
        "c=[]\nfor i in range(30):\n    d=deque(range(N//10))\n    while len(d)>10: d.pop()\n    c.append(d)",
    ),
    ("pattern: split", "import re\np=re.compile(',')\nt='a,'*(N*3)", "p.split(t)"),
    ("pattern: find all", "import re\np=re.compile('a')\nt='a'*(N*5)", "p.findall(t)"),
    ("pattern: find all beyond ASCII", "import re\np=re.compile('[\u{5b57}-\u{5b58}]')\nt='\u{5b57}'*N", "p.findall(t)"),
    ("pattern: iterate", "import re\np=re.compile('a')\nt='a'*(N*5)", "list(p.finditer(t))"),
    ("pattern: substitute by more", "import re\np=re.compile('a')\nt='a'*N\nu='b'*1000", "p.sub(u,t)"),
    ("pattern: cases of Greek", "import re\np=re.compile('[\u{3b1}-\u{3c9}]+',re.I)\nt='\u{391}\u{3b2}'*N", "p.match(t)\np.findall(t)"),
    ("pattern: a letter of either case", "import re\np=re.compile('\u{3c9}',re.I)\nt='\u{391}\u{3b2}'*N", "p.search(t)"),
    ("pattern: words", "import re\np=re.compile(r'\\w+|\\s')\nt='\u{5b57} '*N", "p.findall(t)"),
    ("pattern: many groups", "import re\np=re.compile('[xz]'+'(y)?'*90+'w')\nt='x'*N", "p.search(t)"),
    ("pattern: quoted", "import re\nt='.'*N", "re.escape(t)"),
    ("hashes", "import hashlib\nt=b'a'*N", "hashlib.sha3_512(t).digest()\nhashlib.sha256(t).digest()\nhashlib.blake2b(t).digest()"),
    ("hashes copied", "import hashlib\nh=hashlib.sha256(b'a'*(N*5))", "h.copy()"),
    ("hashes without end", "import hashlib\nh=hashlib.shake_128(b'a')", "h.hexdigest(N*4)"),
    ("numbers as text", "", "bin(1<<4000)\nhex(1<<4000)\nf'{1<<4000:,}'\nint('9'*1200)"),
    ("a table from bytes", "import struct\nt=bytes(N*4)\nf='%dB'%(N*4)", "struct.unpack(f,t)\nlist(struct.iter_unpack('B',t))"),
    ("bytes in hex", "t=b'a'*(N*4)", "t.hex()\nt.hex(':')\nbytes.fromhex(t.hex())"),
    ("zip of many", "l=[range(N)]*100", "list(zip(*l))"),
    ("sorted", "l=list(range(N))", "sorted(l)\nsorted(l,reverse=True)\nl.sort()\nsorted(l,key=str)"),
    (
        "an enumeration of flags",
        "from enum import Flag, Enum, auto",
        "Flag('F',['A%d'%i for i in range(200)])\nEnum('E',['A%d'%i for i in range(200)])",
    ),
    ("a named tuple of many", "from collections import namedtuple", "namedtuple('P',['a%d'%i for i in range(200)])"),
    ("a dataclass", "from dataclasses import make_dataclass", "make_dataclass('D',['a%d'%i for i in range(50)])"),
    (
        "a default dict",
        "from collections import defaultdict",
        "d=defaultdict(list)\nfor i in range(300): d[i].append(1)\ndefaultdict(list,d)\nd.copy()",
    ),
    (
        "groups of exceptions",
        "g=ExceptionGroup('x',[ValueError(i) for i in range(100)]+[TypeError(i) for i in range(100)])",
        "try: raise g\nexcept* ValueError: pass\nexcept* TypeError: pass",
    ),
    ("counters", "from collections import Counter\nt='ab'*N", "Counter(t)\nCounter(t).most_common(1)"),
    ("decimals", "from decimal import Decimal\nd=Decimal('1.'+'3'*27)", "d*d\nd/d\nstr(d)\nd.quantize(Decimal('1.00'))\nd**3"),
    (
        "permutations",
        "import itertools",
        "list(itertools.islice(itertools.permutations(range(100)),N//100))\nlist(itertools.combinations(range(20),10))",
    ),
    ("the name of a class", "C=type('a'*N,(),{})", "C.__name__\nC.__qualname__"),
    ("the name of a class in messages", "C=type('a'*N,(),{})\no=C()", "o.x\no+1\no()\ngetattr(o,'y',0)\nhasattr(o,'y')"),
    ("the name of a class shown", "C=type('a'*N,(),{})\no=C()", "repr(o)\nobject.__repr__(o)"),
    ("the name of a function in messages", "def f(): pass\nf.__qualname__='a'*N", "f(1)\nrepr(f)\nf(x=1)"),
    ("a syntax error of many details", "t=[0]*N", "SyntaxError('a',t)"),
    ("defaults that are many", "def f(a): pass\nt=(0,)*(N//2)\nf.__defaults__=t", "f.__defaults__\nf.__defaults__=t\nf()"),
    ("defaults of keywords", "def f(*,a=1): pass\nd={'k%d'%i:i for i in range(min(N,5000))}", "f.__kwdefaults__=d\nf.__kwdefaults__\nf()"),
    ("a group of exceptions", "g=ExceptionGroup('a'*N,[ValueError()]*(N//2))", "str(g)\ng.exceptions\ng.message"),
    (
        "a read-only view of a class",
        "class C: pass\nfor i in range(min(N,3000)): setattr(C,'a%d'%i,i)\np=C.__dict__",
        "p.get('x')\np.keys()\nlen(p)\niter(p)\np.items()",
    ),
    ("a digest without its length", "import hashlib\nh=hashlib.shake_128(b'a'*(N*4))", "h.digest()\nh.digest('x')\nh.digest(-1)"),
    (
        "JSON that ends soon",
        "import json\nd={'k%d'%i:i for i in range(min(N,5000))}\nd={'a':float('nan'),**d}",
        "json.dumps(d,allow_nan=False)",
    ),
    ("a dict whose repr is Python's", "class C:\n    def __repr__(self): raise ValueError\nd=[C()]*(N//2)", "repr(d)"),
    ("a text that begins with one of many", "t=('b',)*(N//2)", "'abc'.startswith(t)\nb'abc'.endswith((b'x',)*1000)"),
];
