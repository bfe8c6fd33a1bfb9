import { paymentReference } from '@svc/protocol/ids'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ChainPayment, judgePayment, type PaymentTerms } from '../src/payment.ts'

const OURS = `pr_${'a'.repeat(32)}`
const SECOND = `pr_${'b'.repeat(32)}`
const FOREIGN = `pr_${'c'.repeat(32)}`

const TERMS: PaymentTerms = {
  amount: 750_000n,
  payReqIds: [OURS],
  createdAt: 1_000,
  expiresAt: 1_300,
  skewSeconds: 30,
  now: 1_100,
}
const PAYMENT: ChainPayment = {
  outcome: 'found',
  tx: 'tx',
  payer: 'payer',
  received: 750_000n,
  height: 7,
  blockTime: 1_050,
  references: [],
  authorizations: [],
}

const judge = (payment: Partial<ChainPayment>, terms: Partial<PaymentTerms> = {}) =>
  judgePayment({ ...PAYMENT, ...payment }, { ...TERMS, ...terms })
const refused = (reason: string) => ({ paid: false, reason })
const PAID = { paid: true }

describe('judging a payment', () => {
  it.each([
    ['PAY-50 exactly', 750_000n, PAID],
    ['PAY-50 overpaid by one unit', 750_001n, PAID],
    ['PAY-50 underpaid by one unit', 749_999n, refused('amount_too_small')],
  ])('%s', (_, received, expected) => {
    expect(judge({ received })).toEqual(expected)
  })

  it.each([
    ['no quote', [], [OURS], PAID],
    ['this quote', [OURS], [OURS], PAID],
    ['another quote', [FOREIGN], [OURS], refused('names_another_quote')],
    ['this and another quote', [OURS, FOREIGN], [OURS], refused('names_another_quote')],
    ['all quotes of its batch', [SECOND, OURS], [OURS, SECOND], PAID],
    ['this quote by its reference', [paymentReference(OURS)], [OURS], PAID],
    ['another quote by its reference', [paymentReference(FOREIGN)], [OURS], refused('names_another_quote')],
    ['all quotes of its batch, some by reference', [paymentReference(SECOND), OURS], [OURS, SECOND], PAID],
    ['one more quote than its batch', [OURS, SECOND, FOREIGN], [OURS, SECOND], refused('names_another_quote')],
  ])('ADD-03 a transaction that names %s', (_, references, payReqIds, expected) => {
    expect(judge({ references }, { payReqIds })).toEqual(expected)
  })

  it.each([
    ['T-02 older than the quote by more than the skew', 969, refused('before_quote')],
    ['T-02 older than the quote by the skew', 970, PAID],
    ['AMB-06 in the last second of the quote', 1_300, PAID],
    ['AMB-06 after the quote, within the clock skew', 1_301, refused('after_quote')],
  ])('%s', (_, blockTime, expected) => {
    expect(judge({ blockTime })).toEqual(expected)
  })

  it('T-02 ADD-03 a payment that names its quote is not older than the quote, whatever the clocks showed', () => {
    expect(judge({ blockTime: 1, references: [OURS] })).toEqual(PAID)
    expect(judge({ blockTime: 1, references: [OURS] }, { payReqIds: [OURS, SECOND] })).toEqual(refused('before_quote'))
  })

  it('AMB-06 a payment made in time and confirmed late is accepted', () => {
    expect(judge({ blockTime: 1_299 }, { now: 80_000 })).toEqual(PAID)
  })

  it.each([
    ['within the quote', 1_300, PAID],
    ['before the quote, as with differing clocks', 900, PAID],
    ['after the quote', 1_301, refused('after_quote')],
  ])('AMB-06 without a block time, the gateway clock decides: %s', (_, now, expected) => {
    expect(judge({ blockTime: null }, { now })).toEqual(expected)
  })
})

describe('laws of judging', () => {
  const id = fc.constantFrom(OURS, SECOND, FOREIGN)
  const amount = fc.bigInt({ min: 1n, max: 2n ** 64n })
  const time = fc.integer({ min: 0, max: 5_000 })
  const payment = fc.record({
    received: amount,
    references: fc.array(id),
    blockTime: fc.option(time),
  })
  const terms = fc
    .record({
      amount,
      payReqIds: fc.uniqueArray(id, { minLength: 1 }),
      createdAt: time,
      life: time,
      skew: time,
      now: time,
    })
    .map(({ life, skew, ...rest }) => ({ ...rest, expiresAt: rest.createdAt + life, skewSeconds: skew }))

  it('a paid quote meets every rule, and a rejected one breaks the reported rule', () => {
    fc.assert(
      fc.property(payment, terms, (seen, asked) => {
        const judgement = judge(seen, asked)
        const at = seen.blockTime ?? asked.now
        const broken = {
          amount_too_small: seen.received < asked.amount,
          names_another_quote: seen.references.some((reference) => !asked.payReqIds.includes(reference)),
          before_quote:
            (seen.references.length === 0 || asked.payReqIds.length > 1) &&
            seen.blockTime !== null &&
            seen.blockTime + asked.skewSeconds < asked.createdAt,
          after_quote: at > asked.expiresAt,
        }
        const reasons = Object.entries(broken).flatMap(([reason, isBroken]) => (isBroken ? [reason] : []))
        if (judgement.paid) expect(reasons).toEqual([])
        else expect(reasons).toContain(judgement.reason)
      }),
      { numRuns: 2_000 },
    )
  })
})
