// Starts and stops one agent service.

import { closeService } from '@svc/http-service/close-service'
import { createService } from '@svc/http-service/service'
import type { Config, Secrets } from './config.ts'
import type { Context, Overrides } from './context.ts'
import { createContext } from './create-context.ts'
import { delegationRoutes } from './delegations/routes.ts'
import { infoRoutes } from './info/routes.ts'
import { registerJobs } from './jobs.ts'
import { subscriptionRoutes } from './subscriptions/routes.ts'

export interface Agent {
  /** Where it listens; the port is the real one also when 0 was asked for. */
  url: string
  context: Context
  stop(): Promise<void>
}

/** Together well within the time a process is given to stop. */
const REQUESTS_GRACE_MS = 10_000
const JOBS_GRACE_MS = 15_000

export async function startAgent(config: Config, secrets: Secrets, overrides?: Overrides): Promise<Agent> {
  const context = await createContext(config, secrets, overrides)
  const { log, queue, database } = context
  try {
    const service = createService({
      log,
      checkResponses: config.mode === 'development',
      trustedProxies: config.http.trustedProxies,
    })
    infoRoutes(service, context)
    subscriptionRoutes(service, context)
    delegationRoutes(service, context)
    const url = await service.app.listen({ host: config.http.host, port: config.http.port })
    registerJobs(context)
    if (config.jobs.areDoneHere) await queue.start()
    log.info({ url, mode: config.mode }, 'agent service started')
    return {
      url,
      context,
      async stop() {
        await closeService(service, { graceMs: REQUESTS_GRACE_MS })
        await queue.stop({ graceMs: JOBS_GRACE_MS })
        await database.close()
        log.output.flush()
      },
    }
  } catch (error) {
    await queue.stop()
    await database.close()
    throw error
  }
}
