import { concat, toHex, utf8 } from '@svc/protocol/bytes'
import { receiptId } from '@svc/protocol/ids'
import { ed25519Signer } from '@svc/protocol/keys'
import { type Receipt, signReceipt } from '@svc/protocol/receipt'
import { describe, expect, it } from 'vitest'
import { BUNDLE_FACTS, RECEIPT_FACTS } from '../src/facts.ts'
import { type ReceiptFacts, readReceipt, receiptFacts } from '../src/receipt-facts.ts'
import { bundleOf, listedFiles, SIGNER } from './bundles.ts'
import { CASES, givenOf, packBytes, pinnedKeys, verified } from './pack.ts'

describe('facts about a bundle', () => {
  it.each(BUNDLE_FACTS)('CLI-02 CLI-03 %s fails in a case of the pack, and is not checked in another', (fact) => {
    const values = CASES.map(({ expect: expected }) => expected[fact])
    expect(values).toContain('failed')
    // A bundle without a signature by a known key fails: EVID-18.
    expect(values.includes('not_checked')).toBe(fact !== 'signature_valid')
  })

  it.each([
    ['registry-latest', 'passed', null],
    ['registry-per-snapshot', 'passed', null],
    ['registry-no-trailing-bytes', 'passed', null],
    ['registry-wrong-owner', 'failed', 'not belong to the registry program'],
    ['registry-closed', 'failed', 'closed'],
    ['registry-other-proof', 'failed', 'another statement'],
    ['registry-older', 'failed', 'another statement'],
    ['registry-replaced', 'not_checked', 'replaced by a newer statement'],
    ['registry-replaced-per-snapshot', 'failed', 'another statement'],
    ['registry-other-address', 'failed', 'does not match the statement'],
  ])('SAS-09 SAS-08 the registry account of %s is %s', async (name, value, why) => {
    const { file, given } = CASES.find((one) => one.name === name)!
    const { facts } = await verified([await packBytes(file)], await givenOf(given))
    expect(facts.registry_matches).toMatchObject(why ? { value, why: expect.stringContaining(why) } : { value })
  })
})

const OTHER = ed25519Signer(new Uint8Array(32).fill(8))
const bundle = bundleOf(listedFiles(3))
const RECEIPT: Receipt = {
  receipt_id: receiptId('pr_1', '0xab'),
  pay_req_id: 'pr_1',
  proof_id: bundle.proof_id,
  paid_amount: '1',
  paid_raw: '1',
  pay_asset: 'USDC',
  network: 'evm-mainnet',
  block_number: 1,
  sig_alg: 'secp256k1',
  tx_hash: '0xab',
  payer_pubkey: '0xcd',
  units: 1,
  confirmed_at: '2026-06-12T00:00:00Z',
  result_hash: '',
}
const { proof_id: _, ...OLDER } = RECEIPT

interface Situation {
  receipt?: object
  document?: object
  pins?: string[] | object
}

const OF_RECEIPT = { ...bundle, receipt_id: RECEIPT.receipt_id }
const KEY = toHex(SIGNER.publicKey)
const SIGNED = signReceipt(RECEIPT, SIGNER)

/** The key in a list that retired it a month before the receipt. */
const RETIRED = {
  schema: 'svc/signing-keys/v1',
  keys: ['receipt', 'evidence-envelope'].flatMap((use) => {
    const listed = (public_key_hex: string, period: object) => {
      const key_id = `ed25519:${public_key_hex.slice(0, 16)}`
      return { key_id, alg: 'ed25519', public_key_hex, use, ...period }
    }
    const change = '2026-05-12T00:00:00Z'
    return [
      listed(KEY, { status: 'retired', valid_from: '2026-01-01T00:00:00Z', valid_to: change }),
      listed(toHex(OTHER.publicKey), { status: 'active', valid_from: change }),
    ]
  }),
}

async function factsIn({ receipt = SIGNED, document = OF_RECEIPT, pins = [KEY] }: Situation): Promise<ReceiptFacts> {
  const pinned = Array.isArray(pins) && pins.length === 0 ? [] : pinnedKeys(pins)
  const about = await verified([utf8(JSON.stringify(document))], { pinnedKeys: pinned })
  return receiptFacts(receipt as typeof SIGNED, about)
}

