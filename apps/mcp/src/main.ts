#!/usr/bin/env node
// `svc-mcp`, the MCP server: over stdio, or over HTTP with `--http PORT`.

import * as nodeModule from 'node:module'
import { userFolder } from '@svc/sdk/user-folder'

// Halves the start-up time (not on Node 20). The folder is private, so that nobody else can put code there.
const cache = userFolder(process.env, 'XDG_CACHE_HOME')
if (cache !== null) nodeModule.enableCompileCache?.(cache)

let stop = () => {}
const end = new Promise<void>((resolve) => {
  stop = resolve
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stop()
    // A second signal ends the process at once.
    process.once(signal, () => process.exit(1))
  })
}

// A client that closes the log must not interrupt a purchase.
process.stderr.on('error', () => {})

const { serve } = await import('./server/serve.ts')
process.exit(await serve(stop, end))
