import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limit } from '@svc/concurrency/locks'
import { openDatabase } from '@svc/database/open'
import { createFreshDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { startLocalChains } from '@svc/devnet/local-chains'
import { payLeg } from '@svc/devnet/pay-leg'
import { expectError, payReqId } from '@svc/devnet/services/market'
import { type TestGateway, testGatewayOf } from '@svc/devnet/services/test-gateway'
import { toBase58 } from '@svc/protocol/bytes'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Variables } from '@svc/service/program/config'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrations } from '../../../../src/db/migrations.ts'
import type { Schema } from '../../../../src/db/schema.ts'
import { startGatewayProcess } from '../../../gateway-process.ts'

const NEVER_SENT = toBase58(new Uint8Array(64).fill(7))

const PAYMENTS = 40
const KILL_AFTER = 12
const CONCURRENCY = 10

// A gateway in its own process uses the real time, and so do these chains.
const chains = forAllTests(() => startLocalChains())

// acceptance/faults.test.ts covers this and more on PostgreSQL.
describe('a gateway that is killed during confirmations', () => {
  it('PAY-53 STATE-01 a killed gateway keeps every quote and receipt that it returned, and confirms the rest after a restart', {
    tags: ['nightly'],
  }, async () => {
    const database = await createFreshDatabase('sqlite')
    onTestFinished(database.drop)
    const folder = await mkdtemp(join(tmpdir(), 'svc-crash-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const variables = { DATABASE_URL: database.url, DATA_DIR: folder }

    const killed = await startShop(variables)
    const payments = await payQuotes(killed)
    const acknowledged = new Map<string, SignedReceipt>()
    const quoted: string[] = []
    const unlessKilled = <T>(asked: Promise<T>) =>
      asked.catch((error) => {
        if (acknowledged.size < KILL_AFTER) throw error
        return null
      })
    await inParallel(payments, async ([pay_req_id, tx]) => {
      const reply = await unlessKilled(killed.confirm({ pay_req_id }, tx))
      if (reply) expect(reply.status, JSON.stringify(reply.body)).toBe(200)
      if (reply) acknowledged.set(pay_req_id, reply.body.receipt)
      if (acknowledged.size === KILL_AFTER) void killed.kill()
      const quote = await unlessKilled(killed.quote())
      if (quote) quoted.push(payReqId(quote))
    })
    await killed.ended
    expect(acknowledged.size).toBeGreaterThanOrEqual(KILL_AFTER)
    expect(acknowledged.size).toBeLessThan(PAYMENTS)

    const restarted = await startShop(variables)
    for (const [, receipt] of acknowledged)
      expect((await restarted.send('GET', `/v1/receipts/${receipt.receipt_id}`)).body).toEqual(receipt)
    for (const pay_req_id of quoted)
      expectError(await restarted.confirm({ pay_req_id }, NEVER_SENT), 402, 'tx_not_found')
    const receipts: SignedReceipt[] = []
    await inParallel(payments, async ([pay_req_id, tx]) => {
      const { status, body } = await restarted.confirm({ pay_req_id }, tx)
      expect(status).toBe(200)
      const known = acknowledged.get(pay_req_id)
      if (known) expect([body.idempotent, body.receipt]).toEqual([true, known])
      receipts.push(body.receipt)
    })
    expect(new Set(receipts.map(({ receipt_id }) => receipt_id)).size).toBe(PAYMENTS)
    expect(new Map(receipts.map(({ pay_req_id, tx_hash }) => [pay_req_id, tx_hash]))).toEqual(new Map(payments))
    await restarted.kill()
    const { db, close } = await openDatabase<Schema>({ url: database.url, migrations })
    const claims = await db.selectFrom('payment_transactions').select('tx').execute()
    expect(new Set(claims.map(({ tx }) => tx))).toEqual(new Set(payments.map(([, tx]) => tx)))
    expect(await db.selectFrom('receipts').select('tx').execute()).toHaveLength(PAYMENTS)
    await close()
  })
})

async function startShop(variables: Variables) {
  // No limit, even when this machine is busy.
  const unlimited = { MAX_REQUESTS_AT_ONCE: '0' }
  const gateway = await startGatewayProcess({ ...chains.variables, ...variables, ...unlimited })
  const shop = testGatewayOf({ url: gateway.url, stop: async () => void gateway.kill() })
  // On a busy machine the first check of the storage folder may time out; the gateway sells once a later one succeeds.
  await expect.poll(async () => (await shop.send('GET', '/v1/price')).status).toBe(200)
  return { ...shop, ...gateway }
}

/** Quotes, each with the transaction that paid it. */
async function payQuotes(shop: TestGateway): Promise<[pay_req_id: string, tx: string][]> {
  const quotes = await Promise.all(Array.from({ length: PAYMENTS }, () => shop.quote()))
  const payments: [string, string][] = []
  for (const quote of quotes) payments.push([payReqId(quote), await payLeg(chains, quote.accepts[0]!)])
  return payments
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const run = limit(CONCURRENCY)
  await Promise.all(items.map((item) => run(() => work(item))))
}
