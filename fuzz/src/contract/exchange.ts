// One request and its answer, byte for byte: `fetch` would normalize paths and headers.

import { once } from 'node:events'
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'

export interface Sent {
  method: string
  /** The path and query as sent. */
  target: string
  headers: Record<string, string>
  body: Uint8Array | null
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface Line {
  send(sent: Sent): Promise<Answer>
  close(): void
}

/** No answer takes this long, however busy the machine is. */
const HANGS_MS = 60_000

export function openLine(baseUrl: string): Line {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const { hostname, port } = new URL(baseUrl)
  return {
    async send({ method, target, headers, body }) {
      const length = body === null ? {} : { 'content-length': String(body.length) }
      const sent = request({ agent, hostname, port, method, path: target, headers: { ...length, ...headers } })
      const signal = AbortSignal.timeout(HANGS_MS)
      const [response] = (await once(sent.end(body ?? undefined), 'response', { signal })) as [IncomingMessage]
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: Buffer.concat(await response.toArray()),
      }
    },
    close: () => agent.destroy(),
  }
}

/** For a report: enough to send the request again. */
export function shown({ method, target, headers, body }: Sent): string {
  const text = body === null ? '' : ` ${JSON.stringify(Buffer.from(body).toString()).slice(0, 1500)}`
  return `${method} ${target.slice(0, 1500)} ${JSON.stringify(headers).slice(0, 1500)}${text}`
}
