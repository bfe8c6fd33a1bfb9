import { randomBytes } from 'node:crypto'
import { PRIMARY } from '@svc/api/networks'
import type { Database } from '@svc/database/open'
import { forEachDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { newReceipt } from '@svc/payments/selling/new-receipt'
import { toBase58, toHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { type SignedReceipt, signReceipt } from '@svc/protocol/receipt'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'
import { extendSubscription } from '../../src/subscriptions/extend-subscription.ts'
import { findSubscription, insertPayRequest } from '../../src/subscriptions/store.ts'

const signer = ed25519Signer(new Uint8Array(32).fill(3))
const leg = { network: PRIMARY, ticker: 'SOL', decimals: 9, asset: PRIMARY.nativeAsset, payTo: 'treasury', amount: 5n }
const NOON = 1_790_000_000
const DAY = 86_400

forEachDatabase('payments for subscriptions', (database) => {
  let replicas: Database<Schema>[]
  let time: number
  beforeAll(async () => {
    const open = () => database.open<Schema>(migrations)
    // SQLite is for one process: within one process, a second connection would block on the first.
    replicas = database.dialect === 'sqlite' ? [await open()] : [await open(), await open()]
  })
  beforeEach(async () => {
    time = NOON
    for (const table of ['receipts', 'subscriptions', 'pay_requests'] as const)
      await writable(db()).deleteFrom(table).execute()
  })

  const db = () => replicas[0]!.db
  const contextOf = (i: number) => ({ database: replicas[i % replicas.length]!, now: () => time * 1000, randomBytes })
  const extend = (receipt: SignedReceipt, i = 0) => extendSubscription(contextOf(i), receipt)

  async function quoted(): Promise<string> {
    const pay_req_id = `pr_${toHex(randomBytes(16))}`
    await insertPayRequest(writable(db()), { pay_req_id, created_at: time, expires_at: time + 300, quote: '{}' })
    return pay_req_id
  }

  async function paid({ payer = 'ann', tx = toBase58(randomBytes(64)), payReqId = '' } = {}): Promise<SignedReceipt> {
    const found = { outcome: 'found', height: 1, blockTime: null, references: [], authorizations: [] } as const
    const payment = { ...found, tx, payer, received: 5n }
    const quote = payReqId || (await quoted())
    return signReceipt(newReceipt({ payReqId: quote, units: 1, leg, payment, confirmedAt: time }), signer)
  }

  const counts = async () => {
    const count = async (table: 'receipts' | 'subscriptions') =>
      (await db().selectFrom(table).select('subscription_id').execute()).length
    return { receipts: await count('receipts'), subscriptions: await count('subscriptions') }
  }

  it('AGENT-01 AGENT-04 the first payment buys thirty days from now', async () => {
    const { purchase, isNew } = await extend(await paid())
    expect(isNew).toBe(true)
    expect(purchase).toMatchObject({ identity: 'ann', starts_at: NOON, expires_at: NOON + 30 * DAY })
    expect(purchase.subscription_id).toMatch(/^sub_[0-9a-f]{32}$/)
    expect(await findSubscription(db(), 'ann')).toMatchObject({ starts_at: NOON, expires_at: NOON + 30 * DAY })
    expect(await findSubscription(db(), 'bob')).toBeNull()
  })

  it.each([
    ['in the last second of a subscription adds thirty days to its end', -1, 0, 60],
    ['after the end starts anew under the same subscription id', 0, 30, 60],
  ])('AGENT-04 a payment %s', async (_, seconds, startDay, endDay) => {
    const { purchase: first } = await extend(await paid())
    time = first.expires_at + seconds
    const { purchase: second } = await extend(await paid())
    expect(second).toMatchObject({
      subscription_id: first.subscription_id,
      starts_at: NOON + startDay * DAY,
      expires_at: NOON + endDay * DAY,
    })
  })

  it('AGENT-03 PAY-52 only one of 20 concurrent payments for one quote counts, and all calls get its receipt', async () => {
    const receipt = await paid()
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => extend(receipt, i)))
    expect(outcomes.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(new Set(outcomes.map(({ purchase }) => JSON.stringify(purchase.receipt))).size).toBe(1)
    expect(await counts()).toEqual({ receipts: 1, subscriptions: 1 })
    expect(await findSubscription(db(), 'ann')).toMatchObject({ expires_at: NOON + 30 * DAY })
  })

  it('AGENT-03 T-01 one transaction pays only one of 20 quotes that are confirmed concurrently', async () => {
    const tx = toBase58(randomBytes(64))
    const receipts = await Promise.all(Array.from({ length: 20 }, () => paid({ tx })))
    const outcomes = await Promise.allSettled(receipts.map((receipt, i) => extend(receipt, i)))
    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason)
    expect(refusals).toHaveLength(19)
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'payment_verification_failed', status: 402 })
    expect(await counts()).toEqual({ receipts: 1, subscriptions: 1 })
    expect(await findSubscription(db(), 'ann')).toMatchObject({ expires_at: NOON + 30 * DAY })
  })

  it('AGENT-01 20 concurrent purchases of one subscriber all count', async () => {
    const receipts = await Promise.all(Array.from({ length: 20 }, () => paid()))
    const outcomes = await Promise.all(receipts.map((receipt, i) => extend(receipt, i)))
    const ends = outcomes.map(({ purchase }) => purchase.expires_at).sort((a, b) => a - b)
    expect(ends).toEqual(receipts.map((_, i) => NOON + 30 * DAY * (i + 1)))
    expect(await findSubscription(db(), 'ann')).toMatchObject({ expires_at: ends.at(-1) })
  })

  it('AGENT-03 T-01 a quote that two payers paid concurrently belongs to one, and the other gets no subscription', async () => {
    const payReqId = await quoted()
    const receipts = await Promise.all(['ann', 'bob'].map((payer) => paid({ payer, payReqId })))
    const outcomes = await Promise.allSettled(receipts.map((receipt, i) => extend(receipt, i)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason)
    expect(refusals).toMatchObject([
      { code: 'payment_verification_failed', message: expect.stringContaining('already paid') },
    ])
    expect(await counts()).toEqual({ receipts: 1, subscriptions: 1 })
  })

  it('T-01 a rejected transaction leaves no subscription behind', async () => {
    const tx = toBase58(randomBytes(64))
    await extend(await paid({ tx }))
    await expect(extend(await paid({ tx, payer: 'bob' }))).rejects.toMatchObject({
      code: 'payment_verification_failed',
    })
    expect(await findSubscription(db(), 'bob')).toBeNull()
  })
})
