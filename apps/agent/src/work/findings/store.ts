// What is to be told of findings, and what became of it.

import type { Insertable, Selectable } from 'kysely'
import type { Db, DelegationRow, DeliveryTable } from '../../db/schema.ts'

export async function insertDeliveries(db: Db, deliveries: readonly Insertable<DeliveryTable>[]): Promise<void> {
  await db.insertInto('deliveries').values(deliveries).execute()
}

export interface Delivery extends Selectable<DeliveryTable> {
  /** The signed finding, JSON. */
  finding: string
  identity: string
  state: DelegationRow['state']
  /** Of the delegation as it is now, JSON. */
  tasks: string
}

/** Null for one that was forgotten. */
export async function findDelivery(db: Db, deliveryId: string): Promise<Delivery | null> {
  const row = await db
    .selectFrom('deliveries')
    .innerJoin('delegations', 'delegations.delegation_id', 'deliveries.delegation_id')
    .innerJoin('findings', (join) =>
      join
        .onRef('findings.delegation_id', '=', 'deliveries.delegation_id')
        .onRef('findings.sequence', '=', 'deliveries.sequence'),
    )
    .selectAll('deliveries')
    .select(['findings.finding', 'delegations.identity', 'delegations.state', 'delegations.tasks'])
    .where('delivery_id', '=', deliveryId)
    .executeTakeFirst()
  return row ?? null
}

export async function setDelivery(
  db: Db,
  { delivery_id, ...outcome }: Pick<Delivery, 'delivery_id' | 'delivered_at' | 'error'>,
): Promise<void> {
  await db.updateTable('deliveries').set(outcome).where('delivery_id', '=', delivery_id).execute()
}

/** What became of the findings that were to be told; null where none were. */
export async function summarizeDeliveries(db: Db, delegationId: string) {
  const own = db.selectFrom('deliveries').where('delegation_id', '=', delegationId)
  const { delivered, all } = await own
    .select(({ fn }) => [fn.count<number>('delivered_at').as('delivered'), fn.countAll<number>().as('all')])
    .executeTakeFirstOrThrow()
  if (all === 0) return null
  const failed = own.select('error').where('delivered_at', 'is', null).where('error', 'is not', null)
  const last = await failed.orderBy('sequence', 'desc').limit(1).executeTakeFirst()
  return { delivered, undelivered: all - delivered, last_error: last?.error ?? null }
}

/** Up to so many of those that were made before then; how many they were. */
export async function forgetDeliveries(db: Db, before: number, limit: number): Promise<number> {
  const old = db.selectFrom('deliveries').select('delivery_id').where('created_at', '<', before).limit(limit)
  const { numDeletedRows } = await db.deleteFrom('deliveries').where('delivery_id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}
