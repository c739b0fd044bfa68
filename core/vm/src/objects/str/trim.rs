//! Trimming and padding.

use super::{argument, receiver};
use crate::costs::{STRIP_SET, TEXT_HALVED, TEXT_PART, TEXT_PASSED, TEXT_WRITTEN};
use crate::error::Outcome;
use crate::objects::ascii;
use crate::runtime::Vm;
use crate::value::Value;
use cowboy_num::sizes;
use cowboy_unicode::is_space as is_python_space;
use std::collections::BTreeSet;

fn fill(vm: &mut Vm, args: &[Value]) -> Outcome<(String, usize, char)> {
    let text = receiver(vm, args[0])?;
    let width = vm.whole(args[1])?;
    let fill = if args[2].is_undefined() {
        ' '
    } else {
        if vm.heap.text(args[2]).is_none() {
            let message = format!("The fill character must be a unicode character, not {}", vm.heap.class_name(args[2]));
            return Err(vm.type_error(message));
        }
        let fill = argument(vm, args[2], "The fill character ")?;
        let mut characters = fill.chars();
        match (characters.next(), characters.next()) {
            (Some(only), None) => only,
            _ => return Err(vm.type_error("The fill character must be exactly one character long")),
        }
    };
    let missing = sizes::saturating(width).saturating_sub(text.chars().count());
    vm.spend(TEXT_WRITTEN.of(missing))?;
    vm.reserve(missing)?;
    Ok((text, missing, fill))
}

fn pad(fill: char, count: usize) -> String {
    std::iter::repeat_n(fill, count).collect()
}

pub(super) fn ljust(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (text, missing, fill) = fill(vm, args)?;
    Ok(vm.heap.string(format!("{text}{}", pad(fill, missing))))
}

pub(super) fn rjust(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (text, missing, fill) = fill(vm, args)?;
    Ok(vm.heap.string(format!("{}{text}", pad(fill, missing))))
}

pub(super) fn center(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (text, missing, fill) = fill(vm, args)?;
    let width = missing + text.chars().count();
    let left = missing / 2 + (missing & width & 1);
    Ok(vm.heap.string(format!("{}{text}{}", pad(fill, left), pad(fill, missing - left))))
}

pub(super) fn zfill(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (text, missing, _) = fill(vm, &[args[0], args[1], Value::Undefined])?;
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(rest) => (&text[..1], rest),
        None => ("", text.as_str()),
    };
    Ok(vm.heap.string(format!("{sign}{}{digits}", pad('0', missing))))
}

pub(super) fn removeprefix(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    let prefix = argument(vm, args[1], "removeprefix() argument ")?;
    let rest = text.strip_prefix(prefix.as_str()).unwrap_or(&text).to_owned();
    Ok(vm.heap.string(rest))
}

pub(super) fn removesuffix(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    let suffix = argument(vm, args[1], "removesuffix() argument ")?;
    let rest = text.strip_suffix(suffix.as_str()).unwrap_or(&text).to_owned();
    Ok(vm.heap.string(rest))
}

fn stripped(vm: &mut Vm, args: &[Value], left: bool, right: bool) -> Outcome {
    let text = receiver(vm, args[0])?;
    let chars = if args[1].is_undefined() || args[1].is_none() {
        None
    } else {
        let Some(chars) = vm.heap.text(args[1]) else {
            let name = match (left, right) {
                (true, true) => "strip",
                (true, false) => "lstrip",
                _ => "rstrip",
            };
            return Err(vm.type_error(format!("{name} arg must be None or str")));
        };
        let chars = chars.to_owned();
        vm.spend(TEXT_PASSED.of(chars.len()))?;
        Some(chars)
    };
    // What goes is looked up for each character: in a set, however long the argument is.
    if let Some(chars) = chars.as_ref().filter(|chars| !(text.is_ascii() && chars.is_ascii())) {
        vm.spend(STRIP_SET.of(chars.len()))?;
    }
    let chars = chars.map(|chars| chars.chars().collect::<BTreeSet<char>>());
    let goes = |c: char| match &chars {
        Some(chars) => chars.contains(&c),
        None => is_python_space(c),
    };
    let mut part = text.as_str();
    if left {
        part = part.trim_start_matches(goes);
    }
    if right {
        part = part.trim_end_matches(goes);
    }
    let part = part.to_owned();
    Ok(vm.heap.string(part))
}

pub(super) fn strip(vm: &mut Vm, args: &[Value]) -> Outcome {
    ascii::strip(vm, args, true, true, stripped)
}

pub(super) fn lstrip(vm: &mut Vm, args: &[Value]) -> Outcome {
    ascii::strip(vm, args, true, false, stripped)
}

pub(super) fn rstrip(vm: &mut Vm, args: &[Value]) -> Outcome {
    ascii::strip(vm, args, false, true, stripped)
}

pub(super) fn expandtabs(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    let size = if args[1].is_undefined() { 8 } else { vm.whole(args[1])? };
    let size = sizes::saturating(size);
    vm.spend(TEXT_HALVED.of(text.len()))?;
    let (mut result, mut column, mut rest) = (String::new(), 0, text.as_str());
    while let Some(at) = rest.find(['\t', '\n', '\r']) {
        let (before, end) = (&rest[..at], &rest[at..=at]);
        vm.write(&mut result, before)?;
        vm.spend(TEXT_PART.once())?;
        if end == "\t" {
            column += before.chars().count();
            let blanks = if size > 0 { size - column % size } else { 0 };
            vm.spend(TEXT_WRITTEN.of(blanks))?;
            vm.reserve(result.len().saturating_add(blanks))?;
            result.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        } else {
            vm.write(&mut result, end)?;
            column = 0;
        }
        rest = &rest[at + 1..];
    }
    vm.write(&mut result, rest)?;
    Ok(vm.heap.string(result))
}
