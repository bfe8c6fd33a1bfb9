// A real PostgreSQL that keeps what it has committed when it is killed, and can be started again.

import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { binariesFor, unprivilegedAccount } from './postgres-server.ts'

export interface KillablePostgres {
  url: string
  /** Like `kill -9` of the server: its sessions end with it, and it recovers at the next start. */
  kill(): void
  /** Resolves when it accepts connections. */
  start(): Promise<void>
  stop(): Promise<void>
}

/**
 * A shell runs the server and obeys its standard input: `kill` or `start`. When its standard input closes, because this
 * process ended in any way, it stops the server and removes its folder. A commit reaches the kernel before it is
 * acknowledged, which is enough when the server is killed and the machine keeps running.
 */
const serverScript = `
trap 'cd /; rm -rf "$FOLDER"' EXIT
start() {
  "$BIN/postgres" -D data -p "$PORT" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \\
    -c max_connections=200 -c fsync=off -c synchronous_commit=on &
  server=$!
}
"$BIN/initdb" --pgdata=data --username=postgres --pwfile=password --auth=scram-sha-256 --no-sync \\
  --encoding=UTF8 --locale=C --locale-provider=icu --icu-locale=en-US >&2 || exit
while read -r command; do
  if [ "$command" = start ]; then start; else kill -KILL "$server"; wait "$server"; fi
done
kill -QUIT "$server"
wait "$server"
`

const READY = 'ready to accept connections'
/** Sessions of the killed server hold its shared memory until they notice that it is gone. */
const STILL_IN_USE = 'is still in use'

export async function startKillablePostgres(): Promise<KillablePostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-postgres-'))
  const account = unprivilegedAccount()
  const password = randomUUID()
  const port = await freePort()
  const binaries = binariesFor(account, folder)
  writeFileSync(join(folder, 'password'), password)
  if (account) execFileSync('chown', ['-R', `${account.uid}:${account.gid}`, folder])
  const shell = spawn('sh', ['-c', serverScript], {
    ...account,
    cwd: folder,
    env: { PATH: process.env.PATH, LC_ALL: 'C', FOLDER: folder, BIN: binaries, PORT: `${port}` },
    stdio: ['pipe', 'ignore', 'pipe'],
    // Not in our process group: Ctrl-C in a terminal must not end the shell that cleans up.
    detached: true,
  })
  const ended = new Promise<void>((resolve) => shell.once('exit', () => resolve()))
  const log = watchLog(shell.stderr)

  async function start(): Promise<void> {
    for (;;) {
      const started = log.next()
      shell.stdin.write('start\n')
      const line = await started
      if (line.includes(READY)) return
      await setTimeout(100)
    }
  }

  await start()
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    kill: () => void shell.stdin.write('kill\n'),
    start,
    async stop() {
      shell.stdin.end()
      await ended
    },
  }
}

/** The next log line that shows how a start ended. */
function watchLog(output: Readable): { next(): Promise<string> } {
  let text = ''
  let waiting: PromiseWithResolvers<string> | null = null
  output.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    const lines = text.split('\n')
    text = lines.pop() as string
    const telling = lines.find((line) => line.includes(READY) || line.includes(STILL_IN_USE))
    if (telling) waiting?.resolve(telling)
  })
  output.on('end', () => waiting?.reject(new Error(`PostgreSQL did not start: ${text}`)))
  return {
    next() {
      waiting = Promise.withResolvers<string>()
      return waiting.promise
    },
  }
}
