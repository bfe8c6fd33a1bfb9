// Receipts without a bundle.

import { problemWith } from '@svc/devnet/properties/made-up-input'
import { must } from '@svc/devnet/properties/rules'
import { receiptId } from '@svc/protocol/ids'
import { ed25519Signer } from '@svc/protocol/keys'
import { type Receipt, signReceipt } from '@svc/protocol/receipt'
import { expect, it } from 'vitest'
import { readReceipt, receiptFacts } from '../src/receipt-facts.ts'
import { CASES, givenOf, packBytes, verified } from './pack.ts'

const signer = ed25519Signer(new Uint8Array(32).fill(8))
const RECEIPT: Receipt = {
  receipt_id: receiptId(`pr_${'0'.repeat(32)}`, '0xAB'),
  pay_req_id: `pr_${'0'.repeat(32)}`,
  proof_id: '0a'.repeat(16),
  paid_amount: '1.5',
  paid_raw: '1500000',
  pay_asset: 'USDC',
  network: 'evm-mainnet',
  block_number: 7,
  sig_alg: 'secp256k1',
  tx_hash: '0xAB',
  payer_pubkey: '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
  units: 1,
  confirmed_at: '2026-06-01T12:00:00Z',
  result_hash: 'sha256:00',
}

it('T-129 T-52 no made-up input breaks the rules of receipts', async () => {
  const { file, given } = CASES[0]!
  const bundle = await verified([await packBytes(file)], await givenOf(given))
  const seeds = [
    signReceipt(RECEIPT, signer),
    signReceipt({ ...RECEIPT, extends: 'rcpt_1', received_raw: '7' }, signer),
  ]
  const genuine = new Set(seeds.map((seed) => signedIn(seed)))
  expect(
    await problemWith({
      examples: seeds.map((seed) => JSON.stringify(seed)),
      words: [...Object.keys(seeds[1]!), 'null', '0x', '__proto__', '\ud800', '1.5', 'é'],
      isJson: true,
      rule(input) {
        const receipt = readReceipt(input)
        if (!receipt) return
        const facts = receiptFacts(receipt, bundle)
        const isSigned = facts.receipt_signature_valid.value === 'passed'
        if (isSigned) must(genuine.has(signedIn(receipt)) || !isOurs(receipt), 'accepts a receipt that was not signed')
      },
    }),
  ).toBeNull()
})

function isOurs({ receipt_signer_pubkey }: { receipt_signer_pubkey: string }): boolean {
  return receipt_signer_pubkey === Buffer.from(signer.publicKey).toString('hex')
}

/** The signed fields. */
function signedIn({ ...receipt }: object): string {
  const left = Object.entries(receipt).filter(
    ([name]) => !['result_hash', 'receipt_sig', 'receipt_signer_pubkey'].includes(name),
  )
  return JSON.stringify(left.sort(([a], [b]) => (a < b ? -1 : 1)))
}
