//! What is told about an exception that nobody caught: CPython's traceback with its causes, its notes and the tree of a group.

use super::Vm;
use crate::costs::TRACEBACK_LINE;
use crate::error::{Exit, PyError, Throw};
use crate::image::Program;
use crate::payload::Payload;
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How often a traceback shows the same line before it only counts, as CPython does.
const SHOWN_REPEATS: usize = 3;
/// Exceptions of one chain that are shown, the newest ones.
const CHAIN_LIMIT: usize = 65;
/// How many exceptions of a group are shown, as in CPython.
const GROUP_WIDTH: usize = 15;
/// How deep groups are shown, as in CPython.
const GROUP_DEPTH: usize = 10;
/// Bytes after which nothing more is shown: the same exception may stand in a group many times.
const REPORT_LIMIT: usize = 1 << 16;
/// Lines that are shown for the price of the exception.
const FREE_LINES: usize = 512;

const CAUSE: &str = "The above exception was the direct cause of the following exception:";
const CONTEXT: &str = "During handling of the above exception, another exception occurred:";

/// Lines that stand indented by the depth of the group they belong to.
#[derive(Default)]
struct Report {
    lines: Vec<String>,
    /// Bytes written so far.
    size: usize,
    /// How many groups are around, one more than their number once there is one.
    depth: usize,
    /// Whether the innermost group's frame is still open below.
    is_open: bool,
    /// Exceptions whose chain was shown.
    seen: BTreeSet<Ref>,
}

impl Report {
    fn is_full(&self) -> bool {
        self.size > REPORT_LIMIT
    }

    fn raw(&mut self, line: String) {
        if self.is_full() {
            return;
        }
        self.size += line.len() + 1;
        self.lines.push(line);
        if self.is_full() {
            self.lines.push("... (more than can be shown)".to_owned());
        }
    }

    /// The space before what belongs to a group.
    fn indent(&self) -> String {
        " ".repeat(2 * self.depth)
    }

    /// A line with the mark of its group before it.
    fn marked(&mut self, mark: char, line: &str) {
        let line = if self.depth == 0 { line.to_owned() } else { format!("{}{mark} {line}", self.indent()) };
        self.raw(line);
    }

    fn line(&mut self, line: &str) {
        self.marked('|', line);
    }

    /// Text of several lines, of which only the first has a mark, as in CPython.
    fn text(&mut self, text: &str) {
        for (index, line) in text.split('\n').enumerate() {
            if index == 0 { self.line(line) } else { self.raw(line.to_owned()) }
        }
    }

    /// Says how many lines a traceback leaves out.
    fn repeated(&mut self, count: usize) {
        match count.saturating_sub(SHOWN_REPEATS) {
            0 => {}
            1 => self.line("  [Previous line repeated 1 more time]"),
            more => self.line(&format!("  [Previous line repeated {more} more times]")),
        }
    }
}

/// Characters of a source line that a traceback shows.
const LONGEST_LINE: usize = 1_000;

/// Where the lines of sources begin and end, found once for each source.
#[derive(Default)]
struct Sources(std::collections::BTreeMap<u32, Vec<(usize, usize)>>);

impl Sources {
    /// A line of a source without the space around it.
    fn line<'a>(&mut self, program: &'a Program, unit: u32, line: u32) -> &'a str {
        let source = &program.files[unit as usize].source;
        let spans = self.0.entry(unit).or_insert_with(|| {
            let mut start = 0;
            let span = |line: &str| {
                let span = (start, start + line.len());
                start = span.1;
                span
            };
            source.split_inclusive('\n').map(span).collect()
        });
        let span = line.checked_sub(1).and_then(|line| spans.get(line as usize));
        let text = span.and_then(|&(start, end)| source.get(start..end)).unwrap_or("").trim();
        let end = text.char_indices().nth(LONGEST_LINE).map_or(text.len(), |(end, _)| end);
        &text[..end]
    }
}

impl Vm {
    /// What is told about an exception that nobody caught.
    pub(crate) fn describe(&mut self, exception: Value) -> PyError {
        let class = self.heap.class_of(exception);
        let type_name = self.shown_name(class);
        let message = self.final_text(exception);
        let mut report = Report::default();
        self.report_chain(exception, Some(&message), &mut report, &mut Sources::default());
        self.owe(TRACEBACK_LINE.of(report.lines.len().saturating_sub(FREE_LINES)));
        let attribute = |vm: &mut Vm, name: Ref| {
            let value = vm.heap.instance_attribute(exception, name).or_else(|| vm.lookup(class, name));
            value.unwrap_or(Value::None)
        };
        let slug = attribute(self, nm::ERROR_SLUG);
        let slug = self.heap.text(slug).map(str::to_owned);
        let code = match attribute(self, nm::CODE) {
            Value::Int(code) => u32::try_from(code).ok(),
            _ => None,
        };
        PyError { type_name, message, traceback: report.lines, slug, code }
    }

