import { forEachDatabase } from '@svc/devnet/databases'
import { receiptId } from '@svc/protocol/ids'
import { ed25519Signer } from '@svc/protocol/keys'
import { type Receipt, type SignedReceipt, signReceipt } from '@svc/protocol/receipt'
import type { Kysely } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { migrations } from '../../../src/db/migrations.ts'
import type { Schema } from '../../../src/db/schema.ts'
import { bookReceipts } from '../../../src/purchases/claim-payments.ts'
import {
  countReceipts,
  findReceiptsOfTransaction,
  insertReceipt,
  streamReceivedAmounts,
  takeAuthorization,
} from '../../../src/purchases/store.ts'

const signer = ed25519Signer(new Uint8Array(32).fill(7))

function receiptOf(pay_req_id: string, tx_hash: string, changes: Partial<Receipt> = {}): SignedReceipt {
  const amounts = { paid_amount: '0.00001', paid_raw: '10', received_raw: '25', pay_asset: 'USDC' }
  const where = { network: 'primary-mainnet', sig_alg: 'ed25519' as const, payer_pubkey: 'ann', units: 1 }
  const rest = { confirmed_at: '2026-06-12T00:00:00Z', result_hash: '', ...changes }
  const receipt_id = receiptId(pay_req_id, tx_hash)
  return signReceipt({ receipt_id, pay_req_id, tx_hash, ...amounts, ...where, ...rest }, signer)
}

