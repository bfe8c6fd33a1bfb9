// Transactions of the primary chain, written by hand.

import { MEMO_PROGRAMS } from '@svc/protocol/anchor'
import { fromBase58, toBase58 } from '@svc/protocol/bytes'
import { paymentReference } from '@svc/protocol/ids'
import { ed25519Signer } from '@svc/protocol/keys'

const payer = ed25519Signer(new Uint8Array(32).fill(11))
export const PAYER = toBase58(payer.publicKey)
export const TREASURY = toBase58(new Uint8Array(32).fill(12))
export const PAY_REQ_ID = `pr_${'ab'.repeat(16)}`
export const LAMPORTS = 1_500_000

const key = (text: string) => fromBase58(text, 32)!
const KEYS = [payer.publicKey, key(TREASURY), new Uint8Array(32), key(MEMO_PROGRAMS[0]!)]

/** Signed by the payer. */
export function withSignature(message: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(1), payer.sign(message), message])
}

/** Pays the treasury, and names the quote in a memo. */
export function paymentMessage(version: 'legacy' | 0, keys: readonly Uint8Array[] = KEYS): Buffer {
  const amount = Buffer.alloc(12)
  amount.writeUInt32LE(2)
  amount.writeBigUInt64LE(BigInt(LAMPORTS), 4)
  const memo = Buffer.from(paymentReference(PAY_REQ_ID))
  const instructions = [Buffer.of(2, 2, 0, 1, amount.length, ...amount), Buffer.of(3, 0, memo.length, ...memo)]
  return Buffer.concat([
    Buffer.from(version === 0 ? [0x80] : []),
    Buffer.of(1, 0, 2, keys.length),
    ...keys,
    new Uint8Array(32).fill(9),
    Buffer.of(instructions.length),
    ...instructions,
    Buffer.from(version === 0 ? [0] : []),
  ])
}
