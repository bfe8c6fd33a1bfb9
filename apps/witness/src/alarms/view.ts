import type { Alarm } from '@svc/api/witness'
import { isoSeconds } from '@svc/protocol/evidence'
import type { AlarmRow } from '../db/schema.ts'

/** The public form of an alarm. */
export function alarmView({ id, origin, kind, message, evidence, raised_at, resolved_at }: AlarmRow): Alarm {
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
