//! The rules of the linter beside what the chain refuses.

/// A rule of ours: its name, why it is one, and what to do.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) why: &'static str,
    pub(super) fix: &'static str,
}

macro_rules! rules {
    ($($rule:ident $name:literal $why:literal $fix:literal;)*) => {
        $(pub(super) const $rule: Rule = Rule { name: $name, why: $why, fix: $fix };)*
        #[cfg(test)]
        pub(super) const RULES: &[Rule] = &[$($rule,)*];
    };
}

rules! {
    LOST_ATTRIBUTE "lost-attribute"
        "every message starts with a new instance, so an attribute is lost when the handler returns"
        "keep it in self.storage, or in a local variable";
    LOST_GLOBAL "lost-global"
        "every message starts with the module as deployed, so a changed global is lost when the handler returns"
        "keep it in self.storage";
    UNREACHABLE "unreachable-handler"
        "only the actor itself can reach a method without a decorator, by its timers and its own messages"
        "write @public or @callable_by(...) above it, or start its name with _ if it is a helper";
    MUTABLE_DEFAULT "mutable-default"
        "a default is created once, and all calls within a message share it"
        "use None, and create the list or dict in the body";
    PRINT "print"
        "only the trace of a delivery shows printed output, for a limited time and without proof, and it costs a cycle per character"
        "use print for debugging, and emit for what must last: events are in the receipt";
    BACK_REFERENCE "back-reference"
        "if self also holds the other object, this closes a reference cycle, and the store raises DeterminismError"
        "keep the other object's key or index instead of the object, and look it up";
    ENDLESS "endless-loop"
        "the loop does not end, so it runs until the cycles are used up, which undoes the message"
        "loop over a range, or use return or break";
    SWALLOWS "swallowed-error"
        "it also catches DeterminismError and other errors that must end the message"
        "name what you expect: except ValueError";
    NOT_DEFERRED "not-deferred"
        "a handler without @deferred promises that its work is complete when it returns, but this has later effects"
        "write @deferred above the handler";
    NO_ACTOR "no-actor"
        "the chain accepts the file, but nothing in it can be called"
        "write @actor above the class, and @public above its handlers";
    NOT_AWAITED "not-awaited"
        "only await submits a job: without it the variable holds the request, not the result"
        "write await before it, in an async method under @runner.continuation";
    NOT_CONTINUATION "not-a-continuation"
        "an async method without the decorator never runs: calling it returns a coroutine"
        "write @runner.continuation below @public";
    NO_SUCH_HANDLER "no-such-handler"
        "the timer fires and finds no handler of this name, which fails"
        "name a method of this actor";
    MUTABLE_CLASS "mutable-class-attribute"
        "it is part of the deployed image, so changes are lost when the handler returns"
        "keep changing values in self.storage, and constants in a tuple";
    FLOAT_MONEY "float-as-money"
        "amounts are whole base units, and a float rounds: 0.1 + 0.2 is not 0.3"
        "compute with integers: // instead of /, and 1 CBY as 10**9";
    UNKNOWN_IMPORT "unknown-import"
        "the module has no such name, so the import raises an exception when it runs"
        "check the spelling; docs/reference.md lists the SDK's names, and docs/python.md the modules";
    UNKNOWN_NAME "unknown-name"
        "the module has no such name, so this raises an AttributeError when it runs"
        "check the spelling; docs/reference.md lists the SDK's names, and docs/python.md the modules";
    GRANT "missing-grant"
        "the chain refuses what the manifest does not grant"
        "add it to the manifest.json beside the source";
}
