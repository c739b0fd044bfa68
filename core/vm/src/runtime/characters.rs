//! Where the characters of text beyond ASCII begin: found in constant time, once a text was looked at in its middle.

use super::Vm;
use crate::costs::{CHARACTER_FOUND, TEXT_MARKED};
use crate::payload::Payload;
use crate::value::Ref;

/// Characters from one mark to the next, and from an end of a text as far as needs no marks.
const STRIDE: usize = 32;

/// The byte after so many characters.
fn after(text: &str, count: usize) -> usize {
    let mut rest = text.chars();
    if let Some(passed) = count.checked_sub(1) {
        rest.nth(passed);
    }
    text.len() - rest.as_str().len()
}

/// The byte before the last characters, so many of them.
fn before_last(text: &str, count: usize) -> usize {
    let mut rest = text.chars();
    if let Some(passed) = count.checked_sub(1) {
        rest.nth_back(passed);
    }
    rest.as_str().len()
}

/// The bytes at which every [`STRIDE`]th character begins.
fn marks(text: &str) -> Box<[u32]> {
    let places = text.char_indices().step_by(STRIDE);
    places.map(|(at, _)| u32::try_from(at).expect("texts are within the memory limit")).collect()
}

impl Vm {
    /// The byte at which the character with a number begins; the length of the text for the number after the last one. Charged.
    pub(crate) fn byte_of_character(&mut self, object: Ref, number: usize) -> usize {
        let Payload::Str(text) = self.heap.payload(object).core() else { return 0 };
        if text.ascii() {
            return number.min(text.text.len());
        }
        let left = (text.chars as usize).saturating_sub(number);
        if number <= STRIDE || left <= STRIDE {
            let found = if number <= STRIDE { after(&text.text, number) } else { before_last(&text.text, left) };
            self.owe(CHARACTER_FOUND.once());
            return found;
        }
        if !self.heap.marks.contains_key(&object) {
            let (marks, bytes) = (marks(&text.text), text.text.len());
            self.heap.marks.insert(object, marks);
            self.owe(TEXT_MARKED.of(bytes));
        }
        self.owe(CHARACTER_FOUND.once());
        let mark = self.heap.marks.get(&object).and_then(|marks| marks.get(number / STRIDE)).map_or(0, |&at| at as usize);
        match self.heap.payload(object).core() {
            Payload::Str(text) => mark + after(&text.text[mark..], number % STRIDE),
            _ => 0,
        }
    }

    /// The bytes of the characters from one number to another, which is not before it.
    pub(crate) fn bytes_of_characters(&mut self, object: Ref, first: usize, end: usize) -> std::ops::Range<usize> {
        self.byte_of_character(object, first)..self.byte_of_character(object, end)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Entry, Exit, Limits, Vm, compile, script_image};

    /// Runs a script; cycles.
    fn cycles(source: &str) -> u64 {
        let limits = Limits { cycles: 1 << 40, weight_ns: 1 << 50, ..Limits::default() };
        let mut vm = Vm::start(script_image(&compile(source, "program.py").expect("valid source")), Entry::Script, limits);
        let exit = vm.run();
        assert!(matches!(exit, Exit::Return(_)), "{source}\n{exit:?}");
        vm.usage().cycles
    }

    /// Characters of one to four bytes, from both ends and the middle, by index, slice and iterator, while the text grows and dies.
    #[test]
    fn characters_are_found_wherever_they_are() {
        cycles(
            "chars = [chr(c) for i in range(90) for c in (97 + i % 26, 233, 0x5b57, 0x1f600 + i)]\n\
             text = ''.join(chars)\n\
             assert [text[i] for i in range(len(text))] == chars == list(text) == list(iter(text))\n\
             assert [text[-i] for i in range(1, 361)] == chars[::-1] == list(reversed(text))\n\
             for first in range(0, 361, 7):\n\
             \x20   for end in range(0, 361, 11):\n\
             \x20       assert text[first:end] == ''.join(chars[first:end])\n\
             \x20       assert text[first:end:3] == ''.join(chars[first:end:3]), (first, end)\n\
             \x20       assert text[end:first:-5] == ''.join(chars[end:first:-5]), (first, end)\n\
             assert text.find(chars[200], 150, 250) == chars.index(chars[200], 150) and text.count('\u{e9}', 3, 200) == 49\n\
             text += '\u{5b57}' * 100\n\
             assert text[400] == '\u{5b57}' and text[358:362] == ''.join(chars[358:]) + '\u{5b57}' * 2\n\
             class Own(str): pass\n\
             own = Own(text)\n\
             assert own[200] == chars[200] and own[100:200] == text[100:200]\n\
             for i in range(50):\n\
             \x20   other = chr(0x4e00 + i) * 100 + 'x' * 100\n\
             \x20   assert other[99] == chr(0x4e00 + i) and other[100] == 'x'\n",
        );
    }

    /// A slice costs what it takes, not where it is: once the marks are put, as much at the end as in the middle of a text.
    #[test]
    fn a_slice_of_long_text_costs_the_same_everywhere() {
        let program = |at: usize, turns: usize| {
            format!("s = '\u{e9}' * 1000000\nn = {at}\nc = s[n]\nfor i in range({turns}):\n    s[n:n+3]\n    s[n]\n")
        };
        let price = |at| (cycles(&program(at, 1_100)) - cycles(&program(at, 100))) / 1_000;
        assert_eq!(price(500_000), price(100));
        assert_eq!(price(500_000), price(999_000));
        assert!(price(500_000) < 40, "{}", price(500_000));
        // What is built anew for every text is charged for every text.
        let fresh = |turns: usize| cycles(&format!("s = '\u{e9}' * 100000\nfor i in range({turns}):\n    s += '\u{e9}'\n    s[50000]\n"));
        assert!(fresh(20) - fresh(10) > 10 * 200_000 / 8, "marks are charged by the length of the text");
    }
}
