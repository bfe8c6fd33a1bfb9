import type { Health } from '@svc/api/info'
import { poll } from '@svc/concurrency/retry'
import type { Gateway } from '../../src/gateway.ts'

/** The health of a gateway once its database reaches that state. */
export async function healthIn({ url }: Gateway, wanted: string): Promise<Health> {
  const ask = async () => {
    const response = await fetch(`${url}/health`)
    const health = (await response.json()) as Health
    return response.ok && health.continuity?.state === wanted ? health : null
  }
  const health = await poll(ask, { intervalMs: 100, timeoutMs: 60_000 })
  if (!health) throw new Error(`the database was not ${wanted} in time`)
  return health
}
