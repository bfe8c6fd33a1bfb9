// Evidence bundles of every version, full and redacted.

import { problemWith } from '@svc/devnet/properties/made-up-input'
import { must, mustEqual } from '@svc/devnet/properties/rules'
import { expect, it } from 'vitest'
import { redactBundle } from '../src/redact-bundle.ts'
import { type Given, type Verification, verifyBundle } from '../src/verify-bundle.ts'
import { CASES, givenOf, packBytes } from './pack.ts'

const NAMES = [
  ...[
    'v1',
    'v2',
    'v2-escapes',
    'v2-hostile-names',
    'v2-more-fields',
    'v2-one-file',
    'redacted-chosen',
    'redacted-no-names',
  ],
  ...['redacted-only-file', 'log', 'log-redacted', 'keys-endorsed', 'keys-recovered', 'anchor-memo', 'registry-latest'],
]

it('T-129 T-52 no made-up input breaks the rules of bundles', async () => {
  const cases = NAMES.map(caseOf)
  const seeds = await Promise.all(cases.map(({ file }) => packBytes(file)))
  const pinned_keys = ['v2', 'keys-endorsed'].flatMap((name) => caseOf(name).given.pinned_keys as string[])
  const given = await givenOf({ ...caseOf('log').given, ...caseOf('anchor-memo').given, pinned_keys })
  const genuine = new Set<string>()
  for (const seed of seeds) {
    const verification = await verifyBundle([seed], given)
    if (isAccepted(verification)) genuine.add(signedIn(verification))
  }
  expect(
    await problemWith({
      examples: seeds,
      words:
        '{ } [ ] , " \\ "files":[ "leaf_hashes":[ "leaf_index": "proof": "schema": null svc/evidence-bundle/v2 svc/redacted-evidence-bundle/v1 no_names chosen_files sha256: __proto__ \u202e'.split(
          ' ',
        ),
      isJson: true,
      isCostly: true,
      maxBytes: 131_072,
      async rule(input, cut) {
        const whole = await verifyBundle([input], given)
        const inPieces = await verifyBundle(cut(input), given)
        mustEqual(outcomeOf(inPieces), outcomeOf(whole), 'the result depends on how the bundle is split')
        if (whole.refused) must(/^.{5,300}$/u.test(whole.refused.why), 'a refusal is not one line')
        if (isAccepted(whole)) must(genuine.has(signedIn(whole)), 'accepts a statement that was not signed')
        await checkRedaction(input, whole, given)
      },
    }),
  ).toBeNull()
})

function caseOf(name: string) {
  const found = CASES.find((one) => one.name === name)
  if (!found) throw new Error(`the pack has no case ${name}`)
  return found
}

function outcomeOf(verification: Verification): unknown {
  return verification.refused ? verification.refused.code : [verification.facts, verification.unchecked]
}

function isAccepted(verification: Verification): boolean {
  if (verification.refused) return false
  const { facts, failed } = verification
  return failed.length === 0 && facts.signature_valid.value === 'passed' && facts.key_pinned.value === 'passed'
}

function signedIn(verification: Verification): string {
  return verification.refused ? '' : JSON.stringify(verification.envelope?.body ?? verification.counted.merkleRoot)
}

/** A redacted bundle verifies if the full bundle does. */
async function checkRedaction(input: Uint8Array, whole: Verification, given: Given): Promise<void> {
  const written: string[] = []
  const { refused } = await redactBundle([input], (text) => void written.push(text), {
    ...(given.pinnedKeys && { pinnedKeys: given.pinnedKeys }),
  })
  if (refused) return
  const redacted = await verifyBundle([Buffer.from(written.join(''))], given)
  must(redacted.refused === null, 'a redacted bundle is refused')
  if (isAccepted(whole)) must(isAccepted(redacted), 'a bundle is accepted, but not after it is redacted')
}
