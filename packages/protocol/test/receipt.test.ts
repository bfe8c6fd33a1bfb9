import { describe, expect, it } from 'vitest'
import { toBase58, toHex } from '../src/bytes.ts'
import { ed25519Signer, evmAddressOf, personalSign } from '../src/keys.ts'
import { isClaimSignedBy, receiptClaim } from '../src/receipt.ts'

const PAY_REQ_ID = `pr_${'0a'.repeat(16)}`
const CONFIRM_URL = 'https://gateway.example/v1/storage/confirm'
const seed = new Uint8Array(32).fill(7)
const key = ed25519Signer(seed)
const ed25519 = { payer: toBase58(key.publicKey), sign: (text: Uint8Array) => toBase58(key.sign(text)) }
const evm = { payer: evmAddressOf(seed), sign: (text: Uint8Array) => personalSign(text, seed) }

describe.each([
  ['Ed25519', ed25519],
  ['EVM', evm],
])('the claim of a receipt by an %s key', (_, { payer, sign }) => {
  const claim = receiptClaim(CONFIRM_URL, PAY_REQ_ID)

  it.each([
    ['another quote', receiptClaim(CONFIRM_URL, `pr_${'0b'.repeat(16)}`)],
    ['another service', receiptClaim('https://other.example/v1/storage/confirm', PAY_REQ_ID)],
    ['no purpose', new TextEncoder().encode(PAY_REQ_ID)],
  ])('ADD-13 fails for a signature that names %s', (__, signed) => {
    expect(isClaimSignedBy(payer, claim, sign(signed))).toBe(false)
  })

  it('ADD-13 fails for text that is not a signature', () => {
    const texts = ['', 'signature', '0x', `0x${'00'.repeat(65)}`, '1'.repeat(64), toHex(seed)]
    expect(texts.filter((text) => isClaimSignedBy(payer, claim, text))).toEqual([])
  })

  it("ADD-13 succeeds with the payer's signature, and fails with that of another key", () => {
    expect(isClaimSignedBy(payer, claim, sign(claim))).toBe(true)
    const other = new Uint8Array(32).fill(8)
    const signed = payer.startsWith('0x') ? personalSign(claim, other) : toBase58(ed25519Signer(other).sign(claim))
    expect(isClaimSignedBy(payer, claim, signed)).toBe(false)
  })
})

it('ADD-04 ADD-13 nobody can claim the receipt of a payer whose key has small order', () => {
  const claim = receiptClaim(CONFIRM_URL, PAY_REQ_ID)
  // With the neutral point as key, zero R and S verify for every message in lenient libraries.
  const neutral = new Uint8Array(32)
  neutral[0] = 1
  const signature = new Uint8Array(64)
  signature[0] = 1
  expect(isClaimSignedBy(toBase58(neutral), claim, toBase58(signature))).toBe(false)
})
