// For tests: the server, as a process or in memory, and a client of the MCP SDK that is connected to it.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { forAllTests } from '@svc/devnet/for-tests'
import { programEnvironment, type StartedProcess, startProcess } from '@svc/devnet/start-process'
import { Compile } from 'typebox/compile'
import { createContext } from '../../src/mcp/context.ts'
import { createCalls } from '../../src/mcp/server/calls.ts'
import { createLog } from '../../src/mcp/server/log.ts'
import { createServer } from '../../src/mcp/server/server.ts'
import { readSettings, type Settings } from '../../src/mcp/settings.ts'
import { TOOLS } from '../../src/mcp/tools/all.ts'
import { openSession } from '../../src/session.ts'
import { testHost } from '../host.ts'

export const MAIN = new URL('../../bin/svc-mcp.mjs', import.meta.url)

/** `memory` runs the server inside the test process, where the test controls the clock. */
export type TransportName = 'stdio' | 'http' | 'memory'
export type Variables = Record<string, string>

/** A temporary folder with a root for files in it. */
export interface Desk {
  folder: string
  root: string
  /** Writes a private key file and returns its path. */
  keyFile(name: string, text: string): Promise<string>
  remove(): Promise<void>
}

export async function openDesk(): Promise<Desk> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-mcp-'))
  const root = await mkdtemp(join(folder, 'root-'))
  return {
    folder,
    root,
    async keyFile(name, text) {
      const path = join(folder, name)
      await writeFile(path, text, { mode: 0o600 })
      return path
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** A desk that the tests of a file share. */
export const useDesk = () => forAllTests(openDesk)

export function environment(desk: Desk, variables: Variables): Variables {
  const { folder, root } = desk
  return programEnvironment({
    HOME: folder,
    SVC_MCP_ROOT: root,
    SVC_MCP_STATE: join(folder, 'state'),
    ...variables,
  })
}

export interface TestServer {
  client: Client
  /** The log so far. */
  log(): string
  /** Throws if the tool fails. */
  call(name: string, input?: object, meta?: object): Promise<Record<string, unknown>>
  /** The whole result, also of a failed call. */
  ask(name: string, input?: object, meta?: object): Promise<CallToolResult>
  stop(): Promise<void>
}

export async function startServer(
  transport: TransportName,
  desk: Desk,
  variables: Variables,
  now?: () => number,
): Promise<TestServer> {
  const env = environment(desk, variables)
  if (transport === 'memory') return inMemory(env, desk.folder, now)
  return transport === 'stdio' ? overStdio(env) : overHttp(env)
}

/** A server that can be killed. */
export function startStdio(desk: Desk, variables: Variables): Promise<TestServer & { pid: number }> {
  return overStdio(environment(desk, variables))
}

/** The settings of a server that a client starts in a folder. */
export function settingsIn(env: Variables, folder: string): Promise<Settings> {
  const state = env.SVC_MCP_STATE
  return readSettings(env, folder, () => openSession(testHost(env).host, { ...(state && { folder: state }) }))
}

async function inMemory(env: Variables, folder: string, now?: () => number): Promise<TestServer> {
  return openServer(await settingsIn(env, folder), now)
}

/** A server inside the test process. */
export async function openServer(settings: Settings, now?: () => number): Promise<TestServer> {
  let lines = ''
  const log = createLog({
    write: (line: string) => {
      lines += line
    },
  })
  const context = await createContext(settings, { warn: log, wait: async () => {}, ...(now && { now }) })
  const [here, there] = InMemoryTransport.createLinkedPair()
  await createServer({ context, calls: createCalls(), log }).connect(there)
  const client = await connected(here)
  return { ...callsBy(client), log: () => lines, stop: () => client.close() }
}

async function overStdio(env: Variables): Promise<TestServer & { pid: number }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [fileURLToPath(MAIN)],
    env,
    stderr: 'pipe',
  })
  let log = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    log += chunk
  })
  const client = await connected(transport)
  const pid = transport.pid as number // set once connected
  return { ...callsBy(client), pid, log: () => log, stop: () => client.close() }
}

async function overHttp(env: Variables): Promise<TestServer> {
  const server = await startHttp(env)
  const client = await connected(new StreamableHTTPClientTransport(new URL(server.url)) as Transport)
  return {
    ...callsBy(client),
    log: () => server.printed.stderr,
    async stop() {
      await client.close()
      await server.kill('SIGTERM')
    },
  }
}

export interface HttpProcess extends StartedProcess {
  url: string
}

/** Starts `svc-mcp --http 0` and waits until it listens. */
export async function startHttp(env: Variables, ...args: string[]): Promise<HttpProcess> {
  const server = startProcess(MAIN, { args: ['--http', '0', ...args], env })
  const [url] = await server.waitForLine(/(?<=listening at )\S+/)
  return { ...server, url }
}

async function connected(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  return client
}

const outputs = new Map(TOOLS.map(({ name, output }) => [name, Compile(output)]))

/** Every answer must have the declared fields, although their schemas are not listed. */
function requireDeclared(name: string, answer: unknown): void {
  const problems = outputs.get(name)?.Errors(answer) ?? []
  if (problems.length > 0) throw new Error(`${name} answers otherwise than declared: ${JSON.stringify(problems)}`)
}

function callsBy(client: Client): Pick<TestServer, 'client' | 'ask' | 'call'> {
  const ask = async (name: string, input: object = {}, meta?: object) => {
    const result = (await client.callTool({
      name,
      arguments: { ...input },
      ...(meta && { _meta: { ...meta } }),
    })) as CallToolResult
    if (!result.isError) requireDeclared(name, result.structuredContent)
    return result
  }
  return {
    client,
    ask,
    async call(name, input, meta) {
      const result = await ask(name, input, meta)
      if (result.isError) throw new Error(`${name}: ${textOf(result)}`)
      return result.structuredContent as Record<string, unknown>
    },
  }
}

export function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}

/** The code of a failed call. */
export function codeOf(result: CallToolResult): string | undefined {
  return (result._meta?.['svc/error'] as { code: string } | undefined)?.code
}
