#!/usr/bin/env node
// `svc`, the command line of storage gateways.

import * as nodeModule from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { EXIT, Interrupted } from './failures.ts'

const { env, stdin, stdout, stderr } = process

// Halves the time to start; Node 20 cannot. In a folder of our own: nobody else may put code there.
nodeModule.enableCompileCache?.(join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'svc'))

const controller = new AbortController()

// Ctrl-C lets the command tidy up and say where it stands; a second one ends it at once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted)
    controller.abort(new Interrupted('interrupted'))
  })
}

// Whoever reads our output may have seen enough: `svc ls | head`.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok)
  throw error
})

const { run } = await import('./run.ts')
const world = { env, stdin, stdout, stderr, signal: controller.signal, now: Date.now }
process.exitCode = await run(process.argv.slice(2), world)
