import { startProcess } from '@svc/devnet/start-process'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Changes, changed } from '../../src/properties/changed.ts'
import { problemWith } from '../../src/properties/made-up-input.ts'
import { accepted, must } from '../../src/properties/rules.ts'

/** Faults of parsers, and the shortest input that shows each. */
const PLANTED: [fault: string, example: string, changes: Changes, shortest: string][] = [
  ['a word of the format', 'aaaa', { words: ['svc!'] }, 'svc!'],
  ['a character that ends lines', 'aaaa', {}, '\r\n'],
  ['a number beyond a double', 'n=12;', {}, '=9007199254740992'],
  ['a long text', 'aaaa', {}, 'a'.repeat(50)],
  ['a piece of another example', 'one,two', {}, 'oneone'],
  ['a value of another type', '{"a":[1,"b"]}', { isJson: true }, '"a":{'],
  ['lists in lists', '{"a":1}', { isJson: true }, '[[['],
  ['a member named __proto__', '{"a":{"b":1}}', { isJson: true }, '"__proto__":'],
]

it.each(PLANTED)('T-129 made-up input includes %s, and shrinks as far as possible', (_, example, changes, fault) => {
  const rule = (input: Buffer) => must(!input.includes(fault), 'has the fault')
  const { counterexample } = fc.check(fc.property(changed([example], changes), rule), { numRuns: 20_000 })
  expect(counterexample?.toString()).toBe(fault)
})

it('T-129 made-up input is the same for the same seed', () => {
  const casesOf = (seed: number) =>
    fc.sample(changed(['{"a":[1,"b"]}'], { words: ['c'], isJson: true }), { seed, numRuns: 100 }).join('\n')
  expect(casesOf(1)).toBe(casesOf(1))
  expect(casesOf(1)).not.toBe(casesOf(2))
})

it('T-129 reports a broken rule and a foreign error with the input that caused it', async () => {
  const problemOf = (rule: (input: Buffer) => void) => problemWith({ examples: ['x'], rule })
  expect(await problemOf((input) => must(input.length === 0, 'is not empty'))).toBe(
    `is not empty; SVC_TEST_SEED=${fc.readConfigureGlobal()?.seed}, pieces of 1, input in base64 ${btoa('x')}`,
  )
  const refusing = (error: Error) => () => {
    accepted(SyntaxError, () => {
      throw error
    })
  }
  expect(await problemOf(refusing(new SyntaxError('of its own')))).toBeNull()
  expect(await problemOf(refusing(new TypeError('not of its own')))).toMatch(/^throws TypeError: not of its own /)
})

it('T-129 made-up input arrives in pieces that add up to it', async () => {
  let pieces = 0
  const rule = (input: Buffer, cut: (bytes: Buffer) => Buffer[]) => {
    pieces = Math.max(pieces, cut(input).length)
    must(Buffer.concat(cut(input)).equals(input), 'has other bytes')
  }
  expect(await problemWith({ examples: ['x'.repeat(1000)], rule })).toBeNull()
  expect(pieces).toBeGreaterThan(1)
})

it('T-129 reports a case that takes too much time', { tags: ['nightly'] }, async () => {
  const problem = await problemWith({ examples: ['x'], rule: () => spin(300) })
  expect(problem).toMatch(/^takes more than 200 ms;/)
})

it.each([
  ['spin', 'does not end', '1000'],
  ['keep', 'takes more than 1024 MB', '60000'],
])(
  'T-129 ends the process on a case that would %s forever, and prints its input',
  { tags: ['nightly'] },
  async (...args) => {
    const [way, problem, hangsMs] = args
    const program = new URL('./programs/bad-parser.ts', import.meta.url)
    const { stderr } = await startProcess(program, { args: [way, hangsMs] }).ended
    expect(stderr).toContain(`made-up input ${problem}; in base64 ${btoa('x')}`)
  },
)

/** Milliseconds of this thread's own time. */
function spin(ms: number): void {
  const before = process.threadCpuUsage()
  while (process.threadCpuUsage(before).user < ms * 1000) Math.sqrt(2)
}
