// A real agent service for tests: with its own data folder and port, removed afterwards.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Agent, startAgent } from '@svc/agent/agent'
import { readConfig } from '@svc/agent/config'
import type { Overrides } from '@svc/agent/context'
import type { Variables } from '@svc/service/program/config'
import { freePort } from '../free-port.ts'

/** Tests send more requests than people do. Tests of the limits set their own. */
const NO_LIMITS = { MAX_REQUESTS_AT_ONCE: '0', RATE_LIMITS: 'address=0/min,identity=0/min' }

/** Jobs run when a test drains the queue. Tests of the workers enable them. */
const NO_WORKERS = { RUN_JOBS: 'false' }

/** Tests that need hosts bring their own name servers. */
const knowsNoHost = async () => []

export async function startTestAgent(variables: Variables = {}, overrides?: Overrides): Promise<Agent> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-agent-'))
  const removeFolder = () => rm(folder, { recursive: true, force: true })
  try {
    const { config, secrets } = readConfig({
      SVC_MODE: 'development',
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      LOG_LEVEL: 'silent',
      DATA_DIR: folder,
      ...NO_LIMITS,
      ...NO_WORKERS,
      ...variables,
      RATE_LIMITS: `${NO_LIMITS.RATE_LIMITS},${variables.RATE_LIMITS ?? ''}`,
    })
    const agent = await startAgent(config, secrets, { resolve: knowsNoHost, ...overrides })
    return {
      ...agent,
      async stop() {
        await agent.stop()
        await removeFolder()
      },
    }
  } catch (error) {
    await removeFolder()
    throw error
  }
}
