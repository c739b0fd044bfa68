//! Canonical CBOR inside the VM: charged before it is written, and never recursive.

use cowboy_vm::{Entry, Exit, Limits, Trap, Usage, Vm, compile, script_image};

fn run(source: &str, limits: Limits) -> (Exit, String, Usage) {
    let unit = compile(source, "program.py").expect("valid source");
    let mut vm = Vm::start(script_image(&unit), Entry::Script, limits);
    let exit = vm.run();
    (exit, vm.take_output(), vm.usage())
}

/// A list that stands in many places is written many times: cycles and memory end that, not the computer.
#[test]
fn an_encoding_is_charged_as_it_grows() {
    let source = "import pvm_host\nx = [[[1] * 1000] * 1000] * 1000\npvm_host.cbor_encode(x)\n";
    let (exit, _, usage) = run(source, Limits { cycles: 1_000_000, ..Limits::default() });
    assert!(matches!(exit, Exit::Trap(Trap::OutOfCycles)), "{exit:?}");
    assert!(usage.peak_memory < 3 << 20, "{usage:?}: not much more than the bytes that the cycles paid for");
    let (exit, _, usage) = run(source, Limits { cycles: 1 << 30, ..Limits::default() });
    assert!(matches!(exit, Exit::Trap(Trap::OutOfMemory)), "{exit:?}");
    assert!(usage.cycles > 5_000_000, "{usage:?}: at least a cycle a byte");
}

/// Reading makes objects that take more than their bytes: the limit of memory holds on the way.
#[test]
fn a_decoding_is_charged_as_it_grows() {
    let source = "import pvm_host\ndata = b'\\x9a\\x00\\x0f\\x00\\x00' + b'\\x80' * 0xf0000\npvm_host.cbor_decode(data)\n";
    let (exit, _, usage) = run(source, Limits { cycles: 1 << 30, ..Limits::default() });
    assert!(matches!(exit, Exit::Trap(Trap::OutOfMemory)), "{exit:?} {usage:?}");
}

/// What has no encoding, and bytes that have no meaning, are refused in words, however deep they are.
#[test]
fn refusals_have_words_and_no_depth() {
    let source = "\
import pvm_host
x = y = 1
for _ in range(3000):
    x = [x]
    y = {'k': y}
for value in (x, y, {1}, frozenset(), ..., {(1, 2): 3}, [{'a': {1: object}}]):
    try:
        print(pvm_host.cbor_encode(value))
    except pvm_host.HostError as error:
        print(error.code, error.name, error)
for data in (b'\\x81' * 3000, b'\\xa1\\x00' * 3000, b'\\xa2\\x01\\xf6\\xf5\\xf6', b'\\xfb\\x80' + bytes(7), b'', 'text'):
    try:
        print(pvm_host.cbor_decode(data))
    except pvm_host.HostError as error:
        print(error.code, error.name, error)
";
    let (exit, output, _) = run(source, Limits::default());
    assert!(matches!(exit, Exit::Return(_)), "{exit:?}\n{output}");
    let expected = "\
2 invalid_input CBOR: nesting exceeds 256 levels
2 invalid_input CBOR: nesting exceeds 256 levels
2 invalid_input Cannot CBOR-encode type set: the value must be None, bool, int, finite float, bytes, str, list, tuple or dict
2 invalid_input Cannot CBOR-encode type frozenset: the value must be None, bool, int, finite float, bytes, str, list, tuple or dict
2 invalid_input Cannot CBOR-encode type ellipsis: the value must be None, bool, int, finite float, bytes, str, list, tuple or dict
2 invalid_input CBOR map key of type 'tuple' is unhashable once frozen to 'list'
2 invalid_input Cannot CBOR-encode type type: the value at [0]['a'][1] must be None, bool, int, finite float, bytes, str, list, tuple or dict
2 invalid_input CBOR: nesting exceeds 256 levels
2 invalid_input CBOR: nesting exceeds 256 levels
2 invalid_input CBOR: duplicate decoded map key
0.0
2 invalid_input Empty CBOR data
2 invalid_input CBOR data must be a bytes-like object, got 'str'
";
    assert_eq!(output, expected);
}
