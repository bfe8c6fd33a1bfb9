#!/usr/bin/env node
// `svc-mcp`: over stdio, or over HTTP with `--http PORT`.

import { createCalls } from './calls.ts'
import { createContext } from './context.ts'
import { SetupError } from './failures.ts'
import { serveHttp } from './http.ts'
import { createLog } from './log.ts'
import { readOptions } from './options.ts'
import { readSettings } from './settings.ts'
import { serveStdio } from './stdio.ts'

const log = createLog(process.stderr)

async function start(gone: () => void) {
  const http = readOptions(process.argv.slice(2), process.env)
  const settings = readSettings(process.env, process.cwd())
  const context = await createContext(settings, { warn: log })
  const serving = { context, calls: createCalls(), log }
  if (!http) return serveStdio(serving, gone)
  const running = await serveHttp(serving, http)
  log(`listening at ${running.url}`)
  return running
}

const { promise: end, resolve: stop } = Promise.withResolvers<void>()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stop()
    // A second one ends it at once.
    process.once(signal, () => process.exit(1))
  })
}

try {
  const running = await start(stop)
  await end
  await running.stop()
  process.exit(0)
} catch (error) {
  process.stderr.write(`${error instanceof SetupError ? error.message : (error as Error).stack}\n`)
  process.exit(1)
}
