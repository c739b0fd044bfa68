//! Programs written to be expensive for their price: long searches, tables with gaps, keys of one hash, deep classes, caches made void.

use crate::calls::endless;
use crate::measure::{Bench, Figure};
use cowboy_vm::compile;

/// Cycles of one measurement.
const BUDGET: u64 = 2_000_000;

/// What each is about, what is made beforehand, and what runs over and over, `i` being the turn.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("set.pop until it is empty", "big=list(range(60000))", "s=set(big)\nwhile s: s.pop()"),
    ("dict.popitem until it is empty", "big=list(range(60000))", "s=dict.fromkeys(big)\nwhile s: s.popitem()"),
    ("a dict as queue", "big=list(range(60000))", "s=dict.fromkeys(big)\nwhile s: del s[next(iter(s))]"),
    (
        "an OrderedDict as queue",
        "from collections import OrderedDict\nbig=list(range(6000))",
        "s=OrderedDict.fromkeys(big)\nwhile s: s.popitem(last=False)",
    ),
    ("a list as queue", "big=list(range(60000))", "s=list(big)\nwhile s: s.pop(0)"),
    ("a list that grows at its front", "", "s=[]\nfor j in range(60000): s.insert(0,j)"),
    (
        "a deque changed in its middle",
        "from collections import deque\nq=deque(range(60000))",
        "q[30000]\nq.rotate(1)\nq.insert(30000,1)\nq.pop()",
    ),
    (
        "a dict whose first entries are gone",
        "big=list(range(60000))",
        "s=dict.fromkeys(big)\nfor k in big[:-1]: del s[k]\nfor j in range(3000):\n  for k in s: break",
    ),
    ("the same as a list", "big=list(range(60000))", "s=dict.fromkeys(big)\nfor k in big[:-1]: del s[k]\nfor j in range(3000): list(s)"),
    ("integers of one hash as keys", "ks=[(2**61-1)*i for i in range(1,3000)]", "d={}\nfor k in ks: d[k]=1"),
    ("long integers read and written", "t='9'*1200", "int(t)\nstr(10**1200)"),
    ("power of long integers by a modulus", "", "pow(3,2**2000,2**2000-1)"),
    ("deep JSON", "import json\nt='['*900+']'*900", "try: json.loads(t)\nexcept Exception: pass"),
    ("a pattern that backtracks", "import re\np=re.compile('(a|a)*b')\nt='a'*25", "p.match(t)"),
    ("a pattern compiled", "import re\nt='x'*300", "re.compile('a{1,50}b{1,50}(?:c|d){2,9}')\nre.purge() if hasattr(re,'purge') else 0"),
    ("wide formats", "", "'%5000d' % 1\nf'{1:>9000}'\n'{:,}'.format(10**900)"),
    ("decimals", "from decimal import Decimal\na=Decimal('1.'+'3'*25)", "a*a/a\na.sqrt()\na.ln()\na**a"),
    ("a long struct", "import struct\nf='<'+'1Q'*300\nv=list(range(300))", "struct.pack(f,*v)"),
    ("sorted tuples", "w=[('a'*60+str(i),i) for i in range(3000)]", "sorted(w)\nsorted(w,reverse=True)"),
    (
        "an exception through many calls",
        "class A(Exception): pass\ndef f(n):\n  if n: return f(n-1)\n  raise A",
        "try: f(200)\nexcept A: pass",
    ),
    (
        "exceptions in a chain",
        "def f(n):\n  try:\n    raise ValueError\n  except ValueError:\n    if n: f(n-1)\n    raise KeyError",
        "try: f(60)\nexcept KeyError: pass",
    ),
    ("generators in generators", "def g(n):\n  if n: yield from g(n-1)\n  yield 1", "for x in g(100): pass"),
    ("deep lists compared and shown", "a=[]\nb=[]\nfor i in range(150): a=[a]; b=[b]", "a==b\nrepr(a)\na<b"),
    ("many keywords", "def f(**k): pass\nd={'k%d'%i:i for i in range(200)}", "f(**d)"),
    ("keywords out of order", "def f(a=1,b=2,c=3,d=4,e=5,g=6,h=7,i=8): pass", "f(h=1,g=2,e=3,d=4)"),
    ("a class with slots", "", "class S: __slots__=('a','b','c','d','e')\nS()"),
    ("a class by type()", "class B: pass", "type('X',(B,),{})"),
    ("a class of many attributes", "ns={'a%d'%i:i for i in range(500)}", "type('X',(),ns)"),
    ("an instance of many attributes", "class B: pass", "b=B()\nfor i in range(300): setattr(b,'n%d'%i,i)"),
    ("attributes of a module", "import math", "math.pi\nmath.sqrt\nmath.e"),
    ("properties", "class P:\n  @property\n  def x(self): return 1\np=P()", "p.x\np.x\np.x"),
    ("floats in an f-string", "x=1.1", "f'{x}{x}{x}{x!r}{x:.3f}{x:e}'"),
    ("long floats read", "", "float('1.'+'7'*400+'e-300')\nfloat('0.1234567890123456789012345678901234567890e-310')"),
    ("text beyond ASCII in other cases", "t='é'*3000+'ß'", "t.upper()\nt.lower()\nt.casefold()\nt.title()\nt.encode('utf-16')"),
    ("text translated", "t='abc'*1000\nm={97:'xyz',98:None}", "t.translate(m)"),
    ("itertools", "import itertools", "list(itertools.permutations(range(6)))\nlist(itertools.product(range(5),repeat=4))"),
    ("named tuples", "from collections import namedtuple\nP=namedtuple('P','a b c')", "p=P(1,2,3)\np.a\np._replace(a=2)\np==p"),
    ("a class of named tuples", "from collections import namedtuple", "namedtuple('P','a b c')"),
    ("a dataclass", "from dataclasses import dataclass,field", "@dataclass\nclass D:\n  a:int\n  b:int=1"),
    ("an enumeration", "from enum import Enum", "class E(Enum):\n  A=1\n  B=2\n  C=3"),
    (
        "typing",
        "import typing\nfrom typing import List,Dict,Optional,Generic,TypeVar",
        "List[int]\nDict[str,int]\nOptional[int]\nTypeVar('T')",
    ),
    ("views", "b=bytearray(6000)\nm=memoryview(b)", "m[1:5000:3].tobytes()\nm.cast('H').tolist()\nm[5]\nm[5]=1\nbytes(m)"),
    (
        "a dict whose middle entries are gone",
        "d=dict.fromkeys(range(20000))\nfor k in range(1,15000): del d[k]",
        "it=iter(d)\nnext(it)\nnext(it)",
    ),
    (
        "the same backward",
        "d=dict.fromkeys(range(20000))\nfor k in range(1,15000): del d[k]",
        "for k in reversed(d): break\nlist(d.items())",
    ),
    ("integers of one hash in sets", "ks=[(2**61-1)*i for i in range(1,3000)]", "s=set(ks)\nt=s|s\nt&s"),
    (
        "a key behind many of its hash",
        "ks=[(2**61-1)*i for i in range(1,3000)]\nd=dict.fromkeys(ks)",
        "k=ks[-1]\nd[k]\nd[k]=1\nk in d\nd.get(k)\ndel d[k]\nd[k]=2",
    ),
    ("tuples of one hash as keys", "ks=[(((2**61-1)*i),) for i in range(1,2000)]", "d=dict.fromkeys(ks)"),
    ("floats of near hashes as keys", "ks=[float(2**61*i) for i in range(1,2000)]", "d=dict.fromkeys(ks)"),
    ("multiples of 2**40 as keys", "ks=[i<<40 for i in range(1,20000)]", "d=dict.fromkeys(ks)"),
    ("multiples of 2**32 as keys", "ks=[i<<32 for i in range(1,20000)]", "d={}\nfor k in ks: d[k]=k\nfor k in ks: d[k]"),
    (
        "keys that compare in Python",
        "class K:\n  def __init__(s,i): s.i=i\n  def __hash__(s): return 7\n  def __eq__(s,o): return s is o\nks=[K(i) for i in range(150)]",
        "d={}\nfor k in ks: d[k]=1",
    ),
    ("instances as keys", "class K: pass\nks=[K() for i in range(3000)]", "d={}\nfor k in ks: d[k]=1"),
    ("frozensets as keys", "ks=[frozenset([i]) for i in range(300)]", "d={}\nfor k in ks: d[k]=1"),
    (
        "an instance with a dict of its own",
        "class B: pass\nb=B()\nfor i in range(3000): b.__dict__[(2**61-1)*i if 0 else 'k%d'%i]=1",
        "b.k1\nb.k2999\nb.k5=3",
    ),
    ("long keywords", "def f(**k): pass\nd={'a'*6000+str(i):i for i in range(100)}", "f(**d)"),
    (
        "long names of attributes",
        "class B: pass\nb=B()\nns=['a'*30000+str(i) for i in range(60)]\nfor n in ns: setattr(b,n,1)",
        "for n in ns: getattr(b,''.join([n]))",
    ),
    (
        "sorted instances",
        "class K:\n  def __init__(s,i): s.i=i\n  def __lt__(s,o): return s.i<o.i\nks=[K(-i) for i in range(300)]",
        "sorted(ks)",
    ),
    ("texts joined", "p=['a']*3000", "''.join(p)\n','.join(p)\n'x'.join('abc'*500)"),
    ("text split", "t='a,b,'*2000", "t.split(',')\nt.rsplit(',')\nt.partition(',')\nt.replace(',','')"),
    ("bytes joined", "p=[b'a']*3000", "b''.join(p)\nbytes(range(200))\nbytearray(b'a')*500"),
    ("long lists", "L=list(range(3000))", "L[:]\nL+L\nL*2\nL.copy()\nlist(L)\ntuple(L)\nL[::-1]\nL.reverse()\nL==L[:]"),
    ("comprehensions", "L=list(range(300))", "[x for x in L if x]\n{x for x in L}\n{x:x for x in L}\nsum(x for x in L)"),
    ("unpacking", "t=tuple(range(8))", "a,b,c,d,e,f,g,h=t\n*a,b=t\n[*t,*t]\n{**{}}"),
    ("patterns", "", "match (1,[2,3],{'a':4}):\n  case (1,[2,*x],{'a':y,**z}): pass"),
    (
        "coroutines",
        "async def f(): return 1\nasync def g():\n  for i in range(20): await f()",
        "c=g()\ntry: c.send(None)\nexcept StopIteration: pass",
    ),
    (
        "exception groups",
        "",
        "try: raise ExceptionGroup('x',[ValueError(1),TypeError(2)])\nexcept* ValueError: pass\nexcept* TypeError: pass",
    ),
    ("with", "class M:\n  def __enter__(s): return s\n  def __exit__(s,*a): return True", "with M(): raise ValueError"),
    (
        "super",
        "class A:\n  def f(s): return 1\nclass B(A):\n  def f(s): return super().f()\nclass C(B):\n  def f(s): return super().f()\nc=C()",
        "c.f()\nc.f()",
    ),
    (
        "short texts",
        "t='abcdef'*10",
        "t[1:5]\nt.find('f')\nt.upper()\nt.strip()\nt+'a'\nt*3\nt in t\nt==t+''\nt.encode()\nt.title()\nt.isalpha()",
    ),
    (
        "integers beyond 64 bits",
        "a=10**30\nb=10**20",
        "a+b\na*b\na//b\na%b\n-a\na<b\nhash(a)\nstr(a)\nint('1'*30)\na&b\na>>3\nabs(a)\na.bit_length()",
    ),
    (
        "numbers rounded",
        "",
        "round(1.5)\nround(2.675,2)\nint(3.7)\nfloat(3)\nabs(-1.5)\ndivmod(7,2)\nmax(1,2)\nmin(1,2,3)\n(1.5).is_integer()",
    ),
    ("the last key of a table that was large", "d=dict.fromkeys(range(100000))\nfor k in range(100000): del d[k]", "d[1]=1\ndel d[1]"),
    ("many small lists", "", "a=[[] for j in range(1000)]\ndel a"),
    (
        "attributes of a class with many ancestors, many names",
        "C = type('A0', (), {'a': 1})\nfor i in range(28): C = type('A%d' % i, (C,), {'x%d' % i: 1})\no = C()\nnames=['n%d' % i for i in range(600)]\nfor n in names: setattr(C, n, 1)",
        "for n in names: getattr(o, n)",
    ),
    ("an attribute of a class set between look-ups", "class P:\n  a=1\n  def m(self): pass\no=P()\no.v=1", "P.q = i\no.a\no.v\no.m()\no.v"),
    (
        "the same with many ancestors",
        "C = type('A0', (), {'a': 1})\nfor i in range(28): C = type('A%d' % i, (C,), {'x%d' % i: 1})\no = C()\no.v=1",
        "C.q = i\no.a\no.v\no.a\no.v",
    ),
    (
        "isinstance of a class with many ancestors",
        "C = type('A0', (), {'a': 1})\nfor i in range(28): C = type('A%d' % i, (C,), {'x%d' % i: 1})\no = C()\nA=C.__mro__[-2]",
        "isinstance(o, A)",
    ),
    ("isinstance of a long tuple", "t=tuple([int]*5000)", "isinstance('', t)"),
    ("hash of a large frozenset", "f=frozenset(range(5000))", "hash(f)"),
    ("view indexed by a long tuple", "v=memoryview(bytearray(9))\nt=tuple(range(5000))", "try: v[t]\nexcept TypeError: pass"),
    ("bytearray without its first byte", "b=bytearray(120000)", "del b[0]\nb.append(1)"),
];

/// What they cost.
pub(crate) fn written(bench: &mut Bench, only: &str, rounds: usize) -> Vec<Figure> {
    let figure = |&(name, setup, body): &(&str, &str, &str)| {
        let whole = endless("i", setup, body);
        let unit = compile(&whole, "program.py").inspect_err(|error| eprintln!("{name}: {error}")).ok()?;
        let Some(cost) = bench.measure(&unit, &whole, BUDGET, rounds) else {
            eprintln!("{name}: nothing was measured");
            return None;
        };
        Some(Figure { name: name.to_owned(), program: body.replace('\n', " ⏎ "), whole, cost })
    };
    PROGRAMS.iter().filter(|(name, _, _)| name.contains(only)).filter_map(figure).collect()
}