/** Cases in which each fact fails or is not checked. A receipt contains its signature and the parts of its id. */
const RECEIPT_STORIES: [(typeof RECEIPT_FACTS)[number], fails: Situation, notChecked?: Situation][] = [
  ['receipt_signature_valid', { receipt: { ...SIGNED, paid_raw: '2' } }],
  ['receipt_id_matches', { receipt: signReceipt({ ...RECEIPT, tx_hash: '0xef' }, SIGNER) }],
  ['receipt_key_pinned', { pins: RETIRED }, { pins: [] }],
  [
    'receipt_is_of_bundle',
    { receipt: signReceipt({ ...RECEIPT, proof_id: '0c'.repeat(16) }, SIGNER) },
    { receipt: signReceipt(OLDER, SIGNER) },
  ],
]

describe('facts about a receipt', () => {
  it('T-38 PAY-56 all pass for the receipt of the statement', async () => {
    const facts = await factsIn({})
    for (const fact of RECEIPT_FACTS) expect(facts[fact], fact).toEqual({ value: 'passed' })
  })

  it.each(RECEIPT_STORIES)(
    'T-38 PAY-56 %s can fail, and gives a reason if it is not checked',
    async (fact, fails, notChecked) => {
      const why = expect.stringMatching(/^.{5,}$/u)
      expect((await factsIn(fails))[fact]).toMatchObject({ value: 'failed', why })
      if (notChecked) expect((await factsIn(notChecked))[fact]).toMatchObject({ value: 'not_checked', why })
    },
  )

  const bothKeys = [KEY, toHex(OTHER.publicKey)]
  it.each<[string, string, Situation]>([
    ['with two keys that are both pinned', 'passed', { receipt: signReceipt(RECEIPT, OTHER), pins: bothKeys }],
    ['with two keys, one of them pinned', 'not_checked', { receipt: signReceipt(RECEIPT, OTHER) }],
    ['with two keys, none of them pinned', 'not_checked', { receipt: signReceipt(RECEIPT, OTHER), pins: [] }],
    ['with one key that is not pinned', 'passed', { pins: [] }],
    ['if the bundle names no receipt', 'passed', { document: { ...bundle, receipt_id: null } }],
    ['if the bundle names another receipt', 'failed', { document: bundle }],
    ['if the receipt was altered', 'not_checked', { receipt: { ...SIGNED, paid_raw: '2' } }],
    [
      'if the receipt got its proof later',
      'not_checked',
      { receipt: { ...signReceipt(OLDER, SIGNER), proof_id: bundle.proof_id } },
    ],
    [
      'if the statement is not signed',
      'not_checked',
      { document: { ...OF_RECEIPT, envelope: { ...bundle.envelope, signature: null, sig_alg: 'none' } } },
    ],
    [
      'if the proof id is not a string',
      'failed',
      { receipt: signReceipt({ ...RECEIPT, proof_id: [bundle.proof_id] as never }, SIGNER) },
    ],
  ])('T-38 link receipt and bundle %s: %s', async (_, value, situation) => {
    expect((await factsIn(situation)).receipt_is_of_bundle.value).toBe(value)
  })

  it.each([1.5, '\ud800', { a: '\udfff' }, null, [], 2 ** 53])(
    'T-38 never throw for a receipt that contains %j',
    async (value) => {
      const facts = await factsIn({ receipt: { ...SIGNED, units: value } })
      expect(facts.receipt_signature_valid.value).toBe('failed')
      expect((await factsIn({ receipt: { ...SIGNED, confirmed_at: value } })).receipt_key_pinned.value).toBe('passed')
    },
  )
  it('T-129 do not exist for a receipt that is not UTF-8 or begins with a byte order mark', () => {
    const text = JSON.stringify({ x: '', ...SIGNED })
    const at = text.indexOf('""') + 1
    expect(readReceipt(utf8(text))).toEqual({ x: '', ...SIGNED })
    const notUtf8 = concat(utf8(text.slice(0, at)), Uint8Array.of(0xff), utf8(text.slice(at)))
    for (const bytes of [notUtf8, utf8(`\ufeff${text}`)]) expect(readReceipt(bytes)).toBeNull()
  })
})
