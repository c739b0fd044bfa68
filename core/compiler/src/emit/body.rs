//! One code body under construction, and what its parts are called meanwhile.

use crate::code::{Code, CodeKind};
use crate::scope::ScopeId;
use ruff_python_ast::Stmt;
use std::collections::BTreeMap;

/// A register with what may be done to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    /// The register.
    pub register: u16,
    /// Whether the reader consumes it.
    pub temporary: bool,
}

impl Operand {
    /// `flag` when the operand is consumed.
    pub(super) fn flag(self, flag: u8) -> u8 {
        if self.temporary { flag } else { 0 }
    }
}

/// Where a name lives, seen from the code being emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A register.
    Local(u16),
    /// A register that holds a cell.
    Cell(u16),
    /// Module globals, then builtins.
    Global,
    /// The class namespace, then globals, then builtins.
    Namespace,
    /// The class namespace, then the cell in this register.
    NamespaceOrCell(u16),
}

/// A jump target that may not be known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label(pub(super) usize);

/// What a `break`, `continue` or `return` passes on its way out.
#[derive(Clone, Debug)]
pub(crate) enum Block<'a> {
    /// A loop: where break and continue go, and the iterator's register.
    Loop { on_break: Label, on_continue: Label, iterator: Option<u16> },
    /// A try whose handlers cover the code, by index into the open ranges.
    Try { range: usize },
    /// The body whose `finally` has to run.
    Finally { range: usize, body: &'a [Stmt] },
    /// A `with`: register of its exit function.
    With { range: usize, exit: u16, is_async: bool },
    /// An exception in this register is being handled.
    Handled { register: u16, name: Option<Place>, name_index: u16 },
}

/// An exception range under construction.
#[derive(Clone, Debug)]
pub(crate) struct OpenRange {
    pub(super) start: Option<u32>,
    pub(super) done: Vec<(u32, u32)>,
    pub(super) target: Label,
    pub(super) depth: u16,
    pub(super) handled: u16,
}

/// One code body under construction.
pub(crate) struct Body<'a> {
    /// Its scope.
    pub scope: ScopeId,
    /// What is built.
    pub code: Code,
    /// Registers of its names.
    pub places: BTreeMap<String, Place>,
    /// Comprehension scopes that are open in this frame, innermost last.
    pub inline: Vec<(ScopeId, BTreeMap<String, Place>)>,
    /// Open blocks, innermost last.
    pub blocks: Vec<Block<'a>>,
    /// Exception ranges by index.
    pub ranges: Vec<OpenRange>,
    /// Exceptions being handled at this point.
    pub handled: u16,
    pub(super) labels: Vec<Option<u32>>,
    pub(super) wide_fixups: Vec<(usize, Label)>,
    pub(super) near_fixups: Vec<(usize, Label)>,
    pub(super) next: u16,
    pub(super) const_index: BTreeMap<String, u32>,
    pub(super) name_index: BTreeMap<String, u16>,
}

impl Body<'_> {
    pub(super) fn new(scope: ScopeId, name: &str, qualname: &str, hidden: bool) -> Self {
        Self {
            scope,
            code: Code {
                name: name.to_owned(),
                qualname: qualname.to_owned(),
                kind: CodeKind::Plain,
                instructions: Vec::new(),
                lines: Vec::new(),
                consts: Vec::new(),
                names: Vec::new(),
                sites: Vec::new(),
                registers: 0,
                local_names: Vec::new(),
                positional_only: 0,
                positional: 0,
                keyword_only: 0,
                var_positional: false,
                var_keyword: false,
                free_start: 0,
                free_names: Vec::new(),
                comprehensions: Vec::new(),
                handlers: Vec::new(),
                first_line: 1,
                hidden,
                doc: None,
            },
            places: BTreeMap::new(),
            inline: Vec::new(),
            blocks: Vec::new(),
            ranges: Vec::new(),
            handled: 0,
            labels: Vec::new(),
            wide_fixups: Vec::new(),
            near_fixups: Vec::new(),
            next: 0,
            const_index: BTreeMap::new(),
            name_index: BTreeMap::new(),
        }
    }
}
