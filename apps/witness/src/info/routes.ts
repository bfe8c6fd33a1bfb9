import { openApiDocument } from '@svc/api/openapi'
import * as api from '@svc/api/witness'
import { singleFlight } from '@svc/concurrency/sharing'
import { isoSeconds } from '@svc/protocol/evidence'
import { VERSION } from '@svc/protocol/version'
import { Answer, JsonText } from '@svc/service/http/answer'
import { serve } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import { countOpenAlarms } from '../alarms/store.ts'
import { type Context, unixNow } from '../context.ts'
import type { MonitoredLogRow } from '../db/schema.ts'
import { allProgress } from '../monitor/store.ts'

export function infoRoutes(service: Service, context: Context): void {
  const document = openApiDocument(api.witnessEndpoints, {
    title: 'svc witness',
    description: 'Cosigns checkpoints of transparency logs that only grow.',
    baseUrl: context.config.http.baseUrl,
  })
  const openApi = new JsonText<object>(JSON.stringify(document))
  const health = singleFlight<Answer<api.WitnessHealth>>()
  const metrics = singleFlight<string>()
  serve(service, api.health, () => health('', () => checkHealth(context)))
  serve(service, api.live, () => ({ status: 'live' }) as const)
  serve(service, api.metrics, () => metrics('', () => metricsText(context)))
  serve(service, api.openApi, () => openApi)
}

/** 503 only when nothing can be cosigned. */
async function checkHealth(context: Context): Promise<Answer<api.WitnessHealth>> {
  const state = await monitorState(context).catch(() => null)
  return new Answer(state ? 200 : 503, {
    status: state ? 'ok' : 'degraded',
    release: VERSION,
    time: isoSeconds(unixNow(context)),
    checks: { database: state ? 'ok' : 'failing' },
    logs: context.logs.all().logs.length,
    open_alarms: state?.openAlarms ?? null,
    monitored: (state?.monitored ?? []).map(({ origin, judged, anchored, read_at, problem }) => {
      return { origin, size: judged, anchored, read_at: isoSeconds(read_at), problem }
    }),
  })
}

async function monitorState({ database: { db } }: Context) {
  return { openAlarms: await countOpenAlarms(db), monitored: await allProgress(db) }
}

async function metricsText(context: Context): Promise<string> {
  const { openAlarms, monitored } = await monitorState(context)
  const now = unixNow(context)
  const ofLogs = (name: string, value: (log: MonitoredLogRow) => number) => [
    `# TYPE ${name} gauge`,
    ...monitored.map((log) => `${name}{log=${JSON.stringify(log.origin)}} ${value(log)}`),
  ]
  const lines = [
    '# TYPE svc_witness_open_alarms gauge',
    `svc_witness_open_alarms ${openAlarms}`,
    ...ofLogs('svc_witness_log_entries', ({ judged }) => judged),
    ...ofLogs('svc_witness_log_anchored_entries', ({ anchored }) => anchored),
    ...ofLogs('svc_witness_log_unread_seconds', ({ read_at }) => now - read_at),
  ]
  return `${lines.join('\n')}\n`
}