    /// A class's name with its module, unless that is builtin or the script.
    fn shown_name(&mut self, class: Ref) -> String {
        let name = self.qualified_name(class);
        let short = ["builtins.", "__main__."].iter().find_map(|prefix| name.strip_prefix(prefix));
        short.map_or(name.clone(), str::to_owned)
    }

    /// `str(exception)` at the end of a run, when its own `__str__` may still run within what is left of the limits.
    fn final_text(&mut self, exception: Value) -> String {
        let Some(function) = self.own_str(exception).filter(|_| self.frames.is_empty() && !self.describing) else {
            return self.exception_text(exception);
        };
        let Throw::Call(call) = self.call_special(function, &[exception], super::OnReturn::Entry) else { return String::new() };
        let allowed = std::mem::replace(&mut self.host_allowed, false);
        let text = match self.begin_call(*call, 0) {
            Ok(()) => match self.finished().unwrap_or_else(|| self.run_frames()) {
                Exit::Return(crate::host::HostValue::Str(text)) => text,
                _ => "<exception str() failed>".to_owned(),
            },
            Err(_) => "<exception str() failed>".to_owned(),
        };
        self.host_allowed = allowed;
        text
    }

    /// Runs what is on the stack; a second exception on the way is described without running more code.
    fn run_frames(&mut self) -> Exit {
        if self.describing {
            return Exit::Trap(crate::error::Trap::Internal);
        }
        self.describing = true;
        let exit = self.run();
        self.describing = false;
        exit
    }

    /// `str(exception)` without running Python code.
    pub(crate) fn exception_text(&mut self, exception: Value) -> String {
        match crate::objects::exception_text::message(self, exception) {
            Ok(text) => text,
            Err(throw) => {
                if let Throw::Raise(error) = throw {
                    self.heap.release(error);
                }
                "<exception str() failed>".to_owned()
            }
        }
    }

    /// What led to an exception, the oldest first, and the exception itself. Its message is given where it is known.
    fn report_chain(&mut self, exception: Value, message: Option<&str>, report: &mut Report, sources: &mut Sources) {
        let mut chain = vec![(exception, None)];
        while let Some(&(newest, _)) = chain.last().filter(|_| chain.len() < CHAIN_LIMIT) {
            let (Value::Obj(object), Some(row)) = (newest, self.heap.exception_data(newest)) else { break };
            let (before, sentence) = if row.cause.is_none() { (row.context, CONTEXT) } else { (row.cause, CAUSE) };
            let is_hidden = before.is_none() || (row.cause.is_none() && row.suppress);
            report.seen.insert(object);
            if is_hidden || before.object().is_none_or(|before| report.seen.contains(&before)) {
                break;
            }
            chain.push((before, Some(sentence)));
        }
        // Code that runs for a message may let go of what is still to be shown.
        for &(each, _) in &chain {
            self.heap.retain(each);
        }
        let is_open = report.is_open;
        for &(each, sentence) in chain.iter().rev() {
            report.is_open = is_open && sentence.is_none();
            if !report.is_full() {
                let message = if sentence.is_none() { message } else { None };
                self.report_one(each, message, report, sources);
            }
            if let Some(sentence) = sentence {
                for line in ["", sentence, ""] {
                    report.line(line);
                }
            }
        }
        self.heap.release_all(chain.into_iter().map(|(each, _)| each).collect());
    }

    /// An exception with its group, without what led to it.
    fn report_one(&mut self, exception: Value, message: Option<&str>, report: &mut Report, sources: &mut Sources) {
        if !self.heap.is_instance(exception, ty::BASE_EXCEPTION_GROUP) {
            return self.report_plain(exception, message, report, sources);
        }
        if report.depth > GROUP_DEPTH {
            return report.line(&format!("... (max_group_depth is {GROUP_DEPTH})"));
        }
        let is_outermost = report.depth == 0;
        report.depth += usize::from(is_outermost);
        self.report_plain(exception, message, report, sources);
        // A group of many may stand in a tree often, so no more of it is copied than is shown.
        let first = |items: &[Value]| (items[..items.len().min(GROUP_WIDTH + 1)].to_vec(), items.len());
        let held = self.heap.exception_data(exception).and_then(|row| self.heap.tuple_ref(row.args).get(1).copied());
        let (members, count) = match held.and_then(Value::object).map(|object| self.heap.payload(object).core()) {
            Some(Payload::List(list)) => first(&list.items),
            Some(Payload::Tuple(items)) => first(items),
            _ => (Vec::new(), 0),
        };
        self.heap.retain_each(&members);
        self.report_members(&members, count, report, sources);
        self.heap.release_all(members);
        report.depth -= usize::from(is_outermost);
    }

