// Delegations inserted directly into the database, for tests that need no gateway.

import { randomBytes } from 'node:crypto'
import { writable } from '@svc/devnet/writable'
import { toHex } from '@svc/protocol/bytes'
import type { Db, DelegationRow } from '../src/db/schema.ts'
import { insertDelegation } from '../src/delegations/store.ts'
import { lockSubscription } from '../src/subscriptions/store.ts'

/** Inserts an active delegation with a subscription; returns its id. */
export async function insertTestDelegation(db: Db, changes: Partial<DelegationRow> = {}): Promise<string> {
  const id = toHex(randomBytes(16))
  await lockSubscription(writable(db), `owner ${id}`, `sub_${id}`)
  await insertDelegation(writable(db), {
    delegation_id: `dlg_${id}`,
    identity: `owner ${id}`,
    receipt_id: `rcpt_${id}`,
    locker_id: `locker_${id}`,
    state: 'active',
    tasks: '{}',
    created_at: 0,
    registered_at: 0,
    ended_at: null,
    check_at: null,
    checks: 0,
    mirror_at: null,
    watch_at: null,
    finding_count: 0,
    alert_count: 0,
    last_digest: null,
    ...changes,
  })
  return `dlg_${id}`
}
