//! What a run may use, and what it used.

/// Native stack, in bytes, that a thread must have to call [`compile`](crate::compile()), [`check`](crate::check),
/// [`build_image`](crate::build_image) or [`Vm::run`](crate::Vm::run).
///
/// At least twice what the deepest source that is accepted, and the deepest program that runs, use: see `tests/stack`. This crate
/// makes no threads; whoever runs programs gives each thread this much for the machine, and what its own frames need beside it.
pub const STACK_BYTES: usize = 8 << 20;

/// Nanoseconds of weight for each cycle, beside what native rows and host functions add.
pub const CYCLE_WEIGHT: u64 = 4;

/// Bytes of the image whose copy, made when they are changed, weighs a nanosecond.
pub(crate) const THAWED_PER_NANOSECOND: u64 = 4;

/// Bounds of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Cycles.
    pub cycles: u64,
    /// Cells: bytes written to `/tmp` and charged by the host.
    pub cells: u64,
    /// Modelled heap bytes in use at once (003 §3.2: 10 MiB).
    pub memory_bytes: usize,
    /// Python frames at once (003: 256).
    pub recursion: usize,
    /// Nanoseconds by the frozen weights (100 ms per delivery).
    pub weight_ns: u64,
    /// Numbers that the chain may move.
    pub rules: Rules,
}

/// Numbers of the machine that governance may move: each a row of the protocol's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Bytes of all files in `/tmp` together (003 §3.1).
    pub scratch_bytes: usize,
    /// Cycles of a SHA-256 before its blocks (003 §3.5).
    pub sha256: usize,
    /// Cycles of a SHA-256 for each block of 64 bytes.
    pub sha256_block: usize,
    /// Cycles of a Keccak-256 for each 32 bytes.
    pub keccak_word: usize,
}

impl Rules {
    /// What the specification gives.
    pub const GENESIS: Self = Self { scratch_bytes: 256 << 10, sha256: 500, sha256_block: 8, keccak_word: 6 };
}

impl Default for Limits {
    fn default() -> Self {
        Self { cycles: 1_000_000, cells: 1_000_000, memory_bytes: 10 << 20, recursion: 256, weight_ns: 100_000_000, rules: Rules::GENESIS }
    }
}

/// What a run has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Cycles.
    pub cycles: u64,
    /// Cells.
    pub cells: u64,
    /// Most modelled heap bytes at once.
    pub peak_memory: usize,
    /// Weight in nanoseconds.
    pub weight_ns: u64,
}

/// Nesting of containers that comparison, hashing and repr follow.
pub(crate) const NATIVE_DEPTH: usize = 200;
