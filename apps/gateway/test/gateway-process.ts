// Starts `svc-gateway` as admins do.

import { freePort } from '@svc/devnet/free-port'
import { startProcess } from '@svc/devnet/start-process'
import type { Variables } from '@svc/service/program/config'

const PROGRAM = new URL('../bin/svc-gateway.mjs', import.meta.url)

export const startCommand = (args: string[], env: Variables = {}) => startProcess(PROGRAM, { args, env })

export const runCommand = (args: string[], env?: Variables) => startCommand(args, env).ended

/** Starts a gateway on the real clock. Resolves when it serves. */
export async function startGatewayProcess(variables: Variables) {
  const PORT = String(await freePort())
  const started = startCommand(['start'], { SVC_MODE: 'development', HOST: '127.0.0.1', PORT, ...variables })
  await started.waitForLine(/gateway started/)
  return { ...started, url: `http://127.0.0.1:${PORT}` }
}
