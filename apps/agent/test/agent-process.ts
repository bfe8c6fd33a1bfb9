// The agent service in a process of its own, which can be killed.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '@svc/devnet/free-port'
import { programEnvironment } from '@svc/devnet/start-process'
import type { Variables } from '@svc/http-service/config'
import { onTestFinished } from 'vitest'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

export interface AgentProcess {
  url: string
  /** With SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
}

/** Runs on the real clock, with its own workers. Resolves when it listens. */
export async function startAgentProcess(variables: Variables): Promise<AgentProcess> {
  const port = await freePort()
  const env = programEnvironment({
    SVC_MODE: 'development',
    HOST: '127.0.0.1',
    PORT: String(port),
    MAX_REQUESTS_AT_ONCE: '0',
    RATE_LIMIT_ADDRESS: '0',
    ...variables,
  })
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  for await (const line of createInterface(child.stdout)) if (line.includes('agent service started')) break
  child.stdout.resume()
  return {
    url: `http://127.0.0.1:${port}`,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
