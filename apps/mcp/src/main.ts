#!/usr/bin/env node
// `svc-mcp`: over stdio, or over HTTP with `--http PORT`.

import * as nodeModule from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

// Halves the time to start; Node 20 cannot. In a folder of our own: nobody else may put code there.
nodeModule.enableCompileCache?.(join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'svc'))

let stop = () => {}
const end = new Promise<void>((resolve) => {
  stop = resolve
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stop()
    // A second one ends it at once.
    process.once(signal, () => process.exit(1))
  })
}

const { serve } = await import('./serve.ts')
process.exit(await serve(stop, end))
