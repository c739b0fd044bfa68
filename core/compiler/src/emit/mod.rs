//! The emitter: registers, labels, constants, exception ranges and the block stack of one code body.

mod awaits;
mod body;
mod call;
mod comprehension;
mod display;
mod expr;
mod literal;
mod loops;
mod pattern;
mod stmt;
mod syntax;

use crate::CompileError;
use crate::code::{Code, Const, Handler};
use crate::opcode::{Instruction, Op, TEMP_B};
use crate::scope::{ScopeId, ScopeKind, Scopes, mangle};
use body::{Block, Body, Label, OpenRange, Operand, Place};
use ruff_python_ast::Stmt;
use ruff_text_size::TextRange;

/// Most instructions of one code body: what a 16-bit relative jump can cross, twice over.
const INSTRUCTION_LIMIT: usize = 60_000;
/// Most registers of one code body.
const REGISTER_LIMIT: u16 = 4_096;

/// The outcome of compiling something.
pub(super) type Compiled<T> = Result<T, CompileError>;

/// The compiler of one module.
pub(super) struct Compiler<'a> {
    /// Resolved names.
    pub scopes: &'a Scopes,
    /// Finished code bodies; 0 is the module.
    pub codes: Vec<Option<Code>>,
    /// The body being emitted.
    pub body: Body<'a>,
    /// The class around, for private names.
    pub class: Option<String>,
    /// Nesting of the syntax being compiled.
    pub depth: usize,
    /// The source, for `=` in f-strings and postponed annotations.
    pub source: &'a str,
    /// Whether annotations stay text.
    pub annotations_as_text: bool,
    line_starts: Vec<u32>,
    line: u32,
    hidden: bool,
    /// Instructions emitted in the whole module.
    total: usize,
}

/// Compiles a module body to all its codes.
pub(crate) fn module(body: &[Stmt], scopes: &Scopes, source: &str, hidden: bool) -> Compiled<Vec<Code>> {
    let mut line_starts = vec![0];
    for (index, byte) in source.bytes().enumerate() {
        if byte == b'\n' {
            line_starts.push(u32::try_from(index + 1).unwrap_or(u32::MAX));
        }
    }
    let mut compiler = Compiler {
        scopes,
        codes: vec![None],
        body: Body::new(0, "<module>", "<module>", hidden),
        class: None,
        depth: 0,
        source,
        annotations_as_text: false,
        line_starts,
        line: 1,
        hidden,
        total: 0,
    };
    compiler.module_body(body)?;
    let finished = compiler.finish()?;
    compiler.codes[0] = Some(finished);
    Ok(compiler.codes.into_iter().map(|code| code.expect("every code body that was begun was finished")).collect())
}

