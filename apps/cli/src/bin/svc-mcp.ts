#!/usr/bin/env node
// `svc-mcp`, the older name of `svc mcp`.

process.argv.splice(2, 0, 'mcp')
await import('./svc.ts')

export {}
