import * as nodeModule from 'node:module'
import { parseArgs } from 'node:util'
import { VERSION } from '@svc/protocol/version'
import { LOCAL_GATEWAY } from '@svc/sdk/local-services'
import { createContext } from '../context.ts'
import { SetupError } from '../errors.ts'
import { DEFAULTS, readSettings, type Variables } from '../settings.ts'
import { createCalls } from './calls.ts'
import { type HttpOptions, serveHttp } from './http.ts'
import { isLoopbackHost } from './http-guard.ts'
import { createLog } from './log.ts'
import { serveStdio } from './stdio.ts'

const log = createLog(process.stderr)

/** Serves until `end` resolves and returns the exit code. Calls `onClientGone` when a stdio client disconnects. */
export async function serve(onClientGone: () => void, end: Promise<void>): Promise<number> {
  try {
    const { http, answer } = readOptions(process.argv.slice(2), process.env)
    if (answer !== null) {
      process.stdout.write(`${answer}\n`)
      return 0
    }
    const running = await start(http, onClientGone)
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

async function start(http: HttpOptions | null, onClientGone: () => void) {
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
        --host HOST          listen there instead; elsewhere than on this machine SVC_MCP_TOKEN is required
svc-mcp --help | --version`

const HELP = `A storage gateway as tools for agents.

${USAGE}

Settings are environment variables:
  SVC_GATEWAY                address of the gateway (${LOCAL_GATEWAY})
  SVC_WALLET                 file with the key that pays and owns; "svc wallet new" makes one
  SVC_PRIMARY_RPC, SVC_EVM_RPC   node that payments are sent to
  SVC_MCP_MAX_USD            what one purchase may cost, in dollars (${DEFAULTS.maxUsd}; "subscribe" needs 5)
  SVC_MCP_MAX_USD_PER_DAY    what a day may cost (${DEFAULTS.maxUsdPerDay})
  SVC_MCP_ROOT               folder that files are read from (the working folder, if it does not hold your home)
The README of @svc/mcp has all of them, and what to paste into the settings of your client.`

interface Options {
  /** Null for stdio. */
  http: HttpOptions | null
  /** What to print instead of serving. */
  answer: string | null
}

export function readOptions(args: string[], env: Variables): Options {
  const { help, version, http, host = '127.0.0.1' } = parsed(args)
  if (help) return { http: null, answer: HELP }
  if (version) return { http: null, answer: VERSION }
  return { http: http === undefined ? null : httpOptions(http, host, env), answer: null }
}

function httpOptions(http: string, host: string, { SVC_MCP_TOKEN }: Variables): HttpOptions {
  const port = /^\d{1,5}$/.test(http) ? Number(http) : Number.NaN
  if (!(port <= 65_535)) throw new SetupError(`--http takes a port\n${USAGE}`)
  if (!SVC_MCP_TOKEN && !isLoopbackHost(host))
    throw new SetupError(`${host} can be reached from elsewhere: set SVC_MCP_TOKEN, which clients must then send`)
  return { host, port, token: SVC_MCP_TOKEN || null }
}

const OPTIONS = {
  http: { type: 'string' },
  host: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const

function parsed(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS }).values
  } catch (error) {
    throw new SetupError(`${(error as Error).message}\n${USAGE}`)
  }
}
