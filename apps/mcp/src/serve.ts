import * as nodeModule from 'node:module'
import { createCalls } from './calls.ts'
import { createContext } from './context.ts'
import { SetupError } from './failures.ts'
import { serveHttp } from './http.ts'
import { createLog } from './log.ts'
import { readOptions } from './options.ts'
import { readSettings } from './settings.ts'
import { serveStdio } from './stdio.ts'

const log = createLog(process.stderr)

/** As the command line and the environment say, until the end; the exit code. `gone` is called when the client is. */
export async function serve(gone: () => void, end: Promise<void>): Promise<number> {
  try {
    const running = await start(gone)
    // Now, and not in the end: clients often kill their servers.
    nodeModule.flushCompileCache?.()
    await end
    await running.stop()
    return 0
  } catch (error) {
    process.stderr.write(`${error instanceof SetupError ? error.message : (error as Error).stack}\n`)
    return 1
  }
}

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
