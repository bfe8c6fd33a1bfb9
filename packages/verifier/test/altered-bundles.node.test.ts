import { fromUtf8, utf8 } from '@svc/protocol/bytes'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BUNDLE_FACTS } from '../src/facts.ts'
import { type Given, type Verification, type VerifiedBundle, verifyBundle } from '../src/verify-bundle.ts'
import { inChunks } from './bundles.ts'
import { CASES, givenOf, packBytes, verified } from './pack.ts'

type Document = Record<string, unknown>

/** Bundles of each kind with every possible input, and the fields that nevertheless remain unchecked. */
const OF_FULL_BUNDLE = ['receipt_id', 'network', 'signing_keys', 'how_to_verify']
const OF_V1 = ['commitment.manifest_file_count', 'commitment.total_bytes', 'commitment.attested_at']
const GOOD: [name: string, unchecked: string[]][] = [
  ['log-redacted', ['how_to_verify']],
  ['redacted-anchored', ['how_to_verify']],
  ['redacted-no-names-anchored', ['how_to_verify']],
  ['anchor-memo', OF_FULL_BUNDLE],
  ['registry-latest', [...OF_FULL_BUNDLE, 'anchor.sas.replaced_previous']],
  ['anchor-oracle', [...OF_FULL_BUNDLE, ...OF_V1, 'v1_signature.result_hash', 'anchor.account']],
]

interface Good {
  document: Document
  given: Given
  before: VerifiedBundle
}

async function goodBundle(name: string): Promise<Good> {
  const bytes = await packBytes(`${name}.json`)
  const given = await givenOf(CASES.find((one) => one.name === name)!.given)
  return { document: JSON.parse(fromUtf8(bytes)!), given, before: await verified([bytes], given) }
}

/** The path to every value in a document that is neither an object nor a list. */
function leavesOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([key, member]) => leavesOf(member, [...path, key]))
}

const valueAt = (document: Document, path: readonly string[]) =>
  path.reduce<unknown>((node, key) => (node as Document)[key], document)

function altered(document: Document, path: readonly string[], value: unknown): Document {
  const copy = structuredClone(document)
  const parent = valueAt(copy, path.slice(0, -1)) as Document
  Object.defineProperty(parent, path.at(-1)!, { value, enumerable: true, configurable: true, writable: true })
  return copy
}

/** Another value of the same type, and values of other types that a lax reader would accept as equal. */
function alterations(value: unknown): unknown[] {
  const confused: unknown[] = [[value], { toString: 1 }, { valueOf: 1 }, {}, [], 1e300, true, '']
  if (typeof value === 'string') return [`${value}0`, value.replace(/.(?=\n?$)/u, otherDigit), ...confused]
  if (typeof value === 'number') return [value + 1, -1, value + 0.5, ...(value > 0 ? [String(value)] : []), ...confused]
  if (typeof value === 'boolean') return [!value, String(value), ...confused.filter((other) => other !== value)]
  return ['x', 7, ...confused]
}

const otherDigit = (last: string) => (last === '0' ? '1' : '0')

const bytesOf = (document: Document) => utf8(JSON.stringify(document))

/** Whether the result reveals the change: a fact no longer passes, or the field is listed as unchecked. */
function isSeen(after: Verification, before: VerifiedBundle, path: readonly string[]): boolean {
  if (after.refused || after.failed.length > 0) return true
  if (BUNDLE_FACTS.some((fact) => before.facts[fact]?.value === 'passed' && after.facts[fact]?.value !== 'passed'))
    return true
  return after.unchecked.some((field) => `${path.join('.')}.`.startsWith(`${field}.`))
}

