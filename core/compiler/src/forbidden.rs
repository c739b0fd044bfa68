//! Builtins that an actor may not use.

/// Names that reach outside the sandbox, with what to do instead.
const FORBIDDEN_NAMES: &[(&str, &str)] = &[
    ("eval", "code is fixed at deploy; write the expression out"),
    ("exec", "code is fixed at deploy; write the statements out"),
    ("compile", "code is fixed at deploy"),
    ("__import__", "use an import statement with a whitelisted module"),
    ("breakpoint", "there is no debugger on chain"),
    ("input", "an actor's input is its message payload"),
    ("globals", "keep state in self.storage"),
    ("exit", "return from the handler instead"),
    ("quit", "return from the handler instead"),
];

/// The name, where it is one that an actor may not take from the builtins. It may give the name to something of its own.
pub(super) fn forbidden_name(name: &str) -> Option<&'static str> {
    FORBIDDEN_NAMES.iter().map(|(forbidden, _)| *forbidden).find(|forbidden| *forbidden == name)
}

/// What to do instead of using a forbidden name.
pub(super) fn hint(name: &str) -> &'static str {
    FORBIDDEN_NAMES.iter().find(|(forbidden, _)| *forbidden == name).map_or("", |(_, hint)| hint)
}
