import { forEachDatabase, forEachDatabaseInGate } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { receiptId } from '@svc/protocol/ids'
import { ed25519Signer } from '@svc/protocol/keys'
import { type Receipt, type SignedReceipt, signReceipt } from '@svc/protocol/receipt'
import { beforeAll, describe, expect, it } from 'vitest'
import { migrations } from '../../src/db/migrations.ts'
import { receivedSums } from '../../src/db/received-sums.ts'
import type { PaymentTransactionTable, Schema } from '../../src/db/schema.ts'
import { bookReceipts } from '../../src/purchases/claim.ts'
import {
  assignAuthorization,
  countReceipts,
  findRefunds,
  insertPaymentTransaction,
  insertReceipt,
} from '../../src/purchases/store.ts'

const signer = ed25519Signer(new Uint8Array(32).fill(7))

function receiptOf(pay_req_id: string, tx_hash: string, changes: Partial<Receipt> = {}): SignedReceipt {
  const amounts = { paid_amount: '0.00001', paid_raw: '10', received_raw: '25', pay_asset: 'USDC' }
  const where = { network: 'primary-mainnet', sig_alg: 'ed25519' as const, payer_pubkey: 'ann', units: 1 }
  const rest = { confirmed_at: '2026-06-12T00:00:00Z', result_hash: '', ...changes }
  const receipt_id = receiptId(pay_req_id, tx_hash)
  return signReceipt({ receipt_id, pay_req_id, tx_hash, ...amounts, ...where, ...rest }, signer)
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

forEachDatabaseInGate('claims on a transaction', (database) => {
  let db: ReturnType<typeof writable<Schema>>
  beforeAll(async () => {
    db = writable((await database.openMigrated<Schema>(migrations)).db)
  })

  const book = (kind: 'single' | 'batch', ...receipts: SignedReceipt[]) =>
    db.transaction().execute((tx) => bookReceipts(tx, kind, receipts, []))
  const entryOf = (tx: string) =>
    db.selectFrom('payment_transactions').selectAll().where('tx', '=', tx).executeTakeFirst()

  it('T-01 batches never claim more than a transaction received, and a batch beyond that writes nothing', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((id) => receiptOf(id, 'tx1'))
    expect(await book('batch', a!)).toEqual([a])
    await expect(book('batch', b!, c!)).rejects.toMatchObject({ code: 'payment_verification_failed' })
    expect(await book('batch', b!, a!)).toEqual([b])
    const entry = { network: 'primary-mainnet', tx: 'tx1', kind: 'batch', payer: 'ann', asset: 'USDC' }
    expect(await entryOf('tx1')).toEqual({ ...entry, received: '25', bound: '20' })
    const written = db.selectFrom('receipts').select('pay_req_id').where('tx', '=', 'tx1').orderBy('pay_req_id')
    expect(await written.execute()).toEqual([{ pay_req_id: 'a' }, { pay_req_id: 'b' }])
  })

  it('T-01 claimed amounts beyond 2^64 are exact', async () => {
    const received_raw = String(2n * 10n ** 30n + 1n)
    const half = { paid_raw: String(10n ** 30n + 1n), received_raw }
    expect(await book('batch', receiptOf('wei1', 'tx2', half))).toHaveLength(1)
    await expect(book('batch', receiptOf('wei2', 'tx2', half))).rejects.toThrow('less')
    const rest = { paid_raw: String(10n ** 30n), received_raw }
    expect(await book('batch', receiptOf('wei2', 'tx2', rest))).toHaveLength(1)
    expect(await entryOf('tx2')).toMatchObject({ received: received_raw, bound: received_raw })
  })

  it('T-01 a transaction is not claimed a second time for another asset or another received amount', async () => {
    await book('batch', receiptOf('d', 'tx3'))
    expect(await book('batch', receiptOf('e', 'tx3', { pay_asset: 'USDT' }))).toEqual([])
    expect(await book('batch', receiptOf('e', 'tx3', { received_raw: '1000' }))).toEqual([])
    expect(await entryOf('tx3')).toMatchObject({ asset: 'USDC', received: '25', bound: '10' })
  })

  it('T-205 a transaction stays unclaimed when others have paid its quotes', async () => {
    const paid = receiptOf('f', 'tx4')
    await book('single', paid)
    for (const kind of ['single', 'batch'] as const) expect(await book(kind, receiptOf('f', 'tx5'))).toEqual([])
    expect(await entryOf('tx5')).toBeUndefined()
    expect(await book('single', receiptOf('g', 'tx5'))).toHaveLength(1)
  })

  describe('a partly refunded transaction', () => {
    const network = 'primary-mainnet'
    const decided = { decided_by: 'oidc:anna', decided_at: '2026-06-12T00:00:00Z', reason: 'paid twice' }
    async function refund(tx: string, amount: string, asset = 'USDC') {
      const row = { network, tx, kind: 'refund', payer: 'ann', asset, received: '25', bound: '0' } as const
      await insertPaymentTransaction(db, row)
      const position = (await findRefunds(db, { network, tx })).length
      const values = { network, tx, position, asset, amount, received: '25', refund_tx: null, ...decided }
      await db.insertInto('refunds').values(values).execute()
    }
    const refused = { code: 'payment_verification_failed' }

    it('T-205 receipts claim at most the amount in an asset that refunds leave', async () => {
      await refund('r1', '15')
      await expect(book('single', receiptOf('r1a', 'r1', { paid_raw: '11' }))).rejects.toMatchObject(refused)
      const rest = receiptOf('r1a', 'r1')
      expect(await book('single', rest)).toEqual([rest])
      expect(await entryOf('r1')).toMatchObject({ kind: 'single', bound: '10', received: '25' })
      await refund('r2', '10')
      expect(await book('batch', receiptOf('r2a', 'r2'))).toHaveLength(1)
      await expect(book('batch', receiptOf('r2b', 'r2'))).rejects.toMatchObject(refused)
    })

    it('T-205 a refund in one asset does not affect the other assets of the transaction', async () => {
      await refund('r3', '25', 'USDT')
      const other = receiptOf('r3a', 'r3')
      expect(await book('single', other)).toEqual([other])
      expect(await entryOf('r3')).toMatchObject({ kind: 'single', asset: 'USDC', bound: '10' })
    })

    it('T-205 a quote that was paid earlier does not change the refund', async () => {
      await book('single', receiptOf('r4a', 'r4'))
      await refund('r5', '20')
      expect(await book('single', receiptOf('r4a', 'r5'))).toEqual([])
      expect(await entryOf('r5')).toMatchObject({ kind: 'refund' })
      await expect(book('single', receiptOf('r5a', 'r5'))).rejects.toMatchObject(refused)
    })

    it('T-205 T-46 authorizations claim at most the amount that all refunds leave, in any asset', async () => {
      const authorize = (id: string, receipt: SignedReceipt) =>
        db.transaction().execute((tx) => bookReceipts(tx, 'authorizations', [receipt], [id]))
      const ten = { received_raw: '10' }
      await authorize('r:1', receiptOf('r6a', 'r6', ten))
      await refund('r6', '5')
      expect(await authorize('r:2', receiptOf('r6b', 'r6', ten))).toHaveLength(1)
      await expect(authorize('r:3', receiptOf('r6c', 'r6', ten))).rejects.toMatchObject(refused)
      await refund('r6', '25', 'EURC')
      const euros = receiptOf('r6d', 'r6', { ...ten, pay_asset: 'EURC' })
      await expect(authorize('r:4', euros)).rejects.toMatchObject(refused)
    })
  })

  describe('authorizations in one transaction', () => {
    const authorize = (id: string, receipt: SignedReceipt) =>
      db.transaction().execute((tx) => bookReceipts(tx, 'authorizations', [receipt], [id]))
    const single = (receipt: SignedReceipt, ...ids: string[]) =>
      db.transaction().execute((tx) => bookReceipts(tx, 'single', [receipt], ids))

    it('T-01 T-46 each pays one quote once, and the transaction counts the sum', async () => {
      const [ann, bob] = [receiptOf('j', 'tx7', { received_raw: '10' }), receiptOf('k', 'tx7', { received_raw: '12' })]
      expect(await authorize('ann:1', ann)).toEqual([ann])
      expect(await authorize('bob:1', bob)).toEqual([bob])
      expect(await authorize('bob:1', bob)).toEqual([])
      expect(await authorize('bob:1', receiptOf('l', 'tx7'))).toEqual([])
      expect(await entryOf('tx7')).toMatchObject({ kind: 'authorizations', received: '22', bound: '20' })
    })

    it('T-01 T-46 a transaction is claimed as a whole or by its authorizations, never both', async () => {
      await authorize('gus:1', receiptOf('v', 'tx12'))
      expect(await single(receiptOf('w', 'tx12'))).toEqual([])
      expect(await book('batch', receiptOf('w', 'tx12'))).toEqual([])
      expect(await single(receiptOf('m', 'tx8'), 'cy:1')).toHaveLength(1)
      expect(await authorize('cy:1', receiptOf('n', 'tx8'))).toEqual([])
    })

    it('T-46 an authorization pays its quote even when someone else pays in another asset in the same transaction', async () => {
      expect(await single(receiptOf('s', 'tx11', { pay_asset: 'USDT0' }))).toHaveLength(1)
      const victim = receiptOf('t', 'tx11', { received_raw: '10' })
      expect(await authorize('fay:1', victim)).toEqual([victim])
      expect(await authorize('fay:1', victim)).toEqual([])
      expect(await authorize('fay:1', receiptOf('u', 'tx11'))).toEqual([])
      expect(await entryOf('tx11')).toMatchObject({ kind: 'single', asset: 'USDT0', received: '25', bound: '10' })
    })

    it('T-46 a transaction is not claimed as a whole while it contains an authorization for another quote', async () => {
      await assignAuthorization(db, { network: 'primary-mainnet', authorization_id: 'dee:1', pay_req_id: 'o' })
      expect(await single(receiptOf('p', 'tx9'), 'dee:0', 'dee:1')).toEqual([])
      expect(await single(receiptOf('o', 'tx9'), 'dee:0', 'dee:1')).toHaveLength(1)
    })

    it('T-01 exactly one of many concurrent claims on an authorization writes a receipt', async () => {
      const claims = Array.from({ length: 8 }, (_, i) => authorize('eve:1', receiptOf(`q${i}`, 'tx10')))
      expect((await Promise.all(claims)).flat()).toHaveLength(1)
    })
  })

  it('T-01 the same transaction id on two networks is two transactions', async () => {
    expect(await book('single', receiptOf('h', 'tx6'))).toHaveLength(1)
    expect(await book('single', receiptOf('i', 'tx6'))).toHaveLength(0)
    expect(await book('single', receiptOf('i', 'tx6', { network: 'evm-mainnet' }))).toHaveLength(1)
  })
})

