// A gateway with several replicas and everything it depends on; each part can be made to fail.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Limit, limit } from '@svc/concurrency/locks'
import { startFaultyNode } from '@svc/devnet/faulty-node'
import { freePort } from '@svc/devnet/free-port'
import { startKillablePostgres } from '@svc/devnet/killable-postgres'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { type S3BucketServer, startS3BucketServer } from '@svc/devnet/providers/s3-bucket/start'
import { s3Url } from '@svc/devnet/providers/store-urls'
import { type StartedProcess, startProcess } from '@svc/devnet/start-process'
import { createReplica, type Replica } from '../mixed/replica.ts'
import { type Backups, postgresBackups, sqliteBackups } from './backups.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'

export type Engine = 'postgres' | 'sqlite'

export interface Testbed {
  engine: Engine
  chains: LocalChains
  /** The nodes of both chains: a quorum of two must agree. */
  nodes: Awaited<ReturnType<typeof startNodes>>
  replicas: readonly Replica[]
  /** Null with SQLite. */
  postgres: { kill(): void; start(): Promise<void> } | null
  backups: Backups
  /** Runs work during which nothing else is killed or started. */
  undisturbed: Limit
  /** `svc-gateway replay` with the journal of a replica. */
  replay(replica: number): StartedProcess
  storj: Store
  /** Where gateways store files and the SQLite database; null where no disk can be mounted. */
  disk: SmallDisk | null
  storageFolder: string
  logFile: string
  stop(): Promise<void>
}

/** A separate provider that can be made unavailable. */
interface Store {
  objects(): number
  /** Multipart uploads that are neither completed nor aborted. */
  uploads(): number
  /** Sets how far its clock is ahead of this process, in milliseconds. */
  setClock(aheadMs: number): void
  stop(): Promise<void>
  start(): Promise<void>
}

export const PROVIDERS = ['gcs', 'storj'] as const

const COMMAND = new URL('../../../apps/gateway/bin/svc-gateway.mjs', import.meta.url)
const REPLAY = ['replay', '--reason', 'a backup was restored']
const KEYS = { STATEMENT_KEY: '01', SHORT_URL_KEY: '03', LOG_KEY: '04' }
const NO_LIMITS = {
  RATE_LIMITS: 'address=0/min,anchors=0/day,anchors=0/hour,statements=0/day,signer=0/min,receipt=0/min',
  MAX_LOCKERS_PER_OWNER: '1000000',
  SPEND_PER_DAY: 'publication=0',
}

export async function startTestbed(engine: Engine, replicaCount: number): Promise<Testbed> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'svc-faults-'))
  opened.defer(() => rm(folder, { recursive: true }))
  const disk = mountSmallDisk(join(folder, 'disk'))
  if (disk) opened.defer(disk.unmount)
  const data = disk?.folder ?? join(folder, 'data')
  const chains = await startLocalChains({ landing: 'at once' })
  opened.defer(chains.stop)
  const nodes = await startNodes(chains)
  opened.defer(nodes.stop)
  const storj = await startStore(join(folder, 'storj'))
  opened.defer(storj.stop)
  const postgres = engine === 'postgres' ? await startKillablePostgres() : null
  if (postgres) opened.defer(postgres.stop)
  const logFile = join(tmpdir(), `svc-faults-${process.pid}.log`)
  const storageFolder = join(data, 'files')
  const file = join(data, 'gateway.db')
  const variables = {
    ...chains.variables,
    ...nodes.variables,
    ...storj.variables,
    ...Object.fromEntries(Object.entries(KEYS).map(([name, byte]) => [name, byte.repeat(32)])),
    ...NO_LIMITS,
    SVC_MODE: 'development',
    LOCAL_PROVIDERS: 'gcs',
    STORAGE_DIR: storageFolder,
    DATABASE_URL: postgres?.url ?? `sqlite:${file}`,
    PROCESSES: '1',
    BASE_URL: 'http://gateway.example',
  }
  const variablesOf = (i: number) => ({ ...variables, DATA_DIR: join(data, `replica-${i}`) })
  const replicas: Replica[] = []
  for (let i = 0; i < replicaCount; i++) {
    const replica = await createReplica({ variables: variablesOf(i), logFile })
    opened.defer(replica.close)
    replicas.push(replica)
  }
  // The first replica creates the schema.
  for (const replica of replicas) await replica.start()
  const running = opened.move()
  const replay = (i: number) => {
    const started = startProcess(COMMAND, { args: REPLAY, env: variablesOf(i) })
    running.defer(async () => void (await started.kill()))
    return started
  }
  return {
    engine,
    chains,
    nodes,
    replicas,
    postgres,
    backups: postgres ? postgresBackups(postgres.url) : sqliteBackups(file, join(folder, 'backup.db')),
    undisturbed: limit(1),
    replay,
    storj,
    disk,
    storageFolder,
    logFile,
    stop: () => running.disposeAsync(),
  }
}

/** Nodes of a quorum must have different hosts. */
const NODE_HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3']

async function startNodes(chains: LocalChains) {
  const start = (url: string) => Promise.all(NODE_HOSTS.map((host) => startFaultyNode(url, undefined, { host })))
  const [primary, evm] = await Promise.all([start(chains.primary.url), start(chains.evm.url)])
  const urls = (nodes: readonly { url: string }[]) => nodes.map(({ url }) => url).join(',')
  return {
    primary,
    evm,
    variables: {
      PRIMARY_RPC_URLS: urls(primary),
      RPC_QUORUM: 'primary=2,evm=2',
      EVM_RPC_URLS: urls(evm),
    },
    stop: async () => void (await Promise.all([...primary, ...evm].map(({ stop }) => stop()))),
  }
}

async function startStore(folder: string): Promise<Store & { variables: Record<string, string> }> {
  const port = await freePort()
  let aheadMs = 0
  const open = () => startS3BucketServer({ folder, port, now: () => Date.now() + aheadMs })
  let server: S3BucketServer = await open()
  return {
    variables: {
      STORJ: s3Url(server, `?region=${server.credentials.region}`),
    },
    objects: () => server.objects().length,
    uploads: () => server.uploads().length,
    setClock: (ms) => {
      aheadMs = ms
    },
    stop: () => server.stop(),
    async start() {
      server = await open()
    },
  }
}
