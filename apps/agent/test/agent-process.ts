// For tests: another process of the service, on the data of a workshop, that can be killed.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '@svc/devnet/free-port'
import { onTestFinished } from 'vitest'
import type { Workshop } from './work/work-stack.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** It lives by the clock on the wall, and works by itself. Ends it where it stands. */
export async function startProcess({ chains, context, between }: Workshop): Promise<{ kill(): Promise<void> }> {
  const env = {
    ...chains.agentVariables,
    SVC_MODE: 'development',
    HOST: '127.0.0.1',
    PORT: `${await freePort()}`,
    DATA_DIR: context.config.dataDir,
    GATEWAY_URL: between.url,
  } as NodeJS.ProcessEnv
  const child = spawn(process.execPath, [MAIN], { stdio: 'ignore', env })
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    async kill() {
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    },
  }
}
