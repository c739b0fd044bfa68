//! Registered tools: WebAssembly modules in a machine without imports, so without any authority: no clock, no files, no network.
//!
//! A module exports `memory`, `alloc(size) → pointer` and `run(pointer, size) → pointer · 2³² + size`. Fields of a job: `tool` (a name, or the
//! keccak256 of the module) and `input` (text as it is, anything else as JSON).

use super::{Executor, Fault, NotReady, Task, Usage};
use crate::config::Tool;
use cowboy_host::clock::as_ms;
use cowboy_types::{Hash, job::JobKind, keccak256};
use futures::future::BoxFuture;
use serde_json::Value as Json;
use std::{collections::BTreeMap, sync::Arc};
use wasmi::{Config, Engine, Linker, Module, Store, StoreLimits, StoreLimitsBuilder, TrapCode};

/// Instructions that a millisecond of a job's time is worth: what has no fuel left has no time left.
const FUEL_PER_MS: u64 = 200_000;

/// Bytes of a mebibyte.
const MEBIBYTE: u64 = 1024 * 1024;

/// A tool that can be called.
struct Ready {
    name: String,
    digest: Hash,
    module: Module,
    settings: Tool,
}

/// Does jobs of registered tools.
pub struct CustomExecutor {
    engine: Engine,
    tools: Vec<Arc<Ready>>,
}

impl CustomExecutor {
    /// Reads and checks the modules.
    pub fn new(tools: &BTreeMap<String, Tool>) -> Result<Self, NotReady> {
        let mut config = Config::default();
        config.consume_fuel(true).allow_start_fn(false);
        let engine = Engine::new(&config);
        let ready = tools.iter().map(|(name, settings)| {
            let wrong = |reason: String| NotReady { kind: "tools", reason: format!("{name}: {reason}") };
            let bytes = std::fs::read(&settings.file).map_err(|error| wrong(format!("{}: {error}", settings.file.display())))?;
            let module = Module::new(&engine, &bytes).map_err(|error| wrong(error.to_string()))?;
            if let Some(import) = module.imports().next() {
                return Err(wrong(format!("it imports {}.{}, and a tool imports nothing", import.module(), import.name())));
            }
            Ok(Arc::new(Ready { name: name.clone(), digest: keccak256(&[&bytes]), module, settings: settings.clone() }))
        });
        let tools = ready.collect::<Result<_, _>>()?;
        Ok(Self { engine, tools })
    }
}

impl Executor for CustomExecutor {
    fn kind(&self) -> JobKind {
        JobKind::Custom
    }

    fn check(&self) -> BoxFuture<'_, Result<String, String>> {
        let names: Vec<String> = self.tools.iter().map(|tool| format!("{} {}", tool.name, tool.digest)).collect();
        Box::pin(async move { Ok(names.join(", ")) })
    }

    fn execute<'a>(&'a self, task: &'a Task, usage: &'a mut Usage) -> BoxFuture<'a, Result<Vec<u8>, Fault>> {
        Box::pin(async move {
            let name = task.request.text("tool")?;
            let tool = self.tools.iter().find(|tool| tool.name == name || tool.digest.to_string() == name);
            let tool = tool.ok_or_else(|| Fault::External(format!("this runner has no tool {name:?}")))?.clone();
            let input = match task.request.get("input") {
                None => Vec::new(),
                Some(Json::String(text)) => text.clone().into_bytes(),
                Some(value) => value.to_string().into_bytes(),
            };
            let wall_ms = as_ms(task.limits.wall);
            let call = Call {
                fuel: tool.settings.fuel.min(wall_ms.saturating_mul(FUEL_PER_MS)),
                memory: match task.limits.memory_mb {
                    0 => tool.settings.memory_mb,
                    asked => tool.settings.memory_mb.min(asked),
                },
                most: task.limits.result_bytes,
                engine: self.engine.clone(),
                input,
                tool,
            };
            let (result, memory_mb) = tokio::task::spawn_blocking(move || call.run())
                .await
                .map_err(|error| Fault::External(format!("the tool broke off: {error}")))?;
            usage.memory_mb = memory_mb;
            result
        })
    }
}

/// One call of a tool.
struct Call {
    engine: Engine,
    tool: Arc<Ready>,
    input: Vec<u8>,
    fuel: u64,
    memory: u64,
    most: usize,
}

impl Call {
    /// Answers the result, and the mebibytes that the tool used.
    fn run(self) -> (Result<Vec<u8>, Fault>, u64) {
        let limits = StoreLimitsBuilder::new()
            .memory_size(usize::try_from(self.memory.saturating_mul(MEBIBYTE)).unwrap_or(usize::MAX))
            .table_elements(65_536)
            .instances(1)
            .tables(4)
            .memories(1)
            .build();
        let mut store = Store::new(&self.engine, limits);
        store.limiter(|limits| limits);
        let result = self.call(&mut store);
        (result, self.memory)
    }

    fn call(&self, store: &mut Store<StoreLimits>) -> Result<Vec<u8>, Fault> {
        let broken = |error: wasmi::Error| match error.as_trap_code() {
            Some(TrapCode::OutOfFuel) => Fault::Impossible(format!("the tool was not done after {} instructions", self.fuel)),
            Some(TrapCode::GrowthOperationLimited) => Fault::Impossible(format!("the tool needs more than {} MiB", self.memory)),
            _ => Fault::External(format!("the tool failed: {error}")),
        };
        let wrong = |reason: &str| Fault::External(format!("the tool {reason}"));
        store.set_fuel(self.fuel).map_err(broken)?;
        let instance = Linker::new(&self.engine).instantiate_and_start(&mut *store, &self.tool.module).map_err(broken)?;
        let memory = instance.get_memory(&*store, "memory").ok_or_else(|| wrong("exports no memory"))?;
        let alloc = instance.get_typed_func::<i32, i32>(&*store, "alloc").map_err(broken)?;
        let run = instance.get_typed_func::<(i32, i32), i64>(&*store, "run").map_err(broken)?;
        let size = i32::try_from(self.input.len()).map_err(|_| wrong("cannot take so much"))?;
        let pointer = alloc.call(&mut *store, size).map_err(broken)?;
        let place = usize::try_from(pointer.cast_unsigned()).map_err(|_| wrong("has no room"))?;
        memory.write(&mut *store, place, &self.input).map_err(|_| wrong("has no room for its input"))?;
        let answer = run.call(&mut *store, (pointer, size)).map_err(broken)?.cast_unsigned();
        let (place, length) = (answer >> 32, answer & 0xffff_ffff);
        if length > self.most as u64 {
            return Err(Fault::Impossible(format!("the result has {length} bytes, and may have {}", self.most)));
        }
        let end = place + length;
        let (place, end) = (usize::try_from(place).unwrap_or(usize::MAX), usize::try_from(end).unwrap_or(usize::MAX));
        memory.data(&*store).get(place..end).map(<[u8]>::to_vec).ok_or_else(|| wrong("answers what is not in its memory"))
    }
}
