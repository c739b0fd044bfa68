//! Calls handlers of an actor against a host that is a map: `cargo run -p cowboy-vm --example handler FILE.py METHOD [HEX]...`.

#![allow(clippy::disallowed_methods, reason = "an example reads its arguments and a file")]

mod host;

use cowboy_vm::{Entry, Exit, HostCall, HostError, HostFn, HostValue, Limits, Vm, build_image, compile};
use std::collections::BTreeMap;
use std::io::Write as _;

fn answer(state: &mut BTreeMap<Vec<u8>, Vec<u8>>, call: &HostCall) -> Result<HostValue, HostError> {
    let bytes = |index: usize| match call.args.get(index) {
        Some(HostValue::Str(text)) => text.clone().into_bytes(),
        Some(HostValue::Bytes(bytes)) => bytes.clone(),
        _ => Vec::new(),
    };
    Ok(match call.function {
        HostFn::GetState => state.get(&bytes(0)).map_or(HostValue::None, |value| HostValue::Bytes(value.clone())),
        HostFn::SetState | HostFn::SetReservedState => {
            state.insert(bytes(0), bytes(1));
            HostValue::None
        }
        HostFn::DeleteState | HostFn::DeleteReservedState => {
            state.remove(&bytes(0));
            HostValue::None
        }
        _ => return host::answer(call),
    })
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("a file name");
    let source = std::fs::read_to_string(&path).expect("a readable file");
    let unit = compile(&source, &path).expect("a source that compiles");
    let (image, usage) = build_image(&unit, Limits::default()).expect("a module body that runs");
    let mut out = std::io::stdout();
    writeln!(out, "image: {usage:?}, {} bytes", image.footprint()).expect("stdout is open");
    let mut state = BTreeMap::new();
    while let Some(method) = arguments.next() {
        let payload = arguments.next().unwrap_or_default();
        let mut vm = Vm::start(image.clone(), Entry::Handler { method: method.clone(), payload: payload.into_bytes() }, Limits::default());
        let mut exit = vm.run();
        while let Exit::HostCall(call) = &exit {
            let answer = answer(&mut state, call);
            writeln!(out, "  {call:?} -> {answer:?}").expect("stdout is open");
            exit = vm.resume(answer);
        }
        writeln!(out, "{method}: {exit:?} {:?}", vm.usage()).expect("stdout is open");
    }
}
