// The gateway as a separate program, started from its bundle as the image and `npm start` do.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { PROVIDERS } from '@svc/api/providers'
import { bundlePrograms } from '@svc/devnet/bundling/bundle-programs'
import { freePort } from '@svc/devnet/free-port'
import { PRODUCTION, SELLING } from './servers/production-gateway.ts'

const ASK_EVERY_MS = 3
const PROGRAMS = ['start', 'svc-gateway'].map(
  (name) => new URL(`../../apps/gateway/src/bin/${name}.ts`, import.meta.url),
)

export interface Program {
  url: string
  pid: number
  /** From its start to the first successful health check. */
  seconds: number
  stop(): Promise<void>
}

export async function startGatewayProgram(variables: Readonly<Record<string, string>>): Promise<Program> {
  bundlePrograms(PROGRAMS)
  const port = String(await freePort())
  const program = fileURLToPath(new URL('../../apps/gateway/bin/svc-gateway.mjs', import.meta.url))
  const env = {
    PATH: process.env.PATH,
    HOST: '127.0.0.1',
    PORT: port,
    LOG_LEVEL: 'warn',
    LOCAL_PROVIDERS: PROVIDERS.join(','),
    MAX_REQUESTS_AT_ONCE: '0',
    RATE_LIMITS: 'address=0/min,statements=0/day,signer=0/min,receipt=0/min',
    ...SELLING,
    ...PRODUCTION,
    ...variables,
  }
  return untilItAnswers(`http://127.0.0.1:${port}`, '/health', () =>
    spawn(process.execPath, [program, 'start'], { env, stdio: ['ignore', 'ignore', 'inherit'] }),
  )
}

export async function untilItAnswers(url: string, path: string, start: () => ChildProcess): Promise<Program> {
  const startedAt = performance.now()
  const child = start()
  const ended = once(child, 'exit')
  while (!(await isHealthy(url + path))) {
    if (child.exitCode !== null) throw new Error(`${url} ended with ${child.exitCode}`)
    await setTimeout(ASK_EVERY_MS)
  }
  const seconds = (performance.now() - startedAt) / 1000
  const pid = child.pid as number // it runs
  async function stop() {
    child.kill('SIGTERM')
    await ended
  }
  return { url, pid, seconds, stop }
}

async function isHealthy(url: string): Promise<boolean> {
  return fetch(url, { headers: { connection: 'close' } }).then(
    ({ status }) => status === 200,
    () => false,
  )
}
