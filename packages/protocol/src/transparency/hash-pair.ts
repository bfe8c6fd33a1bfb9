// SHA-256 of a tree node: the byte 1 and the two hashes below it. A proof from a cold tile takes 247 of them, and a
// library call for 65 bytes costs more than the hashing. FIPS 180-4, 6.2, with two blocks; only the first byte of the
// second block varies. Only provers use this. Verifiers hash with the library.

// biome-ignore format: eight to a line, as in the standard
const ROUND_CONSTANTS = Int32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
)
// biome-ignore format: as above
const INITIAL_STATE = Int32Array.of(
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
)
const ROUNDS = 64
const PAIR_BYTES = 64
const PREFIX = 0x01000000
const END_OF_MESSAGE = 0x00800000
const MESSAGE_BITS = (1 + PAIR_BYTES) * 8

const state = new Int32Array(8)
const words = new Int32Array(ROUNDS)
/** The words of the second block with the constants added, by the last byte of a pair. */
const lastWords = new Int32Array(256 * ROUNDS)

/** Hashes the 64 bytes from `at` on, and writes the hash to `target` at `position`. */
export function hashPair(pairs: Uint8Array, at: number, target: Uint8Array, position: number): void {
  if (at + PAIR_BYTES > pairs.length) throw new RangeError('a hash has 32 bytes')
  state.set(INITIAL_STATE)
  readFirstBlock(pairs, at)
  compress(words, 0)
  compress(lastWords, secondBlock(pairs[at + PAIR_BYTES - 1]!))
  for (let i = 0; i < 8; i++) {
    const word = state[i]!
    target[position + 4 * i] = word >>> 24
    target[position + 4 * i + 1] = word >>> 16
    target[position + 4 * i + 2] = word >>> 8
    target[position + 4 * i + 3] = word
  }
}

/** The prefix shifts everything that follows by a byte. */
function readFirstBlock(pairs: Uint8Array, at: number): void {
  words[0] = PREFIX | (pairs[at]! << 16) | (pairs[at + 1]! << 8) | pairs[at + 2]!
  for (let t = 1, from = at + 3; t < 16; t++, from += 4)
    words[t] = (pairs[from]! << 24) | (pairs[from + 1]! << 16) | (pairs[from + 2]! << 8) | pairs[from + 3]!
  expand()
}

/** The index of its words, which are computed on first use. */
function secondBlock(lastByte: number): number {
  const begin = lastByte * ROUNDS
  // A computed first word, with its constant, is never 0.
  if (lastWords[begin] === 0) {
    words.fill(0)
    words[0] = (lastByte << 24) | END_OF_MESSAGE
    words[15] = MESSAGE_BITS
    expand()
    lastWords.set(words, begin)
  }
  return begin
}

function expand(): void {
  for (let t = 16; t < ROUNDS; t++) {
    const x = words[t - 15]!
    const y = words[t - 2]!
    const small0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const small1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    words[t] = (small0 + words[t - 7]! + small1 + words[t - 16]!) | 0
  }
  for (let t = 0; t < ROUNDS; t++) words[t] = (words[t]! + ROUND_CONSTANTS[t]!) | 0
}

function compress(block: Int32Array, begin: number): void {
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  let f = state[5]!
  let g = state[6]!
  let h = state[7]!
  for (let t = begin; t < begin + ROUNDS; t++) {
    const big1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const first = (h + big1 + (g ^ (e & (f ^ g))) + block[t]!) | 0
    const big0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const second = (big0 + ((a & b) | (c & (a | b)))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  state[0]! += a
  state[1]! += b
  state[2]! += c
  state[3]! += d
  state[4]! += e
  state[5]! += f
  state[6]! += g
  state[7]! += h
}
