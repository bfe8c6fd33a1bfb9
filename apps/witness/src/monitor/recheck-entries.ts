// Rechecks some old entries in each round: the gateway must continue to show their statements.

import { TILE_WIDTH } from '@svc/protocol/transparency/tiles'
import { raiseAlarm } from '../alarms/raise-alarm.ts'
import { findCauses, type NewAlarm, resolveAlarm } from '../alarms/store.ts'
import { unixNow } from '../context.ts'
import type { MonitoredLogRow } from '../db/schema.ts'
import { causeOf, entryAlarm } from './entry-alarms.ts'
import { notShown } from './judge-statements.ts'
import { type Round, readPage } from './read-page.ts'
import { saveProgress } from './store.ts'

const BUNDLES_PER_ROUND = 4
const KIND = 'vanished_statement'

/** `judged`: the number of judged entries. */
export async function recheckEntries(round: Round, { rechecked }: MonitoredLogRow, judged: number): Promise<void> {
  const { context, log, head } = round
  const bundles = Math.ceil(judged / TILE_WIDTH)
  let bundle = rechecked
  for (let count = 0; count < Math.min(BUNDLES_PER_ROUND, bundles); count++) {
    const entries = (await readPage(round, (bundle % bundles) * TILE_WIDTH)).filter(({ index }) => index < judged)
    const alarms: NewAlarm[] = []
    const shown: string[] = []
    for (const entry of entries) {
      const why = notShown(entry)
      if (why === null) shown.push(causeOf(entry.digest))
      else alarms.push(await entryAlarm(log, head, entry, { kind: KIND, why, documents: [] }))
    }
    bundle = (bundle + 1) % bundles
    await context.database.commit(async (trx) => {
      for (const alarm of alarms) await raiseAlarm(context, trx, alarm)
      for (const cause of await findCauses(trx, { origin: head.origin, kind: KIND }, shown))
        await resolveAlarm(trx, { origin: head.origin, kind: KIND, cause }, unixNow(context))
      await saveProgress(trx, head.origin, { rechecked: bundle })
    })
  }
}
