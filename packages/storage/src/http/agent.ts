import { Agent as HttpAgent } from 'node:http'
import { globalAgent, Agent as HttpsAgent } from 'node:https'

/** The buffer size of requests, answers and their sockets. Pausing at every chunk of the default 64 KiB is slow. */
export const BUFFERING = { highWaterMark: 1024 * 1024 }

/**
 * Connections to the host of this address. Keep-alive is for requests that may be repeated, because an idle connection
 * may turn out to be closed only when it is used. Uses the proxy of the process (`NODE_USE_ENV_PROXY`), which Node
 * applies only to its global agents.
 */
export function createAgent(url: string, { keepAlive }: { keepAlive: boolean }): HttpAgent {
  const { proxyEnv } = globalAgent.options
  const Agent = url.startsWith('https:') ? HttpsAgent : HttpAgent
  return new Agent({ keepAlive, maxFreeSockets: 64, ...(proxyEnv && { proxyEnv }), ...BUFFERING })
}
