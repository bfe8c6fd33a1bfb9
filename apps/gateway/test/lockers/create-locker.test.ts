import type { LockerRecord } from '@svc/api/lockers'
import { forEachDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { ed25519Signer } from '@svc/protocol/keys'
import { type SignedReceipt, signReceipt } from '@svc/protocol/receipt'
import type { Kysely } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'
import { createLocker, type LockerCreation, type LockerOrder } from '../../src/lockers/create-locker.ts'
import { lockerRecord } from '../../src/lockers/locker-record.ts'

const signer = ed25519Signer(new Uint8Array(32).fill(7))
const TERMS = { storage_limit_bytes: 1000, file_limit: 10, egress_included_bytes: 2000, ttl_days: 365 }
const CREATED_AT = Date.UTC(2026, 5, 12) / 1000

function receiptOf(owner: string, receipt_id: string): SignedReceipt {
  const payment = { paid_amount: '1', paid_raw: '1', pay_asset: 'BETA', network: 'primary-mainnet', tx_hash: 'tx' }
  const when = { confirmed_at: '2026-06-12T00:00:00Z', result_hash: '', units: 1, sig_alg: 'ed25519' as const }
  return signReceipt({ receipt_id, pay_req_id: `pr_${receipt_id}`, payer_pubkey: owner, ...payment, ...when }, signer)
}

function orderOf(owner: string, receiptId: string, changes: Partial<LockerOrder> & { terms?: object } = {}) {
  const { terms, ...others } = changes
  const quote = { extensions: { svc: { terms: { ...TERMS, quote_expires_at: 'T', ...terms } } } }
  const request = { provider: 'gcs', quote: JSON.stringify(quote) }
  return { receipt: receiptOf(owner, receiptId), request, tags: [], createdAt: CREATED_AT, maxPerOwner: 50, ...others }
}

function outcomes(creations: readonly LockerCreation[]) {
  return Object.groupBy(creations, (made) => (made.outcome === 'refused' ? made.refusal.code : made.outcome))
}

forEachDatabase('lockers', (database) => {
  let db: Kysely<Schema>
  beforeAll(async () => {
    db = writable((await database.openMigrated<Schema>(migrations)).db)
  })

  const create = (order: LockerOrder) => db.transaction().execute((tx) => createLocker(tx, () => {}, order))
  const countOf = async (owner: string) =>
    (await db.selectFrom('owners').select('locker_count').where('owner', '=', owner).executeTakeFirst())?.locker_count

  async function recordOf(order: LockerOrder): Promise<LockerRecord> {
    const made = await create(order)
    if (made.outcome === 'refused') throw made.refusal
    return lockerRecord(made.locker)
  }

  it('LOCK-03 LOCK-05 a new locker has the id of its receipt, the payer as owner, and the paid terms', async () => {
    const record = await recordOf(orderOf('ann', 'rcpt_test_0001', { tags: ['a', 'ü'] }))
    const files = '/v1/lockers/locker_14fa9d190572/files'
    expect(record).toEqual({
      locker_id: 'locker_14fa9d190572',
      receipt_id: 'rcpt_test_0001',
      owner: 'ann',
      operators: [],
      tags: ['a', 'ü'],
      provider: 'gcs',
      network: 'primary-mainnet',
      sig_alg: 'ed25519',
      terms: TERMS,
      created_at: '2026-06-12T00:00:00Z',
      expires_at: '2027-06-12T00:00:00Z',
      file_count: 0,
      total_bytes: 0,
      public_link: { status: 'open', id: 'rcpt_test_0001' },
      anchoring: 'each',
      space: {
        locker_id: 'locker_14fa9d190572',
        file_api: { create: files, list: files, get: `${files}/{filename}`, delete: `${files}/{filename}` },
      },
    })
  })

  it('LOCK-14 a term beyond the year 9999 ends with that year', async () => {
    const record = await recordOf(orderOf('eve', 'rcpt_for_ever', { terms: { ttl_days: Number.MAX_SAFE_INTEGER } }))
    expect(record.expires_at).toBe('9999-12-31T23:59:59Z')
  })

  it('LOCK-09 LOCK-02 creating a locker again returns the same one, does not count, and changes nothing', async () => {
    const first = await create(orderOf('bob', 'rcpt_bob', { tags: ['first'], maxPerOwner: 1 }))
    const again = { tags: ['second'], createdAt: CREATED_AT + 9, maxPerOwner: 1 }
    expect(await create(orderOf('bob', 'rcpt_bob', again))).toEqual({ ...first, outcome: 'existing' })
    expect(await countOf('bob')).toBe(1)
  })

  it('LOCK-08 LIM-06 a locker above the limit of its owner answers 429 with a hint, and leaves nothing', async () => {
    await create(orderOf('cat', 'rcpt_cat_1', { maxPerOwner: 1 }))
    const made = await create(orderOf('cat', 'rcpt_cat_2', { maxPerOwner: 1 }))
    if (made.outcome !== 'refused') throw new Error('was not refused')
    expect(made.refusal).toMatchObject({ code: 'LOCKER_LIMIT_EXCEEDED', status: 429 })
    expect(made.refusal.body('r')).toMatchObject({
      hint: expect.any(String),
      details: { receipt_id: 'rcpt_cat_2', limit: 1 },
    })
    expect(await db.selectFrom('lockers').where('owner', '=', 'cat').selectAll().execute()).toHaveLength(1)
    expect(await countOf('cat')).toBe(1)
    expect(await create(orderOf('cat', 'rcpt_cat_2', { maxPerOwner: 2 }))).toMatchObject({ outcome: 'created' })
  })

  it('T-18 ten concurrent creations with a limit of three create and count three lockers', async () => {
    const orders = Array.from({ length: 10 }, (_, i) => orderOf('dan', `rcpt_dan_${i}`, { maxPerOwner: 3 }))
    const made = outcomes(await Promise.all(orders.map(create)))
    expect([made.created?.length, made.LOCKER_LIMIT_EXCEEDED?.length]).toEqual([3, 7])
    expect(await db.selectFrom('lockers').where('owner', '=', 'dan').selectAll().execute()).toHaveLength(3)
    expect(await countOf('dan')).toBe(3)
  })

  it('LOCK-09 T-18 ten concurrent creations for one receipt at the limit all get the same locker', async () => {
    const made = outcomes(
      await Promise.all(Array.from({ length: 10 }, () => create(orderOf('fay', 'rcpt_fay', { maxPerOwner: 1 })))),
    )
    expect([made.created?.length, made.existing?.length]).toEqual([1, 9])
    expect(await countOf('fay')).toBe(1)
  })

  it('T-18 transactions that create several lockers in opposite orders do not deadlock', async () => {
    const ids = ['rcpt_gus_1', 'rcpt_gus_2', 'rcpt_gus_3']
    const createAll = (receiptIds: string[]) =>
      db.transaction().execute(async (tx) => {
        const made = []
        for (const id of receiptIds) made.push(await createLocker(tx, () => {}, orderOf('gus', id)))
        return made
      })
    const rounds = Array.from({ length: 10 }, (_, i) => createAll(i % 2 ? ids : ids.toReversed()))
    const made = outcomes((await Promise.all(rounds)).flat())
    expect([made.created?.length, made.existing?.length]).toEqual([3, 27])
    expect(await countOf('gus')).toBe(3)
  })

  it('LOCK-01 T-28 a locker id taken by another receipt answers 409 and overwrites nothing', async () => {
    const { locker_id } = await recordOf(orderOf('hal', 'rcpt_hal'))
    await db.updateTable('lockers').set({ receipt_id: 'rcpt_other' }).where('locker_id', '=', locker_id).execute()
    const made = await create(orderOf('ivy', 'rcpt_hal'))
    if (made.outcome !== 'refused') throw new Error('was not refused')
    expect(made.refusal).toMatchObject({ code: 'LOCKER_ID_COLLISION', status: 409 })
    const [row] = await db.selectFrom('lockers').where('locker_id', '=', locker_id).selectAll().execute()
    expect(row).toMatchObject({ owner: 'hal', receipt_id: 'rcpt_other' })
    expect(await countOf('ivy')).toBe(0)
  })
})
