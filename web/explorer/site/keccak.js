// Keccak-256, the chain's hash, so that the page can draw a committee again by itself.

const ROUNDS = 24;
const RATE = 136;

// Round constants and rotations follow from the definition; lanes are pairs of 32-bit halves, the low one first.
const [CONSTANTS, ROTATIONS, PLACES] = tables();

function tables() {
  const constants = [];
  const rotations = [];
  const places = [];
  let register = 1;
  for (let round = 0; round < ROUNDS; round += 1) {
    const constant = [0, 0];
    for (let bit = 0; bit < 7; bit += 1) {
      const at = 2 ** bit - 1;
      if (register & 1) constant[at >> 5] |= 1 << (at & 31);
      register = register & 0x80 ? (register << 1) ^ 0x171 : register << 1;
    }
    constants.push(constant);
  }
  let [x, y] = [1, 0];
  for (let step = 0; step < 24; step += 1) {
    places.push(x + 5 * y);
    rotations.push((((step + 1) * (step + 2)) / 2) % 64);
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return [constants, rotations, places];
}

function rotated(low, high, by) {
  const [first, second] = by < 32 ? [low, high] : [high, low];
  const bits = by % 32;
  return bits === 0 ? [first, second] : [(first << bits) | (second >>> (32 - bits)), (second << bits) | (first >>> (32 - bits))];
}

function permute(state) {
  const column = new Int32Array(10);
  const row = new Int32Array(10);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let x = 0; x < 10; x += 1) column[x] = state[x] ^ state[x + 10] ^ state[x + 20] ^ state[x + 30] ^ state[x + 40];
    for (let x = 0; x < 5; x += 1) {
      const after = 2 * ((x + 1) % 5);
      const before = 2 * ((x + 4) % 5);
      const [low, high] = rotated(column[after], column[after + 1], 1);
      for (let y = 0; y < 25; y += 5) {
        state[2 * (x + y)] ^= column[before] ^ low;
        state[2 * (x + y) + 1] ^= column[before + 1] ^ high;
      }
    }
    let carried = [state[2], state[3]];
    for (let step = 0; step < 24; step += 1) {
      // The lane at (x, y) goes to (y, 2x + 3y), where the next step picks up.
      const place = PLACES[(step + 1) % 24];
      const kept = [state[2 * place], state[2 * place + 1]];
      [state[2 * place], state[2 * place + 1]] = rotated(carried[0], carried[1], ROTATIONS[step]);
      carried = kept;
    }
    for (let y = 0; y < 50; y += 10) {
      row.set(state.subarray(y, y + 10));
      for (let x = 0; x < 10; x += 1) state[y + x] = row[x] ^ (~row[(x + 2) % 10] & row[(x + 4) % 10]);
    }
    state[0] ^= CONSTANTS[round][0];
    state[1] ^= CONSTANTS[round][1];
  }
}

/** The Keccak-256 of byte arrays, one after the other. */
export function keccak256(...parts) {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const padded = new Uint8Array((Math.floor(length / RATE) + 1) * RATE);
  let at = 0;
  for (const part of parts) {
    padded.set(part, at);
    at += part.length;
  }
  padded[length] ^= 0x01;
  padded[padded.length - 1] ^= 0x80;
  const state = new Int32Array(50);
  const view = new DataView(padded.buffer);
  for (let block = 0; block < padded.length; block += RATE) {
    for (let word = 0; word < RATE / 4; word += 1) state[word] ^= view.getInt32(block + 4 * word, true);
    permute(state);
  }
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  for (let word = 0; word < 8; word += 1) out.setInt32(4 * word, state[word], true);
  return digest;
}
