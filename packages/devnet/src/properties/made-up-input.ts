// Checks the rules of a parser with made-up input: real examples, unchanged and changed.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { type Changes, changed } from './changed.ts'
import { BrokenRule } from './rules.ts'
import { watchCases } from './watch-cases.ts'

export interface Parser extends Changes {
  /** Real examples. Every rule holds for them, too. */
  examples: readonly (string | Uint8Array)[]
  /** A case takes milliseconds: fewer cases run, and each may take longer. */
  isCostly?: boolean
  /** Throws when a rule is broken. `cut` splits bytes into pieces, as they may arrive. */
  rule(input: Buffer, cut: (bytes: Uint8Array) => Buffer[]): void | Promise<void>
}

/** The cases in `npm test`; `npm run fuzz` sets a time instead. */
const CASES = 40
const COSTLY_CASES = 5
const SECONDS = Number(process.env.SVC_FUZZ_SECONDS ?? 0)

/** The broken rule, with the shortest input that breaks it; null when every rule holds. */
export async function problemWith(parser: Parser, hangsMs?: number): Promise<string | null> {
  const { examples, isCostly = false } = parser
  const watched = watchCases(hangsMs)
  const property = fc.asyncProperty(changed(examples, parser), PIECE_LENGTHS, async (input, lengths) => {
    watched.begin(input)
    await inTime(isCostly, () => parser.rule(input, (bytes) => piecesOf(bytes, lengths)))
  })
  const cases = examples.length + (isCostly ? COSTLY_CASES : CASES)
  try {
    return problemIn(
      await fc.check(property, {
        examples: examples.map((example) => [Buffer.from(example), [1]]),
        ...(SECONDS > 0
          ? { numRuns: 2 ** 52, interruptAfterTimeLimit: SECONDS * 1000, markInterruptAsFailure: false }
          : { numRuns: cases }),
      }),
    )
  } finally {
    watched.end()
  }
}

/** The lengths repeat until the bytes are used up. */
const PIECE_LENGTHS = fc.array(
  fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 5000 })),
  {
    minLength: 1,
    maxLength: 3,
  },
)
/** More pieces only take longer. */
const MAX_PIECES = 256

function piecesOf(bytes: Uint8Array, lengths: readonly number[]): Buffer[] {
  const least = Math.ceil(bytes.length / MAX_PIECES)
  const pieces: Buffer[] = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const length = Math.max(least, lengths[i % lengths.length]!)
    pieces.push(Buffer.from(bytes.subarray(at, at + length)))
    at += length
  }
  return pieces
}

const SLOW_MS = 200
const SLOW_WHERE_COSTLY_MS = 1000
const CONFIRMATIONS = 3

async function inTime(isCostly: boolean, run: () => void | Promise<void>): Promise<void> {
  const slowMs = isCostly ? SLOW_WHERE_COSTLY_MS : SLOW_MS
  const began = performance.now()
  await run()
  if (performance.now() - began < slowMs) return
  // On a busy machine everything takes long: measure the processor time of this thread, several times.
  for (let i = 0; i < CONFIRMATIONS; i++) {
    const before = process.threadCpuUsage()
    await run()
    const { user, system } = process.threadCpuUsage(before)
    if ((user + system) / 1000 <= slowMs) return
  }
  throw new BrokenRule(`takes more than ${slowMs} ms`)
}

function problemIn({ failed, counterexample, errorInstance, seed }: fc.RunDetails<[Buffer, number[]]>): string | null {
  if (!failed) return null
  const [input, lengths] = counterexample ?? []
  return `${messageOf(errorInstance)}; SVC_TEST_SEED=${seed}, pieces of ${lengths}, input in base64 ${input && shown(input)}`
}

/** The message, with the first stack line in our own sources. */
function messageOf(error: unknown): string {
  if (error instanceof BrokenRule) return error.message
  if (!(error instanceof Error)) return `throws a value that is not an Error: ${error}`
  const [place = ''] = /(?:packages|apps)\/[^ )]+\/src\/(?!properties)[^ )]+:\d+/.exec(error.stack ?? '') ?? []
  return `throws ${error.name}: ${error.message.slice(0, 200)} ${place}`
}

const MAX_SHOWN = 2000

/** Saves an input that is too long for a terminal. */
function shown(input: Buffer): string {
  const text = input.toString('base64')
  if (text.length <= MAX_SHOWN) return text
  const file = join(mkdtempSync(join(tmpdir(), 'svc-fuzz-')), 'input')
  writeFileSync(file, text)
  return `in ${file}`
}
