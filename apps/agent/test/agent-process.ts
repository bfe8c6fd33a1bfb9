// The agent service in a separate process, which can be killed.

import { freePort } from '@svc/devnet/free-port'
import { startProcess } from '@svc/devnet/start-process'
import type { Variables } from '@svc/service/program/config'

/** Runs on the real clock with its own workers. Resolves when it listens. */
export async function startAgentProcess(variables: Variables) {
  const PORT = String(await freePort())
  const own = {
    SVC_MODE: 'development',
    HOST: '127.0.0.1',
    PORT,
    MAX_REQUESTS_AT_ONCE: '0',
    RATE_LIMITS: 'address=0/min',
  }
  const agent = startProcess(new URL('../bin/svc-agent.mjs', import.meta.url), { env: { ...own, ...variables } })
  await agent.waitForLine(/agent service started/)
  return { ...agent, url: `http://127.0.0.1:${PORT}` }
}
