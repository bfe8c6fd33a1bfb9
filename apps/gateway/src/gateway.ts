// Starts and stops one gateway.

import { strangerLimit } from '@svc/guard/stranger-limit'
import { closeService } from '@svc/http-service/run'
import { createService } from '@svc/http-service/service'
import type { Config, Secrets } from './config.ts'
import type { Context, Overrides } from './context.ts'
import { createContext } from './create-context.ts'
import { noteSigningKey } from './info/signing-keys.ts'
import { registerJobs } from './jobs/jobs.ts'
import { addRoutes, createRooms, type Rooms } from './wire.ts'

export interface Gateway {
  /** Where it listens; the port is the real one also when 0 was asked for. */
  url: string
  context: Context
  rooms: Rooms
  stop(): Promise<void>
}

/** With the time that jobs are given, well within what a process has to stop. */
const REQUESTS_GRACE_MS = 10_000

export async function startGateway(config: Config, secrets: Secrets, overrides: Overrides = {}): Promise<Gateway> {
  await using opened = new AsyncDisposableStack()
  const context = await createContext(config, secrets, overrides, opened)
  await noteSigningKey(context)
  const rooms = await createRooms(context, secrets)
  opened.defer(() => rooms.transfers.egress.save())
  const service = createService({
    log: context.log,
    checkResponses: config.mode === 'development',
    baseUrl: config.http.baseUrl,
    trustedProxies: config.http.trustedProxies,
    strangers: strangerLimit(context.rateLimiter, config.limits.perAddress),
    onAnswer: rooms.info.metrics.noteAnswer,
  })
  opened.defer(() => closeService(service, { graceMs: REQUESTS_GRACE_MS }))
  addRoutes(service, rooms)
  const url = await service.app.listen({ host: config.http.host, port: config.http.port })
  registerJobs(rooms)
  if (config.jobs.enabled) await context.queue.start()
  if (!context.process.isOneOfSeveral) context.log.info({ url, mode: config.mode }, 'gateway started')
  const running = opened.move()
  return { url, context, rooms, stop: () => running.disposeAsync() }
}
