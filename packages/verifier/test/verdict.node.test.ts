import { toHex, utf8 } from '@svc/protocol/bytes'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BUNDLE_FACTS, type Fact, failed, notChecked, PASSED, RECEIPT_FACTS, unavailable } from '../src/facts.ts'
import { type Verdict, verdictOf } from '../src/verdict.ts'
import { verifyBundle } from '../src/verify-bundle.ts'
import { bundleOf, listedFiles, SIGNER } from './bundles.ts'
import { CASES, givenOf, packBytes } from './pack.ts'

async function verdictOfCase(name: string): Promise<Verdict> {
  const { file, given } = CASES.find((one) => one.name === name)!
  const verification = await verifyBundle([await packBytes(file)], await givenOf(given))
  return verdictOf(verification.refused ? null : verification.facts)
}

describe('the verdict', () => {
  it.each<[Verdict, names: string]>([
    ['verified', 'v2 v2-folder v1 redacted-chosen redacted-no-names log log-node-down'],
    ['verified', 'keys-endorsed keys-revoked-after-anchor'],
    ['signer_unknown', 'v2-not-pinned v1-not-pinned v1-retired-key'],
    ['failed', 'v1-all-replaced v1-unsigned keys-of-stranger keys-recovery-not-pinned keys-revoked-not-asked'],
    [
      'failed',
      'list-renamed list-empty redacted-empty redacted-leaves-empty folder-changed log-impostor node-tx-failed',
    ],
  ])('CLI-04 EVID-19 is %s for the cases %s', async (verdict, names) => {
    for (const name of names.split(' ')) expect(await verdictOfCase(name), name).toBe(verdict)
  })

  it('CLI-04 EVID-19 does not trust keys in the bundle', async () => {
    const public_key_hex = toHex(SIGNER.publicKey)
    const signing_keys = { keys: [{ public_key_hex, use: 'evidence-envelope', status: 'active' }] }
    const bundle = { ...bundleOf(listedFiles(3)), signing_keys }
    const verification = await verifyBundle([utf8(JSON.stringify(bundle))])
    expect(verdictOf(verification.refused ? null : verification.facts)).toBe('signer_unknown')
  })

  it('CLI-04 EVID-19 is verified only if nothing failed, files are proven, and a pinned key signed', () => {
    const fact = fc.constantFrom<Fact>(PASSED, failed('no'), notChecked('not asked'), unavailable('no answer'))
    const names = [...BUNDLE_FACTS, ...RECEIPT_FACTS]
    const someFacts = fc.dictionary(fc.constantFrom<string>(...names), fact, { maxKeys: names.length })
    fc.assert(
      fc.property(someFacts, (facts) => {
        const values = names.map((name) => facts[name]?.value)
        const verdict = verdictOf(facts)
        if (values.includes('failed')) expect(verdict).toBe('failed')
        if (facts.key_pinned?.value !== 'passed') expect(verdict).not.toBe('verified')
        if (verdict === 'failed') return
        expect(facts.signature_valid?.value).toBe('passed')
        expect([facts.merkle_root_matches?.value, facts.inclusion_proven?.value]).toContain('passed')
      }),
    )
    expect([verdictOf(null), verdictOf({}), verdictOf({ key_pinned: PASSED })]).toEqual(['failed', 'failed', 'failed'])
  })
})
