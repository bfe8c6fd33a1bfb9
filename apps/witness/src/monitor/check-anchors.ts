// Checks that entries of a log are published on chain in time, each statement by itself or with a checkpoint that
// covers it.

import { anchorMemo, anchorPayload } from '@svc/protocol/anchor'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { logAnchorMemo, logAnchorPayload } from '@svc/protocol/transparency/anchor'
import { findTransaction, hasCanonicalBytes, hasMemo, txSucceeded } from '@svc/verifier/anchor-transaction'
import { readStatementBody } from '@svc/verifier/envelope-facts'
import type { Rpc } from '@svc/verifier/rpc'
import { isObject, type JsonObject } from '@svc/verifier/untrusted'
import { raiseAlarm } from '../alarms/raise-alarm.ts'
import { type NewAlarm, resolveAlarm } from '../alarms/store.ts'
import { unixNow } from '../context.ts'
import type { MonitoredLogRow } from '../db/schema.ts'
import { entryAlarm } from './entry-alarms.ts'
import { type LoggedEntry, notShown } from './judge-statements.ts'
import { type Round, readPage } from './read-page.ts'
import { saveProgress } from './store.ts'

/** Queries to the node about single statements. */
const STATEMENTS_PER_ROUND = 256
const CHECKPOINTS_PER_ROUND = 3

/** The alarm about the oldest late entry: there is one for all of them. */
const LATE = { kind: 'late_anchor', cause: 'late' } as const

type Publication = 'published' | 'missing' | 'unknown' | { wrong: string }

/** `judged`: the number of judged entries. Without `rpc`, a node, the gateway is trusted. */
export async function checkAnchors(
  round: Round,
  { anchored: before, followed_at }: MonitoredLogRow,
  judged: number,
  rpc: Rpc | null,
): Promise<void> {
  const { context, head, log } = round
  const alarms: NewAlarm[] = []
  const coveredEntries = await coveredByCheckpoint(round, Math.min(before, judged), rpc, alarms)
  const { anchored, missing } = await coveredByStatements(round, coveredEntries, judged, rpc, alarms)
  const now = unixNow(context)
  const late = missing && isLate(missing, followed_at) ? missing : null
  if (late) {
    const why = 'neither the statement nor a checkpoint with it was published in time'
    const documents = [late.shown!.envelope!]
    alarms.push({ ...(await entryAlarm(log, head, late, { kind: LATE.kind, why, documents })), cause: LATE.cause })
  }
  await context.database.commit(async (trx) => {
    for (const alarm of alarms) await raiseAlarm(context, trx, alarm)
    if (!late && anchored > before) await resolveAlarm(trx, { origin: head.origin, ...LATE }, now)
    await saveProgress(trx, head.origin, { anchored })
  })

  function isLate({ shown }: LoggedEntry, followedAt: number): boolean {
    const { issued_at_unix } = (shown!.envelope as unknown as EvidenceEnvelope).body
    return now > Math.max(issued_at_unix, followedAt) + context.config.monitor.anchorSeconds
  }
}

/** Entries that are published with a checkpoint. */
async function coveredByCheckpoint(
  { gateway, head, log }: Round,
  anchored: number,
  rpc: Rpc | null,
  alarms: NewAlarm[],
): Promise<number> {
  const newer = (await gateway.anchors()).flatMap((anchor) => {
    const size = isObject(anchor.payload) ? anchor.payload.n : undefined
    return typeof size === 'number' && size > anchored && size <= head.size ? [{ anchor, size }] : []
  })
  for (const { anchor, size } of newer.slice(0, CHECKPOINTS_PER_ROUND)) {
    const { root } = await log.prefix(head, size)
    const memo = logAnchorMemo(logAnchorPayload({ origin: head.origin, size, root }))
    const publication = hasCanonicalBytes(anchor.payload, memo)
      ? await publicationOf(anchor, memo, rpc)
      : { wrong: `the anchor of ${size} entries publishes a checkpoint that the log did not have` }
    if (publication === 'published') return size
    if (typeof publication === 'object')
      alarms.push(wrongAnchor(head.origin, anchor, publication.wrong, [head.text, JSON.stringify(anchor)]))
  }
  return anchored
}

/** Counts up to the first unpublished entry, which is `missing` unless its publication is unknown. */
async function coveredByStatements(
  round: Round,
  coveredEntries: number,
  judged: number,
  rpc: Rpc | null,
  alarms: NewAlarm[],
): Promise<{ anchored: number; missing: LoggedEntry | null }> {
  let anchored = coveredEntries
  while (anchored < judged && anchored - coveredEntries < STATEMENTS_PER_ROUND) {
    for (const entry of await readPage(round, anchored)) {
      if (entry.index >= judged) break
      const publication = await publicationOfStatement(entry, rpc)
      if (typeof publication === 'object') {
        const documents = [entry.shown!.envelope!, entry.shown!.anchor!]
        const alarm = await entryAlarm(round.log, round.head, entry, {
          kind: 'wrong_anchor',
          why: publication.wrong,
          documents,
        })
        alarms.push({ ...alarm, cause: txOf(entry.shown!.anchor!) })
      }
      if (publication !== 'published') return { anchored, missing: publication === 'unknown' ? null : entry }
      anchored++
    }
  }
  return { anchored, missing: null }
}

async function publicationOfStatement(entry: LoggedEntry, rpc: Rpc | null): Promise<Publication> {
  // A missing statement has its own alarm.
  if (notShown(entry) !== null || typeof readStatementBody(entry.shown!.envelope!.body) === 'string') return 'published'
  const { anchor, envelope } = entry.shown!
  if (!anchor) return 'missing'
  return publicationOf(anchor, anchorMemo(anchorPayload(envelope as unknown as EvidenceEnvelope)), rpc)
}

/** A transaction that the node does not know may be pruned or on another chain. */
async function publicationOf(anchor: JsonObject, memo: Uint8Array, rpc: Rpc | null): Promise<Publication> {
  if (!rpc) return 'published'
  const answer = await findTransaction(rpc, anchor)
  if ('unavailable' in answer) return 'unknown'
  if ('notFound' in answer) return 'missing'
  const success = txSucceeded(answer.found)
  if (success.value !== 'passed') return { wrong: success.why }
  return hasMemo(answer.found, memo) ? 'published' : { wrong: 'the transaction of its anchor publishes something else' }
}

function wrongAnchor(origin: string, anchor: JsonObject, message: string, evidence: string[]): NewAlarm {
  return { origin, kind: 'wrong_anchor', cause: txOf(anchor), message, evidence }
}

function txOf({ tx }: JsonObject): string {
  return typeof tx === 'string' ? tx.slice(0, 100) : ''
}
