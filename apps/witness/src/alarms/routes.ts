import { alarms, MAX_ALARMS } from '@svc/api/witness'
import { serve } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { Context } from '../context.ts'
import { findAlarms } from './store.ts'
import { alarmView } from './view.ts'

export function alarmRoutes(service: Service, { database }: Context): void {
  serve(service, alarms, async ({ query: { before, limit = MAX_ALARMS } }) => {
    const rows = await findAlarms(database.db, limit, before)
    return { alarms: rows.map(alarmView), next: rows.length === limit ? rows.at(-1)!.id : null }
  })
}
