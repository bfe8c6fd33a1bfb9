// Queries for the log of findings and for webhook deliveries.

import type { SignedFinding } from '@svc/protocol/finding'
import type { Insertable, Selectable } from 'kysely'
import type { Db, DelegationRow, DeliveryTable, Tx } from '../../db/schema.ts'

/** Oldest first. */
export async function findingsAfter(
  db: Db,
  delegationId: string,
  after: number,
  limit: number,
): Promise<SignedFinding[]> {
  const rows = await db
    .selectFrom('findings')
    .select('finding')
    .where('delegation_id', '=', delegationId)
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(limit)
    .execute()
  return rows.map(({ finding }) => JSON.parse(finding))
}

export async function insertFindings(tx: Tx, findings: readonly SignedFinding[]): Promise<void> {
  const rows = findings.map((finding) => {
    const { delegation_id, sequence, severity } = finding
    return { delegation_id, sequence, severity, finding: JSON.stringify(finding) }
  })
  await tx.insertInto('findings').values(rows).execute()
}

export async function setLogEnd(
  tx: Tx,
  { delegation_id, ...end }: Pick<DelegationRow, 'delegation_id' | 'finding_count' | 'alert_count' | 'last_digest'>,
): Promise<void> {
  await tx.updateTable('delegations').set(end).where('delegation_id', '=', delegation_id).execute()
}

export async function insertDeliveries(tx: Tx, deliveries: readonly Insertable<DeliveryTable>[]): Promise<void> {
  await tx.insertInto('deliveries').values(deliveries).execute()
}

export interface Delivery extends Selectable<DeliveryTable> {
  /** The JSON of the signed finding. */
  finding: string
  identity: string
  state: DelegationRow['state']
  /** The JSON of the delegation's current tasks. */
  tasks: string
}

/** Null when it was deleted because of its age. */
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
  tx: Tx,
  { delivery_id, ...outcome }: Pick<Delivery, 'delivery_id' | 'delivered_at' | 'error'>,
): Promise<void> {
  await tx.updateTable('deliveries').set(outcome).where('delivery_id', '=', delivery_id).execute()
}

/** How many deliveries succeeded; null when there are none. */
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

/** Deletes up to `limit` deliveries that were created before that time; returns how many. */
export async function deleteDeliveries(tx: Tx, before: number, limit: number): Promise<number> {
  const old = tx.selectFrom('deliveries').select('delivery_id').where('created_at', '<', before).limit(limit)
  const { numDeletedRows } = await tx.deleteFrom('deliveries').where('delivery_id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}
