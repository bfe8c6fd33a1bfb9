// Judges new entries of a log. A page, its findings and the progress are one transaction, so that a crash neither
// repeats nor skips an entry.

import { raiseAlarm } from '../alarms/raise-alarm.ts'
import type { NewAlarm } from '../alarms/store.ts'
import { unixNow } from '../context.ts'
import type { MonitoredLogRow } from '../db/schema.ts'
import { entryAlarm } from './entry-alarms.ts'
import { judgeStatements, type LoggedEntry } from './judge-statements.ts'
import { type Round, readPage } from './read-page.ts'
import { findHeads, findLeftOut, saveHeads, saveLeftOut, saveProgress } from './store.ts'
import { type Pinned, trustedKeys } from './trusted-keys.ts'

/** Of 256 entries; the next round reads the rest. */
const PAGES_PER_ROUND = 400

/** Returns how many entries have been judged. */
export async function judgeEntries(round: Round, { judged, absent_at, pinned }: MonitoredLogRow): Promise<number> {
  const { context, log, gateway, head } = round
  const { db, commit } = context.database
  if (judged >= head.size) return judged
  const trusted = await trustedKeys(JSON.parse(pinned!) as Pinned, gateway, unixNow(context))
  await commit((tx) => saveProgress(tx, head.origin, { pinned: JSON.stringify(trusted.pinned) }))
  let next = judged
  for (let pages = 0; next < head.size && pages < PAGES_PER_ROUND; pages++) {
    const entries = await readPage(round, next)
    const { objections, heads, unchained } = judgeStatements(entries, {
      heads: await findHeads(db, head.origin, bodyTexts(entries, 'proof_id')),
      unchained: await findLeftOut(db, head.origin, bodyTexts(entries, 'prev_statement_digest')),
      keys: trusted.keys,
      domainTag: trusted.pinned.domainTag,
      absentAt: absent_at,
      now: unixNow(context),
      toleranceSeconds: context.config.monitor.toleranceSeconds,
    })
    const alarms: NewAlarm[] = []
    for (const { entry, kind, why, statements } of objections)
      alarms.push(await entryAlarm(log, head, entry, { kind, why, documents: statements }))
    next += entries.length
    await commit(async (trx) => {
      await saveHeads(trx, head.origin, heads)
      await saveLeftOut(trx, head.origin, unchained)
      for (const alarm of alarms) await raiseAlarm(context, trx, alarm)
      await saveProgress(trx, head.origin, { judged: next })
    })
  }
  return next
}

/** A field of the bodies of these entries, each value once. */
function bodyTexts(entries: readonly LoggedEntry[], field: string): string[] {
  const values = entries.map(({ shown }) => (shown?.envelope?.body as Record<string, unknown> | undefined)?.[field])
  return [...new Set(values.filter((value) => typeof value === 'string'))]
}
