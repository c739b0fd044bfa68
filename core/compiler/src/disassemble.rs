//! The instructions of a compiled source as text: each with its line, its cycles, and its row's meaning with the operands put in.

use crate::code::{Code, Const, Unit};
use crate::opcode::{CYCLES, INPLACE, Instruction, NEGATE, OPCODES, Op, signed};
use crate::operand::Operand;
use cowboy_num::sizes;
use std::fmt::Write as _;

/// Every function of a source, one after another.
pub fn disassemble(unit: &Unit) -> String {
    let lines: Vec<&str> = unit.source.lines().collect();
    let mut page = String::new();
    for (number, code) in unit.codes.iter().enumerate() {
        if number > 0 {
            page.push('\n');
        }
        function(&mut page, unit, code, &lines);
    }
    page
}

fn function(page: &mut String, unit: &Unit, code: &Code, lines: &[&str]) {
    let cycles: u64 = code.instructions.iter().map(|ins| u64::from(CYCLES[ins.op as usize])).sum();
    let count = code.instructions.len();
    writeln!(page, "{} ({}:{})", code.qualname, unit.file, code.first_line).expect("a string takes everything");
    writeln!(page, "    {count} instructions, {} registers, {cycles} cycles if each runs once", code.registers)
        .expect("a string takes everything");
    let mut shown = 0;
    for (at, ins) in code.instructions.iter().enumerate() {
        let line = code.lines.get(at).copied().unwrap_or(0);
        if line != shown && line != 0 {
            shown = line;
            let text = sizes::index(line).and_then(|line| lines.get(line.saturating_sub(1))).map_or("", |text| text.trim());
            writeln!(page, "  {line:>4}  {text}").expect("a string takes everything");
        }
        let row = &OPCODES[ins.op as usize];
        let meaning = Reader { unit, code, ins: *ins, at }.meaning(row.doc);
        writeln!(page, "        {at:>5} {:>3}  {:<18} {meaning}", row.cycles, row.name).expect("a string takes everything");
    }
    for handler in &code.handlers {
        let names = register(code, u32::from(handler.depth));
        writeln!(page, "        an exception in {}..{} goes to {} with {names}", handler.start, handler.end, handler.target)
            .expect("a string takes everything");
    }
}

/// Puts the operands of an instruction into the words of its row.
struct Reader<'a> {
    unit: &'a Unit,
    code: &'a Code,
    ins: Instruction,
    at: usize,
}

