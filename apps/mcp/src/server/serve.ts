import * as nodeModule from 'node:module'
import { parseArgs } from 'node:util'
import { createContext } from '../context.ts'
import { SetupError } from '../errors.ts'
import { readSettings, type Variables } from '../settings.ts'
import { createCalls } from './calls.ts'
import { type HttpOptions, serveHttp } from './http.ts'
import { isLoopbackHost } from './http-guard.ts'
import { createLog } from './log.ts'
import { serveStdio } from './stdio.ts'

const log = createLog(process.stderr)

/** Serves until `end` resolves and returns the exit code. Calls `onClientGone` when a stdio client disconnects. */
export async function serve(onClientGone: () => void, end: Promise<void>): Promise<number> {
  try {
    const running = await start(onClientGone)
    // Flush now, not at exit: clients often kill their servers.
    nodeModule.flushCompileCache?.()
    await end
    await running.stop()
    return 0
  } catch (error) {
    process.stderr.write(`${error instanceof SetupError ? error.message : (error as Error).stack}\n`)
    return 1
  }
}

async function start(onClientGone: () => void) {
  const http = readOptions(process.argv.slice(2), process.env)
  const settings = readSettings(process.env, process.cwd())
  const context = await createContext(settings, { warn: log })
  const serving = { context, calls: createCalls(), log }
  if (!http) return serveStdio(serving, onClientGone)
  const running = await serveHttp(serving, http)
  log(`listening at ${running.url}`)
  return running
}

const USAGE = `svc-mcp                      speak MCP over stdin and stdout
svc-mcp --http PORT          speak it over HTTP at http://127.0.0.1:PORT/mcp
        --host HOST          listen there instead; elsewhere than on this machine SVC_MCP_TOKEN is required`

/** Returns null for stdio. */
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
