//! Processor time of a program in this VM, start-up and compilation excluded: `time FILE.py MILLISECONDS [FOLDER]` runs it again and again
//! for that long and prints one JSON object: nanoseconds a run, cycles, weight, peak memory and output. It may import the modules in the
//! folder. An object with `refused` says why a program does not compile, or how it ended. Without a file: the VM's own figures, which are
//! the start of an empty handler, its whole run with the SDK's dispatch, compilation, and dispatch.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a bench reads files and the clock, and prints"
)]

mod host;

use cowboy_vm::{
    Entry, Exit, HostCall, HostError, HostFn, HostValue, Library, LibraryModule, Limits, Rules, Usage, Vm, build_image, compile,
    script_image,
};
use std::time::{Duration, Instant};

const LIMITS: Limits =
    Limits { cycles: 1 << 40, cells: 1 << 20, memory_bytes: 1 << 30, recursion: 256, weight_ns: 1 << 50, rules: Rules::GENESIS };

/// Nanoseconds that this process has been running on a processor, to a tick.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux counts the time of processes");
    text.split(' ').next().and_then(|field| field.parse().ok()).expect("the first field is a number")
}

/// Nanoseconds of processor time a turn of `work`, over one turn and at least `least`.
fn measure(least: Duration, mut work: impl FnMut()) -> f64 {
    let (begin, start) = (Instant::now(), processor_time());
    let mut turns = 0.0;
    while turns == 0.0 || begin.elapsed() < least {
        work();
        turns += 1.0;
    }
    (processor_time() - start) / turns
}

/// The modules in a folder, by name.
fn modules(folder: &str) -> Library {
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a readable folder").map(|entry| entry.expect("a readable entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "py"));
    files.sort();
    let modules: Vec<_> = files
        .iter()
        .map(|file| LibraryModule {
            path: file.file_stem().expect("a file").to_string_lossy().into_owned(),
            source: std::fs::read_to_string(file).expect("a readable module"),
            package: false,
            trusted: false,
        })
        .collect();
    Library::default().with(&modules, LIMITS).expect("modules that load")
}

/// Runs a program for this long. What it printed, with an uncaught exception as the last line, and the mean time of a run.
fn program(path: &str, least: Duration, folder: Option<&str>) -> Result<String, String> {
    let source = std::fs::read_to_string(path).expect("a readable program");
    let library = folder.map(modules);
    let unit = match &library {
        Some(library) => library.compile(&source, "program.py"),
        None => compile(&source, "program.py"),
    };
    let unit = unit.map_err(|error| error.to_string())?;
    let image = library.map_or_else(|| script_image(&unit), |library| library.script(&unit));
    let (mut output, mut usage, mut last) = (String::new(), Usage::default(), None);
    let time = measure(least, || {
        let mut vm = Vm::start(image.clone(), Entry::Script, LIMITS);
        last = Some(vm.run());
        output = vm.take_output();
        usage = vm.usage();
    });
    match last.expect("at least one run") {
        Exit::Return(_) => {}
        Exit::Raise(error) => output.push_str(&format!("!! {}: {}", error.type_name, error.message)),
        other => return Err(format!("{other:?}")),
    }
    let Usage { cycles, weight_ns, peak_memory, .. } = usage;
    Ok(format!(
        "{{\"ns\": {time:.0}, \"cycles\": {cycles}, \"weight\": {weight_ns}, \"memory\": {peak_memory}, \"output\": {}}}",
        quoted(output.trim_end())
    ))
}

/// Text as JSON.
fn quoted(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|character| match character {
            '"' | '\\' => format!("\\{character}"),
            '\0'..='\x1f' => format!("\\u{:04x}", u32::from(character)),
            _ => character.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}

/// What a host answers an empty handler: nothing is stored.
fn answer(call: &HostCall) -> Result<HostValue, HostError> {
    if call.function == HostFn::GetState { Ok(HostValue::None) } else { host::answer(call) }
}

fn own(least: Duration) {
    // Without `@public` only the actor itself may call: who does is asked of the host, which answers with all that it knows of the call.
    let source = "from cowboy_sdk import actor, public\n\n@actor\nclass Empty:\n    @public\n    def open(self):\n        pass\n\n    def own(self):\n        pass\n";
    let (image, _) = build_image(&compile(source, "main.py").expect("valid source"), LIMITS).expect("a module that loads");
    let entry = |method: &str| Entry::Handler { method: method.to_owned(), payload: Vec::new() };
    let start = measure(least, || drop(Vm::start(image.clone(), entry("open"), LIMITS)));
    let [handled, checked] = ["open", "own"].map(|method| {
        measure(least, || {
            let mut vm = Vm::start(image.clone(), entry(method), LIMITS);
            let mut exit = vm.run();
            while let Exit::HostCall(call) = &exit {
                exit = vm.resume(answer(call));
            }
            assert!(matches!(exit, Exit::Return(_)), "the handler ended with {exit:?}");
        })
    });
    let function = "def f(a, b=1):\n    x = [a * i + b for i in range(10) if i % 2]\n    return {'sum': sum(x), 'text': f'{a}:{b}'}\n\n\n";
    let source: String = (0..200).map(|number| function.replace("def f", &format!("def f{number}"))).collect();
    let compiling = measure(least, || drop(compile(&source, "main.py").expect("valid source")));
    let unit = compile("def run(n):\n    a = 0\n    while a < n:\n        a += 1\n\n\nrun(1000000)\n", "main.py").expect("valid source");
    let image = script_image(&unit);
    let loops = measure(least, || {
        let exit = Vm::start(image.clone(), Entry::Script, LIMITS).run();
        assert!(matches!(exit, Exit::Return(_)), "the loop ended with {exit:?}");
    });
    println!(
        "{{\"start_us\": {:.2}, \"handled_us\": {:.2}, \"checked_us\": {:.2}, \"compile_mb_s\": {:.1}, \"dispatch_m_s\": {:.0}}}",
        start / 1e3,
        handled / 1e3,
        checked / 1e3,
        source.len() as f64 * 1e3 / compiling,
        2e9 / loops
    );
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next();
    let least = Duration::from_millis(arguments.next().and_then(|text| text.parse().ok()).unwrap_or(500));
    let folder = arguments.next();
    match path {
        Some(path) => match program(&path, least, folder.as_deref()) {
            Ok(figures) => println!("{figures}"),
            Err(reason) => println!("{{\"refused\": {}}}", quoted(&reason)),
        },
        None => own(least),
    }
}
