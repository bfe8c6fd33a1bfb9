import { openApiDocument } from '@svc/api/openapi'
import * as api from '@svc/api/witness'
import { Answer } from '@svc/http-service/answer'
import { serve } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import { isoSeconds } from '@svc/protocol/evidence'
import { countOpenAlarms } from '../alarms/store.ts'
import { type Context, unixNow } from '../context.ts'

export function infoRoutes(service: Service, context: Context): void {
  const openApi = openApiDocument(api.witnessEndpoints, {
    title: 'svc witness',
    description: 'Cosigns checkpoints of transparency logs that never take anything back.',
    baseUrl: context.config.http.baseUrl,
  })
  serve(service, api.health, () => checkHealth(context))
  serve(service, api.live, () => ({ status: 'live' }) as const)
  serve(service, api.openApi, () => openApi)
}

/** 503 only when nothing can be cosigned. */
async function checkHealth(context: Context): Promise<Answer<api.WitnessHealth>> {
  const openAlarms = await countOpenAlarms(context.database.db).catch(() => null)
  const isUp = openAlarms !== null
  return new Answer(isUp ? 200 : 503, {
    status: isUp ? 'ok' : 'degraded',
    time: isoSeconds(unixNow(context)),
    checks: { database: isUp ? 'ok' : 'failing' },
    logs: context.logs.all().logs.length,
    open_alarms: openAlarms,
  })
}
