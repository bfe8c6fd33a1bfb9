// The loop: an example is changed, the rules of the parser are held against it, and what reaches new code becomes an
// example itself.

import type { Finding, FuzzResult } from '../../target.ts'
import type { Coverage } from './coverage.ts'
import { mutate } from './mutate.ts'
import { BrokenRule, type Parser } from './parser.ts'
import { randomOf, seededRandom } from './random.ts'

export interface Run {
  seed: number
  /** Asked before each case. */
  isOver(cases: number): boolean
  coverage?: Coverage
  /** Told before each case. */
  onCase?(input: Uint8Array): void
}

/** Coverage is taken after so many cases: each time costs as much as a hundred of them. */
const BATCH = 512
const MAX_FINDINGS = 20

export async function fuzzParser(parser: Parser, { seed, isOver, coverage, onCase }: Run): Promise<FuzzResult> {
  const random = seededRandom(seed)
  const corpus = parser.seeds.map((example) => Buffer.from(example))
  const findings = new Map<string, Finding>()
  let cases = 0

  async function tryCase(input: Uint8Array): Promise<void> {
    cases++
    onCase?.(input)
    const problem = await problemOf(parser, input)
    if (problem === null || findings.has(problem)) return
    const shortest = await shrink(input, async (shorter) => (await problemOf(parser, shorter)) === problem)
    findings.set(problem, { problem, input: Buffer.from(shortest).toString('base64') })
  }

  /** Which of the inputs reach new code: halves are run again, until one input is left that does. */
  async function learn(inputs: readonly Uint8Array[], coverage: Coverage): Promise<void> {
    const taken = await coverage.take()
    if (!coverage.isNew(taken)) return
    if (inputs.length > 1) {
      const middle = inputs.length >> 1
      for (const half of [inputs.slice(0, middle), inputs.slice(middle)]) {
        for (const input of half) {
          onCase?.(input)
          await problemOf(parser, input)
        }
        await learn(half, coverage)
      }
    } else {
      corpus.push(...inputs.map((input) => Buffer.from(input)))
    }
    coverage.add(taken)
  }

  for (const example of [...corpus]) await tryCase(example)
  if (coverage) await learn([], coverage)
  while (!isOver(cases) && findings.size < MAX_FINDINGS) {
    const inputs: Uint8Array[] = []
    while (inputs.length < BATCH && !isOver(cases)) {
      const input = mutate(corpus, parser, random)
      inputs.push(input)
      await tryCase(input)
    }
    if (coverage) await learn(inputs, coverage)
  }
  return { cases, findings: [...findings.values()] }
}

const SLOW_MS = 200
const SLOW_WHERE_COSTLY_MS = 1000
const CONFIRMATIONS = 3

/** One line about the rule that does not hold; null where all hold. */
async function problemOf(parser: Parser, input: Uint8Array): Promise<string | null> {
  const slowMs = parser.isCostly ? SLOW_WHERE_COSTLY_MS : SLOW_MS
  const began = performance.now()
  const problem = await failureOf(parser, input)
  if (problem !== null || performance.now() - began < slowMs) return problem
  // A busy machine takes long for anything: what counts is the time of this thread, again and again.
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < CONFIRMATIONS; i++) least = Math.min(least, await cpuMs(parser, input))
  return least > slowMs ? `takes more than ${slowMs} ms` : null
}

async function cpuMs(parser: Parser, input: Uint8Array): Promise<number> {
  const before = process.threadCpuUsage()
  await failureOf(parser, input)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

async function failureOf(parser: Parser, input: Uint8Array): Promise<string | null> {
  try {
    await parser.check(input, randomOf(input))
    return null
  } catch (error) {
    if (error instanceof BrokenRule) return error.message
    if (!(error instanceof Error)) return 'throws what is no error'
    return `throws ${error.name}: ${error.message.slice(0, 80)} ${placeOf(error)}`
  }
}

/** The first line of our own sources. */
function placeOf({ stack = '' }: Error): string {
  return /(?:packages|apps)\/[^ )]+\.ts:\d+/.exec(stack)?.[0] ?? ''
}

const MAX_TRIES = 300

/** A shorter input with the same problem. */
async function shrink(input: Uint8Array, isSame: (shorter: Uint8Array) => Promise<boolean>): Promise<Uint8Array> {
  let shortest = input
  let tries = 0
  for (let length = input.length >> 1; length >= 1 && tries < MAX_TRIES; length >>= 1) {
    for (let at = 0; at < shortest.length && tries < MAX_TRIES; tries++) {
      const shorter = Buffer.concat([shortest.subarray(0, at), shortest.subarray(at + length)])
      if (await isSame(shorter)) shortest = shorter
      else at += length
    }
  }
  return shortest
}
