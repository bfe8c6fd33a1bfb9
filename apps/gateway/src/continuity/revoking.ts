// Revokes in one transaction with a row that says so, which is noted once it is committed: a database that was set back
// lacks rows that are noted, so it is found out before it lets anybody in again (T-161).

import { randomBytes } from 'node:crypto'
import { toHex } from '@svc/protocol/bytes'
import type { Transaction } from 'kysely'
import type { Db, Schema } from '../db/schema.ts'
import type { NotedRevocation } from './entries.ts'
import type { Revoked } from './revoked.ts'
import { recordRevocation } from './store.ts'

/** `revoke` is called in the transaction of what it says. */
export type Revoking = <Result>(
  work: (tx: Transaction<Schema>, revoke: (revoked: Revoked) => Promise<void>) => Promise<Result>,
) => Promise<Result>

interface Parts {
  db: Db
  /** Unix seconds. */
  now: () => number
  note: (revocations: readonly NotedRevocation[]) => Promise<void>
}

export function createRevoking({ db, now, note }: Parts): Revoking {
  return async (work) => {
    const revocations: NotedRevocation[] = []
    const result = await db.transaction().execute((tx) =>
      work(tx, async (revoked) => {
        const revocation = { kind: 'revocation', id: toHex(randomBytes(16)), revokedAt: now(), revoked } as const
        await recordRevocation(tx, revocation)
        revocations.push(revocation)
      }),
    )
    await note(revocations)
    return result
  }
}
