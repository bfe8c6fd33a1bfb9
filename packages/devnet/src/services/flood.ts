// Many requests of one client without credentials at once, and how many of them are served.

import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Endpoint } from '@svc/api/endpoint'

/** Endpoints that need no credential before the operation runs. */
export function openEndpoints(endpoints: readonly Endpoint[]): Endpoint[] {
  return endpoints.filter(
    ({ auth }) => auth === 'public' || auth === 'path-token' || (typeof auth === 'object' && auth.optional),
  )
}

export interface AnonymousRequest {
  method?: string
  path: string
  headers?: Record<string, string>
  /** Sent as JSON unless it is text. */
  body?: unknown
}

export interface Flooded {
  /** The statuses of requests that were served. */
  served: number[]
  /** How many were refused with 429, or 503 in S3, and Retry-After. */
  limited: number
}

/** The service has to trust this machine as a proxy. */
export async function flood(
  url: string,
  request: AnonymousRequest,
  { times, address }: { times: number; address: string },
): Promise<Flooded> {
  const agent = new Agent({ keepAlive: true, maxSockets: times })
  try {
    const answers = await Promise.all(Array.from({ length: times }, () => send(agent, url, address, request)))
    const isLimited = ({ statusCode, headers }: IncomingMessage) =>
      (statusCode === 429 || statusCode === 503) && Number(headers['retry-after']) > 0
    const served = answers.filter((answer) => !isLimited(answer)).map(({ statusCode }) => statusCode as number)
    return { served, limited: times - served.length }
  } finally {
    agent.destroy()
  }
}

async function send(
  agent: Agent,
  url: string,
  address: string,
  { method = 'GET', path, headers = {}, body }: AnonymousRequest,
): Promise<IncomingMessage> {
  const json = typeof body === 'object' && { 'content-type': 'application/json' }
  const request = httpRequest(url + path, {
    agent,
    method,
    headers: { ...json, 'x-forwarded-for': address, ...headers },
  })
  request.end(typeof body === 'object' ? JSON.stringify(body) : body)
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  await text(answer)
  return answer
}
