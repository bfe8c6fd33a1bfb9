// Runs `svc-gateway` as an operator does.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { programEnvironment } from '@svc/devnet/start-process'

const program = fileURLToPath(new URL('../../bin/svc-gateway.mjs', import.meta.url))

export function startCommand(args: string[], env: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, [program, ...args], {
    env: programEnvironment(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

export async function outcomeOf(child: ChildProcess) {
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')])
  return { status, stdout, stderr }
}
