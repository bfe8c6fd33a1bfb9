import { type Alarm, alarms, MAX_ALARMS } from '@svc/api/witness'
import { serve } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import { isoSeconds } from '@svc/protocol/evidence'
import type { Context } from '../context.ts'
import type { AlarmRow } from '../db/schema.ts'
import { findAlarms } from './store.ts'

export function alarmRoutes(service: Service, { database }: Context): void {
  serve(service, alarms, async ({ query: { before, limit = MAX_ALARMS } }) => {
    const rows = await findAlarms(database.db, limit, before)
    return { alarms: rows.map(alarmView), next: rows.length === limit ? rows.at(-1)!.id : null }
  })
}

function alarmView({ id, origin, kind, message, evidence, raised_at, resolved_at }: AlarmRow): Alarm {
  return {
    id,
    origin,
    kind,
    message,
    evidence: JSON.parse(evidence),
    raised_at: isoSeconds(raised_at),
    resolved_at: resolved_at === null ? null : isoSeconds(resolved_at),
  }
}
