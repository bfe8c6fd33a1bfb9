// Checks that the checkpoint of a log is consistent with its previous checkpoint, and with the checkpoints that other
// observers have.

import { equalBytes, toBase64, toHex, utf8 } from '@svc/protocol/bytes'
import { sha256Bytes } from '@svc/protocol/sha256'
import type { SignedCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { MAX_NOTE_BYTES } from '@svc/protocol/transparency/note'
import type { NewAlarm } from '../alarms/store.ts'
import { type BoundedGet, textOf, Unreadable } from './bounded-get.ts'
import type { LogReader } from './log-reader.ts'

/** Another observer of the log's checkpoints. */
export interface View {
  name: string
  /** Their newest checkpoint of the log; null for none. */
  checkpoint(): Promise<string | null>
}

/** Null when the newest checkpoint extends the previous one. Throws `Unreadable` when it is older. */
export async function forkSince(
  log: LogReader,
  before: SignedCheckpoint,
  newest: SignedCheckpoint,
): Promise<NewAlarm | null> {
  const fork = await contradiction(log, [before, newest], 'the log')
  if (fork || newest.size >= before.size) return fork
  throw new Unreadable(`the log shows a checkpoint of ${newest.size} entries after one of ${before.size}`, {
    unexplained: newest.text,
  })
}

/** Null when the other observer has the same log; `Unreadable` when the log does not account for their checkpoint. */
export async function splitView(
  log: LogReader,
  head: SignedCheckpoint,
  seen: SignedCheckpoint,
  name: string,
): Promise<NewAlarm | Unreadable | null> {
  try {
    return await contradiction(log, [head, seen], name)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const message = `the log does not prove that its checkpoints are consistent with the one of ${name}: ${error.message}`
    return new Unreadable(message, { unexplained: seen.text, cause: error })
  }
}

/** Evidence: the smaller checkpoint, the larger one, and the hashes that prove how the larger tree begins. */
async function contradiction(
  log: LogReader,
  pair: readonly [SignedCheckpoint, SignedCheckpoint],
  seenAt: string,
): Promise<NewAlarm | null> {
  const [earlier, later] = pair.toSorted((a, b) => a.size - b.size) as [SignedCheckpoint, SignedCheckpoint]
  const { root, path } = await log.prefix(later, earlier.size)
  if (equalBytes(root, earlier.root)) return null
  return {
    origin: later.origin,
    kind: 'fork',
    // A forked log continues to fork: one alarm per observer is enough.
    cause: seenAt,
    message: `checkpoints of ${earlier.size} and ${later.size} entries contradict each other, as ${seenAt} shows`,
    evidence: [earlier.text, later.text, path.map((hash) => `${toBase64(hash)}\n`).join('')],
  }
}

/** The checkpoint that a witness has cosigned (C2SP tlog-witness). */
export function viewOfWitness(name: string, url: string, origin: string, get: BoundedGet): View {
  return {
    name,
    async checkpoint() {
      const bytes = await get(`${url}/${toHex(sha256Bytes(utf8(origin)))}/checkpoint`, MAX_NOTE_BYTES)
      return bytes && textOf(bytes)
    },
  }
}
