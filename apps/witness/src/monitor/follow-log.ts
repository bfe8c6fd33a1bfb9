// One pass over a log: its checkpoint, new entries, some old entries, its anchors, and the checkpoints of others.

import { readSigned, type SignedCheckpoint } from '@svc/protocol/transparency/checkpoint'
import type { NoteKey } from '@svc/protocol/transparency/note'
import type { Rpc } from '@svc/verifier/rpc'
import { raiseAlarm } from '../alarms/raise-alarm.ts'
import { resolveAlarm } from '../alarms/store.ts'
import { type Context, unixNow } from '../context.ts'
import type { MonitoredLogRow } from '../db/schema.ts'
import { forkSince, splitView, type View } from './accept-checkpoint.ts'
import { type BoundedGet, Unreadable } from './bounded-get.ts'
import { checkAnchors } from './check-anchors.ts'
import { createGatewayReader, type GatewayReader } from './gateway-reader.ts'
import { judgeEntries } from './judge-entries.ts'
import { createLogReader, type FollowedLog } from './log-reader.ts'
import type { Round } from './read-page.ts'
import { recheckEntries } from './recheck-entries.ts'
import { progressOf, saveProgress } from './store.ts'
import { pinKeys } from './trusted-keys.ts'

export interface Sources {
  get: BoundedGet
  rpc: Rpc | null
  /** Other observers of the log. */
  views: readonly View[]
}

const UNREACHABLE = { kind: 'unreachable_too_long', cause: 'unreachable' } as const

export async function followLog(context: Context, log: FollowedLog, sources: Sources): Promise<void> {
  const { commit } = context.database
  const { origin } = log
  const startedAt = unixNow(context)
  const progress = await commit((tx) => progressOf(tx, origin, startedAt))
  try {
    await followOnce(context, log, sources, progress, startedAt)
    await commit(async (trx) => {
      await saveProgress(trx, origin, { read_at: unixNow(context), problem: null })
      await resolveAlarm(trx, { origin, ...UNREACHABLE }, unixNow(context))
    })
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    await recordProblem(context, progress, error)
  }
}

async function recordProblem(context: Context, progress: MonitoredLogRow, problem: Unreadable) {
  const { config, database, log } = context
  const { origin, read_at, checkpoint } = progress
  const { message, unexplained } = problem
  // Log a problem once, not on every pass.
  if (progress.problem !== message) log.warn({ origin, problem: message }, 'a log cannot be read')
  await database.commit(async (trx) => {
    await saveProgress(trx, origin, { problem: message })
    if (unixNow(context) - read_at <= config.monitor.unreachableSeconds) return
    const evidence = [checkpoint, unexplained].filter((text) => text !== null)
    await raiseAlarm(context, trx, { origin, ...UNREACHABLE, message, evidence })
  })
}

async function followOnce(
  context: Context,
  followed: FollowedLog,
  { get, rpc, views }: Sources,
  progress: MonitoredLogRow,
  startedAt: number,
): Promise<void> {
  const { commit } = context.database
  const { origin, keys } = followed
  const log = createLogReader(followed, get)
  const gateway = createGatewayReader(followed.url, get)
  const head = await log.checkpoint()
  if (!head) return requireNotBegun(followed, gateway, progress, views)
  const known = progress.checkpoint === null ? null : readSigned(progress.checkpoint, keys)
  if (typeof known === 'string') throw new Unreadable(`the stored checkpoint has another key: ${known}`)
  const fork = known && (await forkSince(log, known, head))
  // A forked log is not followed any further: there are now two versions of it.
  if (fork) return commit((tx) => raiseAlarm(context, tx, fork))
  const pinned = progress.pinned ?? JSON.stringify(await pinKeys(gateway))
  await commit((tx) => saveProgress(tx, origin, { checkpoint: head.text, pinned }))

  const round: Round = { context, log, gateway, head }
  const unexplained = await compareViews(round, keys, views)
  const judged = await judgeEntries(round, { ...progress, pinned })
  if (judged === head.size) await commit((tx) => saveProgress(tx, origin, { absent_at: startedAt }))
  await recheckEntries(round, progress, progress.judged)
  if (context.config.monitor.anchorSeconds > 0) await checkAnchors(round, progress, judged, rpc)
  if (unexplained) throw unexplained
}

/** A new gateway signs its first checkpoint with its first statement. Until then its log exists and is empty. */
async function requireNotBegun(
  { origin, keys }: FollowedLog,
  gateway: GatewayReader,
  { checkpoint }: MonitoredLogRow,
  views: readonly View[],
): Promise<void> {
  if (checkpoint !== null || !(await gateway.hasEmptyLog(origin))) throw new Unreadable('the log has no checkpoint')
  for (const view of views) {
    const observed = await readView(view, keys)
    if (observed === null || typeof observed === 'string') continue
    throw new Unreadable(`the log shows no checkpoint, but ${view.name} has one`, { unexplained: observed.text })
  }
}

/** The reason why the log does not account for another observer's checkpoint; null if it does. */
async function compareViews(
  { context, log, head }: Round,
  keys: readonly NoteKey[],
  views: readonly View[],
): Promise<Unreadable | null> {
  let unexplained: Unreadable | null = null
  for (const view of views) {
    const observed = await readView(view, keys)
    if (typeof observed === 'string') {
      context.log.warn(
        { origin: head.origin, witness: view.name, problem: observed },
        'cannot read the checkpoint of a witness',
      )
      continue
    }
    const fork = observed && (await splitView(log, head, observed, view.name))
    if (fork instanceof Unreadable) unexplained = fork
    else if (fork) await context.database.commit((tx) => raiseAlarm(context, tx, fork))
  }
  return unexplained
}

/**
 * Null when the observer has no checkpoint of the log; otherwise the checkpoint, or the reason why it cannot be read,
 * which is not the log's fault.
 */
async function readView(view: View, keys: readonly NoteKey[]): Promise<SignedCheckpoint | string | null> {
  try {
    const text = await view.checkpoint()
    return text === null ? null : readSigned(text, keys)
  } catch (error) {
    if (error instanceof Unreadable) return error.message
    throw error
  }
}