    fn report_members(&mut self, members: &[Value], count: usize, report: &mut Report, sources: &mut Sources) {
        report.is_open = false;
        for (index, &member) in members.iter().enumerate() {
            if report.is_full() {
                return;
            }
            let is_last = index + 1 == members.len();
            let is_cut = index == GROUP_WIDTH;
            report.is_open = is_last;
            let title = if is_cut { "...".to_owned() } else { (index + 1).to_string() };
            let corner = if index == 0 { "+-" } else { "  " };
            report.raw(format!("{}{corner}+---------------- {title} ----------------", report.indent()));
            report.depth += 1;
            if is_cut {
                let rest = count - GROUP_WIDTH;
                report.line(&format!("and {rest} more exception{}", if rest == 1 { "" } else { "s" }));
            } else {
                self.report_chain(member, None, report, sources);
            }
            // A group inside that came last has closed the frame for all of them.
            if is_last && std::mem::take(&mut report.is_open) {
                report.raw(format!("{}+------------------------------------", report.indent()));
            }
            report.depth -= 1;
        }
    }

    /// The frames, the message and the notes of one exception.
    fn report_plain(&mut self, exception: Value, message: Option<&str>, report: &mut Report, sources: &mut Sources) {
        let Some(row) = self.heap.exception_data(exception) else { return };
        let trace = row.trace.clone();
        if !trace.is_empty() {
            let is_group = self.heap.is_instance(exception, ty::BASE_EXCEPTION_GROUP);
            let header = if is_group { "Exception Group Traceback (most recent call last):" } else { "Traceback (most recent call last):" };
            report.marked(if is_group && report.depth == 1 { '+' } else { '|' }, header);
            self.report_frames(&trace, report, sources);
        }
        let class = self.heap.class_of(exception);
        let name = self.shown_name(class);
        let message = message.map_or_else(|| self.final_text(exception), str::to_owned);
        report.text(&if message.is_empty() { name } else { format!("{name}: {message}") });
        self.report_notes(exception, report);
    }

    fn report_frames(&mut self, trace: &[(u32, u32)], report: &mut Report, sources: &mut Sources) {
        let program = Arc::clone(&self.program);
        let mut repeated = (None, 0usize);
        for &(number, line) in trace.iter().rev() {
            let linked = &program.codes[number as usize];
            if linked.code.hidden && !self.loader {
                continue;
            }
            repeated = if repeated.0 == Some((number, line)) {
                (repeated.0, repeated.1 + 1)
            } else {
                report.repeated(repeated.1);
                (Some((number, line)), 1)
            };
            if repeated.1 > SHOWN_REPEATS {
                continue;
            }
            let file = &program.files[linked.unit as usize].file;
            report.line(&format!("  File \"{file}\", line {line}, in {}", linked.code.name));
            let text = sources.line(&program, linked.unit, line);
            if !text.is_empty() {
                report.line(&format!("    {text}"));
            }
        }
        report.repeated(repeated.1);
    }

    /// `__notes__`, each of its texts line by line.
    fn report_notes(&mut self, exception: Value, report: &mut Report) {
        let Some(notes) = self.heap.instance_attribute(exception, nm::NOTES) else { return };
        let is_sequence =
            matches!(notes.object().map(|object| self.heap.payload(object).core()), Some(Payload::List(_) | Payload::Tuple(_)));
        let notes = if is_sequence { self.heap.sequence_snapshot(notes) } else { vec![notes] };
        for note in notes {
            if report.is_full() {
                return;
            }
            let shown = if is_sequence { crate::objects::exception_text::display(self, note) } else { self.repr_native(note) };
            let text = shown.unwrap_or_else(|throw| {
                if let Throw::Raise(error) = throw {
                    self.heap.release(error);
                }
                if is_sequence { "<note str() failed>" } else { "<__notes__ repr() failed>" }.to_owned()
            });
            for line in text.split('\n') {
                report.line(line);
            }
        }
    }
}
