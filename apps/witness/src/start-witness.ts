// Wires the modules of a witness together, starts it and stops it.

import { isDatabaseUnavailable } from '@svc/database/unavailable'
import { formatKey } from '@svc/protocol/transparency/note'
import { createAdmission } from '@svc/service/http/admission'
import { listen } from '@svc/service/http/listen'
import { createService } from '@svc/service/http/service'
import { closeService } from '@svc/service/program/run'
import { alarmRoutes } from './alarms/routes.ts'
import type { Config, Secrets } from './config.ts'
import type { Context, Overrides } from './context.ts'
import { createContext } from './create-context.ts'
import { infoRoutes } from './info/routes.ts'
import { createMonitor, type Monitor } from './monitor/monitor.ts'
import { witnessRoutes } from './witness/routes.ts'

export interface Witness {
  /** The address on which it listens, with the actual port even when port 0 was configured. */
  url: string
  context: Context
  monitor: Monitor
  stop(): Promise<void>
}

const REQUESTS_GRACE_MS = 10_000

export async function startWitness(config: Config, secrets: Secrets, overrides?: Overrides): Promise<Witness> {
  await using opened = new AsyncDisposableStack()
  const context = await createContext(opened, config, secrets, overrides)
  const { http } = config
  const service = createService({
    log: context.log,
    checkResponses: false,
    trustedProxies: http.trustedProxies,
    admit: createAdmission(http.maxRequestsAtOnce),
    isDatabaseUnavailable,
  })
  opened.defer(() => closeService(service, { graceMs: REQUESTS_GRACE_MS }))
  infoRoutes(service, context)
  alarmRoutes(service, context)
  witnessRoutes(service, context)
  const url = await listen(service, http)
  context.log.info({ url, key: formatKey(context.key), logs: context.logs.all().logs.length }, 'witness started')
  const monitor = createMonitor(context)
  opened.defer(() => monitor.stop())
  const running = opened.move()
  return { url, context, monitor, stop: () => running.disposeAsync() }
}
