import type { Db, LogCosignaturesTable, LogWitnessTable, Tx } from '../../../db/schema.ts'

/** Adds one line in a transaction; others wait for it. The caller judges all lines together. */
export async function addCosignature(
  tx: Tx,
  size: number,
  line: string,
  isQuorum: (lines: string) => boolean,
): Promise<void> {
  const { lines } = await tx
    .insertInto('log_cosignatures')
    .values({ size, lines: '', is_quorum: 0 })
    // Locks an existing row.
    .onConflict((conflict) => conflict.column('size').doUpdateSet((eb) => ({ size: eb.ref('excluded.size') })))
    .returning('lines')
    .executeTakeFirstOrThrow()
  const all = lines + line
  const change: Omit<LogCosignaturesTable, 'size'> = { lines: all, is_quorum: isQuorum(all) ? 1 : 0 }
  await tx.updateTable('log_cosignatures').set(change).where('size', '=', size).execute()
}

export function findWitnesses(db: Db): Promise<LogWitnessTable[]> {
  return db.selectFrom('log_witnesses').selectAll().execute()
}

/** Records the size that the witness has cosigned last. */
export async function recordCosigned(
  tx: Tx,
  witness: string,
  { size, cosigned_at }: Pick<LogWitnessTable, 'size' | 'cosigned_at'>,
): Promise<void> {
  const row = { size, cosigned_at, failing_since: null, problem: null }
  await tx
    .insertInto('log_witnesses')
    .values({ witness, ...row })
    .onConflict((conflict) => conflict.column('witness').doUpdateSet(row))
    .execute()
}

/** Preserves the time since which it fails. */
export async function recordFailing(tx: Tx, witness: string, problem: string, at: number): Promise<void> {
  await tx
    .insertInto('log_witnesses')
    .values({ witness, size: 0, cosigned_at: null, failing_since: at, problem })
    .onConflict((conflict) =>
      conflict.column('witness').doUpdateSet((eb) => ({
        problem,
        failing_since: eb.fn.coalesce('log_witnesses.failing_since', eb.val(at)),
      })),
    )
    .execute()
}
