import { Agent as HttpAgent } from 'node:http'
import { globalAgent, Agent as HttpsAgent } from 'node:https'
import { BUFFERING } from './socket.ts'

/**
 * For what is asked at this address. One that keeps connections is for what may be asked again: that the other end has
 * closed one shows only when it is used. The way goes through a proxy where the whole process is told to take one
 * (`NODE_USE_ENV_PROXY`), of which only the process's own agents know by themselves.
 */
export function createAgent(url: string, { keepAlive }: { keepAlive: boolean }): HttpAgent {
  const { proxyEnv } = globalAgent.options
  const Agent = url.startsWith('https:') ? HttpsAgent : HttpAgent
  return new Agent({ keepAlive, maxFreeSockets: 64, ...(proxyEnv && { proxyEnv }), ...BUFFERING })
}