forEachDatabase('claims on a transaction', (database) => {
  let db: Kysely<Schema>
  beforeAll(async () => {
    db = (await database.open<Schema>(migrations)).db
  })

  const book = (kind: 'single' | 'batch', ...receipts: SignedReceipt[]) =>
    db.transaction().execute((tx) => bookReceipts(tx, kind, receipts, []))
  const entryOf = (tx: string) =>
    db.selectFrom('payment_transactions').selectAll().where('tx', '=', tx).executeTakeFirst()

  it('T-01 batches claim no more of a transaction than was received, and a batch beyond that writes nothing', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((id) => receiptOf(id, 'tx1'))
    expect(await book('batch', a!)).toEqual([a])
    await expect(book('batch', b!, c!)).rejects.toMatchObject({ code: 'payment_verification_failed' })
    expect(await book('batch', b!, a!)).toEqual([b])
    const entry = { network: 'primary-mainnet', tx: 'tx1', kind: 'batch', payer: 'ann', asset: 'USDC' }
    expect(await entryOf('tx1')).toEqual({ ...entry, received: '25', bound: '20' })
    expect(await db.selectFrom('receipts').select('pay_req_id').orderBy('pay_req_id').execute()).toEqual([
      { pay_req_id: 'a' },
      { pay_req_id: 'b' },
    ])
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

  it('AMB-57 a transaction whose quotes were paid by other transactions stays free', async () => {
    const paid = receiptOf('f', 'tx4')
    await book('single', paid)
    for (const kind of ['single', 'batch'] as const) expect(await book(kind, receiptOf('f', 'tx5'))).toEqual([])
    expect(await entryOf('tx5')).toBeUndefined()
    expect(await book('single', receiptOf('g', 'tx5'))).toHaveLength(1)
  })

  describe('authorizations in one transaction', () => {
    const authorize = (id: string, receipt: SignedReceipt) =>
      db.transaction().execute((tx) => bookReceipts(tx, 'authorizations', [receipt], [id]))
    const whole = (receipt: SignedReceipt, ...ids: string[]) =>
      db.transaction().execute((tx) => bookReceipts(tx, 'single', [receipt], ids))

    it('T-01 T-46 each pays one quote, once, and the transaction counts what they paid', async () => {
      const [ann, bob] = [receiptOf('j', 'tx7', { received_raw: '10' }), receiptOf('k', 'tx7', { received_raw: '12' })]
      expect(await authorize('ann:1', ann)).toEqual([ann])
      expect(await authorize('bob:1', bob)).toEqual([bob])
      expect(await authorize('bob:1', bob)).toEqual([])
      expect(await authorize('bob:1', receiptOf('l', 'tx7'))).toEqual([])
      expect(await entryOf('tx7')).toMatchObject({ kind: 'authorizations', received: '22', bound: '20' })
    })

    it('T-01 T-46 a transaction is taken whole or by its authorizations, never both', async () => {
      expect(await whole(receiptOf('l', 'tx7'))).toEqual([])
      expect(await book('batch', receiptOf('l', 'tx7'))).toEqual([])
      expect(await whole(receiptOf('m', 'tx8'), 'cy:1')).toHaveLength(1)
      expect(await authorize('cy:1', receiptOf('n', 'tx8'))).toEqual([])
    })

    it('T-46 an authorization pays its quote also if a stranger pays in another asset in the same transaction', async () => {
      expect(await whole(receiptOf('s', 'tx11', { pay_asset: 'USDT0' }))).toHaveLength(1)
      const victim = receiptOf('t', 'tx11', { received_raw: '10' })
      expect(await authorize('fay:1', victim)).toEqual([victim])
      expect(await authorize('fay:1', victim)).toEqual([])
      expect(await authorize('fay:1', receiptOf('u', 'tx11'))).toEqual([])
      expect(await entryOf('tx11')).toMatchObject({ kind: 'single', asset: 'USDT0', received: '25', bound: '10' })
    })

    it('T-46 a transaction is not taken whole while an authorization in it is for another quote', async () => {
      await takeAuthorization(db, { network: 'primary-mainnet', authorization_id: 'dee:1', pay_req_id: 'o' })
      expect(await whole(receiptOf('p', 'tx9'), 'dee:0', 'dee:1')).toEqual([])
      expect(await whole(receiptOf('o', 'tx9'), 'dee:0', 'dee:1')).toHaveLength(1)
    })

    it('T-16 of many claims on one authorization, one writes a receipt', async () => {
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

forEachDatabase('totals over all claims', (database) => {
  it('INT-04 ADD-08 every transaction and every receipt is counted once, and receipts are found by transaction', async () => {
    const { db } = await database.open<Schema>(migrations)
    const book = (kind: 'single' | 'batch', ...receipts: SignedReceipt[]) =>
      db.transaction().execute((tx) => bookReceipts(tx, kind, receipts, []))
    const mon = { network: 'evm-mainnet', pay_asset: 'MON', received_raw: String(10n ** 30n) }
    const pair = [receiptOf('c', '0x1', mon), receiptOf('d', '0x1', mon)]
    await book('single', receiptOf('a', 'tx1'))
    await book('single', receiptOf('b', 'tx2', { received_raw: '11' }))
    await book('batch', ...pair)
    await insertReceipt(db, receiptOf('e', 'gone'))
    const primary = { network: 'primary-mainnet', asset: 'USDC' }
    const evm = { network: 'evm-mainnet', asset: 'MON' }
    const counts = await countReceipts(db)
    expect(counts).toHaveLength(3)
    for (const count of [
      { ...primary, receipts: 2 },
      { ...primary, asset: null, receipts: 1 },
      { ...evm, receipts: 2 },
    ])
      expect(counts).toContainEqual(count)
    const amounts: { received: string }[] = []
    for await (const row of streamReceivedAmounts(db)) amounts.push(row)
    expect(amounts.map(({ received }) => received).sort()).toEqual(['11', '25', String(10n ** 30n)].sort())
    expect(amounts).toContainEqual({ ...evm, received: String(10n ** 30n) })
    const byId = (a: SignedReceipt, b: SignedReceipt) => (a.receipt_id < b.receipt_id ? -1 : 1)
    expect(await findReceiptsOfTransaction(db, '0x1')).toEqual(pair.sort(byId))
    expect(await findReceiptsOfTransaction(db, '0x2')).toEqual([])
  })
})

forEachDatabase('claims from before their asset was stored', (database) => {
  it('INT-04 a migration fills in the asset of older transactions from their receipts', async () => {
    const older = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '0004'))
    const before = await database.open<Schema>(older)
    const entry = { network: 'primary-mainnet', tx: 'old', kind: 'single', payer: 'ann', received: '25', bound: '10' }
    await before.db
      .insertInto('payment_transactions')
      .values(entry as never)
      .execute()
    const { receipt_id, pay_req_id, network, payer_pubkey, ...rest } = receiptOf('a', 'old', { pay_asset: 'WETH' })
    const receipt = JSON.stringify({ receipt_id, pay_req_id, network, payer_pubkey, ...rest })
    await before.db
      .insertInto('receipts')
      .values({ receipt_id, pay_req_id, network, tx: 'old', payer: payer_pubkey, receipt } as never)
      .execute()
    const { db } = await database.open<Schema>(migrations)
    expect(await db.selectFrom('payment_transactions').selectAll().execute()).toEqual([{ ...entry, asset: 'WETH' }])
  })
})
