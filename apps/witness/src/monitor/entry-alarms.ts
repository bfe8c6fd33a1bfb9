// Alarms about entries of a log, with what anybody needs to check them.

import type { AlarmKind } from '@svc/api/witness'
import type { Json } from '@svc/protocol/canonical'
import type { NewAlarm } from '../alarms/store.ts'
import type { LoggedEntry } from './judge-statements.ts'
import type { LogReader, SignedCheckpoint } from './log-reader.ts'

/** Statements of these entries are in no chain. */
export const LEFT_OUT: readonly AlarmKind[] = ['vanished_statement', 'bad_statement']

/** The same for the same entry. An entry that is no digest may be long. */
export function causeOf(digest: string): string {
  return digest.slice(0, 64)
}

/** Evidence: a proof that the log has the entry, then `texts`, such as the statements that it is about. */
export async function entryAlarm(
  log: LogReader,
  head: SignedCheckpoint,
  { index, digest }: Pick<LoggedEntry, 'index' | 'digest'>,
  { kind, why, texts }: { kind: AlarmKind; why: string; texts: readonly Json[] },
): Promise<NewAlarm> {
  return {
    origin: head.origin,
    kind,
    cause: causeOf(digest),
    message: `entry ${index}: ${why}`,
    evidence: [await log.proof(head, index), ...texts.map((text) => JSON.stringify(text))],
  }
}
