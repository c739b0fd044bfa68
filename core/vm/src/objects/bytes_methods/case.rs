//! Upper and lower case, and what kinds of characters there are.

use super::split::is_blank;
use crate::error::Outcome;
use crate::objects::bytes::{receiver, same_sort};
use crate::runtime::Vm;
use crate::value::Value;

macro_rules! mapped {
    ($($name:ident |$bytes:ident| $result:expr;)*) => {
        $(pub(super) fn $name(vm: &mut Vm, args: &[Value]) -> Outcome {
            let $bytes = receiver(vm, args[0])?;
            let result: Vec<u8> = $result;
            same_sort(vm, args[0], result)
        })*
    };
}

mapped! {
    lower |bytes| bytes.to_ascii_lowercase();
    upper |bytes| bytes.to_ascii_uppercase();
    swapcase |bytes| bytes.iter().map(|byte| if byte.is_ascii_lowercase() { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() }).collect();
    capitalize |bytes| {
        let mut bytes = bytes.to_ascii_lowercase();
        if let Some(first) = bytes.first_mut() {
            first.make_ascii_uppercase();
        }
        bytes
    };
    title |bytes| {
        let mut inside = false;
        bytes.iter().map(|byte| {
            let mapped = if inside { byte.to_ascii_lowercase() } else { byte.to_ascii_uppercase() };
            inside = byte.is_ascii_alphabetic();
            mapped
        }).collect()
    };
}

macro_rules! tested {
    ($($name:ident |$bytes:ident| $result:expr;)*) => {
        $(pub(super) fn $name(vm: &mut Vm, args: &[Value]) -> Outcome {
            let $bytes = receiver(vm, args[0])?;
            Ok(Value::truth($result))
        })*
    };
}

tested! {
    isascii |bytes| bytes.is_ascii();
    isdigit |bytes| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
    isalpha |bytes| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_alphabetic);
    isalnum |bytes| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_alphanumeric);
    isspace |bytes| !bytes.is_empty() && bytes.iter().all(is_blank);
    islower |bytes| bytes.iter().any(u8::is_ascii_lowercase) && !bytes.iter().any(u8::is_ascii_uppercase);
    isupper |bytes| bytes.iter().any(u8::is_ascii_uppercase) && !bytes.iter().any(u8::is_ascii_lowercase);
    istitle |bytes| {
        let (mut inside, mut cased, mut fine) = (false, false, true);
        for byte in &bytes {
            fine &= if inside { !byte.is_ascii_uppercase() } else { !byte.is_ascii_lowercase() };
            inside = byte.is_ascii_alphabetic();
            cased |= inside;
        }
        fine && cased
    };
}
