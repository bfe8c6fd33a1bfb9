// An arbitrary for made-up input: an example with changed bits, bytes, runs of bytes and numbers, with words of its
// format and pieces of other examples. It shrinks by removing bytes.

import fc from 'fast-check'
import { changeJson } from './changed-json.ts'
import { type Random, randomOf } from './random.ts'

export interface Changes {
  /** Keywords and delimiters of the format. */
  words?: readonly string[]
  /** Examples are JSON: their values are changed as well as their bytes. */
  isJson?: boolean
  /** The longest input; by default the length that a header may have. */
  maxBytes?: number
}

const DEFAULT_MAX_BYTES = 16_384

export function changed(examples: readonly (string | Uint8Array)[], changes: Changes = {}): fc.Arbitrary<Buffer> {
  return new Changed(
    examples.map((example) => Buffer.from(example)),
    changes,
  )
}

class Changed extends fc.Arbitrary<Buffer> {
  readonly #examples: readonly Buffer[]
  readonly #changes: Changes

  constructor(examples: readonly Buffer[], changes: Changes) {
    super()
    this.#examples = examples
    this.#changes = changes
  }

  override generate(generator: fc.Random): fc.Value<Buffer> {
    return new fc.Value(change(this.#examples, this.#changes, randomOf(generator)), undefined)
  }

  override canShrinkWithoutContext(value: unknown): value is Buffer {
    return Buffer.isBuffer(value)
  }

  override shrink(value: Buffer): fc.Stream<fc.Value<Buffer>> {
    return fc.stream(shorter(value)).map((bytes) => new fc.Value(bytes, undefined))
  }
}

/** The input without one run of bytes, longest runs first. */
function* shorter(input: Buffer): IterableIterator<Buffer> {
  for (let length = input.length; length >= 1; length >>= 1) {
    for (let at = 0; at < input.length; at += length) {
      yield Buffer.concat([input.subarray(0, at), input.subarray(at + length)])
    }
  }
}

/** Numbers at the limits of common types, and unusual notations. */
const NUMBERS = [
  ...['0', '-0', '-1', '1', '127', '128', '255', '256', '32767', '32768', '65535', '65536', '2147483647', '2147483648'],
  ...[
    '4294967295',
    '4294967296',
    '9007199254740991',
    '9007199254740992',
    '9223372036854775807',
    '18446744073709551615',
  ],
  ...['18446744073709551616', '1e309', '-1e309', '1e-400', '0.1', '00', '+1', '0x10', '1_0', 'NaN', 'Infinity'],
]
const BYTES = [0, 1, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x2f, 0x3d, 0x5c, 0x7f, 0x80, 0xbf, 0xc0, 0xed, 0xef, 0xff]
/** Texts that end lines, split characters, look like others, or have a meaning in paths and objects. */
const TEXTS = [
  '\r\n',
  '\n\n',
  '\0',
  '\ufeff',
  '\u2028',
  '\ud83d\ude00',
  'é',
  '\u212a',
  '\u0660',
  '%00',
  '%2f',
  '..',
  '__proto__',
]
/** Written as unsigned numbers of one to four bytes, in both byte orders. */
const WORDS_OF_BITS = [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff]

type Mutation = (input: Buffer, random: Random, context: Context) => Buffer

interface Context {
  words: readonly string[]
  other: Uint8Array
  maxBytes: number
}

function change(examples: readonly Buffer[], changes: Changes, random: Random): Buffer {
  const { words = [], isJson = false, maxBytes = DEFAULT_MAX_BYTES } = changes
  const context = { words, other: random.pick(examples), maxBytes }
  let input = random.pick(examples)
  const times = random.pick([1, 1, 1, 2, 2, 3, 4, 8])
  for (let i = 0; i < times; i++) {
    const changed = isJson && !random.oneIn(5) ? changeJson(input, random, context) : null
    input = changed ?? random.pick(MUTATIONS)(input, random, context)
  }
  return input.subarray(0, maxBytes)
}

const MUTATIONS: readonly Mutation[] = [
  function flipBit(input, random) {
    return withByte(input, random, (byte) => byte ^ (1 << random.below(8)))
  },
  function setByte(input, random) {
    return withByte(input, random, () => random.pick(BYTES))
  },
  function anyByte(input, random) {
    return withByte(input, random, () => random.below(256))
  },
  function insertWord(input, random, { words }) {
    return inserted(input, random, Buffer.from(random.pick(words.length > 0 ? words : TEXTS)))
  },
  function insertText(input, random) {
    return inserted(input, random, Buffer.from(random.pick(TEXTS)))
  },
  function replaceByWord(input, random, { words }) {
    const [start, end] = span(input, random, 16)
    return spliced(input, start, end, Buffer.from(random.pick(words.length > 0 ? words : NUMBERS)))
  },
  function remove(input, random) {
    const [start, end] = span(input, random, random.pick([1, 8, 64, input.length]))
    return spliced(input, start, end, Buffer.alloc(0))
  },
  function repeat(input, random, { maxBytes }) {
    const [start, end] = span(input, random, random.pick([1, 4, 32, 256]))
    const times = Math.min(random.pick([1, 2, 8, 100, 5000]), Math.ceil(maxBytes / Math.max(1, end - start)))
    return spliced(input, end, end, Buffer.concat(Array.from({ length: times }, () => input.subarray(start, end))))
  },
  function swap(input, random) {
    const [start, end] = span(input, random, 32)
    const middle = start + random.below(end - start + 1)
    const turned = Buffer.concat([input.subarray(middle, end), input.subarray(start, middle)])
    return spliced(input, start, end, turned)
  },
  function splice(input, random, { other }) {
    const cut = random.below(input.length + 1)
    return Buffer.concat([input.subarray(0, cut), other.subarray(random.below(other.length + 1))])
  },
  function insertOther(input, random, { other }) {
    const [start, end] = span(Buffer.from(other), random, 64)
    return inserted(input, random, other.subarray(start, end))
  },
  function changeNumber(input, random) {
    const found = [...input.toString('latin1').matchAll(/\d+/g)]
    if (found.length === 0) return inserted(input, random, Buffer.from(random.pick(NUMBERS)))
    const { 0: digits, index } = random.pick(found)
    return spliced(input, index, index + digits.length, Buffer.from(random.pick(NUMBERS)))
  },
  function changeBits(input, random) {
    const length = random.pick([1, 2, 4])
    if (input.length < length) return input
    const value = random.pick(WORDS_OF_BITS) % 2 ** (8 * length)
    const at = random.below(input.length - length + 1)
    const changed = Buffer.from(input)
    if (random.oneIn(2)) changed.writeUIntBE(value, at, length)
    else changed.writeUIntLE(value, at, length)
    return changed
  },
  function changeCase(input, random) {
    return withByte(input, random, (byte) => (/[a-z]/i.test(String.fromCharCode(byte)) ? byte ^ 0x20 : byte))
  },
]

function withByte(input: Buffer, random: Random, change: (byte: number) => number): Buffer {
  if (input.length === 0) return Buffer.of(change(0) & 0xff)
  const at = random.below(input.length)
  const changed = Buffer.from(input)
  changed[at] = change(input[at]!) & 0xff
  return changed
}

function inserted(input: Buffer, random: Random, bytes: Uint8Array): Buffer {
  const at = random.below(input.length + 1)
  return spliced(input, at, at, bytes)
}

function spliced(input: Buffer, start: number, end: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([input.subarray(0, start), bytes, input.subarray(end)])
}

function span(input: Buffer, random: Random, longest: number): [start: number, end: number] {
  const start = random.below(input.length + 1)
  return [start, Math.min(input.length, start + random.below(longest + 1))]
}
