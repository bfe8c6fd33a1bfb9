// `svc mcp`: the gateway as tools for agents, over stdio, or over HTTP with `--http PORT`.

import * as nodeModule from 'node:module'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { UsageError } from '../errors.ts'
import type { Environment, Host, Run } from '../host.ts'
import type { GlobalOptions, Open } from '../session.ts'
import { createContext } from './context.ts'
import { createCalls } from './server/calls.ts'
import { type HttpOptions, serveHttp } from './server/http.ts'
import { isLoopbackHost } from './server/http-guard.ts'
import { createLog } from './server/log.ts'
import { serveStdio } from './server/stdio.ts'
import { DEFAULTS, readSettings, type Settings } from './settings.ts'

interface McpOptions {
  http?: string
  host?: string
}

export function add(program: Command, open: Open, _: Run, host: Host): void {
  program
    .command('mcp')
    .description('the gateway as tools for agents: an MCP server over stdin and stdout')
    .option('--http <port>', 'serve over HTTP instead, at http://127.0.0.1:PORT/mcp')
    .option('--host <host>', 'with --http: the address to listen on; other than loopback it needs SVC_MCP_TOKEN')
    .addHelpText('after', AFTER_HELP)
    .action(async (options: McpOptions, command: Command) => {
      const http = httpOptions(options, host.env)
      const settings = await readSettings(host.env, process.cwd(), () => open(command, stateOf(command, host.env)))
      await serve(host, settings, http)
      // A call that did not end in time must not keep the process.
      process.exit()
    })
}

const AFTER_HELP = `
Variables set what a model may spend and read:
  SVC_MCP_MAX_USD          limit of one purchase, in dollars (${DEFAULTS.maxUsd}; "subscribe" needs 5)
  SVC_MCP_MAX_USD_PER_DAY  limit of a day, in dollars (${DEFAULTS.maxUsdPerDay})
  SVC_MCP_ROOT             folder to read files from; by default the working folder, unless it
                           contains your home folder
Gateway, wallet, pinned keys, lockers and payments come from the profile, as in every command:
\`svc config\` shows them. If you name no wallet, clients make their own payments; \`svc wallet new\`
creates a wallet. The README of svc lists all variables, and what to paste into the settings of your
client. \`svc-mcp\` is another name of this command.`

/** SVC_MCP_STATE names the folder of the profile; it is older than \`svc mcp\`. */
function stateOf(command: Command, { SVC_MCP_STATE }: Environment): { folder?: string } {
  const { profile } = command.optsWithGlobals<GlobalOptions>()
  return SVC_MCP_STATE && profile === undefined ? { folder: resolve(SVC_MCP_STATE) } : {}
}

/** Serves until the process is interrupted or the stdio client disconnects; `http` is null for stdio. */
async function serve(host: Host, settings: Settings, http: HttpOptions | null): Promise<void> {
  const log = createLog(host.stderr)
  const context = await createContext(settings, { warn: log })
  const serving = { context, calls: createCalls(), log }
  let stop = () => {}
  const end = new Promise<void>((resolve) => {
    stop = resolve
  })
  host.signal.addEventListener('abort', stop)
  const running = http ? await serveHttp(serving, http) : await serveStdio(serving, host, stop)
  if ('url' in running) log(`listening at ${running.url}`)
  // Flush now, not at exit: clients often kill their servers.
  nodeModule.flushCompileCache?.()
  if (!host.signal.aborted) await end
  await running.stop()
}

/** Returns null for stdio. */
export function httpOptions({ http, host = '127.0.0.1' }: McpOptions, { SVC_MCP_TOKEN }: Environment) {
  if (http === undefined) return null
  const port = /^\d{1,5}$/.test(http) ? Number(http) : Number.NaN
  if (!(port <= 65_535)) throw new UsageError('--http must be a port, such as 8080')
  if (!SVC_MCP_TOKEN && !isLoopbackHost(host))
    throw new UsageError(`other machines can reach ${host}: set SVC_MCP_TOKEN, which clients must then send`)
  return { host, port, token: SVC_MCP_TOKEN || null }
}
