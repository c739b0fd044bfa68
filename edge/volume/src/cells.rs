//! Coding a file's ciphertext into cells, and giving back what is lost (decisions 149, 152).

use cowboy_volumes::Code;
use cowboy_volumes::code::CELL_BYTES;
use reed_solomon_simd::{ReedSolomonDecoder, ReedSolomonEncoder};

/// A stripe of a file: the length of its cells, and how much of the ciphertext is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripe {
    /// Where its cells begin in each shard.
    pub start: u64,
    /// The length of each cell.
    pub cell: u64,
    /// Bytes of ciphertext.
    pub length: u64,
}

/// The stripes of a file with `length` bytes of ciphertext, in order.
pub fn stripes(code: Code, length: u64) -> impl Iterator<Item = Stripe> {
    let (whole, last) = code.cells(length);
    let full = u64::from(code.data) * CELL_BYTES;
    let wholes = (0..whole).map(move |number| Stripe { start: number * CELL_BYTES, cell: CELL_BYTES, length: full });
    let rest = (last > 0).then(|| Stripe { start: whole * CELL_BYTES, cell: last, length: length - whole * full });
    wholes.chain(rest)
}

/// The cells of a stripe, one for each slot: of its bytes, padded with zeros, and of the code.
pub fn encode(code: Code, stripe: Stripe, bytes: &[u8]) -> Vec<Vec<u8>> {
    let cell = usize::try_from(stripe.cell).expect("a cell is short");
    let mut cells: Vec<Vec<u8>> = (0..usize::from(code.data))
        .map(|place| {
            let rest = bytes.get(place * cell..).unwrap_or_default();
            let mut data = Vec::with_capacity(cell);
            data.extend_from_slice(&rest[..rest.len().min(cell)]);
            data.resize(cell, 0);
            data
        })
        .collect();
    let mut encoder = ReedSolomonEncoder::new(code.data.into(), code.parity.into(), cell).expect("the code is one that volumes have");
    for data in &cells {
        encoder.add_original_shard(data).expect("as many as there are");
    }
    let parity: Vec<Vec<u8>> = encoder.encode().expect("all were added").recovery_iter().map(<[u8]>::to_vec).collect();
    cells.extend(parity);
    cells
}

/// The data cells of a stripe out of any k of its cells; none where there are fewer. Cells have the stripe's length.
pub fn decode(code: Code, stripe: Stripe, mut cells: Vec<Option<Vec<u8>>>) -> Option<Vec<Vec<u8>>> {
    let (data, cell) = (usize::from(code.data), usize::try_from(stripe.cell).ok()?);
    if cells.iter().take(data).any(Option::is_none) {
        let mut decoder = ReedSolomonDecoder::new(data, code.parity.into(), cell).ok()?;
        for (place, bytes) in cells.iter().enumerate() {
            let Some(bytes) = bytes else { continue };
            match place.checked_sub(data) {
                None => decoder.add_original_shard(place, bytes).ok()?,
                Some(place) => decoder.add_recovery_shard(place, bytes).ok()?,
            }
        }
        let restored = decoder.decode().ok()?;
        for (place, bytes) in restored.restored_original_iter() {
            *cells.get_mut(place)? = Some(bytes.to_vec());
        }
    }
    cells.truncate(data);
    cells.into_iter().collect()
}

/// The ciphertext of a stripe, out of its data cells.
pub fn join(stripe: Stripe, data: Vec<Vec<u8>>) -> Vec<u8> {
    let mut bytes = data.concat();
    bytes.truncate(usize::try_from(stripe.length).expect("a stripe is short"));
    bytes
}

