//! The native stack: which functions call themselves, what the deepest programs use of it, and what the deepest sources do.

mod compiler;
mod graph;
mod layers;
mod machine;
mod recursion;
mod source;
mod tokens;

/// Runs `work` on a thread with a stack of `bytes`. A thread that needs more ends the whole process.
fn on_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(bytes).spawn_scoped(scope, work).expect("a thread");
        thread.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    })
}
