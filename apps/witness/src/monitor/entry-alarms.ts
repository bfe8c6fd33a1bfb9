// Alarms about entries of a log, with the evidence that anyone can verify.

import type { AlarmKind } from '@svc/api/witness'
import type { SignedCheckpoint } from '@svc/protocol/transparency/checkpoint'
import type { NewAlarm } from '../alarms/store.ts'
import type { LoggedEntry } from './judge-statements.ts'
import type { LogReader } from './log-reader.ts'

/** Deterministic for an entry. An invalid entry may be long, so it is hashed. */
export function causeOf(digest: string): string {
  return digest.slice(0, 64)
}

/** Longer than any valid statement. Longer texts are not stored; they can still be read from the gateway. */
const MAX_TEXT = 16_384

/** Evidence: a proof that the log contains the entry, then its subject: statements or an anchor. */
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
