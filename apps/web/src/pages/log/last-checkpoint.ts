// The last checkpoint that this browser has seen, and whether the newest one extends it. This detects a log that removes
// entries or shows another history.

import type { LogState } from '@svc/api/log'
import { equalBytes, toBase64 } from '@svc/protocol/bytes'
import { readSigned, type SignedCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { readKey } from '@svc/protocol/transparency/note'
import type { Hash } from '@svc/protocol/transparency/tree'
import { ROOT_URL } from '../../address.ts'
import { prefixOf, type ReadLog } from './log-reader.ts'

interface Remembered {
  vkey: string
  checkpoint: string
  /** ISO 8601. */
  at: string
}

export interface Seen extends SignedCheckpoint, Omit<Remembered, 'checkpoint'> {}

export type Growth =
  | { kind: 'first' }
  | { kind: 'same' | 'grown'; seen: Seen }
  /** The tiles of the proof are missing, or do not match the checkpoint. */
  | { kind: 'unproven'; seen: Seen }
  /** `path` proves it. */
  | { kind: 'forked'; seen: Seen; path: Hash[] }
  | { kind: 'shrunk' | 'replaced'; seen: Seen }

export type Alarm = Extract<Growth, { kind: 'forked' | 'shrunk' | 'replaced' }>

export function isAlarm(growth: Growth): growth is Alarm {
  return growth.kind === 'forked' || growth.kind === 'shrunk' || growth.kind === 'replaced'
}

export async function compareWithSeen({ state, head, readTile }: ReadLog, seen: Seen | null): Promise<Growth> {
  if (!seen) return { kind: 'first' }
  if (seen.vkey !== state.vkey) return { kind: 'replaced', seen }
  if (!head || head.size < seen.size) return { kind: 'shrunk', seen }
  const prefix = await prefixOf({ head, readTile }, seen.size)
  if (!prefix) return { kind: 'unproven', seen }
  if (!equalBytes(prefix.root, seen.root)) return { kind: 'forked', seen, path: prefix.path }
  return { kind: head.size === seen.size ? 'same' : 'grown', seen }
}

/** The alarm in the format of the monitor, which `svc-witness check-alarm` reads. */
export function alarmText(alarm: Alarm, head: SignedCheckpoint | null): string {
  const path = alarm.kind === 'forked' ? [alarm.path.map((hash) => `${toBase64(hash)}\n`).join('')] : []
  const { origin, text, vkey, at } = alarm.seen
  const kind = alarm.kind === 'forked' ? 'fork' : alarm.kind
  return JSON.stringify({ origin, kind, vkey, seen_at: at, evidence: [text, head?.text ?? '', ...path] }, null, 2)
}

/** The key contains the path, because gateways may share an origin, each below its own prefix. */
const KEY = `svc-log-seen ${ROOT_URL.pathname}`

/** Null before the first visit, or if the stored text is not a checkpoint that this page stored. */
export function lastSeen(): Seen | null {
  try {
    const { vkey, checkpoint, at } = JSON.parse(localStorage.getItem(KEY) ?? '') as Remembered
    const key = readKey(vkey)
    const seen = typeof key === 'string' ? key : readSigned(checkpoint, [key])
    return typeof seen === 'string' || Number.isNaN(Date.parse(at)) ? null : { ...seen, vkey, at }
  } catch {
    return null
  }
}

/** Returns false if storage is full or not available. */
export function rememberSeen({ vkey }: LogState, { text }: SignedCheckpoint): boolean {
  const stored: Remembered = { vkey, checkpoint: text, at: new Date().toISOString() }
  try {
    localStorage.setItem(KEY, JSON.stringify(stored))
    return true
  } catch {
    return false
  }
}
