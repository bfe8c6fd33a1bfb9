// Revokes in one transaction with a row that says so, which is noted once it is committed: a database that was set back
// lacks rows that are noted, so it is found out before it lets anybody in again (T-161).

import { randomBytes } from 'node:crypto'
import type { Commit, CommitOptions } from '@svc/database/commit'
import { toHex } from '@svc/protocol/bytes'
import type { Schema, Tx } from '../db/schema.ts'
import type { Entry } from './entries.ts'
import type { Revoked } from './revoked.ts'
import { recordRevocation } from './store.ts'

/** `revoke` is called in the transaction of what it says. */
export type Revoking = <Result>(
  work: (tx: Tx, revoke: (revoked: Revoked) => Promise<void>) => Promise<Result>,
  options?: CommitOptions,
) => Promise<Result>

/** `now` in Unix seconds. */
export function createRevoking(commit: Commit<Schema, Entry>, now: () => number): Revoking {
  return (work, options) =>
    commit(
      (tx, note) =>
        work(tx, async (revoked) => {
          const revocation = { kind: 'revocation', id: toHex(randomBytes(16)), revokedAt: now(), revoked } as const
          await recordRevocation(tx, revocation)
          note(revocation)
        }),
      options,
    )
}
