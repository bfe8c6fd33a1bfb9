// Whether the checkpoint that a log shows continues the one it showed before, and those that others have of it.

import { equalBytes, toBase64, toHex, utf8 } from '@svc/protocol/bytes'
import { sha256Bytes } from '@svc/protocol/sha256'
import type { SignedCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { MAX_NOTE_BYTES } from '@svc/protocol/transparency/note'
import type { NewAlarm } from '../alarms/store.ts'
import { type BoundedGet, textOf, Unreadable } from './bounded-get.ts'
import type { LogReader } from './log-reader.ts'

/** Somebody else who sees checkpoints of the log. */
export interface View {
  name: string
  /** The newest that they have of the log; null where they have none. */
  checkpoint(): Promise<string | null>
}

/** Null where the newest continues the one before. Throws `Unreadable` for one that is older. */
export async function forkSince(
  log: LogReader,
  before: SignedCheckpoint,
  newest: SignedCheckpoint,
): Promise<NewAlarm | null> {
  const fork = await contradiction(log, [before, newest], 'the log')
  if (fork || newest.size >= before.size) return fork
  throw new Unreadable(`the log shows a checkpoint of ${newest.size} entries, and has shown one of ${before.size}`, {
    unexplained: newest.text,
  })
}

/** Null where somebody else sees the same log; `Unreadable` where the log does not show what they see. */
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
    const message = `the log does not show how its checkpoints agree with the one that ${name} has: ${error.message}`
    return new Unreadable(message, { unexplained: seen.text, cause: error })
  }
}

/** Evidence: the smaller checkpoint, the larger, and from which hashes follows what the larger tree begins with. */
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
    // A log that has forked once goes on doing so.
    cause: seenAt,
    message: `checkpoints of ${earlier.size} and ${later.size} entries contradict each other, as ${seenAt} shows`,
    evidence: [earlier.text, later.text, path.map((hash) => `${toBase64(hash)}\n`).join('')],
  }
}

/** What a witness has cosigned (C2SP tlog-witness). */
export function viewOfWitness(name: string, url: string, origin: string, get: BoundedGet): View {
  return {
    name,
    async checkpoint() {
      const bytes = await get(`${url}/${toHex(sha256Bytes(utf8(origin)))}/checkpoint`, MAX_NOTE_BYTES)
      return bytes && textOf(bytes)
    },
  }
}
