import type { X402Leg } from '@svc/api/x402'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { PUBLICATION } from '@svc/devnet/primary-chain/dev-accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { expectError } from '../purchases/market.ts'
import {
  encoded,
  FAMILIES,
  openX402Shop,
  show,
  signedFor,
  signFor,
  treasuryUsdc,
  walletOn,
  type X402Shop,
} from './x402-gateway.ts'

let shop: X402Shop
let before: bigint[]
const treasuries = () => Promise.all(FAMILIES.map((family) => treasuryUsdc(family, shop.chains)))
beforeAll(async () => {
  shop = await openX402Shop()
})
afterAll(() => shop.stop())
beforeEach(async () => {
  before = await treasuries()
})
// Whatever was refused, nothing moved.
afterEach(async () => expect(await treasuries()).toEqual(before))

describe('authorizations', () => {
  type Authorization = Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>
  const tampered = async (change: (authorization: Authorization) => object, signature?: (text: string) => string) => {
    const { payload } = await signFor(await walletOn('evm', shop.chains), shop.url)
    const signed = payload.payload as { authorization: Authorization; signature: string }
    const authorization = { ...signed.authorization, ...change(signed.authorization) }
    return encoded({ ...payload, payload: { authorization, signature: (signature ?? String)(signed.signature) } })
  }

  it.each([
    ['another payer', () => ({ from: DEV_PAYERS[2]!.address })],
    ['more time', () => ({ validBefore: '99999999999' })],
    ['a number beyond any token', () => ({ value: '9'.repeat(78) })],
    ['another nonce', () => ({ nonce: `0x${'11'.repeat(32)}` })],
  ] as [string, () => object][])('signed, then changed to %s', async (_name, change) => {
    expectError(await show(shop.url, await tampered(change)), 402, 'payment_verification_failed')
  })

  it.each([
    ['another signature', (text: string) => text.replace(/^0x..../, '0x1234')],
    ['a short one', (text: string) => text.slice(0, -2)],
    ['a contract wallet’s that is not there yet', (text: string) => `${text}${'6492'.repeat(16)}`],
  ])('with %s', async (_name, signature) => {
    expectError(await show(shop.url, await tampered(() => ({}), signature)), 402, 'payment_verification_failed')
  })

  it('that have run out', async () => {
    const text = await signedFor('evm', shop, (leg) => ({ ...leg, maxTimeoutSeconds: 1 }))
    expectError(await show(shop.url, text), 402, 'payment_verification_failed')
  })

  it('of another domain than the token’s', async () => {
    const text = await signedFor('evm', shop, (leg) => ({ ...leg, extra: { ...leg.extra, version: '1' } }))
    expectError(await show(shop.url, text), 402, 'payment_verification_failed')
  })
})

describe('transactions', () => {
  it.each([
    ['no memo of the quote', (leg: X402Leg) => ({ ...leg, extra: { ...leg.extra, memo: undefined } })],
    ['a memo of another quote', (leg: X402Leg) => ({ ...leg, extra: { ...leg.extra, memo: `pr_${'0'.repeat(32)}` } })],
    ['another fee payer', (leg: X402Leg) => ({ ...leg, extra: { ...leg.extra, feePayer: PUBLICATION.address } })],
  ])('ADD-03 with %s', async (_name, change) => {
    const text = await signedFor('primary', shop, change as (leg: X402Leg) => X402Leg)
    expectError(await show(shop.url, text), 402, 'payment_verification_failed')
  })

  it.each([
    ['a byte of the memo', -10],
    ['a byte of the payer’s signature', 70],
  ])('with %s changed', async (_name, at) => {
    const { payload } = await signFor(await walletOn('primary', shop.chains), shop.url)
    const bytes = Buffer.from((payload.payload as { transaction: string }).transaction, 'base64')
    bytes[at < 0 ? bytes.length + at : at]! ^= 1
    const text = encoded({ ...payload, payload: { transaction: bytes.toString('base64') } })
    expectError(await show(shop.url, text), 402, 'payment_verification_failed')
  })

  it('that are none', async () => {
    const { payload } = await signFor(await walletOn('primary', shop.chains), shop.url)
    for (const transaction of ['AAAA', 'AQAAAA==', 'A'])
      expectError(await show(shop.url, encoded({ ...payload, payload: { transaction } })), 422, 'validation_error')
  })
})
