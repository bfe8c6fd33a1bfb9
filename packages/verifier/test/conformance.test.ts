import { describe, expect, it } from 'vitest'
import { readPinnedKeys } from '../src/pinned-keys.ts'
import { type Verification, type VerifiedBundle, verifyBundle } from '../src/verify-bundle.ts'
import { verifyChain } from '../src/verify-chain.ts'
import { CASES, CHAINS, givenOf, packBytes, REFUSED_KEYS } from './pack.ts'

function outcome(verification: Verification): Record<string, string> {
  if (verification.refused) return { refused: verification.refused.code }
  return Object.fromEntries(Object.entries(verification.facts).map(([name, fact]) => [name, fact.value]))
}

async function verify(file: string, given: (typeof CASES)[number]['given']): Promise<Verification> {
  return verifyBundle([await packBytes(file)], await givenOf(given))
}

// In Chromium every file is a fetch, so the checks before a merge run the pack only in Node.
describe('the conformance pack', { tags: 'document' in globalThis ? ['nightly'] : [] }, () => {
  it.each(CASES)('CLI-03 CLI-05 case $name verifies as expected: $what', async ({ file, given, expect: expected }) => {
    const verification = await verify(file, given)
    expect(outcome(verification)).toEqual(expected)
    if (verification.refused) expect(verification.refused.why).toMatch(/^.{5,300}$/u)
    else {
      const failed = Object.keys(expected).filter((name) => expected[name] === 'failed')
      expect(verification.failed.toSorted()).toEqual(failed.toSorted())
      for (const fact of Object.values(verification.facts)) {
        if (fact.value !== 'passed') expect(fact.why).toMatch(/^.{5,500}$/u)
      }
    }
  })

  it.each(REFUSED_KEYS)('CLI-01 refuses to pin a list with $what', ({ list }) => {
    expect(readPinnedKeys(JSON.stringify(list))).toMatchObject({ ok: false })
  })

  it.each(CHAINS)(
    'EVID-10 EVID-11 several bundles verify as expected: $what',
    async ({ files, given, expect: expected }) => {
      const bundles = await Promise.all(files.map((file) => verify(file, given)))
      const { sequences, isFromStart, problems } = verifyChain(bundles as VerifiedBundle[])
      expect({ sequences, from_start: isFromStart, problems: problems.map(({ code }) => code) }).toEqual(expected)
    },
  )
})
