import { startProcess } from '@svc/devnet/start-process'
import { describe, expect, it } from 'vitest'
import { fuzzParser } from '../src/parsers/engine/fuzz-parser.ts'
import type { Parser } from '../src/parsers/engine/parser.ts'
import { runInThread } from '../src/parsers/engine/run-in-thread.ts'
import { PARSERS } from '../src/parsers/targets.ts'

const SEED = Number(process.env.SVC_FUZZ_SEED ?? 1)
/** A few of each, to see that it runs: `npm run fuzz` runs them for a given time, every night. */
const CASES = 50
const COSTLY_CASES = 10

describe('parsers of what strangers send', () => {
  it.each(Object.entries(PARSERS))('T-129 T-130 T-131 %s keeps its rules for made-up input', async (_, { href }) => {
    const { open } = (await import(/* @vite-ignore */ href)) as { open(): Promise<Parser> | Parser }
    const parser = await open()
    try {
      const enough = parser.isCostly ? COSTLY_CASES : CASES
      const { findings } = await fuzzParser(parser, { seed: SEED, isOver: (cases) => cases >= enough })
      expect(findings).toEqual([])
    } finally {
      await parser.close?.()
    }
  })
})

describe('the fuzzer', () => {
  const program = (name: string) => new URL(`./programs/${name}.ts`, import.meta.url)

  it('T-132 finds a fault that only code coverage leads to, and makes its input short', {
    tags: ['nightly'],
  }, async () => {
    const { stdout } = await startProcess(program('find-planted')).ended
    expect(JSON.parse(stdout)).toEqual([{ problem: 'the fault was found', input: btoa('svc!') }])
  })

  it('T-132 makes the same cases for the same seed', async () => {
    async function casesOf(seed: number): Promise<string> {
      const seen: string[] = []
      const parser = {
        seeds: ['{"a":[1,"b"]}'],
        words: ['c'],
        isJson: true,
        check: (input: Uint8Array) => void seen.push(`${input}`),
      }
      await fuzzParser(parser, { seed, isOver: (cases) => cases >= 100 })
      return seen.join('\n')
    }
    expect(await casesOf(1)).toBe(await casesOf(1))
    expect(await casesOf(1)).not.toBe(await casesOf(2))
  })

  it('T-132 reports a case that takes too much time, and one that takes all memory', {
    tags: ['nightly'],
  }, async () => {
    const slow = { seeds: ['x'], words: [], check: () => void spin(300) }
    const { findings } = await fuzzParser(slow, { seed: 1, isOver: () => true })
    expect(findings).toEqual([{ problem: 'takes more than 200 ms', input: expect.any(String) }])
    const all = await runInThread(program('take-all-memory').href, { seconds: 60, seed: 1 })
    expect(all.findings).toEqual([{ problem: 'takes more than 512 MB', input: btoa('x') }])
  })
})

/** Milliseconds of this thread's own time. */
function spin(ms: number): void {
  const before = process.threadCpuUsage()
  while (process.threadCpuUsage(before).user < ms * 1000) Math.sqrt(2)
}