/// The cell of a slot, out of any k cells of the stripe.
pub fn rebuild(code: Code, stripe: Stripe, cells: Vec<Option<Vec<u8>>>, slot: usize) -> Option<Vec<u8>> {
    let data = decode(code, stripe, cells)?;
    match data.get(slot) {
        Some(cell) => Some(cell.clone()),
        None => encode(code, stripe, &data.concat()).into_iter().nth(slot),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sha2::{Digest as _, Sha256};

    fn bytes(length: u64) -> Vec<u8> {
        (0..length).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes()[7]).collect()
    }

    /// The stripes of a file have its bytes and its shards' bytes, once.
    #[test]
    fn stripes_cover_the_file() {
        for code in [Code { data: 4, parity: 2 }, Code { data: 1, parity: 1 }, Code { data: 16, parity: 8 }] {
            for length in [0, 1, 63, 64, 65, 262_143, 262_144, 262_145, 3_000_000] {
                let stripes: Vec<Stripe> = stripes(code, length).collect();
                assert_eq!(stripes.iter().map(|stripe| stripe.length).sum::<u64>(), length);
                assert_eq!(stripes.iter().map(|stripe| stripe.cell).sum::<u64>(), code.shard_bytes(length));
                assert!(stripes.iter().all(|stripe| stripe.length <= stripe.cell * u64::from(code.data)));
            }
        }
    }

    /// The same bytes have the same cells on every machine.
    #[test]
    fn cells_are_frozen() {
        let code = Code { data: 4, parity: 2 };
        let stripe = stripes(code, 1_000).next().expect("one");
        let hashes: Vec<String> =
            encode(code, stripe, &bytes(1_000)).iter().map(|cell| blake3::hash(cell).to_hex()[..16].to_owned()).collect();
        assert_eq!(hashes, FROZEN);
    }

    const FROZEN: [&str; 6] =
        ["79b3abdbf86853e8", "0127ba520ae32ae6", "8cc94341ec4e4f91", "9faee2fb65a1d5fe", "18399ad5003308c0", "1ee690930149ca1f"];

    /// The parity of every code is that of another implementation: with other bytes, what relays keep would be lost.
    #[test]
    fn parity_is_that_of_the_published_code() {
        let published = include_str!("../../../tests/vectors/parity.txt");
        let rows: Vec<&str> = published.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(rows.len(), 16 * 8 + 2, "every code that volumes have, and one of them with longer cells");
        for row in rows {
            let words: Vec<&str> = row.split(' ').collect();
            let [data, parity, cell, expected] = words[..] else { panic!("four words: {row}") };
            let code = Code { data: data.parse().expect("a number"), parity: parity.parse().expect("a number") };
            let length = u64::from(code.data) * cell.parse::<u64>().expect("a number");
            let stripe = stripes(code, length).next().expect("one");
            let cells = encode(code, stripe, &bytes(length));
            let hash = Sha256::digest(cells[usize::from(code.data)..].concat());
            let hash = hash.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
            assert_eq!(hash, expected, "{row}");
        }
    }

    /// Cells that are no code word decode, too: to other bytes where others are missing. So a reader compares the file with its hash, and whoever
    /// rebuilds a cell compares it with the cell's (decision 623).
    #[test]
    fn what_is_no_code_word_decodes_to_something_else() {
        let (code, plain) = (Code { data: 2, parity: 1 }, bytes(1_000));
        let stripe = stripes(code, 1_000).next().expect("one");
        let mut cells = encode(code, stripe, &plain);
        cells[2][7] ^= 1;
        let without = |gone: usize| -> Vec<Option<Vec<u8>>> {
            cells.iter().enumerate().map(|(place, cell)| (place != gone).then(|| cell.clone())).collect()
        };
        let read = |gone: usize| decode(code, stripe, without(gone)).map(|data| join(stripe, data)).expect("two of three");
        assert_eq!(read(2), plain);
        assert!(read(0) != plain && read(1) != plain && read(0) != read(1));
        for (slot, cell) in cells.iter().enumerate() {
            assert_ne!(rebuild(code, stripe, without(slot), slot).as_ref(), Some(cell), "slot {slot}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        /// Any k cells give back the file and every other cell; fewer give nothing.
        #[test]
        fn any_k_cells_are_enough(data in 1_u8..=6, parity in 1_u8..=4, length in 1_u64..5_000, lost in any::<u64>()) {
            let code = Code { data, parity };
            let stripe = stripes(code, length).next().expect("one");
            let plain = bytes(length);
            let cells = encode(code, stripe, &plain);
            let mut order: Vec<usize> = (0..code.slots()).collect();
            order.sort_by_key(|place| blake3::hash(&[&lost.to_le_bytes()[..], &place.to_le_bytes()].concat()).as_bytes()[0]);
            let without = |count: usize| -> Vec<Option<Vec<u8>>> {
                let gone = &order[..count];
                cells.iter().enumerate().map(|(place, cell)| (!gone.contains(&place)).then(|| cell.clone())).collect()
            };
            let left = without(usize::from(parity));
            prop_assert_eq!(decode(code, stripe, left.clone()).map(|data| join(stripe, data)), Some(plain));
            for (slot, cell) in cells.iter().enumerate() {
                let rebuilt = rebuild(code, stripe, left.clone(), slot);
                prop_assert_eq!(rebuilt.as_ref(), Some(cell));
            }
            prop_assert_eq!(decode(code, stripe, without(usize::from(parity) + 1)), None);
        }
    }
}
