//! The loop: the quick form of every instruction that programs spend their time in. What does not apply quickly, and every other
//! instruction, goes to [`Vm::step`]. Whatever an arm does, it charges the row's cycles first and counts references exactly.

use super::aside::{add, divide, float_operands, multiply, plain_field, shifted, subtract};
use super::{OnReturn, Vm};
use crate::costs::{Charge, FLOAT_ROOT, ITEM_MADE, TEXT_WRITTEN};
use crate::error::{Throw, Trap};
use crate::frame::leaving;
use crate::image::{LinkedCode, Program};
use crate::interp::operators::{floor_div, floor_mod};
use crate::objects::float::is_root;
use crate::payload::Payload;
use crate::runtime::native::Role;
use crate::types::ty;
use crate::value::{Ref, Truth, Value};
use crate::window::{Cursor, Window, afresh};
use cowboy_compiler::opcode::{CYCLES, INPLACE, METHOD, NEGATE, Op, TEMP_A, TEMP_B, TEMP_C};
use cowboy_num::sizes;
use std::cmp::Ordering;

impl Vm {
    /// Runs instructions of the top frame, and of those that it calls and returns to, until there is no frame any more, a limit is
    /// passed, or something is thrown.
    #[allow(clippy::too_many_lines, clippy::cognitive_complexity, reason = "one arm per instruction, in one place, is the point of it")]
    pub(super) fn run_loop(&mut self, program: &Program) {
        let mut code: &LinkedCode;
        let mut cursor: Cursor<'_>;
        let mut window: Window;
        let mut cycles: i64;

        // Goes on in what is the top frame now.
        macro_rules! load {
            () => {{
                if !self.heap.abandoned.is_empty() && !self.frames.is_empty() {
                    self.close_abandoned();
                }
                let Some(frame) = self.frames.last() else { return };
                code = &program.codes[frame.code as usize];
                self.top_base = frame.base as usize;
                self.top_sites = self.first_sites[frame.code as usize];
                cursor = Cursor::at(&code.code.instructions, frame.pc);
                window = Window::over(&mut self.registers, self.top_base, code.code.registers);
                cycles = self.meter.cycles;
                if self.top_sites == 0 {
                    self.top_sites = self.make_caches(code);
                }
                if self.heap.exhausted() || self.meter.weight < 0 {
                    return;
                }
            }};
        }
        // Writes down what only the loop knows, before other code sees the frame.
        macro_rules! save {
            () => {{
                self.meter.cycles = cycles;
                if let Some(frame) = self.frames.last_mut() {
                    frame.pc = cursor.position(&code.code.instructions);
                }
            }};
        }
        // Goes on at the beginning of the frame that was pushed, which runs this code.
        macro_rules! enter {
            ($number:expr, $code:expr, $base:expr) => {{
                code = $code;
                self.top_base = $base;
                self.top_sites = self.first_sites[$number as usize];
                cursor = Cursor::at(&code.code.instructions, 0);
                window = Window::over(&mut self.registers, self.top_base, code.code.registers);
                if self.top_sites == 0 {
                    self.top_sites = self.make_caches(code);
                }
                if self.heap.exhausted() || self.meter.weight < 0 {
                    return;
                }
            }};
        }
        // Goes on after a call that was done without a frame, or in the frame that it pushed.
        macro_rules! go_on {
            () => {{
                if self.reload {
                    self.reload = false;
                    load!();
                } else {
                    cycles = self.meter.cycles;
                    window = Window::over(&mut self.registers, self.top_base, code.code.registers);
                }
                continue;
            }};
        }
        // Takes the price of an instruction before it does anything.
        macro_rules! charge {
            ($op:expr) => {
                cycles -= i64::from(CYCLES[$op as usize]);
                if cycles < 0 {
                    break;
                }
            };
        }
        // Leaves the instruction to its general form.
        macro_rules! general {
            ($ins:expr) => {{
                save!();
                self.general(*$ins, program)
            }};
        }
        // Leaves the instruction to its form for integers beyond 64 bits, or else to its general form.
        macro_rules! large {
            ($ins:expr) => {{
                self.meter.cycles = cycles;
                if self.compute_large(*$ins) {
                    cycles = self.meter.cycles;
                    if self.heap.abandoned.is_empty() && !self.heap.exhausted() && self.meter.weight >= 0 {
                        continue;
                    }
                    save!();
                    true
                } else {
                    general!($ins)
                }
            }};
        }
        // Runs the instruction once more, for the same charge: an inline cache knows better now.
        macro_rules! again {
            ($ins:expr) => {{
                save!();
                self.again($ins.op);
                load!();
                continue;
            }};
        }
        // Writes a register; what it held is released.
        macro_rules! set {
            ($index:expr, $value:expr) => {{
                let value = $value;
                let place = window.place($index);
                if let Value::Obj(old) = *place {
                    *place = value;
                    self.heap.release_object(old);
                } else {
                    *place = value;
                }
            }};
        }
        // Releases what a register holds.
        macro_rules! clear {
            ($index:expr) => {
                set!($index, Value::Undefined)
            };
        }
        // Releases an operand that the instruction consumes.
        macro_rules! consume {
            ($ins:expr, $index:expr, $flag:expr) => {
                if $ins.flags & $flag != 0 {
                    clear!($index);
                }
            };
        }
        // Writes a value found somewhere else into a register, with a reference of its own.
        macro_rules! set_found {
            ($index:expr, $found:expr) => {{
                let value = afresh($found);
                if let Value::Obj(object) = value {
                    self.heap.retain_object(object);
                }
                set!($index, value);
            }};
        }
        // Hands the value of a register over, or makes another reference to it.
        macro_rules! hand_over {
            ($ins:expr, $index:expr, $flag:expr) => {
                if $ins.flags & $flag != 0 {
                    *window.place($index) = Value::Undefined;
                } else if let Value::Obj(object) = *window.at($index) {
                    self.heap.retain_object(object);
                }
            };
        }
        // A step of a loop over something builtin that is not quick, but needs no frame either.
        macro_rules! advance {
            ($ins:expr) => {{
                save!();
                let exit = cursor.position(&code.code.instructions) + u32::from($ins.c);
                match self.advance_quickly(self.top_base + usize::from($ins.b), self.top_base + usize::from($ins.a), exit) {
                    Some(true) => {
                        if self.heap.abandoned.is_empty() && !self.heap.exhausted() && self.meter.weight >= 0 && self.meter.cycles >= 0 {
                            cycles = self.meter.cycles;
                            window = Window::over(&mut self.registers, self.top_base, code.code.registers);
                            continue;
                        }
                        true
                    }
                    Some(false) => {
                        clear!($ins.b);
                        if let Some(frame) = self.frames.last_mut() {
                            frame.pc = exit;
                        }
                        true
                    }
                    None => self.thrown.is_none(),
                }
            }};
        }
        macro_rules! arithmetic {
            ($ins:expr, $op:expr, $checked:ident, $float:ident) => {{
                charge!($op);
                match (window.at($ins.b), window.at($ins.c)) {
                    (&Value::Int(left), &Value::Int(right)) => match left.$checked(right) {
                        Some(result) => {
                            set!($ins.a, Value::Int(result));
                            continue;
                        }
                        None => large!($ins),
                    },
                    (&Value::Float(left), &Value::Float(right)) => {
                        set!($ins.a, Value::Float($float(left, right)));
                        continue;
                    }
                    (left, right) => match float_operands(left, right) {
                        Some((left, right)) => {
                            set!($ins.a, Value::Float($float(left, right)));
                            continue;
                        }
                        None => large!($ins),
                    },
                }
            }};
        }
        // An operation on two integers, given as `Some` when it is quick.
        macro_rules! integers {
            ($ins:expr, $op:expr, |$x:ident, $y:ident| $result:expr) => {{
                charge!($op);
                if let (&Value::Int($x), &Value::Int($y)) = (window.at($ins.b), window.at($ins.c)) {
                    if let Some(result) = $result {
                        set!($ins.a, Value::Int(result));
                        continue;
                    }
                }
                large!($ins)
            }};
        }
        macro_rules! immediate {
            ($ins:expr, $op:expr, |$x:ident, $y:ident| $result:expr) => {{
                charge!($op);
                if let Value::Int($x) = *window.at($ins.b) {
                    let $y = $ins.immediate();
                    if let Some(result) = $result {
                        set!($ins.a, Value::Int(result));
                        continue;
                    }
                }
                large!($ins)
            }};
        }
        macro_rules! comparison {
            ($ins:expr, $op:expr, $operator:tt, $texts:ident) => {{
                charge!($op);
                let truth = match (window.at($ins.b), window.at($ins.c)) {
                    (Value::Int(left), Value::Int(right)) => Some(left $operator right),
                    (Value::Float(left), Value::Float(right)) => Some(left $operator right),
                    (&Value::Obj(left), &Value::Obj(right)) => match self.heap.$texts(left, right) {
                        Some(order) => {
                            consume!($ins, $ins.b, TEMP_B);
                            consume!($ins, $ins.c, TEMP_C);
                            Some(order $operator Ordering::Equal)
                        }
                        None => None,
                    },
                    _ => None,
                };
                match truth {
                    Some(truth) => {
                        set!($ins.a, Value::truth(truth));
                        continue;
                    }
                    None => general!($ins),
                }
            }};
        }
        macro_rules! jump_near {
            ($ins:expr, $truth:expr) => {{
                if ($truth) == ($ins.flags & NEGATE == 0) {
                    cursor.skip(i16::from_ne_bytes($ins.c.to_ne_bytes()));
                }
                continue;
            }};
        }
        macro_rules! compare_jump {
            ($ins:expr, $op:expr, $operator:tt) => {{
                charge!($op);
                match (window.at($ins.a), window.at($ins.b)) {
                    (Value::Int(left), Value::Int(right)) => jump_near!($ins, left $operator right),
                    (Value::Float(left), Value::Float(right)) => jump_near!($ins, left $operator right),
                    _ => general!($ins),
                }
            }};
        }
        // The same for `==` and `!=`, where texts are quick too.
        macro_rules! equal_jump {
            ($ins:expr, $op:expr, $operator:tt) => {{
                charge!($op);
                match (window.at($ins.a), window.at($ins.b)) {
                    (Value::Int(left), Value::Int(right)) => jump_near!($ins, left $operator right),
                    (Value::Float(left), Value::Float(right)) => jump_near!($ins, left $operator right),
                    (&Value::Obj(left), &Value::Obj(right)) => match self.heap.same_text(left, right) {
                        Some(same) => {
                            consume!($ins, $ins.a, TEMP_A);
                            consume!($ins, $ins.b, TEMP_B);
                            jump_near!($ins, same $operator true)
                        }
                        None => general!($ins),
                    },
                    _ => general!($ins),
                }
            }};
        }
        macro_rules! compare_jump_immediate {
            ($ins:expr, $op:expr, $operator:tt) => {{
                charge!($op);
                match *window.at($ins.a) {
                    Value::Int(left) => jump_near!($ins, left $operator i64::from(i16::from_ne_bytes($ins.b.to_ne_bytes()))),
                    _ => general!($ins),
                }
            }};
        }
        macro_rules! truth_jump {
            ($ins:expr, $when:expr) => {{
                let truth = match *window.at($ins.a) {
                    Value::Bool(truth) => Some(truth == Truth::True),
                    Value::None => Some(false),
                    Value::Int(number) => Some(number != 0),
                    Value::Obj(object) => match self.heap.payload(object) {
                        Payload::List(list) => Some(!list.items.is_empty()),
                        Payload::Str(text) => Some(text.chars != 0),
                        Payload::Dict(table) => Some(table.len() != 0),
                        _ => None,
                    },
                    _ => None,
                };
                match truth {
                    Some(truth) => {
                        consume!($ins, $ins.a, TEMP_A);
                        if truth == $when {
                            cursor.jump(&code.code.instructions, $ins.wide());
                        }
                        continue;
                    }
                    None => general!($ins),
                }
            }};
        }

        // `a = b[key]`; then the key is consumed, if it was in a register.
        macro_rules! item {
            ($ins:expr, $op:expr, $key:expr $(, $consumed:expr)?) => {{
                charge!($op);
                match self.quick_item(window.at($ins.b), $key) {
                    Some(found) => {
                        let value = afresh(found);
                        if let Value::Obj(object) = value {
                            self.heap.retain_object(object);
                        }
                        $($consumed;)?
                        consume!($ins, $ins.b, TEMP_B);
                        set!($ins.a, value);
                        continue;
                    }
                    None => general!($ins),
                }
            }};
        }
        // `a[key] = c`; then the key is consumed, if it was in a register.
        macro_rules! store_item {
            ($ins:expr, $op:expr, $key:expr $(, $consumed:expr)?) => {{
                charge!($op);
                if self.store_quick_item(window.at($ins.a), $key, window.at($ins.c)) {
                    hand_over!($ins, $ins.c, TEMP_C);
                    $($consumed;)?
                    consume!($ins, $ins.a, TEMP_A);
                    continue;
                }
                general!($ins)
            }};
        }
        // A step of a loop: the next item, or out of it.
        macro_rules! iterate {
            ($ins:expr) => {
                match (window.at($ins.b), window.at($ins.b + 1), window.at($ins.b + 2)) {
                    (&Value::Int(_), &Value::Int(_), &Value::Int(0)) => {
                        *window.place($ins.b) = Value::Undefined;
                        cursor.forward($ins.c);
                        continue;
                    }
                    (&Value::Int(step), &Value::Int(next), &Value::Int(left)) if left > 0 => {
                        *window.place($ins.b + 1) = Value::Int(next.wrapping_add(step));
                        *window.place($ins.b + 2) = Value::Int(left - 1);
                        set!($ins.a, Value::Int(next));
                        continue;
                    }
                    (&Value::Obj(source), &Value::Int(index), _) => {
                        match self.heap.items(source).map(|items| items.get(sizes::index(index).unwrap_or(usize::MAX))) {
                            Some(Some(item)) => {
                                set_found!($ins.a, item);
                                *window.place($ins.b + 1) = Value::Int(index + 1);
                                continue;
                            }
                            Some(None) => {
                                clear!($ins.b);
                                cursor.forward($ins.c);
                                continue;
                            }
                            None => advance!($ins),
                        }
                    }
                    (&Value::Obj(source), &Value::Undefined, _) if matches!(self.heap.payload(source), Payload::Iterator(_)) => {
                        let next = cursor.ahead();
                        if next.op == Op::Unpack && next.c == 2 && next.b == $ins.a && next.flags & TEMP_B != 0 {
                            if let Some(price) = self.next_pair(source, self.top_base + usize::from(next.a)) {
                                cycles -= (price + Charge::of_instruction(Op::Unpack)).cycles();
                                if next.flags & INPLACE != 0 {
                                    cycles -= ITEM_MADE.of(usize::from(next.c)).cycles();
                                }
                                cursor.forward(1);
                                if self.heap.exhausted() {
                                    save!();
                                    return;
                                }
                                continue;
                            }
                        }
                        advance!($ins)
                    }
                    (&Value::Obj(source), &Value::Undefined, _) => {
                        save!();
                        let exit = cursor.position(&code.code.instructions) + u32::from($ins.c);
                        if self.resume_quickly(source, self.top_base + usize::from($ins.a), OnReturn::ForIter { exit }) {
                            load!();
                            continue;
                        }
                        general!($ins)
                    }
                    _ => general!($ins),
                }
            };
        }

        load!();
        loop {
            let ins = cursor.fetch();
            // An arm that is done goes on with the next instruction; the others end here with their general form's outcome.
            let goes_on = match ins.op {
                Op::Move => {
                    charge!(Op::Move);
                    let value = window.value(ins.b);
                    if value.is_undefined() && ins.c == 0 {
                        general!(ins)
                    } else {
                        hand_over!(ins, ins.b, TEMP_B);
                        set!(ins.a, value);
                        continue;
                    }
                }
                Op::LoadConst => {
                    charge!(Op::LoadConst);
                    set_found!(ins.a, &code.consts[ins.wide() as usize]);
                    continue;
                }
                Op::LoadInt => {
                    charge!(Op::LoadInt);
                    set!(ins.a, Value::Int(i64::from(i32::from_ne_bytes(ins.wide().to_ne_bytes()))));
                    continue;
                }
                Op::LoadNone => {
                    charge!(Op::LoadNone);
                    set!(ins.a, Value::None);
                    continue;
                }
                Op::LoadGlobal => {
                    charge!(Op::LoadGlobal);
                    let cache = &self.caches[(self.top_sites + ins.wide()) as usize];
                    if cache.epoch == self.heap.globals_epoch {
                        debug_assert!(self.knows_global(code, *ins), "every change of a module's dict is noticed");
                        set_found!(ins.a, &cache.value);
                        continue;
                    }
                    let globals = self.frames.last().map_or(Ref(0), |frame| frame.globals);
                    if self.relocate(globals, self.top_sites + ins.wide()) {
                        set_found!(ins.a, &self.caches[(self.top_sites + ins.wide()) as usize].value);
                        continue;
                    }
                    general!(ins)
                }
                Op::StoreGlobal => {
                    charge!(Op::StoreGlobal);
                    let value = window.value(ins.a);
                    if value.is_undefined() {
                        general!(ins)
                    } else {
                        hand_over!(ins, ins.a, TEMP_A);
                        let globals = self.frames.last().map_or(Ref(0), |frame| frame.globals);
                        let name = code.names[usize::from(ins.b)];
                        match self.heap.dict_position_of_name(globals, name) {
                            Some(position) => self.heap.replace_global(globals, position, value),
                            None => self.dict_set_name(globals, name, value),
                        }
                        if self.heap.abandoned.is_empty() && !self.heap.exhausted() {
                            continue;
                        }
                        save!();
                        true
                    }
                }
                Op::LoadCell => {
                    charge!(Op::LoadCell);
                    let content = match *window.at(ins.b) {
                        Value::Obj(cell) => match self.heap.payload(cell) {
                            Payload::Cell(content) => content,
                            _ => &Value::Undefined,
                        },
                        _ => &Value::Undefined,
                    };
                    if content.is_undefined() {
                        general!(ins)
                    } else {
                        set_found!(ins.a, content);
                        continue;
                    }
                }
                Op::Clear => {
                    charge!(Op::Clear);
                    clear!(ins.a);
                    if self.heap.abandoned.is_empty() {
                        continue;
                    }
                    save!();
                    true
                }
                Op::Check => {
                    charge!(Op::Check);
                    if window.at(ins.a).is_undefined() {
                        general!(ins)
                    } else {
                        continue;
                    }
                }
                Op::Add => arithmetic!(ins, Op::Add, checked_add, add),
                Op::Sub => arithmetic!(ins, Op::Sub, checked_sub, subtract),
                Op::Mul => arithmetic!(ins, Op::Mul, checked_mul, multiply),
                Op::TrueDiv => {
                    charge!(Op::TrueDiv);
                    match divide(window.at(ins.b), window.at(ins.c)) {
                        Some(quotient) => {
                            set!(ins.a, Value::Float(quotient));
                            continue;
                        }
                        None => general!(ins),
                    }
                }
                Op::Pow => {
                    charge!(Op::Pow);
                    match (window.at(ins.b), window.at(ins.c)) {
                        (&Value::Float(left), &Value::Float(right)) if is_root(left, right) => {
                            cycles -= FLOAT_ROOT.once().cycles();
                            set!(ins.a, Value::Float(left.sqrt()));
                            continue;
                        }
                        (&Value::Int(left), &Value::Int(right)) => {
                            match u32::try_from(right).ok().and_then(|right| left.checked_pow(right)) {
                                Some(power) => {
                                    set!(ins.a, Value::Int(power));
                                    continue;
                                }
                                None => general!(ins),
                            }
                        }
                        _ => general!(ins),
                    }
                }
                Op::FloorDiv => integers!(ins, Op::FloorDiv, |x, y| floor_div(x, y)),
                Op::Mod => integers!(ins, Op::Mod, |x, y| floor_mod(x, y)),
                Op::LeftShift => integers!(ins, Op::LeftShift, |x, y| shifted(x, y)),
                Op::RightShift => integers!(ins, Op::RightShift, |x, y| if y >= 0 { Some(x >> y.min(63)) } else { None }),
                Op::And => integers!(ins, Op::And, |x, y| Some(x & y)),
                Op::Or => integers!(ins, Op::Or, |x, y| Some(x | y)),
                Op::Xor => integers!(ins, Op::Xor, |x, y| Some(x ^ y)),
                Op::AddInt => immediate!(ins, Op::AddInt, |x, y| x.checked_add(y)),
                Op::SubInt => immediate!(ins, Op::SubInt, |x, y| x.checked_sub(y)),
                Op::MulInt => immediate!(ins, Op::MulInt, |x, y| x.checked_mul(y)),
                Op::FloorDivInt => immediate!(ins, Op::FloorDivInt, |x, y| floor_div(x, y)),
                Op::ModInt => immediate!(ins, Op::ModInt, |x, y| floor_mod(x, y)),
                Op::AndInt => immediate!(ins, Op::AndInt, |x, y| Some(x & y)),
                Op::OrInt => immediate!(ins, Op::OrInt, |x, y| Some(x | y)),
                Op::XorInt => immediate!(ins, Op::XorInt, |x, y| Some(x ^ y)),
                Op::LeftShiftInt => immediate!(ins, Op::LeftShiftInt, |x, y| shifted(x, y)),
                Op::RightShiftInt => immediate!(ins, Op::RightShiftInt, |x, y| if y >= 0 { Some(x >> y.min(63)) } else { None }),
                Op::Negative => {
                    charge!(Op::Negative);
                    match *window.at(ins.b) {
                        Value::Int(value) if value != i64::MIN => {
                            set!(ins.a, Value::Int(-value));
                            continue;
                        }
                        Value::Float(value) => {
                            set!(ins.a, Value::Float(-value));
                            continue;
                        }
                        _ => general!(ins),
                    }
                }
                Op::Invert => {
                    charge!(Op::Invert);
                    match *window.at(ins.b) {
                        Value::Int(value) => {
                            set!(ins.a, Value::Int(!value));
                            continue;
                        }
                        _ => general!(ins),
                    }
                }
                Op::Not => {
                    charge!(Op::Not);
                    match self.heap.quick_truth(window.at(ins.b)) {
                        Some(truth) => {
                            consume!(ins, ins.b, TEMP_B);
                            set!(ins.a, Value::truth(!truth));
                            continue;
                        }
                        None => general!(ins),
                    }
                }
                Op::Is | Op::IsNot => {
                    charge!(Op::Is);
                    let (left, right) = (window.at(ins.b), window.at(ins.c));
                    if left.is_undefined() || right.is_undefined() {
                        general!(ins)
                    } else {
                        let same = window.value(ins.b).is(window.value(ins.c));
                        consume!(ins, ins.b, TEMP_B);
                        consume!(ins, ins.c, TEMP_C);
                        set!(ins.a, Value::truth(same == (ins.op == Op::Is)));
                        if self.heap.abandoned.is_empty() {
                            continue;
                        }
                        save!();
                        true
                    }
                }
                Op::Less => comparison!(ins, Op::Less, <, order_of_texts),
                Op::LessEqual => comparison!(ins, Op::LessEqual, <=, order_of_texts),
                Op::Greater => comparison!(ins, Op::Greater, >, order_of_texts),
                Op::GreaterEqual => comparison!(ins, Op::GreaterEqual, >=, order_of_texts),
                Op::Equal => comparison!(ins, Op::Equal, ==, equality_of_texts),
                Op::NotEqual => comparison!(ins, Op::NotEqual, !=, equality_of_texts),
                Op::In | Op::NotIn => {
                    charge!(Op::In);
                    if let Value::Obj(container) = *window.at(ins.c) {
                        if let Payload::Dict(table) | Payload::Set(table) = self.heap.payload(container) {
                            if let Some(found) = self.heap.find_known(table, window.at(ins.b)) {
                                let found = found.is_some();
                                consume!(ins, ins.b, TEMP_B);
                                consume!(ins, ins.c, TEMP_C);
                                set!(ins.a, Value::truth(found == (ins.op == Op::In)));
                                continue;
                            }
                        }
                    }
                    general!(ins)
                }
                Op::Jump => {
                    charge!(Op::Jump);
                    if self.heap.exhausted() {
                        general!(ins)
                    } else {
                        cursor.jump(&code.code.instructions, ins.wide());
                        continue;
                    }
                }
                Op::JumpIfTrue | Op::JumpIfTrueKeep => {
                    charge!(Op::JumpIfTrue);
                    truth_jump!(ins, true)
                }
                Op::JumpIfFalse | Op::JumpIfFalseKeep => {
                    charge!(Op::JumpIfFalse);
                    truth_jump!(ins, false)
                }
                Op::JumpIfNone | Op::JumpIfNotNone => {
                    charge!(Op::JumpIfNone);
                    let value = window.at(ins.a);
                    let none = value.is_none();
                    if value.is_undefined() {
                        general!(ins)
                    } else {
                        consume!(ins, ins.a, TEMP_A);
                        if none == (ins.op == Op::JumpIfNone) {
                            cursor.jump(&code.code.instructions, ins.wide());
                        }
                        continue;
                    }
                }
                Op::JumpLess => compare_jump!(ins, Op::JumpLess, <),
                Op::JumpLessEqual => compare_jump!(ins, Op::JumpLessEqual, <=),
                Op::JumpGreater => compare_jump!(ins, Op::JumpGreater, >),
                Op::JumpGreaterEqual => compare_jump!(ins, Op::JumpGreaterEqual, >=),
                Op::JumpEqual => equal_jump!(ins, Op::JumpEqual, ==),
                Op::JumpNotEqual => equal_jump!(ins, Op::JumpNotEqual, !=),
                Op::JumpLessInt => compare_jump_immediate!(ins, Op::JumpLessInt, <),
                Op::JumpLessEqualInt => compare_jump_immediate!(ins, Op::JumpLessEqualInt, <=),
                Op::JumpGreaterInt => compare_jump_immediate!(ins, Op::JumpGreaterInt, >),
                Op::JumpGreaterEqualInt => compare_jump_immediate!(ins, Op::JumpGreaterEqualInt, >=),
                Op::JumpEqualInt => compare_jump_immediate!(ins, Op::JumpEqualInt, ==),
                Op::JumpNotEqualInt => compare_jump_immediate!(ins, Op::JumpNotEqualInt, !=),
                Op::LoadAttr => {
                    charge!(Op::LoadAttr);
                    match self.cached_attribute(window.at(ins.b), self.top_sites + u32::from(ins.c)) {
                        Some(found) => {
                            let value = afresh(found);
                            if let Value::Obj(object) = value {
                                self.heap.retain_object(object);
                            }
                            consume!(ins, ins.b, TEMP_B);
                            set!(ins.a, value);
                            continue;
                        }
                        None => match self.recalled_attribute(window.at(ins.b), self.top_sites + u32::from(ins.c)) {
                            Some(found) => {
                                let value = *found;
                                self.heap.retain(value);
                                consume!(ins, ins.b, TEMP_B);
                                set!(ins.a, value);
                                continue;
                            }
                            None => general!(ins),
                        },
                    }
                }
                Op::StoreAttr => {
                    charge!(Op::StoreAttr);
                    let site = self.top_sites + u32::from(ins.c);
                    if self.store_cached_attribute(window.at(ins.a), window.at(ins.b), site)
                        || self.store_recalled_attribute(window.at(ins.a), window.at(ins.b), site)
                    {
                        hand_over!(ins, ins.b, TEMP_B);
                        consume!(ins, ins.a, TEMP_A);
                        continue;
                    }
                    general!(ins)
                }
                Op::LoadMethod => {
                    charge!(Op::LoadMethod);
                    let site = self.top_sites + u32::from(ins.c);
                    let known = self.cached_method(window.at(ins.b), site);
                    let known = if known.is_some() { known } else { self.recalled_method(window.at(ins.b), site) };
                    match (window.at(ins.b), known) {
                        (&Value::Obj(receiver), Some(function)) => {
                            self.heap.retain_object(function);
                            hand_over!(ins, ins.b, TEMP_B);
                            set!(ins.a, Value::Obj(function));
                            set!(ins.a + 1, Value::Obj(receiver));
                            continue;
                        }
                        _ => general!(ins),
                    }
                }
                Op::GetItem => item!(ins, Op::GetItem, window.at(ins.c), consume!(ins, ins.c, TEMP_C)),
                Op::GetItemInt => item!(ins, Op::GetItemInt, &Value::Int(ins.immediate())),
                Op::GetItemConst => item!(ins, Op::GetItemConst, &code.consts[usize::from(ins.c)]),
                Op::SetItem => store_item!(ins, Op::SetItem, window.at(ins.b), consume!(ins, ins.b, TEMP_B)),
                Op::SetItemInt => store_item!(ins, Op::SetItemInt, &Value::Int(i64::from(i16::from_ne_bytes(ins.b.to_ne_bytes())))),
                Op::SetItemConst => store_item!(ins, Op::SetItemConst, &code.consts[usize::from(ins.b)]),
                Op::GetIter => {
                    charge!(Op::GetIter);
                    match self.quick_iteration(window.at(ins.b)) {
                        Some((second, third)) => {
                            // A range is not needed any more: its numbers are in the registers.
                            if let Some((step, next)) = second {
                                consume!(ins, ins.b, TEMP_B);
                                set!(ins.a, Value::Int(step));
                                set!(ins.a + 1, Value::Int(next));
                                set!(ins.a + 2, Value::Int(third));
                            } else {
                                let iterable = window.value(ins.b);
                                hand_over!(ins, ins.b, TEMP_B);
                                set!(ins.a, iterable);
                                set!(ins.a + 1, Value::Int(0));
                                set!(ins.a + 2, Value::Undefined);
                            }
                            continue;
                        }
                        None => general!(ins),
                    }
                }
                Op::ForIter => {
                    charge!(Op::ForIter);
                    iterate!(ins)
                }
                Op::Loop => {
                    charge!(Op::Loop);
                    if self.heap.exhausted() {
                        general!(ins)
                    } else {
                        cursor.jump(&code.code.instructions, ins.wide());
                        let step = cursor.ahead();
                        match (window.at(step.b), window.at(step.b + 1), window.at(step.b + 2)) {
                            (&Value::Int(step_by), &Value::Int(next), &Value::Int(left)) if left > 0 => {
                                *window.place(step.b + 1) = Value::Int(next.wrapping_add(step_by));
                                *window.place(step.b + 2) = Value::Int(left - 1);
                                set!(step.a, Value::Int(next));
                                cursor.forward(1);
                                continue;
                            }
                            (&Value::Obj(source), &Value::Int(index), _) => {
                                let items = self.heap.items(source);
                                if let Some(item) = items.and_then(|items| items.get(sizes::index(index).unwrap_or(usize::MAX))) {
                                    set_found!(step.a, item);
                                    *window.place(step.b + 1) = Value::Int(index + 1);
                                    cursor.forward(1);
                                    continue;
                                }
                            }
                            _ => {}
                        }
                        // The step runs by itself, and charges for itself.
                        cycles += i64::from(CYCLES[Op::ForIter as usize]);
                        continue;
                    }
                }
                Op::Call => {
                    charge!(Op::Call);
                    // A generator that the program let go of closes before anything else is done.
                    if !self.heap.abandoned.is_empty() {
                        again!(ins);
                    }
                    let (mut at, mut count) = (ins.b, ins.c);
                    if ins.flags & METHOD != 0 {
                        if window.at(at).is_undefined() {
                            at += 1;
                        } else {
                            count += 1;
                        }
                    }
                    let (first, dest) = (self.top_base + usize::from(at) + 1, self.top_base + usize::from(ins.a));
                    if let Value::Obj(object) = *window.at(at) {
                        match self.heap.payload(object) {
                            Payload::Function(function) => {
                                let (number, globals) = (function.code, function.globals);
                                let callee: &LinkedCode = &program.codes[number as usize];
                                let room = self.registers.len() >= first + usize::from(callee.code.registers);
                                let fits = match callee.plain {
                                    Some(parameters) if room && self.frames.len() < self.meter.limits.recursion => {
                                        parameters == count || parameters > count && self.fill_missing(object, first, count, parameters)
                                    }
                                    _ => false,
                                };
                                if fits {
                                    *window.place(at) = Value::Undefined;
                                    save!();
                                    if !callee.code.free_names.is_empty() {
                                        self.copy_closure(object, first + usize::from(callee.code.free_start));
                                    }
                                    self.push_frame(number, first, dest, globals, OnReturn::Store);
                                    self.heap.release_object(object);
                                    if self.heap.abandoned.is_empty() {
                                        enter!(number, callee, first);
                                    } else {
                                        load!();
                                    }
                                    continue;
                                }
                            }
                            &Payload::Native(row) => {
                                if matches!(self.native(row).role, Role::Length | Role::Append | Role::Get) {
                                    self.meter.cycles = cycles;
                                    if self.call_at_once(row, first, count, dest) {
                                        cycles = self.meter.cycles;
                                        if !self.heap.exhausted() {
                                            continue;
                                        }
                                        save!();
                                        return;
                                    }
                                }
                                save!();
                                if !self.call_builtin(row, first, usize::from(count), dest) {
                                    return;
                                }
                                go_on!();
                            }
                            Payload::Class(_) => {
                                save!();
                                match self.make(object, first, count, dest, program) {
                                    Some(true) => go_on!(),
                                    Some(false) => return,
                                    None => {}
                                }
                            }
                            _ => {}
                        }
                    }
                    save!();
                    self.call(first - 1, count, dest, program)
                }
                Op::Return | Op::ReturnNone => {
                    charge!(Op::Return);
                    let mut value = Value::None;
                    if ins.op == Op::Return {
                        value = window.value(ins.b);
                        hand_over!(ins, ins.b, TEMP_B);
                    }
                    let landing = match self.frames.last() {
                        Some(frame) => frame.lands(&value),
                        None => None,
                    };
                    if value.is_undefined() {
                        general!(ins)
                    } else if let Some((dest, value)) = landing {
                        cycles -= leaving(code.code.registers).cycles();
                        for index in 0..code.code.registers {
                            clear!(index);
                        }
                        // A plain frame holds nothing that has to be dropped.
                        std::mem::forget(self.frames.pop());
                        let place = &mut self.registers[dest];
                        let old = place.object();
                        *place = afresh(&value);
                        if let Some(old) = old {
                            self.heap.release_object(old);
                        }
                        self.meter.cycles = cycles;
                        load!();
                        continue;
                    } else {
                        save!();
                        self.leave(value, code)
                    }
                }
                Op::Yield => {
                    charge!(Op::Yield);
                    let value = window.value(ins.b);
                    if value.is_undefined() {
                        general!(ins)
                    } else {
                        let delegate = (ins.flags & NEGATE != 0).then_some(ins.c);
                        hand_over!(ins, ins.b, TEMP_B);
                        save!();
                        self.owe(leaving(code.code.registers));
                        if self.drain_quickly(&value, ins.a) || self.yield_quickly(value, ins.a, delegate, code) {
                            load!();
                            continue;
                        }
                        let outcome = self.yield_value(value, ins.a, delegate, code);
                        self.goes_on(outcome)
                    }
                }
                Op::Send => {
                    charge!(Op::Send);
                    if let (&Value::None, &Value::Obj(source)) = (window.at(ins.a), window.at(ins.b)) {
                        save!();
                        let done = u32::try_from(i64::from(cursor.position(&code.code.instructions)) + ins.immediate()).unwrap_or(0);
                        if self.resume_quickly(source, self.top_base + usize::from(ins.a), OnReturn::Send { done }) {
                            load!();
                            continue;
                        }
                    }
                    general!(ins)
                }
                Op::Unpack => {
                    charge!(Op::Unpack);
                    if ins.flags & INPLACE != 0 {
                        cycles -= ITEM_MADE.of(usize::from(ins.c)).cycles();
                    }
                    if let Value::Obj(object) = *window.at(ins.b) {
                        if self.heap.items(object).is_some_and(|items| items.len() == usize::from(ins.c)) {
                            // The sequence outlives the writes, one of which may be to its own register.
                            hand_over!(ins, ins.b, TEMP_B);
                            for offset in 0..ins.c {
                                if let Some(item) = self.heap.items(object).and_then(|items| items.get(usize::from(offset))) {
                                    set_found!(ins.a + offset, item);
                                }
                            }
                            self.heap.release_object(object);
                            continue;
                        }
                    }
                    general!(ins)
                }
                Op::BuildList | Op::BuildTuple => {
                    charge!(Op::BuildList);
                    let value = self.build_sequence(self.top_base + usize::from(ins.b), usize::from(ins.c), ins.op == Op::BuildList);
                    set!(ins.a, value);
                    continue;
                }
                Op::ListAppend => {
                    charge!(Op::ListAppend);
                    if self.append_quickly(window.at(ins.a), window.at(ins.b)) {
                        hand_over!(ins, ins.b, TEMP_B);
                        continue;
                    }
                    general!(ins)
                }
                Op::Format => {
                    charge!(Op::Format);
                    match *window.at(ins.b) {
                        Value::Int(number) if plain_field(ins) => {
                            let (text, length) = self.heap.decimal(number);
                            cycles -= TEXT_WRITTEN.of(length).cycles();
                            set!(ins.a, text);
                            continue;
                        }
                        Value::Obj(object) if plain_field(ins) && self.heap.slot(object).class == ty::STR => {
                            hand_over!(ins, ins.b, TEMP_B);
                            set!(ins.a, Value::Obj(object));
                            continue;
                        }
                        _ => general!(ins),
                    }
                }
                _ => {
                    charge!(ins.op);
                    general!(ins)
                }
            };
            if !goes_on {
                return;
            }
            load!();
        }
        save!();
        self.thrown = Some(Throw::Trap(Trap::OutOfCycles));
    }
}