impl<'a> Compiler<'a> {
    /// Starts a nested code body; returns the outer one, for [`Self::leave`].
    pub(super) fn enter(&mut self, scope: ScopeId, name: &str) -> Body<'a> {
        let outer_kind = self.scopes.all[self.body.scope].kind;
        let global = self.scopes.all[self.body.scope].symbols.get(name).is_some_and(|symbol| symbol.global);
        let qualname = if self.body.scope == 0 || global {
            name.to_owned()
        } else if outer_kind == ScopeKind::Class {
            format!("{}.{name}", self.body.code.qualname)
        } else {
            format!("{}.<locals>.{name}", self.body.code.qualname)
        };
        let mut body = Body::new(scope, name, &qualname, self.hidden);
        body.code.first_line = self.line;
        std::mem::replace(&mut self.body, body)
    }

    /// Gives registers to the names of the current scope: parameters first, then locals, then the closure's cells.
    pub(super) fn assign_registers(&mut self) -> Compiled<()> {
        let scopes = self.scopes;
        let scope = &scopes.all[self.body.scope];
        let parameters = self.body.code.parameters();
        match scope.kind {
            ScopeKind::Function => {
                for (index, name) in scope.order.iter().enumerate() {
                    let symbol = scope.symbols[name];
                    if symbol.global || symbol.nonlocal {
                        continue;
                    }
                    let register = if index < parameters {
                        u16::try_from(index).map_err(|_| self.registers_error())?
                    } else {
                        self.named_register(name)?
                    };
                    let place = if symbol.cell { Place::Cell(register) } else { Place::Local(register) };
                    self.body.places.insert(name.clone(), place);
                    if symbol.cell {
                        self.emit(Op::MakeCell, 0, register, 0, 0);
                    }
                }
            }
            ScopeKind::Class => {
                if scope.symbols.get("__class__").is_some_and(|symbol| symbol.cell) {
                    let register = self.named_register("__class__")?;
                    self.body.places.insert("__class__".to_owned(), Place::Cell(register));
                    self.emit(Op::MakeCell, 0, register, 0, 0);
                }
            }
            ScopeKind::Module | ScopeKind::Inline => {}
        }
        self.body.code.free_start = self.body.next;
        for (name, symbol) in &scope.symbols {
            if symbol.free {
                let register = self.named_register(name)?;
                self.body.code.free_names.push(name.clone());
                let place = if scope.kind != ScopeKind::Class || symbol.nonlocal {
                    Place::Cell(register)
                } else {
                    Place::NamespaceOrCell(register)
                };
                // A class that has a `__class__` cell of its own keeps it apart from the one around it.
                self.body.places.entry(name.clone()).or_insert(place);
            }
        }
        Ok(())
    }

    /// A register with a name, for a variable. Only while no temporary is in use.
    pub(super) fn named_register(&mut self, name: &str) -> Compiled<u16> {
        let register = self.temporary()?;
        let names = &mut self.body.code.local_names;
        while names.len() <= usize::from(register) {
            names.push(String::new());
        }
        names[usize::from(register)] = name.to_owned();
        Ok(register)
    }

    /// Reserves the registers of the parameters, in their order.
    pub(super) fn parameter_registers(&mut self, names: &[String]) -> Compiled<()> {
        for name in names {
            self.named_register(name)?;
        }
        Ok(())
    }

    fn registers_error(&self) -> CompileError {
        CompileError::too_large(TextRange::default(), format!("a function needs more than {REGISTER_LIMIT} registers"))
    }

    /// The next free temporary.
    pub(super) fn temporary(&mut self) -> Compiled<u16> {
        self.temporaries(1)
    }

    /// The first of `count` free temporaries in a row.
    pub(super) fn temporaries(&mut self, count: u16) -> Compiled<u16> {
        let first = self.body.next;
        let next = first.checked_add(count).filter(|&next| next < REGISTER_LIMIT);
        self.body.next = next.ok_or_else(|| self.registers_error())?;
        self.body.code.registers = self.body.code.registers.max(self.body.next);
        Ok(first)
    }

    /// The current height of the temporaries, to go back to.
    pub(super) fn mark(&self) -> u16 {
        self.body.next
    }

    /// Frees the temporaries above `mark`.
    pub(super) fn reset(&mut self, mark: u16) {
        self.body.next = mark;
    }

    /// Finishes the current body and returns to the outer one; the result is the new code's index.
    pub(super) fn leave(&mut self, outer: Body<'a>) -> Compiled<u16> {
        let code = self.finish()?;
        self.body = outer;
        let index = u16::try_from(self.codes.len())
            .map_err(|_| CompileError::too_large(TextRange::default(), "a module has more than 65,535 functions"))?;
        self.codes.push(Some(code));
        Ok(index)
    }

    /// Resolves jumps and hands the code out.
    pub(super) fn finish(&mut self) -> Compiled<Code> {
        let too_far = || CompileError::too_large(TextRange::default(), "a function is too long for its jumps: split it");
        let body = &mut self.body;
        let target = |labels: &[Option<u32>], label: Label| labels[label.0].expect("every label that is used gets bound");
        for &(index, label) in &body.wide_fixups {
            let to = target(&body.labels, label);
            let instruction = &mut body.code.instructions[index];
            instruction.b = u16::try_from(to & 0xffff).expect("masked to 16 bits");
            instruction.c = u16::try_from(to >> 16).expect("shifted to 16 bits");
        }
        for &(index, label) in &body.near_fixups {
            let to = i64::from(target(&body.labels, label));
            let from = i64::try_from(index + 1).map_err(|_| too_far())?;
            let offset = i16::try_from(to - from).map_err(|_| too_far())?;
            body.code.instructions[index].c = u16::from_ne_bytes(offset.to_ne_bytes());
        }
        for range in body.ranges.drain(..).rev() {
            let target = target(&body.labels, range.target);
            for (start, end) in range.done {
                if start < end {
                    let (depth, handled) = (range.depth, range.handled);
                    body.code.handlers.push(Handler { start, end, target, depth, handled });
                }
            }
        }
        // Inner ranges lie within outer ones: the shortest cover is the innermost, the later opened one when equal.
        body.code.handlers.sort_by_key(|handler| handler.end - handler.start);
        let code = std::mem::replace(&mut body.code, Body::new(0, "", "", false).code);
        if !crate::verify::verify(&code) {
            debug_assert!(false, "the compiler names only what it made: {code:?}");
            return Err(CompileError::too_large(TextRange::default(), "this function exposes a defect of the compiler: please report it"));
        }
        Ok(code)
    }

    /// Appends an instruction.
    pub(super) fn emit(&mut self, op: Op, flags: u8, a: u16, b: u16, c: u16) -> usize {
        let index = self.body.code.instructions.len();
        self.body.code.instructions.push(Instruction { op, flags, a, b, c });
        self.body.code.lines.push(self.line);
        self.total += 1;
        index
    }

    /// Appends an instruction with a 32-bit operand.
    pub(super) fn emit_wide(&mut self, op: Op, flags: u8, a: u16, wide: u32) -> usize {
        let [b0, b1, c0, c1] = wide.to_le_bytes();
        self.emit(op, flags, a, u16::from_le_bytes([b0, b1]), u16::from_le_bytes([c0, c1]))
    }

    /// Fails when the body has become too long; called once a statement.
    pub(super) fn check_size(&self, range: TextRange) -> Compiled<()> {
        if self.body.code.instructions.len() > INSTRUCTION_LIMIT || self.total > 40 * INSTRUCTION_LIMIT {
            return Err(CompileError::too_large(range, "the code of this function is too long: split it"));
        }
        Ok(())
    }

    /// The next instruction's index.
    pub(super) fn here(&self) -> u32 {
        u32::try_from(self.body.code.instructions.len()).unwrap_or(u32::MAX)
    }

    /// A label to be bound later.
    pub(super) fn label(&mut self) -> Label {
        self.body.labels.push(None);
        Label(self.body.labels.len() - 1)
    }

    /// Binds a label to the next instruction.
    pub(super) fn bind(&mut self, label: Label) {
        self.body.labels[label.0] = Some(self.here());
    }

    /// Emits a jump with a 32-bit target.
    pub(super) fn jump(&mut self, op: Op, flags: u8, a: u16, label: Label) {
        let index = self.emit(op, flags, a, 0, 0);
        self.body.wide_fixups.push((index, label));
    }

    /// Emits a jump whose distance is operand `c`.
    pub(super) fn jump_near(&mut self, op: Op, flags: u8, a: u16, b: u16, label: Label) {
        let index = self.emit(op, flags, a, b, 0);
        self.body.near_fixups.push((index, label));
    }

    /// Makes following instructions belong to the line where `range` begins.
    pub(super) fn at(&mut self, range: TextRange) {
        let offset = range.start().to_u32();
        let index = self.line_starts.partition_point(|&start| start <= offset);
        self.line = u32::try_from(index).unwrap_or(u32::MAX);
    }

    /// The current line, to come back to.
    pub(super) fn line(&self) -> u32 {
        self.line
    }

    /// Returns to a line.
    pub(super) fn set_line(&mut self, line: u32) {
        self.line = line;
    }

    /// Index of a literal.
    pub(super) fn constant(&mut self, value: Const) -> u32 {
        let key = format!("{value:?}");
        if let Some(&index) = self.body.const_index.get(&key) {
            return index;
        }
        let index = u32::try_from(self.body.code.consts.len()).unwrap_or(u32::MAX);
        self.body.code.consts.push(value);
        self.body.const_index.insert(key, index);
        index
    }

    /// Loads a literal into a register.
    pub(super) fn load_constant(&mut self, value: Const, target: u16) {
        match value {
            Const::None => {
                self.emit(Op::LoadNone, 0, target, 0, 0);
            }
            Const::Int(value) if i32::try_from(value).is_ok() => {
                let value = i32::try_from(value).expect("checked by the guard");
                self.emit_wide(Op::LoadInt, 0, target, u32::from_ne_bytes(value.to_ne_bytes()));
            }
            value => {
                let index = self.constant(value);
                self.emit_wide(Op::LoadConst, 0, target, index);
            }
        }
    }

    /// Index of an identifier, private names mangled.
    pub(super) fn name(&mut self, name: &str) -> Compiled<u16> {
        let name = mangle(self.class.as_deref(), name);
        self.raw_name(&name)
    }

    /// Index of an identifier as it stands.
    pub(super) fn raw_name(&mut self, name: &str) -> Compiled<u16> {
        if let Some(&index) = self.body.name_index.get(name) {
            return Ok(index);
        }
        let index = u16::try_from(self.body.code.names.len())
            .map_err(|_| CompileError::too_large(TextRange::default(), "a function uses more than 65,535 names"))?;
        self.body.code.names.push(name.to_owned());
        self.body.name_index.insert(name.to_owned(), index);
        Ok(index)
    }

    /// A new inline cache about an identifier.
    pub(super) fn site(&mut self, name: &str) -> Compiled<u16> {
        let name = self.name(name)?;
        let index = u16::try_from(self.body.code.sites.len())
            .map_err(|_| CompileError::too_large(TextRange::default(), "a function has more than 65,535 attribute uses"))?;
        self.body.code.sites.push(name);
        Ok(index)
    }

    /// Where a name (already mangled) lives.
    pub(super) fn place(&self, name: &str) -> Place {
        for (_, places) in self.body.inline.iter().rev() {
            if let Some(place) = places.get(name) {
                return *place;
            }
        }
        let scope = &self.scopes.all[self.body.scope];
        if scope.kind == ScopeKind::Class {
            let symbol = scope.symbols.get(name).copied().unwrap_or_default();
            if symbol.global {
                return Place::Global;
            }
            if symbol.bound && !symbol.nonlocal {
                return Place::Namespace;
            }
            return self.body.places.get(name).copied().unwrap_or(Place::Namespace);
        }
        self.body.places.get(name).copied().unwrap_or(Place::Global)
    }

    /// The register that holds the cell of a name, for a closure.
    pub(super) fn cell_register(&self, name: &str) -> Option<u16> {
        for (_, places) in self.body.inline.iter().rev() {
            if let Some(Place::Cell(register)) = places.get(name) {
                return Some(*register);
            }
        }
        match self.body.places.get(name) {
            Some(Place::Cell(register) | Place::NamespaceOrCell(register)) => Some(*register),
            _ => None,
        }
    }

    /// Copies a register.
    pub(super) fn copy(&mut self, from: Operand, to: u16) {
        if from.register != to {
            self.emit(Op::Move, from.flag(TEMP_B), to, from.register, 0);
        }
    }

    /// Opens an exception range that leads to `target` with the exception in register `depth`.
    pub(super) fn open_range(&mut self, target: Label, depth: u16) -> usize {
        let start = Some(self.here());
        let handled = self.body.handled;
        self.body.ranges.push(OpenRange { start, done: Vec::new(), target, depth, handled });
        // The handler writes the register, so it has to exist.
        self.body.code.registers = self.body.code.registers.max(depth + 1);
        self.body.ranges.len() - 1
    }

    /// Ends the covered part for now.
    pub(super) fn close_range(&mut self, range: usize) {
        let here = self.here();
        let range = &mut self.body.ranges[range];
        if let Some(start) = range.start.take() {
            range.done.push((start, here));
        }
    }

    /// Continues covering.
    pub(super) fn reopen_range(&mut self, range: usize) {
        let here = self.here();
        self.body.ranges[range].start = Some(here);
    }
}
