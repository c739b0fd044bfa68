//! Answers of gateways, checked in a browser.
//!
//! Functions of plain numbers, so that no generated glue is needed: [`prepare`] does once what every check needs, [`room`] makes
//! room for what goes in, [`check`] answers, and [`give_back`] gives the answer's room back. Everything that goes in is bytes;
//! what comes out is JSON.

use cowboy_ingress::{
    Asked, Checked, Refused, Step, Trust, Witness,
    check::check as verify,
    request::ZONES,
    signed::{NotSigned, check_witness},
};
use cowboy_types::cbor::Value;
use serde_json::{Value as Json, json};
use std::sync::{Mutex, Once, PoisonError};

/// What goes into a check, one after the other, each behind its length as four bytes, little-endian.
const PARTS: usize = 5;

#[cfg(target_family = "wasm")]
mod randomness {
    /// Libraries that could ask for randomness are never asked for any.
    fn none(_: &mut [u8]) -> Result<(), getrandom_02::Error> {
        Err(getrandom_02::Error::UNSUPPORTED)
    }

    getrandom_02::register_custom_getrandom!(none);
}

/// Makes what is the same for every check: the machine's own library. Without it, the first check does.
#[unsafe(no_mangle)]
pub extern "C" fn prepare() {
    keep_problems();
    drop(cowboy_vm::Library::default());
}

/// Room for so many bytes; the caller fills it and hands it to [`check`].
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    let room: Box<[u8]> = vec![0; length].into_boxed_slice();
    Box::into_raw(room).cast()
}

/// Checks an answer. In: genesis, group key, URL, witness, and what the gateway signed beside it, nothing where it did not. Out: where the answer in JSON begins; its first four bytes are its
/// length, little-endian.
///
/// # Safety
///
/// `input` and `length` are those of one [`room`], which is used up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn check(input: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: the caller says that it is a room, of this length, and gives it away.
    let input = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(input, length)) };
    keep_problems();
    handed(answer(&input).to_string().as_bytes())
}

/// What was wrong with the program itself, where a call of it was cut off.
static PROBLEM: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Keeps what a bug says of itself: WebAssembly tells the page only that something was unreachable.
fn keep_problems() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|problem| {
            *PROBLEM.lock().unwrap_or_else(PoisonError::into_inner) = problem.to_string().into_bytes();
        }));
    });
}

/// What was wrong after a call was cut off: its first four bytes are its length, little-endian.
#[unsafe(no_mangle)]
pub extern "C" fn problem() -> *mut u8 {
    handed(&PROBLEM.lock().unwrap_or_else(PoisonError::into_inner))
}

fn handed(answer: &[u8]) -> *mut u8 {
    let size = u32::try_from(answer.len()).expect("an answer is shorter than the memory");
    let bytes = [size.to_le_bytes().as_slice(), answer].concat();
    Box::into_raw(bytes.into_boxed_slice()).cast()
}

/// Gives the room of an answer back.
///
/// # Safety
///
/// `answer` is one of [`check`], and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn give_back(answer: *mut u8) {
    // SAFETY: the caller says that it is an answer, whose first four bytes are its length.
    unsafe {
        let size = u32::from_le_bytes(std::slice::from_raw_parts(answer, 4).try_into().expect("four bytes"));
        let length = usize::try_from(size).expect("it was a length before") + 4;
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(answer, length)));
    }
}

fn answer(input: &[u8]) -> Json {
    let Some([genesis, key, url, witness, signature]) = parts(input) else { return undecided("the input is cut short") };
    let trust = match Trust::new(genesis, key) {
        Ok(trust) => trust,
        Err(error) => return undecided(&error.to_string()),
    };
    let asked = match std::str::from_utf8(url).map_err(|_| "the URL is not text".to_owned()) {
        Ok(url) => Asked::of_url(url, &ZONES).map_err(|error| error.to_string()),
        Err(error) => Err(error),
    };
    let asked = match asked {
        Ok(asked) => asked,
        Err(error) => return undecided(&error),
    };
    let mut answer = match verify(witness.to_vec().into(), &trust, Some(&asked), 0) {
        Ok(checked) => held(&trust, &checked),
        Err(error) => failed(Refused::step(&error), &error.to_string()),
    };
    answer["signature"] = signed(signature, &trust, witness);
    answer
}