impl Reader<'_> {
    fn meaning(&self, doc: &str) -> String {
        if self.ins.op == Op::Nop && self.at > 0 {
            return format!("operands {} and {} of the one before", self.ins.b, self.ins.c);
        }
        let mut out = String::new();
        let mut rest = doc;
        while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphabetic()) {
            let end =
                rest[start..].find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').map_or(rest.len(), |end| start + end);
            let (gap, word, after) = (&rest[..start], &rest[start..end], &rest[end..]);
            out.push_str(gap);
            rest = self.put(&mut out, word, after);
        }
        out.push_str(rest);
        let flags = self.ins.flags;
        if out.starts_with("go ") && flags & NEGATE != 0 {
            out = out.replacen(" when ", " unless ", 1);
        }
        if flags & INPLACE != 0 && self.ins.op as u8 <= Op::RightShiftInt as u8 {
            out.push_str(", in place");
        }
        out
    }

    /// Writes one word of the row, or the operand that it stands for, and answers what is left to read.
    fn put<'t>(&self, out: &mut String, word: &str, after: &'t str) -> &'t str {
        let place = match word {
            "a" => 0,
            "b" | "bc" => 1,
            "c" => 2,
            "constants" | "names" => return self.entry(out, word, after),
            "site" => return self.site(out, after),
            _ => {
                out.push_str(word);
                return after;
            }
        };
        let (shape, operand) = self.ins.operands()[place];
        let next = i64::try_from(self.at).unwrap_or(0) + 1;
        match shape {
            Operand::Distance | Operand::Ahead => {
                let further = if shape == Operand::Ahead { i64::from(operand) } else { signed(operand) };
                write!(out, "to {}", next + further).expect("a string takes everything");
                return after.trim_start().strip_prefix("further").unwrap_or(after);
            }
            Operand::Immediate => write!(out, "{}", signed(operand)).expect("a string takes everything"),
            Operand::Integer => write!(out, "{}", i32::from_ne_bytes(self.ins.wide().to_ne_bytes())).expect("a string takes everything"),
            Operand::Code => out.push_str(self.unit.codes.get(usize::from(operand)).map_or("?", |code| &code.qualname)),
            Operand::Count | Operand::Flag => write!(out, "{operand}").expect("a string takes everything"),
            _ if shape.is_wide() => write!(out, "{}", self.ins.wide()).expect("a string takes everything"),
            _ => return self.register(out, u32::from(operand), after),
        }
        after
    }

    /// `a`, `a+1`: a register, by the name of its variable where it has one.
    fn register<'t>(&self, out: &mut String, operand: u32, after: &'t str) -> &'t str {
        let plus = after.strip_prefix('+').and_then(|digits| Some((digits.chars().next()?.to_digit(10)?, &digits[1..])));
        let (operand, after) = plus.map_or((operand, after), |(more, after)| (operand + more, after));
        if operand == u32::from(u16::MAX) {
            out.push_str("nothing");
        } else {
            out.push_str(&register(self.code, operand));
        }
        after
    }

    /// `constants[bc]`, `names[b]`: what stands there.
    fn entry<'t>(&self, out: &mut String, table: &str, after: &'t str) -> &'t str {
        let Some((index, after)) = after.strip_prefix('[').and_then(|after| after.split_once(']')) else {
            out.push_str(table);
            return after;
        };
        let index = match index {
            "b" => usize::from(self.ins.b),
            "c" => usize::from(self.ins.c),
            _ => self.ins.wide() as usize,
        };
        match table {
            "constants" => out.push_str(&self.code.consts.get(index).map_or_else(|| "?".to_owned(), literal)),
            _ => out.push_str(self.code.names.get(index).map_or("?", String::as_str)),
        }
        after
    }

    /// `site c`, `site bc`: the name that an inline cache is about.
    fn site<'t>(&self, out: &mut String, after: &'t str) -> &'t str {
        let (is_wide, after) = match after.strip_prefix(" bc") {
            Some(after) => (true, after),
            None => (false, after.strip_prefix(" c").unwrap_or(after)),
        };
        let site = if is_wide { self.ins.wide() as usize } else { usize::from(self.ins.c) };
        let name = self.code.sites.get(site).and_then(|&name| self.code.names.get(usize::from(name)));
        out.push_str(name.map_or("?", String::as_str));
        after
    }
}

/// A variable's name, or the register's number.
fn register(code: &Code, register: u32) -> String {
    match code.local_names.get(register as usize).filter(|name| !name.is_empty()) {
        Some(name) => name.clone(),
        None => format!("r{register}"),
    }
}

/// A literal, shortened.
fn literal(value: &Const) -> String {
    let text = match value {
        Const::None => "None".to_owned(),
        Const::Ellipsis => "...".to_owned(),
        Const::Bool(true) => "True".to_owned(),
        Const::Bool(false) => "False".to_owned(),
        Const::Int(number) => number.to_string(),
        Const::BigInt(number) => number.to_string(),
        Const::Float(number) => cowboy_num::repr::repr(*number),
        Const::Imaginary(number) => format!("{}j", cowboy_num::repr::repr(*number)),
        Const::Str(text) => format!("{text:?}"),
        Const::Bytes(bytes) => format!("b{:?}", String::from_utf8_lossy(bytes)),
        Const::Tuple(items) => format!("({})", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
    };
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
