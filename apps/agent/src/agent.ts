// Wires the modules of the agent service together, starts it and stops it.

import { isDatabaseUnavailable } from '@svc/database/unavailable'
import { badBodyLimit } from '@svc/service/guard/bad-body-limit'
import { createAdmission } from '@svc/service/http/admission'
import { listen } from '@svc/service/http/listen'
import { createService } from '@svc/service/http/service'
import { closeService } from '@svc/service/program/run'
import { type Callers, createCallers } from './callers/callers.ts'
import type { Config, Secrets } from './config.ts'
import type { Context, Overrides } from './context.ts'
import { createContext } from './create-context.ts'
import { createDelegations, type Delegations } from './delegations/delegations.ts'
import { delegationRoutes } from './delegations/routes.ts'
import { infoRoutes } from './info/routes.ts'
import { registerJobs } from './jobs.ts'
import { subscriptionRoutes } from './subscriptions/routes.ts'
import { createSubscriptions, type Subscriptions } from './subscriptions/subscriptions.ts'
import { createWork, type Work } from './work/work.ts'

/** What each module offers to the others, to the routes and to the jobs. */
interface Modules {
  callers: Callers
  subscriptions: Subscriptions
  delegations: Delegations
  work: Work
}

export interface Agent {
  /** The address on which it listens, with the actual port even when port 0 was configured. */
  url: string
  context: Context
  modules: Modules
  stop(): Promise<void>
}

/** Together with the grace period of the jobs, well within the time that a process has to stop. */
const REQUESTS_GRACE_MS = 10_000

export async function startAgent(config: Config, secrets: Secrets, overrides?: Overrides): Promise<Agent> {
  await using opened = new AsyncDisposableStack()
  const context = await createContext(opened, config, secrets, overrides)
  const modules = createModules(context)
  const service = createService({
    log: context.log,
    checkResponses: config.mode === 'development',
    baseUrl: config.http.baseUrl,
    trustedProxies: config.http.trustedProxies,
    admit: createAdmission(config.http.maxRequestsAtOnce),
    badBodyLimit: badBodyLimit(context.rateLimiter, config.limits.perAddress),
    isDatabaseUnavailable,
    tracer: context.tracer,
  })
  opened.defer(() => closeService(service, { graceMs: REQUESTS_GRACE_MS }))
  infoRoutes(service, context)
  subscriptionRoutes(service, context, modules)
  delegationRoutes(service, modules.delegations, modules.callers)
  const url = await listen(service, config.http)
  registerJobs(context, modules)
  if (config.jobs.enabled) await context.queue.start()
  context.log.info({ url, mode: config.mode }, 'agent service started')
  const running = opened.move()
  return { url, context, modules, stop: () => running.disposeAsync() }
}

function createModules(context: Context): Modules {
  const callers = createCallers(context)
  const subscriptions = createSubscriptions(context, { callers })
  const delegations = createDelegations(context, { callers, subscriptions })
  const work = createWork(context, { revokeDelegation: delegations.revoke })
  return { callers, subscriptions, delegations, work }
}
