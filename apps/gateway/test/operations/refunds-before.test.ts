import { forEachDatabase } from '@svc/devnet/databases'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'
import { findRefunds } from '../../src/purchases/store.ts'

forEachDatabase('refunds of a database from before', (database) => {
  it('T-83 stay as they were decided, with what arrived as far as it is known', { tags: ['nightly'] }, async () => {
    const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '0026'))
    const old = await database.open<Schema>(before)
    for (const [tx, asset] of [
      ['known', 'USDC'],
      ['unknown', 'SOL'],
    ]) {
      await sql`insert into payment_transactions (network, tx, kind, payer, asset, received, bound)
        values ('primary-mainnet', ${tx}, 'refund', 'ann', 'USDC', '25', '25')`.execute(old.db)
      await sql`insert into payment_refunds
        (network, tx, asset, amount, refund_tx, decided_by, decided_at, reason) values
        ('primary-mainnet', ${tx}, ${asset}, '10', null, 'oidc:anna', '2026-06-12T00:00:00Z', 'paid twice')`.execute(
        old.db,
      )
    }
    const { db } = await database.open<Schema>(migrations)
    const refund = { position: 0, amount: '10', refund_tx: null, decided_by: 'oidc:anna', reason: 'paid twice' }
    const of = (tx: string) => findRefunds(db, { network: 'primary-mainnet', tx })
    expect(await of('known')).toMatchObject([{ ...refund, asset: 'USDC', received: '25' }])
    expect(await of('unknown')).toMatchObject([{ ...refund, asset: 'SOL', received: '10' }])
  })
})
