//! Digests with options that the libraries' types do not have: BLAKE2 with its whole parameter block (RFC 7693 and the BLAKE2 paper),
//! and the extendable outputs SHAKE128 and SHAKE256 (FIPS 202).

/// What BLAKE2 is told beside its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blake2 {
    /// BLAKE2s rather than BLAKE2b.
    pub small: bool,
    /// Bytes of the digest.
    pub digest_size: u8,
    /// The key.
    pub key: Vec<u8>,
    /// The salt, at most a quarter of the parameter block.
    pub salt: Vec<u8>,
    /// The personalisation, likewise.
    pub person: Vec<u8>,
    /// Tree: fan-out, depth, bytes of a leaf, offset and depth of the node, bytes of an inner digest.
    pub fanout: u8,
    /// Depth of the tree.
    pub depth: u8,
    /// Bytes of a leaf.
    pub leaf_size: u32,
    /// The node's offset.
    pub node_offset: u64,
    /// The node's depth.
    pub node_depth: u8,
    /// Bytes of an inner digest.
    pub inner_size: u8,
    /// Whether it is the last node of its level.
    pub last_node: bool,
}

/// The message words of each round.
const SCHEDULE: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/// The words that each mixing step touches.
const LANES: [[usize; 4]; 8] =
    [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15], [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]];

macro_rules! blake2 {
    ($name:ident $Word:ident $rounds:literal $a:literal $b:literal $c:literal $d:literal $start:expr) => {
        fn $name(parameters: &[u8], data: &[u8], last_node: bool) -> Vec<u8> {
            const START: [$Word; 8] = $start;
            const BYTES: usize = size_of::<$Word>();
            const BLOCK: usize = 16 * BYTES;
            let word = |bytes: &[u8], index: usize| {
                let mut out = [0; BYTES];
                let have = bytes.len().saturating_sub(index * BYTES).min(BYTES);
                out[..have].copy_from_slice(&bytes[index * BYTES..index * BYTES + have]);
                $Word::from_le_bytes(out)
            };
            let mut state = START;
            for (index, part) in state.iter_mut().enumerate() {
                *part ^= word(parameters, index);
            }
            let blocks = data.len().div_ceil(BLOCK).max(1);
            for index in 0..blocks {
                let end = data.len().min((index + 1) * BLOCK);
                let mut block = [0; BLOCK];
                block[..end - index * BLOCK].copy_from_slice(&data[index * BLOCK..end]);
                let mut words: [$Word; 16] = [0; 16];
                for (index, part) in words.iter_mut().enumerate() {
                    *part = word(&block, index);
                }
                let last = index + 1 == blocks;
                let mut mixed: [$Word; 16] = [0; 16];
                mixed[..8].copy_from_slice(&state);
                mixed[8..].copy_from_slice(&START);
                // The count of bytes is 128 bits for BLAKE2b, of which a run never needs the upper half.
                let count = u64::try_from(end).unwrap_or(u64::MAX);
                mixed[12] ^= count as $Word;
                mixed[13] ^= if BYTES == 4 { (count >> 32) as $Word } else { 0 };
                if last {
                    mixed[14] = !mixed[14];
                    if last_node {
                        mixed[15] = !mixed[15];
                    }
                }
                for round in 0..$rounds {
                    let order = &SCHEDULE[round % 10];
                    for (step, lanes) in LANES.iter().enumerate() {
                        let [a, b, c, d] = *lanes;
                        let (x, y) = (words[order[2 * step]], words[order[2 * step + 1]]);
                        mixed[a] = mixed[a].wrapping_add(mixed[b]).wrapping_add(x);
                        mixed[d] = (mixed[d] ^ mixed[a]).rotate_right($a);
                        mixed[c] = mixed[c].wrapping_add(mixed[d]);
                        mixed[b] = (mixed[b] ^ mixed[c]).rotate_right($b);
                        mixed[a] = mixed[a].wrapping_add(mixed[b]).wrapping_add(y);
                        mixed[d] = (mixed[d] ^ mixed[a]).rotate_right($c);
                        mixed[c] = mixed[c].wrapping_add(mixed[d]);
                        mixed[b] = (mixed[b] ^ mixed[c]).rotate_right($d);
                    }
                }
                for (index, part) in state.iter_mut().enumerate() {
                    *part ^= mixed[index] ^ mixed[index + 8];
                }
            }
            state.iter().flat_map(|part| part.to_le_bytes()).collect()
        }
    };
}

blake2!(big u64 12 32 24 16 63 [
    0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
]);
blake2!(small u32 10 16 12 8 7 [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
]);

