// Alarms about entries of a log, with what anybody needs to check them.

import type { AlarmKind } from '@svc/api/witness'
import type { SignedCheckpoint } from '@svc/protocol/transparency/checkpoint'
import type { NewAlarm } from '../alarms/store.ts'
import type { LoggedEntry } from './judge-statements.ts'
import type { LogReader } from './log-reader.ts'

/** The same for the same entry. An entry that is no digest may be long. */
export function causeOf(digest: string): string {
  return digest.slice(0, 64)
}

/** A statement is shorter. What is longer is kept by nobody, and still to be had from the gateway. */
const MAX_TEXT = 16_384

/** Evidence: a proof that the log has the entry, then what it is about: statements, an anchor. */
export async function entryAlarm(
  log: LogReader,
  head: SignedCheckpoint,
  { index, digest }: Pick<LoggedEntry, 'index' | 'digest'>,
  { kind, why, documents }: { kind: AlarmKind; why: string; documents: readonly object[] },
): Promise<NewAlarm> {
  const texts = documents.map((document) => JSON.stringify(document))
  return {
    origin: head.origin,
    kind,
    cause: causeOf(digest),
    message: `entry ${index}: ${why}`,
    evidence: [await log.proof(head, index), ...texts.filter(({ length }) => length <= MAX_TEXT)],
  }
}
