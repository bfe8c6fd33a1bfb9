// Runs `svc-gateway` as an operator does. Of this process's environment it gets only the path of the compile cache.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../src/bin/svc-gateway.ts', import.meta.url))

export function startCommand(args: string[], env: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, [program, ...args], {
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

export async function outcomeOf(child: ChildProcess) {
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')])
  return { status, stdout, stderr }
}
