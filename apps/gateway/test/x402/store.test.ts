import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { expect, it } from 'vitest'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'
import {
  deleteSettlement,
  findQuoteOfPayment,
  findSettlement,
  insertSettlement,
  replaceTransaction,
  type Settlement,
} from '../../src/x402/store.ts'

forEachDatabaseInGate('settlements', (database) => {
  const settlement = (changes: Partial<Settlement>): Settlement => ({
    pay_req_id: 'pr_1',
    network: 'evm-mainnet',
    asset: '0xusdc',
    payment_id: '0xfrom:0xnonce',
    tx: '0xtx',
    raw: '0xraw',
    height: 7,
    searched_to: null,
    ...changes,
  })

  it('a quote has one settlement at a time, and a payment settles one quote', async () => {
    const { db } = await database.openMigrated<Schema>(migrations)
    expect(await insertSettlement(db, settlement({}))).toBe(true)
    expect(await insertSettlement(db, settlement({ payment_id: 'another' }))).toBe(false)
    expect(await insertSettlement(db, settlement({ pay_req_id: 'pr_2' }))).toBe(false)
    expect(await insertSettlement(db, settlement({ pay_req_id: 'pr_2', network: 'primary-mainnet' }))).toBe(true)
    expect(await findSettlement(db, 'pr_1')).toEqual(settlement({}))
    expect(await findQuoteOfPayment(db, 'evm-mainnet', '0xfrom:0xnonce')).toBe('pr_1')
    expect(await findQuoteOfPayment(db, 'evm-mainnet', 'another')).toBeNull()
  })

  it('a settlement is replaced or deleted only by its current transaction', async () => {
    const { db } = await database.openMigrated<Schema>(migrations)
    const noted = settlement({ pay_req_id: 'pr_3', payment_id: 'third' })
    await insertSettlement(db, noted)
    const newer = { ...noted, tx: '0xnewer', raw: '0xnewer-raw' }
    expect(await replaceTransaction(db, newer, '0xother')).toBe(false)
    expect(await replaceTransaction(db, newer, noted.tx)).toBe(true)
    await deleteSettlement(db, noted)
    expect(await findSettlement(db, 'pr_3')).toEqual(newer)
    await deleteSettlement(db, newer)
    expect(await findSettlement(db, 'pr_3')).toBeNull()
  })
})