/// Who signed the answer, whether it is true or not; why nobody did, where the signature is false; nothing where there is none.
fn signed(signature: &[u8], trust: &Trust, witness: &[u8]) -> Json {
    if signature.is_empty() {
        return Json::Null;
    }
    let witness = Witness::read(witness.to_vec().into()).map_err(|_| NotSigned::Malformed);
    match witness.and_then(|witness| check_witness(signature, trust.signing(), &witness)) {
        Ok(signer) => json!({ "by": signer.to_string(), "is_evidence": !trust.signing().is_dev }),
        Err(error) => json!({ "by": null, "why": error.to_string() }),
    }
}

fn parts(mut input: &[u8]) -> Option<[&[u8]; PARTS]> {
    let mut parts = [input; PARTS];
    for part in &mut parts {
        let (length, rest) = input.split_first_chunk::<4>()?;
        let (found, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        *part = found;
        input = rest;
    }
    input.is_empty().then_some(parts)
}

/// What is to be checked is no question, or the trust in it is malformed: that says nothing about the gateway's answer.
fn undecided(why: &str) -> Json {
    let mut answer = failed(Step::Request, why);
    answer["is_undecided"] = json!(true);
    answer
}

fn failed(step: Step, why: &str) -> Json {
    let held: Vec<&str> = Step::ALL.iter().take_while(|other| **other < step).map(|step| step.name()).collect();
    json!({ "verified": false, "held": held, "failed": step.name(), "why": why })
}

fn held(trust: &Trust, checked: &Checked) -> Json {
    let headers: Vec<Json> =
        checked.headers.iter().map(|(name, value)| json!([name.as_str(), String::from_utf8_lossy(value.as_bytes())])).collect();
    json!({
        "verified": true,
        "held": Step::ALL.map(Step::name),
        "genesis": trust.genesis().to_string(),
        "height": checked.header.height().0,
        "timestamp_ms": checked.header.timestamp_ms.0,
        "block": checked.header.digest().to_string(),
        "epoch": checked.round.0,
        "view": checked.round.1,
        "name": checked.name,
        "actor": checked.actor.map(|actor| actor.to_string()),
        "records": checked.records,
        "cycles": checked.cycles_used,
        "status": checked.status,
        "failure": checked.failure,
        "headers": headers,
        "seen": seen(&checked.request),
        "bytes": checked.body.len(),
        "body": String::from_utf8_lossy(&checked.body),
    })
}

/// The request's headers as the actor saw them: what a browser sent, it does not tell its pages.
fn seen(request: &Value) -> Json {
    let Some(Value::Map(headers)) = request.get("headers") else { return json!([]) };
    let texts = |values: &Value| match values {
        Value::Array(items) => items.iter().filter_map(Value::as_text).collect::<Vec<_>>().join(", "),
        _ => String::new(),
    };
    headers.iter().map(|(name, values)| json!([name.as_text(), texts(values)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever comes in, an answer comes out, and its room goes back.
    #[test]
    fn bad_input_is_an_answer() {
        let behind = |parts: &[&[u8]]| parts.iter().flat_map(|part| [&(part.len() as u32).to_le_bytes()[..], part].concat()).collect();
        let rows: [(Vec<u8>, &str); 5] = [
            (vec![], "cut short"),
            (vec![255; 9], "cut short"),
            (behind(&[b"", b"", b"", b"", b"", b""]), "cut short"),
            (behind(&[b"", b"", b"", b"", b""]), "not a genesis"),
            (behind(&[&[0; 64], &[0; 96], b"http://a.localhost/", b"x", b"zz"]), "no"),
        ];
        for (input, why) in rows {
            let into = room(input.len());
            // SAFETY: the room is as long as the input, and both are given back once.
            let text = unsafe {
                std::ptr::copy_nonoverlapping(input.as_ptr(), into, input.len());
                let answer = check(into, input.len());
                let size = u32::from_le_bytes(std::slice::from_raw_parts(answer, 4).try_into().expect("four bytes"));
                let text = String::from_utf8_lossy(std::slice::from_raw_parts(answer.add(4), size as usize)).into_owned();
                give_back(answer);
                text
            };
            assert!(text.contains("\"verified\":false") && text.contains(why), "{text}");
            // The question itself is malformed: no word about the answer.
            assert!(text.contains("\"is_undecided\":true"), "{text}");
        }
    }
}
