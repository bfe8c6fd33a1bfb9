#!/usr/bin/env node
// `svc-mcp`: over stdio, or over HTTP with `--http PORT`.

import * as nodeModule from 'node:module'
import { userFolder } from '@svc/sdk/user-folder'

// Halves the start-up time (not on Node 20). In a private folder, where nobody else can put code.
const cache = userFolder(process.env, 'XDG_CACHE_HOME')
if (cache !== null) nodeModule.enableCompileCache?.(cache)

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

// A client that does not read the log is no reason to leave a purchase.
process.stderr.on('error', () => {})

const { serve } = await import('./server/serve.ts')
process.exit(await serve(stop, end))
