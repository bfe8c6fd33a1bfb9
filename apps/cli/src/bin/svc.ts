#!/usr/bin/env node
// `svc`, the command line for storage gateways.

import * as nodeModule from 'node:module'
import { userFolder } from '@svc/sdk/user-folder'
import { EXIT, Interrupted } from '../errors.ts'

const { env, stdin, stdout, stderr } = process

// Halves the start-up time (not on Node 20). The folder is private, so that no other user can put code there.
const cache = userFolder(env, 'XDG_CACHE_HOME')
if (cache !== null) nodeModule.enableCompileCache?.(cache)

const controller = new AbortController()

// Ctrl-C lets the command clean up and report; a second Ctrl-C ends it immediately.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted)
    controller.abort(new Interrupted('interrupted'))
  })
}

// The reader of the output may close the pipe: `svc put photos | head`. The command still finishes with its usual exit
// code. Any other failure to write the result is an error.
let isLost = false
stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE' || isLost) return
  isLost = true
  stderr.write(`error: the result cannot be written: ${message}\n`)
  process.exitCode ||= EXIT.failed
})
stderr.on('error', () => {})

const { run } = await import('../run.ts')
const host = { env, stdin, stdout, stderr, signal: controller.signal, now: Date.now }
const exitCode = await run(process.argv.slice(2), host)
process.exitCode = exitCode || (isLost ? EXIT.failed : EXIT.ok)
