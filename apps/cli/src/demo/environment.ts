// A gateway and chains for the demo, started like `npm start`, in a temporary folder.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { Failure } from '../errors.ts'
import type { Host } from '../host.ts'
import { missingPart, type Program } from './program.ts'

/** The addresses of a gateway and its chains. */
export interface Addresses {
  gateway: string
  primaryRpc: string
  evmRpc: string
}

export interface DemoEnvironment extends Addresses {
  stop(): Promise<void>
}

export async function startEnvironment(
  folder: string,
  { node, file }: Program,
  { env, signal }: Host,
): Promise<DemoEnvironment> {
  await mkdir(folder)
  const [port, agentPort, witnessPort, primaryPort, evmPort] = await freePorts(5)
  const variables = {
    PORT: String(port),
    AGENT_PORT: String(agentPort),
    WITNESS_PORT: String(witnessPort),
    DEV_PRIMARY_RPC_PORT: String(primaryPort),
    DEV_EVM_RPC_PORT: String(evmPort),
    DATA_DIR: folder,
  }
  // Pass only these variables: settings of another gateway must not reach this one.
  const child = spawn(node, [file], {
    cwd: folder,
    env: { PATH: env.PATH, HOME: env.HOME, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  })
  // Aborting the signal emits an error; the exit event is what counts.
  child.on('error', () => {})
  await untilReady(child)
  return {
    gateway: `http://localhost:${port}`,
    primaryRpc: `http://127.0.0.1:${primaryPort}`,
    evmRpc: `http://127.0.0.1:${evmPort}`,
    stop: () => stop(child),
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  for (const server of servers) server.close()
  return ports
}

async function untilReady(child: ChildProcess): Promise<void> {
  let output = ''
  const isReady = new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk
      if (output.includes('Ctrl-C')) resolve()
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('exit', () =>
      reject(missingPart(output) ?? new Failure(`the development environment did not start:\n${output}`)),
    )
  })
  await isReady
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}
