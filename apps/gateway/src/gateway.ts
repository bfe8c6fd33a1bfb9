// Starts and stops one gateway.

import { closeService } from '@svc/http-service/close-service'
import { createService } from '@svc/http-service/service'
import { internalAnchorRoutes } from './anchors/internal-routes.ts'
import { pushRoutes } from './anchors/push-routes.ts'
import { attestationCounts } from './attestations/attest-health.ts'
import { attestRoutes } from './attestations/attest-routes.ts'
import { internalAttestRoutes } from './attestations/internal-routes.ts'
import { attestationSummary } from './attestations/summary.ts'
import type { Config, Secrets } from './config.ts'
import type { Context, Overrides } from './context.ts'
import { createContext } from './create-context.ts'
import { evidenceRoutes } from './evidence/routes.ts'
import { firstFiles } from './files/list-files.ts'
import { fileRoutes } from './files/routes.ts'
import { summarizeSettling } from './files/settling/summarize-settling.ts'
import { createMetrics } from './info/metrics.ts'
import { infoRoutes } from './info/routes.ts'
import { noteSigningKey } from './info/signing-keys.ts'
import { registerJobs } from './jobs/jobs.ts'
import { lockerRoutes } from './lockers/routes.ts'
import { internalRoutes } from './purchases/internal-routes.ts'
import { purchaseRoutes } from './purchases/routes.ts'
import { sponsoredRoutes } from './purchases/sponsored-routes.ts'
import { transferRoutes } from './transfers/routes.ts'
import { uploadSessionRoutes } from './transfers/sessions/routes.ts'
import { x402Routes } from './x402/routes.ts'

export interface Gateway {
  /** Where it listens; the port is the real one also when 0 was asked for. */
  url: string
  context: Context
  stop(): Promise<void>
}

/** Together well within the time a process is given to stop. */
const REQUESTS_GRACE_MS = 10_000
const JOBS_GRACE_MS = 15_000

export async function startGateway(config: Config, secrets: Secrets, overrides?: Overrides): Promise<Gateway> {
  const context = await createContext(config, secrets, overrides)
  try {
    await noteSigningKey(context)
    const metrics = createMetrics(context, () => attestationCounts(context))
    const service = createService({
      log: context.log,
      checkResponses: config.mode === 'development',
      trustedProxies: config.http.trustedProxies,
      onAnswer: metrics.noteAnswer,
    })
    infoRoutes(service, context, metrics)
    purchaseRoutes(service, context)
    sponsoredRoutes(service, context)
    lockerRoutes(service, context, {
      listFiles: (locker) => firstFiles(context, locker),
      summarizeAttestation: ({ receipt_id }) => attestationSummary(context.database.db, receipt_id),
      summarizeSettling: (locker) => summarizeSettling(context, locker),
    })
    fileRoutes(service, context)
    transferRoutes(service, context)
    uploadSessionRoutes(service, context)
    attestRoutes(service, context)
    pushRoutes(service, context)
    internalAnchorRoutes(service, context)
    internalAttestRoutes(service, context)
    evidenceRoutes(service, context)
    internalRoutes(service, context)
    x402Routes(service, context)
    const url = await service.app.listen({ host: config.http.host, port: config.http.port })
    registerJobs(context)
    if (config.jobs.enabled) await context.queue.start()
    context.log.info({ url, mode: config.mode }, 'gateway started')
    return {
      url,
      context,
      async stop() {
        await closeService(service, { graceMs: REQUESTS_GRACE_MS })
        await context.queue.stop({ graceMs: JOBS_GRACE_MS })
        await context.providers.close?.()
        await context.database.close()
        context.log.output.flush()
      },
    }
  } catch (error) {
    await context.queue.stop()
    await context.database.close()
    throw error
  }
}
