import { parseArgs } from 'node:util'
import { SetupError } from './failures.ts'
import type { HttpOptions } from './http.ts'
import { isLoopbackHost } from './http-guard.ts'
import type { Variables } from './settings.ts'

const USAGE = `svc-mcp                      speak MCP over stdin and stdout
svc-mcp --http PORT          speak it over HTTP at http://127.0.0.1:PORT/mcp
        --host HOST          listen there instead; elsewhere than on this machine SVC_MCP_TOKEN is required`

/** Null for stdio. */
export function readOptions(args: string[], { SVC_MCP_TOKEN }: Variables): HttpOptions | null {
  const { http, host = '127.0.0.1' } = parsed(args)
  if (http === undefined) return null
  const port = /^\d{1,5}$/.test(http) ? Number(http) : Number.NaN
  if (!(port <= 65_535)) throw new SetupError(`--http takes a port\n${USAGE}`)
  if (!SVC_MCP_TOKEN && !isLoopbackHost(host))
    throw new SetupError(`${host} can be reached from elsewhere: set SVC_MCP_TOKEN, which clients must then send`)
  return { host, port, token: SVC_MCP_TOKEN || null }
}

function parsed(args: string[]): { http?: string; host?: string } {
  try {
    return parseArgs({ args, options: { http: { type: 'string' }, host: { type: 'string' } } }).values
  } catch (error) {
    throw new SetupError(`${(error as Error).message}\n${USAGE}`)
  }
}
