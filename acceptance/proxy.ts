// Runs a proxy in a folder of its own, without root.

import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProcess } from '@svc/devnet/start-process'

export interface RunningProxy {
  url: string
  /** All that it has written to its logs. */
  logs(): Promise<string>
  stop(): Promise<void>
}

export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-proxy-'))
  // Workers of nginx have another user where it is started by root.
  await chmod(folder, 0o755)
  return folder
}

/** Returns when the proxy listens on the port. Its logs are what it prints and the files `*.log` of the folder. */
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
  // Only connects: a request would find no gateway yet, and nginx would pass over all of them for some seconds.
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

/** Fails when the file no longer has a line that is to be changed. */
export function change(shipped: string, changes: [RegExp, (match: string) => string][]): string {
  return changes.reduce((changed, [pattern, replacement]) => {
    if (!pattern.test(changed)) throw new Error(`the shipped file has no ${pattern}`)
    return changed.replace(pattern, (_, match = '') => replacement(match))
  }, shipped)
}
