//! Trimming and padding.

use crate::costs::{BYTES_HALVED, BYTES_MADE, TAB_EXPANDED};
use crate::error::Outcome;
use crate::objects::bytes::{bytes_like, content, receiver, same_sort};
use crate::runtime::Vm;
use crate::value::Value;
use cowboy_num::sizes;

fn trimmed(vm: &mut Vm, args: &[Value], left: bool, right: bool) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let chars = if args[1].is_undefined() || args[1].is_none() { b" \t\n\r\x0b\x0c".to_vec() } else { bytes_like(vm, args[1])? };
    vm.spend(BYTES_MADE.of(chars.len()))?;
    let mut goes = [false; 256];
    chars.iter().for_each(|&byte| goes[usize::from(byte)] = true);
    let mut part = bytes.as_slice();
    while left && part.first().is_some_and(|&byte| goes[usize::from(byte)]) {
        part = &part[1..];
    }
    while right && part.last().is_some_and(|&byte| goes[usize::from(byte)]) {
        part = &part[..part.len() - 1];
    }
    same_sort(vm, args[0], part.to_vec())
}

pub(super) fn strip(vm: &mut Vm, args: &[Value]) -> Outcome {
    trimmed(vm, args, true, true)
}

pub(super) fn lstrip(vm: &mut Vm, args: &[Value]) -> Outcome {
    trimmed(vm, args, true, false)
}

pub(super) fn rstrip(vm: &mut Vm, args: &[Value]) -> Outcome {
    trimmed(vm, args, false, true)
}

/// The receiver, what goes before it and what goes after it.
fn padded(vm: &mut Vm, args: &[Value], name: &str, left: impl Fn(usize, usize) -> usize) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let width = sizes::saturating(vm.whole(args[1])?);
    let fill = match args.get(2).copied().filter(|fill| !fill.is_undefined()) {
        None => b' ',
        Some(fill) => match content(vm, fill).as_deref() {
            Some(&[only]) => only,
            _ => {
                let message = format!("{name}() argument 2 must be a byte string of length 1, not {}", vm.heap.class_name(fill));
                return Err(vm.type_error(message));
            }
        },
    };
    let missing = width.saturating_sub(bytes.len());
    vm.reserve(missing)?;
    vm.spend(BYTES_MADE.of(missing))?;
    let left = left(missing, width);
    let mut out = vec![fill; left];
    out.extend(bytes);
    out.resize(out.len() + missing - left, fill);
    same_sort(vm, args[0], out)
}

pub(super) fn rjust(vm: &mut Vm, args: &[Value]) -> Outcome {
    padded(vm, args, "rjust", |missing, _| missing)
}

pub(super) fn ljust(vm: &mut Vm, args: &[Value]) -> Outcome {
    padded(vm, args, "ljust", |_, _| 0)
}

pub(super) fn center(vm: &mut Vm, args: &[Value]) -> Outcome {
    padded(vm, args, "center", |missing, width| missing / 2 + (missing & width & 1))
}

pub(super) fn zfill(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let width = sizes::saturating(vm.whole(args[1])?);
    let missing = width.saturating_sub(bytes.len());
    vm.reserve(missing)?;
    vm.spend(BYTES_MADE.of(missing))?;
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let mut out = bytes[..sign].to_vec();
    out.resize(sign + missing, b'0');
    out.extend(&bytes[sign..]);
    same_sort(vm, args[0], out)
}

pub(super) fn expandtabs(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let size = if args[1].is_undefined() { 8 } else { vm.whole(args[1])? };
    let size = sizes::saturating(size);
    vm.spend(BYTES_HALVED.of(bytes.len()))?;
    let (mut out, mut column) = (Vec::new(), 0);
    for byte in bytes {
        match byte {
            b'\t' if size > 0 => {
                let blanks = size - column % size;
                vm.spend(BYTES_MADE.of(blanks) + TAB_EXPANDED.once())?;
                vm.reserve(out.len().saturating_add(blanks))?;
                out.resize(out.len() + blanks, b' ');
                column += blanks;
            }
            b'\t' => {}
            b'\n' | b'\r' => {
                out.push(byte);
                column = 0;
            }
            byte => {
                out.push(byte);
                column += 1;
            }
        }
    }
    same_sort(vm, args[0], out)
}

pub(super) fn removeprefix(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let prefix = bytes_like(vm, args[1])?;
    let rest = bytes.strip_prefix(prefix.as_slice()).unwrap_or(&bytes).to_vec();
    same_sort(vm, args[0], rest)
}

pub(super) fn removesuffix(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let suffix = bytes_like(vm, args[1])?;
    let rest = bytes.strip_suffix(suffix.as_slice()).unwrap_or(&bytes).to_vec();
    same_sort(vm, args[0], rest)
}