impl Blake2 {
    /// BLAKE2 without options.
    pub(crate) fn plain(small: bool) -> Blake2 {
        Blake2 {
            small,
            digest_size: if small { 32 } else { 64 },
            key: Vec::new(),
            salt: Vec::new(),
            person: Vec::new(),
            fanout: 1,
            depth: 1,
            leaf_size: 0,
            node_offset: 0,
            node_depth: 0,
            inner_size: 0,
            last_node: false,
        }
    }

    /// The digest of some data.
    pub(crate) fn digest(&self, data: &[u8]) -> Vec<u8> {
        let block = if self.small { 64 } else { 128 };
        let mut keyed;
        let data = if self.key.is_empty() {
            data
        } else {
            keyed = self.key.clone();
            keyed.resize(block, 0);
            keyed.extend_from_slice(data);
            &keyed
        };
        let parameters = self.parameters();
        let mut digest = if self.small { small(&parameters, data, self.last_node) } else { big(&parameters, data, self.last_node) };
        digest.truncate(usize::from(self.digest_size));
        digest
    }

    fn parameters(&self) -> Vec<u8> {
        let padded = |text: &[u8]| {
            let mut out = text.to_vec();
            out.resize(if self.small { 8 } else { 16 }, 0);
            out
        };
        let mut out = vec![self.digest_size, u8::try_from(self.key.len()).unwrap_or(0), self.fanout, self.depth];
        out.extend(self.leaf_size.to_le_bytes());
        if self.small {
            out.extend(&self.node_offset.to_le_bytes()[..6]);
            out.extend([self.node_depth, self.inner_size]);
        } else {
            out.extend(self.node_offset.to_le_bytes());
            out.extend([self.node_depth, self.inner_size]);
            out.extend([0; 14]);
        }
        out.extend(padded(&self.salt));
        out.extend(padded(&self.person));
        out
    }
}

/// SHAKE with a rate of bytes: as many bytes of output as asked for.
pub(crate) fn shake(rate: usize, data: &[u8], length: usize) -> Vec<u8> {
    let mut state = [0_u64; 25];
    let absorb = |state: &mut [u64; 25], block: &[u8]| {
        for (index, word) in block.chunks(8).enumerate() {
            let mut bytes = [0; 8];
            bytes[..word.len()].copy_from_slice(word);
            state[index] ^= u64::from_le_bytes(bytes);
        }
        permute(state);
    };
    let mut blocks = data.chunks_exact(rate);
    for block in blocks.by_ref() {
        absorb(&mut state, block);
    }
    let mut last = blocks.remainder().to_vec();
    last.push(0x1f);
    last.resize(rate, 0);
    last[rate - 1] |= 0x80;
    absorb(&mut state, &last);
    let mut out = Vec::with_capacity(length + rate);
    loop {
        out.extend(state.iter().flat_map(|word| word.to_le_bytes()).take(rate));
        if out.len() >= length {
            out.truncate(length);
            return out;
        }
        permute(&mut state);
    }
}

/// Constants of the rounds (FIPS 202, algorithm 5), worked out at compile time.
const ROUNDS: [u64; 24] = {
    let mut constants = [0; 24];
    let mut register: u8 = 1;
    let mut round = 0;
    while round < 24 {
        let mut bit = 0;
        while bit < 7 {
            if register & 1 == 1 {
                constants[round] ^= 1 << ((1_u32 << bit) - 1);
            }
            register = register << 1 ^ if register & 0x80 != 0 { 0x71 } else { 0 };
            bit += 1;
        }
        round += 1;
    }
    constants
};

/// Where each word goes and by how much it turns, in the order in which they push each other on.
const MOVES: [(usize, u32); 24] = {
    let mut moves = [(0, 0); 24];
    let (mut x, mut y) = (1, 0);
    let mut step = 0;
    while step < 24 {
        (x, y) = (y, (2 * x + 3 * y) % 5);
        moves[step] = (x + 5 * y, ((step + 1) * (step + 2) / 2 % 64) as u32);
        step += 1;
    }
    moves
};

/// The permutation of Keccak, 24 rounds.
fn permute(state: &mut [u64; 25]) {
    for constant in ROUNDS {
        let mut parity = [0_u64; 5];
        for (x, column) in parity.iter_mut().enumerate() {
            *column = state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20];
        }
        for x in 0..5 {
            let mix = parity[(x + 4) % 5] ^ parity[(x + 1) % 5].rotate_left(1);
            for row in 0..5 {
                state[x + 5 * row] ^= mix;
            }
        }
        let mut carried = state[1];
        for (place, distance) in MOVES {
            carried = std::mem::replace(&mut state[place], carried.rotate_left(distance));
        }
        for row in state.as_chunks_mut::<5>().0 {
            let before = *row;
            for x in 0..5 {
                row[x] = before[x] ^ (!before[(x + 1) % 5] & before[(x + 2) % 5]);
            }
        }
        state[0] ^= constant;
    }
}
