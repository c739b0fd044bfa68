//! Characters as patterns see them: categories, sets, and the simple case mappings of Unicode 14.

use cowboy_unicode as unicode;

/// How letters of both cases are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// They are not.
    None,
    /// Within ASCII.
    Ascii,
    /// By Unicode.
    Unicode,
}

/// `\d`, `\s` and `\w`, and their opposites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Category {
    pub letter: u8,
    pub negated: bool,
}

impl Category {
    /// Whether a character belongs, by Unicode or within ASCII.
    pub(crate) fn holds(self, code: u32, unicode: bool) -> bool {
        let inside = match (char::from_u32(code), unicode && code >= 0x80) {
            (Some(character), true) => match self.letter {
                b'd' => unicode::is_decimal(character),
                b's' => unicode::is_space(character),
                _ => unicode::is_alnum(character),
            },
            (Some(character), false) => match self.letter {
                b'd' => character.is_ascii_digit(),
                // Unicode also counts four separators of ASCII as blanks.
                b's' => matches!(character, '\t'..='\r' | ' ') || (unicode && matches!(character, '\x1c'..='\x1f')),
                _ => character.is_ascii_alphanumeric() || character == '_',
            },
            (None, _) => false,
        };
        inside != self.negated
    }
}

/// Whether a character is part of a word.
pub(crate) fn is_word(code: u32, unicode: bool) -> bool {
    Category { letter: b'w', negated: false }.holds(code, unicode)
}

/// The simple lower case of a character.
pub(crate) fn lower(code: u32, fold: Fold) -> u32 {
    if code < 0x80 {
        return if fold != Fold::None && (65..=90).contains(&code) { code + 32 } else { code };
    }
    if fold != Fold::Unicode {
        return code;
    }
    match char::from_u32(code) {
        // The one whose full lower case is two characters.
        Some('\u{130}') => 0x69,
        Some('\u{3a3}') => 0x3c3,
        Some(character) => unicode::lower_of(character).map_or(code, u32::from),
        None => code,
    }
}

/// The upper case of a character: the first character where there are several.
fn upper(code: u32) -> u32 {
    let Some(character) = char::from_u32(code) else { return code };
    unicode::upper_of(character).or_else(|| unicode::upper(character.encode_utf8(&mut [0; 4])).chars().next()).map_or(code, u32::from)
}

/// Whether a character has another case.
pub(crate) fn is_cased(code: u32, fold: Fold) -> bool {
    match fold {
        Fold::None => false,
        Fold::Ascii => code < 0x80 && char::from_u32(code).is_some_and(|character| character.is_ascii_alphabetic()),
        Fold::Unicode => lower(code, fold) != code || upper(code) != code || same_upper(code).is_some(),
    }
}

/// Lower-case characters whose upper case is the same, in Unicode 14: each row is a class.
const SAME_UPPER: &[&[u32]] = &[
    &[0x69, 0x131],
    &[0x73, 0x17f],
    &[0xb5, 0x3bc],
    &[0x345, 0x3b9, 0x1fbe],
    &[0x390, 0x1fd3],
    &[0x3b0, 0x1fe3],
    &[0x3b2, 0x3d0],
    &[0x3b5, 0x3f5],
    &[0x3b8, 0x3d1],
    &[0x3ba, 0x3f0],
    &[0x3c0, 0x3d6],
    &[0x3c1, 0x3f1],
    &[0x3c2, 0x3c3],
    &[0x3c6, 0x3d5],
    &[0x432, 0x1c80],
    &[0x434, 0x1c81],
    &[0x43e, 0x1c82],
    &[0x441, 0x1c83],
    &[0x442, 0x1c84, 0x1c85],
    &[0x44a, 0x1c86],
    &[0x463, 0x1c87],
    &[0x1c88, 0xa64b],
    &[0x1e61, 0x1e9b],
    &[0xfb05, 0xfb06],
];

/// The class of a lower-case character that shares its upper case with others.
pub(crate) fn same_upper(code: u32) -> Option<&'static [u32]> {
    SAME_UPPER.iter().find(|class| class.contains(&code)).copied()
}

/// Characters in a set: ranges, categories, and what happens to case.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    /// Whether it holds all others.
    pub negated: bool,
    /// How a character is folded before it is looked up.
    pub fold: Fold,
    /// Whether categories are those of Unicode.
    pub unicode: bool,
    /// Sorted ranges that do not touch.
    ranges: Vec<(u32, u32)>,
    categories: Vec<Category>,
    /// Ranges beyond the basic plane, looked up by lower and by upper case.
    astral: Vec<(u32, u32)>,
    /// The answers for the first 256 characters.
    quick: [u64; 4],
}

impl Set {
    /// The set of some ranges and categories.
    pub(crate) fn new(items: &[(u32, u32)], categories: Vec<Category>, negated: bool, fold: Fold, unicode: bool) -> Set {
        let mut ranges = Vec::new();
        let mut astral = Vec::new();
        let mut cased = false;
        for &(low, high) in items {
            if fold == Fold::None {
                ranges.push((low, high));
                continue;
            }
            for code in low..=high.min(0xffff) {
                let small = lower(code, fold);
                cased = cased || is_cased(code, fold);
                ranges.push((small, small));
                if fold == Fold::Unicode {
                    ranges.extend(same_upper(small).unwrap_or_default().iter().map(|&code| (code, code)));
                }
            }
            if high > 0xffff {
                cased = true;
                let low = low.max(0x1_0000);
                astral.push((low, high));
                if low == high {
                    ranges.push((lower(low, fold), lower(low, fold)));
                }
            }
        }
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::new();
        for (low, high) in ranges {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        let fold = if cased { fold } else { Fold::None };
        let mut set = Set { negated, fold, unicode, ranges: merged, categories, astral, quick: [0; 4] };
        for code in 0..256_u32 {
            if set.look_up(code) {
                set.quick[code as usize >> 6] |= 1 << (code & 63);
            }
        }
        set
    }

    /// Whether a character is in.
    #[inline]
    pub(crate) fn holds(&self, code: u32) -> bool {
        if code < 256 { self.quick[code as usize >> 6] >> (code & 63) & 1 == 1 } else { self.look_up(code) }
    }

    fn look_up(&self, code: u32) -> bool {
        let small = lower(code, self.fold);
        let within = |ranges: &[(u32, u32)], code: u32| {
            let after = ranges.partition_point(|range| range.0 <= code);
            after > 0 && ranges[after - 1].1 >= code
        };
        let inside = within(&self.ranges, small)
            || self.categories.iter().any(|category| category.holds(small, self.unicode))
            || (!self.astral.is_empty()
                && self.astral.iter().any(|&(low, high)| (low..=high).contains(&small) || (low..=high).contains(&upper(small))));
        inside != self.negated
    }

    /// Modelled bytes.
    pub(crate) fn size(&self) -> usize {
        96 + 8 * (self.ranges.len() + self.astral.len()) + 2 * self.categories.len()
    }
}
