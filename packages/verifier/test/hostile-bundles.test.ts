import { fromUtf8, toHex, utf8 } from '@svc/protocol/bytes'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Verification, verifyBundle } from '../src/verify-bundle.ts'
import { bundleOf, listedFiles, SIGNER } from './bundles.ts'
import { pinnedKeys } from './pack.ts'

const bundle = bundleOf(listedFiles(3))
const text = JSON.stringify(bundle)
const bytes = utf8(text)
const given = { pinnedKeys: pinnedKeys([toHex(SIGNER.publicKey)]) }
const verify = (some: Uint8Array) => verifyBundle([some], given)

function isAccepted(verification: Verification): boolean {
  return verification.refused === null && verification.failed.length === 0
}

/** What the statement signs; the rest of a bundle is not protected. */
function signedParts(some: Uint8Array) {
  const { files, commitment, proof_id, envelope } = JSON.parse(fromUtf8(some)!)
  const { body, statement_digest, signature, sig_alg } = envelope
  return { files, commitment, proof_id, body, statement_digest, signature, sig_alg }
}

/** The path to every value in a document. */
function pathsIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([key, member]) => pathsIn(member, [...path, key]))
}

function replaced(path: readonly string[], value: unknown): Uint8Array {
  const copy = structuredClone(bundle)
  const parent = path
    .slice(0, -1)
    .reduce((node, key) => node[key] as Record<string, unknown>, copy as Record<string, unknown>)
  Object.defineProperty(parent, path.at(-1)!, { value, enumerable: true, configurable: true, writable: true })
  return utf8(JSON.stringify(copy))
}

const paths = pathsIn(bundle)
const signedPaths = paths.filter(([part]) => ['files', 'commitment', 'proof_id', 'envelope'].includes(part as string))
/** Fields that may be null. */
const OPTIONAL = ['prev_statement_digest', 'issuer_pubkey']
const anyJson = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)))

describe('hostile bundles', () => {
  it('the bundle that these tests change is valid', async () => {
    expect(isAccepted(await verify(bytes))).toBe(true)
  })

  it('CLI-05 a bundle that is truncated anywhere is refused', { tags: ['nightly'] }, async () => {
    for (let end = 0; end < bytes.length; end++) {
      expect((await verify(bytes.subarray(0, end))).refused, String(end)).not.toBeNull()
    }
  })

  it('CLI-05 a bundle with a flipped bit fails, unless no signed value changed', { tags: ['nightly'] }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (place, bit) => {
        const flipped = bytes.slice()
        flipped[place] = (flipped[place] as number) ^ (1 << bit)
        if (isAccepted(await verify(flipped))) expect(signedParts(flipped)).toEqual(signedParts(bytes))
      }),
      { numRuns: 400 },
    )
  })

  it('CLI-05 a bundle with text inserted or removed never throws, and passes only when signed values are unchanged', {
    tags: ['nightly'],
  }, async () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '0',
      '-',
      '1e999',
      'null',
      '\u0000',
      '\ud83d\ude00',
      ' ',
    )
    await fc.assert(
      fc.asyncProperty(
        fc.nat(text.length),
        fc.nat(30),
        fc.array(token, { maxLength: 4 }),
        async (place, cut, tokens) => {
          const broken = utf8((text.slice(0, place) + tokens.join('') + text.slice(place + cut)).toWellFormed())
          if (isAccepted(await verify(broken))) expect(signedParts(broken)).toEqual(signedParts(bytes))
        },
      ),
      { numRuns: 250 },
    )
  })

  it('EVID-20 MERK-10 a bundle with any signed value replaced fails a fact or is refused', {
    tags: ['nightly'],
  }, async () => {
    for (const path of signedPaths) {
      for (const value of ['x', 7, null, [], {}, true]) {
        if (value === null && OPTIONAL.includes(path.at(-1) as string)) continue
        expect(isAccepted(await verify(replaced(path, value))), `${path.join('.')} ${JSON.stringify(value)}`).toBe(
          false,
        )
      }
    }
  })

  it('CLI-05 a bundle with any value of any type anywhere never throws', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.nat(3), anyJson, async (path, depth, value) => {
        const changed = replaced(path.slice(0, Math.max(1, path.length - depth)), value)
        const verification = await verify(changed)
        expect(Object.keys(verification)).toContain('refused')
      }),
      { numRuns: 150 },
    )
  })

  const row = '"size_bytes":1,'
  it.each([
    ['an array nested a hundred thousand times', `${text.slice(0, -1)},"x":${'['.repeat(100_000)}`],
    ['a file nested deep', text.replace(row, `${row}"x":${'{"x":'.repeat(10_000)}1${'}'.repeat(10_000)},`)],
    ['a number of a hundred thousand digits', text.replace(row, `"size_bytes":${'9'.repeat(60_000)},`)],
    ['a number with a far exponent', text.replace(row, '"size_bytes":1e308,')],
    ['a name of a megabyte', text.replace('f0000001', 'f'.repeat(1_000_000))],
    ['a name of escapes only', text.replace('f0000001', '\\u0041'.repeat(10_000))],
    ['sixty thousand backslashes', text.replace('f0000001', '\\'.repeat(60_001))],
    ['a body of a megabyte', text.replace('svc/evidence/v2"}', `${'x'.repeat(1_100_000)}"}`)],
    ['twenty thousand fields in the body', text.replace('"policy_version"', `${fields(20_000)}"policy_version"`)],
    ['a key named __proto__', text.replace('"policy_version"', '"__proto__":{"sig_alg":"ed25519"},"policy_version"')],
  ])('ADD-05 a bundle with %s does not pass', { tags: ['nightly'] }, async (_, hostile) => {
    expect(isAccepted(await verify(utf8(hostile)))).toBe(false)
  })

  function fields(count: number): string {
    return Array.from({ length: count }, (_, i) => `"x${i}":${i},`).join('')
  }
})
