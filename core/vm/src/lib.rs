//! Cowboy's Python: source in, outcome out, the same on every machine.
//!
//! The crate knows nothing of the chain. [`compile`](compile()) checks and compiles a source; [`build_image`] runs its module body once and
//! freezes the heap; [`Vm::start`] is a fresh, copy-on-write run above an [`Image`]; [`Vm::run`] goes on until the entry is over, a limit
//! traps, or the host has to answer ([`Exit::HostCall`], then [`Vm::resume`]).
//!
//! # Where things are
//! - `runtime`: `Vm` and its parts, and what types and the interpreter share; `runtime/protocol` is all that a type asks of other types.
//! - `objects`: one file per builtin type, with its rows of native methods; a folder beside it where there are many. `builtins`: functions
//!   of the builtins module.
//! - `interp`, above the types: the loop, calls, attributes, operators, comparison, iteration, generators, exceptions. No Python call
//!   uses the native stack.
//! - `modules`: modules in Rust. `frozen`: modules in Python; `frozen/_builtins` is what natives leave to Python.
//! - `heap`, `image`, `value`, `types`: reference counts, modelled memory, frozen images, fixed handles.
//! - The crates below: `cowboy-compiler` makes code of sources and has the instructions, one cost row each; `cowboy-num` has numbers
//!   without the computer's floating point, `cowboy-unicode` the tables of characters.
//!
//! # Adding a native
//! A row in its table: kind, `owner.name`, signature, cycles, function, helper. The function borrows its arguments and owns its
//! result; it charges by size before it works ([`Vm::spend`] and `reserve` inside the crate); it never calls Python: when it would have
//! to, it returns `Throw::Fallback` before it has changed anything, and the helper named in the row does the work.
#![deny(unsafe_code)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::as_conversions,
    reason = "registers and positions are bounded by the frame and memory limits; conversions in the loop have to be free"
)]
#![allow(clippy::wrong_self_convention, reason = "`to_` and `into_` say where a value goes; conversions here need the whole machine")]
#![allow(clippy::result_large_err, reason = "a failure comes once a run, with everything that explains it")]
#![allow(
    clippy::collapsible_if,
    clippy::collapsible_match,
    reason = "what kind of value it is comes first, what is asked of it second: nested, the two stay apart"
)]

mod base;
mod builtins;
mod caches;
mod cost_page;
mod costs;
mod digests;
mod error;
mod escapes;
mod frame;
mod heap;
mod host;
mod image;
mod interp;
mod library;
mod limits;
mod link;
mod meter;
mod modules;
mod natives;
mod objects;
mod overlay;
mod payload;
mod regex;
mod run;
mod runtime;
mod scratch;
mod spares;
#[allow(dead_code, reason = "the tables name every type and identifier, whether or not Rust code looks it up")]
mod types;
mod value;
mod window;

pub use cost_page::{NativeCost, markdown as costs, native_costs};
pub use cowboy_compiler::opcode::{OPCODES, OpcodeRow};
pub use cowboy_compiler::{CompileError, CompileErrorKind, Unit, check, compile, disassemble};
pub use cowboy_num::F64;
pub use error::{Exit, PyError, Trap};
pub use host::{Access, HOST_FUNCTIONS, HostCall, HostError, HostFn, HostRow, HostValue};
pub use image::Image;
pub use library::{Library, LibraryError, LibraryModule};
pub use limits::{CYCLE_WEIGHT, Limits, Rules, STACK_BYTES, Usage};
pub use run::{Entry, Failure, build_image, script_image};
pub use runtime::profile::{LineCount, Profile, Profiler};
pub use runtime::{Vm, watch::LineEvent};
