// Whether the checkpoint that a log shows continues the one it showed before, and those that others have of it.

import { sha256Bytes } from '@svc/protocol/sha256'
import { equalBytes, toHex, utf8 } from '@svc/protocol/bytes'
import { MAX_NOTE_BYTES } from '@svc/transparency/note'
import type { Checkpoint } from '@svc/transparency/checkpoint'
import type { Hash } from '@svc/transparency/tree'
import { type BoundedGet, Unreadable } from './bounded-get.ts'
import { type Finding, fork } from './findings.ts'
import { type FollowedLog, type LogReader, readSigned, type SignedCheckpoint } from './log-reader.ts'

/** Somebody else who sees checkpoints of the log. */
export interface View {
  name: string
  /** The newest one they have of the log; null where they have none. */
  checkpoint(): Promise<string | null>
}

/** Null where the newest continues the one before; else the fork. Throws `Unreadable` for an older one. */
export async function forkSince(
  log: FollowedLog,
  reader: LogReader,
  before: SignedCheckpoint,
  newest: SignedCheckpoint,
): Promise<Finding | null> {
  const found = await contradiction(log, reader, [before, newest], 'the log')
  if (found || newest.size >= before.size) return found
  throw new Unreadable(`the log shows a checkpoint of ${newest.size} entries, and has shown one of ${before.size}`)
}

/** A checkpoint that somebody else has, and that what the log shows does not agree with. */
export async function splitView(
  log: FollowedLog,
  reader: LogReader,
  head: SignedCheckpoint,
  view: View,
): Promise<Finding | null> {
  const text = await view.checkpoint()
  const seen = text === null ? null : readSigned(text, log.key)
  if (typeof seen === 'string') throw new Unreadable(`${view.name} has no checkpoint of the log: ${seen}`)
  return seen && contradiction(log, reader, [head, seen], view.name)
}

async function contradiction(
  { key }: FollowedLog,
  reader: LogReader,
  pair: readonly [SignedCheckpoint, SignedCheckpoint],
  seenAt: string,
): Promise<Finding | null> {
  const [earlier, later] = pair.toSorted((a, b) => a.size - b.size) as [SignedCheckpoint, SignedCheckpoint]
  const { root, path } = await prefixOf(reader, later, earlier)
  return equalBytes(root, earlier.root) ? null : fork(key, [earlier, later], path, seenAt)
}

function prefixOf(reader: LogReader, later: Checkpoint, { size }: Checkpoint): Promise<{ root: Hash; path: Hash[] }> {
  return reader.prefix(later, size)
}

/** What a witness has cosigned (C2SP tlog-witness). */
export function viewOfWitness(name: string, url: string, origin: string, get: BoundedGet): View {
  return {
    name,
    async checkpoint() {
      const bytes = await get(`${url}/${toHex(sha256Bytes(utf8(origin)))}/checkpoint`, MAX_NOTE_BYTES)
      return bytes && new TextDecoder().decode(bytes)
    },
  }
}
