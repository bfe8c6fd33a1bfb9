// `npm start` as a user runs it, on free ports and a data folder of its own.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@svc/devnet/free-port'

export interface Place {
  gateway: string
  agent: string
  primaryChain: string
  evmChain: string
  dataFolder: string
  variables: Record<string, string>
  leave(): Promise<void>
}

export async function findPlace(): Promise<Place> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'svc-start-'))
  const [port, agentPort, primaryPort, evmPort] = await Promise.all(Array.from({ length: 4 }, freePort))
  return {
    gateway: `http://localhost:${port}`,
    agent: `http://localhost:${agentPort}`,
    primaryChain: `http://127.0.0.1:${primaryPort}`,
    evmChain: `http://127.0.0.1:${evmPort}`,
    dataFolder,
    variables: {
      PORT: String(port),
      AGENT_PORT: String(agentPort),
      DEV_PRIMARY_RPC_PORT: String(primaryPort),
      DEV_EVM_RPC_PORT: String(evmPort),
      DATA_DIR: dataFolder,
    },
    leave: () => rm(dataFolder, { recursive: true }),
  }
}

export interface Started {
  output: string
  /** As Ctrl-C does: the signal reaches the whole process group. */
  interrupt(): Promise<void>
}

export async function npmStart(place: Place, variables: Record<string, string> = {}): Promise<Started> {
  // Not all of our own environment: the test runner sets variables of its own, BASE_URL among them.
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, HOME, NODE_COMPILE_CACHE, ...place.variables, ...variables }
  const child = spawn('npm', ['start'], { cwd: new URL('..', import.meta.url), env, detached: true })
  return { output: await untilReady(child), interrupt: () => interrupt(child) }
}

function untilReady(child: ChildProcess): Promise<string> {
  let output = ''
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk
      if (output.includes('Ctrl-C')) resolve(output)
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('exit', (code) => reject(new Error(`npm start ended with ${code}:\n${output}`)))
  })
}

async function interrupt(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  process.kill(-(child.pid as number), 'SIGINT')
  await exit
}
