// Revokes in one transaction with a row that says so, which is noted once it is committed: a database that was set back
// lacks rows that are noted, so it is found out before it lets anybody in again (T-161).

import { randomBytes } from 'node:crypto'
import { toHex } from '@svc/protocol/bytes'
import type { Transaction } from 'kysely'
import type { Schema } from '../db/schema.ts'
import type { Commit } from './commits.ts'
import type { NotedRevocation } from './entries.ts'
import type { Revoked } from './revoked.ts'
import { recordRevocation } from './store.ts'

/** `revoke` is called in the transaction of what it says. */
export type Revoking = <Result>(
  work: (tx: Transaction<Schema>, revoke: (revoked: Revoked) => Promise<void>) => Promise<Result>,
) => Promise<Result>

/** `now` in Unix seconds. */
export function createRevoking(commit: Commit, now: () => number): Revoking {
  return (work) => {
    const revocations: NotedRevocation[] = []
    const write = (tx: Transaction<Schema>) =>
      work(tx, async (revoked) => {
        const revocation = { kind: 'revocation', id: toHex(randomBytes(16)), revokedAt: now(), revoked } as const
        await recordRevocation(tx, revocation)
        revocations.push(revocation)
      })
    return commit(write, () => revocations)
  }
}
