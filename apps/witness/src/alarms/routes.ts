import { alarms } from '@svc/api/witness'
import { serve } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import type { Context } from '../context.ts'
import { findAlarms } from './store.ts'
import { alarmView } from './view.ts'

export function alarmRoutes(service: Service, { database }: Context): void {
  serve(service, alarms, async ({ query }) => {
    const rows = await findAlarms(database.db, query)
    return { alarms: rows.map(alarmView), next: rows.length === query.limit ? rows.at(-1)!.id : null }
  })
}