forEachDatabase('sums of many payments', (database) => {
  const ASSETS = [
    ['primary-mainnet', 'SOL'],
    ['primary-mainnet', 'USDC'],
    ['evm-mainnet', 'USDC'],
    ['evm-mainnet', 'MON'],
  ] as const
  const KINDS = ['single', 'batch', 'authorizations', 'lost', 'refund'] as const

  /** A payment whose amount ranges from one digit to the largest that a chain can move. */
  function payment(i: number): PaymentTransactionTable {
    const [network, asset] = ASSETS[i % ASSETS.length]!
    const most = 2n ** 256n - 1n
    const received = i % 11 === 0 ? most - BigInt(i) : (BigInt(i) * 7_919_999_999_999n ** BigInt(i % 5)) % most
    const kind = KINDS[i % KINDS.length]!
    return { network, tx: `tx${(i * 7919) % 1000}`, kind, payer: 'ann', asset, received: String(received), bound: '0' }
  }

  it('INT-04 T-35 are exact for any amounts and page size, and yield to the event loop after each page', async () => {
    const { db } = await database.openMigrated<Schema>(migrations)
    expect(await receivedSums(db)).toEqual([])
    expect(await allOf(countReceipts(db))).toEqual([])
    const rows = Array.from({ length: 301 }, (_, i) => payment(i))
    for (const row of rows) await insertPaymentTransaction(writable(db), row)
    const bought = rows.filter((_, i) => i % 3 === 0)
    for (const { network, tx, asset } of bought)
      await insertReceipt(writable(db), receiptOf(tx, tx, { network, pay_asset: asset }))
    const sums: Record<string, bigint> = {}
    for (const row of rows.filter(({ kind }) => kind !== 'refund'))
      sums[keyOf(row)] = (sums[keyOf(row)] ?? 0n) + BigInt(row.received)
    const counts: Record<string, number> = {}
    for (const row of bought) counts[keyOf(row)] = (counts[keyOf(row)] ?? 0) + 1

    for (const page of [1, 7, 300, 301, 20_000]) {
      const found = await receivedSums(db, page)
      expect(Object.fromEntries(found.map((sum) => [keyOf(sum), sum.received]))).toEqual(sums)
      const counted: Record<string, number> = {}
      for await (const row of countReceipts(db, page)) counted[keyOf(row)] = (counted[keyOf(row)] ?? 0) + row.receipts
      expect(counted).toEqual(counts)
    }

    let ticks = 0
    let isOver = false
    const tick = () => {
      ticks++
      if (!isOver) setImmediate(tick)
    }
    setImmediate(tick)
    await receivedSums(db, 7)
    const ticksAfterSums = ticks
    await allOf(countReceipts(db, 7))
    isOver = true
    expect(ticksAfterSums).toBeGreaterThanOrEqual(rows.length / 7)
    expect(ticks - ticksAfterSums).toBeGreaterThanOrEqual(bought.length / 7)
  })

  const keyOf = ({ network, asset }: { network: string; asset: string | null }) => `${asset} on ${network}`
})
