// Runs a proxy in its own folder, without root.

import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProcess } from '@svc/devnet/start-process'

export interface RunningProxy {
  url: string
  /** Everything that it has written to its logs. */
  logs(): Promise<string>
  stop(): Promise<void>
}

export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-proxy-'))
  // The workers of nginx run as another user when root starts it.
  await chmod(folder, 0o755)
  return folder
}

/** Returns when the proxy listens on the port. Its logs are its output and the files `*.log` of the folder. */
export async function runProxy(folder: string, port: number, program: string, args: string[]): Promise<RunningProxy> {
  const { ended, printed, kill } = startProcess(program, {
    args,
    cwd: folder,
    env: { HOME: folder },
    isGroup: true,
  })
  let isRunning = true
  void ended.then(() => {
    isRunning = false
  })
  // It only connects: a request would find no gateway yet, and nginx would then skip all of them for some seconds.
  while (!(await isListening(port))) if (!isRunning) throw new Error(`${program} ended: ${printed.stderr}`)
  return {
    url: `http://127.0.0.1:${port}`,
    async logs() {
      const files = (await readdir(folder)).filter((name) => name.endsWith('.log'))
      const written = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
      return [printed.stderr, ...written].join('\n')
    },
    async stop() {
      await kill('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isUp = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isUp
}

/** Throws when the shipped file has no line that a change needs. */
export function change(shipped: string, changes: [RegExp, (match: string) => string][]): string {
  return changes.reduce((changed, [pattern, replacement]) => {
    if (!pattern.test(changed)) throw new Error(`the shipped file has no ${pattern}`)
    return changed.replace(pattern, (_, match = '') => replacement(match))
  }, shipped)
}
