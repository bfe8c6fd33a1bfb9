import type { X402Leg } from '@svc/api/x402'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { PUBLICATION } from '@svc/devnet/primary-chain/dev-accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { expectError } from '../purchases/market.ts'
import {
  encoded,
  expectRefused,
  pay,
  signedFor,
  signFor,
  startX402Testbed,
  treasuries,
  walletOn,
  type X402Testbed,
} from './x402-testbed.ts'

let testbed: X402Testbed
let before: bigint[]
beforeAll(async () => {
  testbed = await startX402Testbed()
})
afterAll(() => testbed.stop())
beforeEach(async () => {
  before = await treasuries(testbed.chains)
})
// A refused payment moves nothing.
afterEach(async () => expect(await treasuries(testbed.chains)).toEqual(before))

describe('authorizations', () => {
  type Authorization = Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>
  const tampered = async (change: (authorization: Authorization) => object, signature?: (text: string) => string) => {
    const { payload } = await signFor(await walletOn('evm', testbed.chains), testbed.url)
    const signed = payload.payload as { authorization: Authorization; signature: string }
    const authorization = { ...signed.authorization, ...change(signed.authorization) }
    return encoded({ ...payload, payload: { authorization, signature: (signature ?? String)(signed.signature) } })
  }

  it.each([
    ['another payer', () => ({ from: DEV_PAYERS[2]!.address })],
    ['more time', () => ({ validBefore: '99999999999' })],
    ['a number beyond any token', () => ({ value: '9'.repeat(78) })],
    ['another nonce', () => ({ nonce: `0x${'11'.repeat(32)}` })],
  ] as [string, () => object][])(
    'an authorization that was changed to %s after signing is refused',
    async (_name, change) => {
      expectRefused(await pay(testbed.url, await tampered(change)))
    },
  )

  it.each([
    ['another signature', (text: string) => text.replace(/^0x..../, '0x1234')],
    ['a short signature', (text: string) => text.slice(0, -2)],
    ['the signature of a contract wallet that does not exist yet', (text: string) => `${text}${'6492'.repeat(16)}`],
  ])('an authorization with %s is refused', async (_name, signature) => {
    expectRefused(await pay(testbed.url, await tampered(() => ({}), signature)))
  })

  it('an expired authorization is refused', async () => {
    const text = await signedFor('evm', testbed, (leg) => ({ ...leg, maxTimeoutSeconds: 1 }))
    expectRefused(await pay(testbed.url, text))
  })

  it('an authorization for another domain than the token’s is refused', async () => {
    const text = await signedFor('evm', testbed, (leg) => ({ ...leg, extra: { ...leg.extra, version: '1' } }))
    expectRefused(await pay(testbed.url, text))
  })
})

describe('transactions', () => {
  it.each([
    ['no memo of the quote', (leg: X402Leg) => ({ ...leg, extra: { ...leg.extra, memo: undefined } })],
    ['a memo of another quote', (leg: X402Leg) => ({ ...leg, extra: { ...leg.extra, memo: `pr_${'0'.repeat(32)}` } })],
    ['another fee payer', (leg: X402Leg) => ({ ...leg, extra: { ...leg.extra, feePayer: PUBLICATION.address } })],
  ])('ADD-03 a transaction with %s is refused', async (_name, change) => {
    const text = await signedFor('primary', testbed, change as (leg: X402Leg) => X402Leg)
    expectRefused(await pay(testbed.url, text))
  })

  it.each([
    ['a byte of the memo', -10],
    ['a byte of the payer’s signature', 70],
  ])('a transaction with %s changed after signing is refused', async (_name, at) => {
    const { payload } = await signFor(await walletOn('primary', testbed.chains), testbed.url)
    const bytes = Buffer.from((payload.payload as { transaction: string }).transaction, 'base64')
    bytes[at < 0 ? bytes.length + at : at]! ^= 1
    const text = encoded({ ...payload, payload: { transaction: bytes.toString('base64') } })
    expectRefused(await pay(testbed.url, text))
  })

  it('bytes that are no transaction are refused', async () => {
    const { payload } = await signFor(await walletOn('primary', testbed.chains), testbed.url)
    for (const transaction of ['AAAA', 'AQAAAA==', 'A'])
      expectError(await pay(testbed.url, encoded({ ...payload, payload: { transaction } })), 400, 'malformed_payment')
  })
})