describe('altered bundles', () => {
  it.each(GOOD)('T-38 the result for %s lists the fields that no fact covers', async (name, unchecked) => {
    const { document, before } = await goodBundle(name)
    expect(before.failed).toEqual([])
    expect(before.unchecked).toEqual(unchecked)
    const offline = await verified([bytesOf(document)])
    const always = unchecked.filter((field) => !field.startsWith('anchor'))
    expect(offline.unchecked).toEqual([...always, ...(document.log ? ['log.proof', 'log.anchor'] : ['anchor'])])
  })

  it.each(GOOD)(
    'T-38 any altered value of %s changes a fact or is listed as unchecked',
    { tags: ['nightly'] },
    async (name) => {
      const { document, given, before } = await goodBundle(name)
      for (const path of leavesOf(document)) {
        for (const value of alterations(valueAt(document, path))) {
          const after = await verifyBundle([bytesOf(altered(document, path, value))], given)
          expect(isSeen(after, before, path), `${path.join('.')} = ${JSON.stringify(value)}`).toBe(true)
        }
      }
    },
  )

  it('T-38 VER-13 a total size must be a string or an integer, not a value that only prints like one', async () => {
    const { document, given } = await goodBundle('anchor-memo')
    const total = (document.commitment as Document).total_bytes as string
    const valueFor = async (value: unknown) =>
      (await verified([bytesOf(altered(document, ['commitment', 'total_bytes'], value))], given)).facts
        .envelope_binds_commitment.value
    expect(await valueFor(Number(total))).toBe('passed')
    for (const value of [[total], [[total]], { toString: 1 }, { toString: total }, ` ${total}`, `${total}.0`, null]) {
      expect(await valueFor(value), JSON.stringify(value)).toBe('failed')
    }
  })

  it('T-38 an oracle anchor with an unrelated transaction fails in a bundle with a statement', async () => {
    const { document, given } = await goodBundle('anchor-memo')
    const { anchor } = (await goodBundle('anchor-oracle')).document
    const { facts, failed } = await verified([bytesOf({ ...document, anchor })], given)
    expect(failed).toEqual(['anchor_signer_matches', 'anchor_payload_matches'])
    expect(facts.anchor_tx_succeeded.value).toBe('passed')
  })

  it('T-38 unknown fields are listed, whatever their names', async () => {
    const { document, given } = await goodBundle('registry-latest')
    const top = ['commitment', 'envelope', 'anchor', 'algorithms'].map((name) => [name])
    for (const path of [[], ...top, ['anchor', 'sas'], ['files', '0']]) {
      for (const key of ['note', 'constructor', '__proto__', 'to\u202estring']) {
        const { unchecked } = await verified([bytesOf(altered(document, [...path, key], 'x'))], given)
        const shown = key.replace('\u202e', '\\u{202e}')
        expect(unchecked).toContain([...path, shown].join('.').replace('files.0', 'files[]'))
      }
    }
  })

  it('CLI-05 any JSON in any place never throws, and is listed as unchecked if the facts pass', async () => {
    const goods = await Promise.all(GOOD.map(([name]) => goodBundle(name)))
    const places = goods.flatMap((good) => leavesOf(good.document).map((path) => ({ good, path })))
    const hostile = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom<unknown>('\ud800', 'a\udfff', 2 ** 53, -0.5, 1e308, Number.MIN_VALUE, '__proto__', 'NaN', '١'),
      fc.dictionary(
        fc.constantFrom('__proto__', 'constructor', 'toString', 'length', 'then', 'toJSON'),
        fc.jsonValue(),
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), fc.nat(3), hostile, async ({ good, path }, up, value) => {
        const place = path.slice(0, Math.max(1, path.length - up))
        const document = altered(good.document, place, value)
        const text = JSON.stringify(document)
        const whole = await verifyBundle([utf8(text)], good.given)
        const inPieces = await verifyBundle(inChunks(text, [1, 7, 64]), good.given)
        expect(inPieces).toEqual(whole)
        const isSame = JSON.stringify(good.document) === text
        const isTotal = place.join('.') === 'commitment.total_bytes' && typeof value === 'number'
        if (!isSame && !isTotal && value !== null) expect(isSeen(whole, good.before, place), text).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})
