// The verifier in Python, which shares no code with ours, on the same bundles. Its tests are skipped where there is no
// Python 3.9 or newer.

import { isDeepStrictEqual } from 'node:util'
import { startProcess } from '@svc/devnet/start-process'
import { describe, expect, inject, it } from 'vitest'
import { CASES, CHAINS } from '../pack.ts'
import {
  byPython,
  byTypeScript,
  differencesOf,
  LONG_BUNDLE,
  originals,
  RUN_PACK,
  VECTORS,
  VERIFIER,
} from './compare.ts'
import { mutantOf as keyHistoryOf } from './key-histories.ts'
import { mutantOf } from './mutants.ts'

const KEY = '3b96e8a182bab9c6691d0b79b7c5399340562ef5a632956abd1277cc144acd6e'
const MISSING = 'Python 3.9 or newer is not installed'

const version = await pythonVersion()

/** Null if there is no Python, or an older one. */
async function pythonVersion(): Promise<string | null> {
  const code = 'import sys; print("%d.%d" % sys.version_info[:2]); sys.exit(sys.version_info < (3, 9))'
  const ended = await startProcess('python3', { args: ['-c', code] }).ended
  return ended.code === 0 ? ended.stdout.trim() : null
}

/** The cases of pack and vectors whose outcome is not the expected one. */
async function unexpectedCases(...options: string[]) {
  const { code, stdout, stderr } = await startProcess('python3', { args: [...options, RUN_PACK, VECTORS] }).ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const lines = stdout.split('\n').filter(Boolean)
  expect(lines.length).toBeGreaterThan(CASES.length + CHAINS.length + 100)
  return lines.map((line) => JSON.parse(line)).filter(({ expected, found }) => !isDeepStrictEqual(expected, found))
}

function seededRandom(seed: number) {
  let state = seed >>> 0
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
  return {
    below,
    pick: <T>(items: readonly T[]) => items[below(items.length)] as T,
    oneIn: (times: number) => below(times) === 0,
  }
}

describe(`the verifier in Python (${version ?? 'not installed'})`, () => {
  it('CLI-06 finds what the pack expects of each bundle, chain and log', async ({ skip }) => {
    skip(version === null, MISSING)
    expect(await unexpectedCases()).toEqual([])
  })

  it('CLI-06 finds the same without the package cryptography', { tags: ['nightly'] }, async ({ skip }) => {
    skip(version === null, MISSING)
    expect(await unexpectedCases('-S')).toEqual([])
  })

  it.for([
    ['v2', ['--keys', KEY], 0, 'VERIFIED: '],
    ['v2', [], 0, 'CONSISTENT BUT SIGNER UNKNOWN: '],
    ['v2', ['--strict'], 3, 'CONSISTENT BUT SIGNER UNKNOWN: '],
    ['v2', ['--keys', KEY, '--require', 'log_included'], 3, 'FAILED: '],
    ['list-renamed', ['--keys', KEY], 3, 'FAILED: merkle_root_matches: '],
    ['text-empty', [], 3, 'FAILED: '],
    ['v2', ['--keys', '0'.repeat(64)], 2, ''],
  ] as const)(
    'CLI-04 CLI-06 begins with its verdict, and %s %s exits with %i',
    { tags: ['nightly'] },
    async ([name, options, code, verdict], { skip }) => {
      skip(version === null, MISSING)
      const args = [VERIFIER, `${VECTORS}/bundles/${name}.json`, ...options]
      const ended = await startProcess('python3', { args }).ended
      expect(ended).toMatchObject({ code, stdout: expect.stringMatching(new RegExp(`^${verdict}`)) })
    },
  )

  it.for([
    ['changed bundles', mutantOf, 2000],
    ['made-up histories of keys', keyHistoryOf, 500],
  ] as const)(
    'CLI-06 agrees with ours in every fact about %s',
    { tags: ['nightly'] },
    async ([, make, count], { skip }) => {
      skip(version === null, MISSING)
      const examples = await originals()
      const random = seededRandom(inject('propertySeed'))
      const mutants = Array.from({ length: count }, () => make(random, examples))
      const found = await byPython(mutants)
      for (const [index, mutant] of mutants.entries()) {
        expect(differencesOf(await byTypeScript(mutant), found[index] ?? {}), mutant.what).toEqual([])
      }
    },
  )

  it.for([[], ['no_names']])(
    'CLI-06 verifies 100,000 files in bounded memory %s',
    { tags: ['nightly'] },
    async (options, { skip }) => {
      skip(version === null, MISSING)
      const { stdout } = await startProcess('python3', { args: [LONG_BUNDLE, '100000', ...options] }).ended
      const { merkle_root_matches, peak_megabytes } = JSON.parse(stdout)
      expect(merkle_root_matches).toBe('passed')
      expect(peak_megabytes).toBeLessThan(80)
    },
  )
})
