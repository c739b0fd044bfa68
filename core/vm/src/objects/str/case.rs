//! Upper and lower case, and what kinds of characters there are.

use super::receiver;
use crate::costs::{CAPITAL_SIGMA, TEXT_CASED, TEXT_CASED_WIDE};
use crate::error::Outcome;
use crate::objects::ascii;
use crate::runtime::Vm;
use crate::value::Value;
use cowboy_unicode::{self as unicode, is_space as is_python_space};

macro_rules! mapped {
    ($($name:ident |$text:ident| $result:expr;)*) => {
        $(pub(super) fn $name(vm: &mut Vm, args: &[Value]) -> Outcome {
            let $text = receiver(vm, args[0])?;
            vm.spend(TEXT_CASED_WIDE.of($text.len()))?;
            let result: String = $result;
            Ok(vm.heap.string(result))
        })*
    };
}

pub(super) fn lower(vm: &mut Vm, args: &[Value]) -> Outcome {
    ascii::recase(vm, args, false, lower_any)
}

pub(super) fn upper(vm: &mut Vm, args: &[Value]) -> Outcome {
    ascii::recase(vm, args, true, upper_any)
}

/// Another case of a text: half the price where it is ASCII.
fn recased(vm: &mut Vm, args: &[Value], change: fn(&str) -> String) -> Outcome {
    let text = receiver(vm, args[0])?;
    vm.spend(if text.is_ascii() { TEXT_CASED } else { TEXT_CASED_WIDE }.of(text.len()))?;
    Ok(vm.heap.string(change(&text)))
}

fn lower_any(vm: &mut Vm, args: &[Value]) -> Outcome {
    let sigmas = vm.heap.text(args[0]).map_or(0, |text| text.matches('Σ').count());
    vm.spend(CAPITAL_SIGMA.of(sigmas))?;
    recased(vm, args, unicode::lower)
}

fn upper_any(vm: &mut Vm, args: &[Value]) -> Outcome {
    recased(vm, args, unicode::upper)
}

mapped! {
    casefold |text| unicode::casefold(&text);
    capitalize |text| unicode::capitalize(&text);
    swapcase |text| unicode::swapcase(&text);
    title |text| unicode::title(&text);
}

macro_rules! tested {
    ($($name:ident |$text:ident| $result:expr;)*) => {
        $(pub(super) fn $name(vm: &mut Vm, args: &[Value]) -> Outcome {
            let $text = receiver(vm, args[0])?;
            let length = $text.len();
            vm.spend(TEXT_CASED.of(length))?;
            Ok(Value::truth($result))
        })*
    };
}

tested! {
    isalnum |text| !text.is_empty() && text.chars().all(unicode::is_alnum);
    isalpha |text| !text.is_empty() && text.chars().all(unicode::is_alpha);
    isascii |text| text.is_ascii();
    isdecimal |text| !text.is_empty() && text.chars().all(unicode::is_decimal);
    isdigit |text| !text.is_empty() && text.chars().all(unicode::is_digit);
    isnumeric |text| !text.is_empty() && text.chars().all(unicode::is_numeric);
    isprintable |text| text.chars().all(unicode::is_printable);
    isspace |text| !text.is_empty() && text.chars().all(is_python_space);
    islower |text| unicode::is_lower_text(&text);
    isupper |text| unicode::is_upper_text(&text);
    istitle |text| unicode::is_title_text(&text);
    isidentifier |text| unicode::is_identifier(&text);
}
