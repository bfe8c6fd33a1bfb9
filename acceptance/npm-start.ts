// `npm start` as a user runs it, on free ports and with its own data folder. `npm run test:postgres` runs the same
// tests on PostgreSQL.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFreshDatabase } from '@svc/devnet/databases'
import { freePort } from '@svc/devnet/free-port'
import { startProcess } from '@svc/devnet/start-process'
import { afterAll, beforeAll } from 'vitest'

export interface Installation {
  gateway: string
  agent: string
  witness: string
  primaryChain: string
  evmChain: string
  dataFolder: string
  variables: Record<string, string>
  remove(): Promise<void>
}

/** Whether the tests run on PostgreSQL instead of SQLite. */
export const isOnPostgres = process.env.SVC_TEST_DATABASE === 'postgres'

/** Chooses free ports, and creates an empty data folder and, on PostgreSQL, empty databases. */
export async function newInstallation(): Promise<Installation> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'svc-start-'))
  const databases = isOnPostgres ? await newDatabases() : null
  const [port, agentPort, witnessPort, primaryPort, evmPort] = await Promise.all(Array.from({ length: 5 }, freePort))
  return {
    gateway: `http://localhost:${port}`,
    agent: `http://localhost:${agentPort}`,
    witness: `http://localhost:${witnessPort}`,
    primaryChain: `http://127.0.0.1:${primaryPort}`,
    evmChain: `http://127.0.0.1:${evmPort}`,
    dataFolder,
    variables: {
      PORT: String(port),
      AGENT_PORT: String(agentPort),
      WITNESS_PORT: String(witnessPort),
      DEV_PRIMARY_RPC_PORT: String(primaryPort),
      DEV_EVM_RPC_PORT: String(evmPort),
      DATA_DIR: dataFolder,
      ...databases?.variables,
    },
    async remove() {
      await databases?.drop()
      await rm(dataFolder, { recursive: true })
    },
  }
}

async function newDatabases() {
  const [ofGateway, ofAgent] = await Promise.all([createFreshDatabase('postgres'), createFreshDatabase('postgres')])
  return {
    variables: { DATABASE_URL: ofGateway.url, AGENT_DATABASE_URL: ofAgent.url },
    drop: () => Promise.all([ofGateway.drop(), ofAgent.drop()]),
  }
}

export interface Started {
  /** The output until it was ready. */
  output: string
  /** Acts like Ctrl-C: the signal reaches the whole process group. */
  interrupt(): Promise<void>
}

/** The installation of one test file, which runs from `beforeAll` on. */
export interface RunningInstallation extends Installation, Started {
  /** Runs `npm start` again on the same data, after `interrupt`. */
  start(): Promise<void>
  restart(): Promise<void>
}

/** Starts everything before the tests of this file, and stops and removes it afterwards. */
export function useNpmStart(): RunningInstallation {
  const running = {} as RunningInstallation // Filled before the first test.
  beforeAll(async () => {
    const installation = await newInstallation()
    const start = async () => void Object.assign(running, await npmStart(installation))
    const restart = async () => {
      await running.interrupt()
      await start()
    }
    Object.assign(running, installation, { start, restart })
    await start()
  })
  afterAll(async () => {
    await running.interrupt()
    await running.remove()
  })
  return running
}

export async function npmStart(installation: Installation, variables: Record<string, string> = {}): Promise<Started> {
  const env = { HOME: process.env.HOME, ...installation.variables, ...variables }
  const options = { args: ['start'], cwd: new URL('..', import.meta.url), env, isGroup: true, outlivesTest: true }
  const { waitForLine, printed, kill } = startProcess('npm', options)
  await waitForLine(/Ctrl-C/)
  return { output: printed.stdout + printed.stderr, interrupt: async () => void (await kill('SIGINT')) }
}
