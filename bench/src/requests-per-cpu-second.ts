// Sends load to a server in another process and measures the server's processor time.

import autocannon from 'autocannon'
import { scaled } from './scale.ts'
import type { ServerProcess } from './server-process.ts'

export interface Route {
  path: string
  /** Requests with a body are POSTs of JSON. */
  body?: string
  /** The status that counts as success. */
  status?: number
  /** Called for each request. */
  next?: () => { method?: 'GET' | 'POST' | 'DELETE'; path: string; headers: Record<string, string>; body?: string }
}

const SECONDS = scaled(2, 0.5)
const CONNECTIONS = 32

export async function requestsPerCpuSecond(server: ServerProcess, route: Route): Promise<number> {
  const before = await server.cpuSeconds()
  const requests = await load(server, route)
  return requests / ((await server.cpuSeconds()) - before)
}

export async function warmUp(server: ServerProcess, route: Route): Promise<void> {
  await load(server, route)
}

async function load({ url }: ServerProcess, { path, body, status = 200, next }: Route): Promise<number> {
  const post = body && { method: 'POST' as const, body, headers: { 'content-type': 'application/json' } }
  const varied = next && { requests: [{ setupRequest: (request: object) => ({ ...request, ...next() }) }] }
  const result = await autocannon({ url: url + path, connections: CONNECTIONS, duration: SECONDS, ...post, ...varied })
  const answered = (result.statusCodeStats as Record<number, { count: number }>)[status]?.count ?? 0
  if (answered < result.requests.total) throw new Error(`${path}: ${JSON.stringify(result.statusCodeStats)}`)
  return result.requests.total
}
