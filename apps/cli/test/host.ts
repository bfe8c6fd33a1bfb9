// For tests: runs `svc` inside the test process, with a temporary home folder and captured output.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { forAllTests } from '@svc/devnet/for-tests'
import { expect } from 'vitest'
import type { Host, TextStream } from '../src/host.ts'
import { run } from '../src/run.ts'

interface Ended {
  exitCode: number
  stdout: string
  stderr: string
}

export interface RunOptions {
  env?: Record<string, string>
  stdin?: string
  /** Whether a person can answer questions. */
  isTerminal?: boolean
}

export interface TestHome {
  folder: string
  env: Record<string, string>
  /** Runs a command line; `env` adds to the variables of the home. */
  svc(args: readonly string[], more?: RunOptions): Promise<Ended>
  /** Runs a command line that must succeed. */
  ok(...args: string[]): Promise<Ended>
  /** The JSON document that a command prints. */
  json<T = Record<string, unknown>>(...args: string[]): Promise<T>
  /** A path below the home folder. */
  path(...parts: string[]): string
  /** Writes files below a folder of the home, and returns the folder. */
  write(folder: string, files: Record<string, string | Buffer>): Promise<string>
  leave(): Promise<void>
}

export async function openHome(env: Record<string, string> = {}): Promise<TestHome> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-cli-'))
  const own = { HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), NO_COLOR: '1', ...env }
  async function svc(args: readonly string[], { env: more = {}, stdin = '', isTerminal = false }: RunOptions = {}) {
    const { host, stdout, stderr } = testHost({ ...own, ...more }, stdin, isTerminal)
    const exitCode = await run(args, host)
    return { exitCode, stdout: stdout(), stderr: stderr() }
  }
  async function ok(...args: string[]) {
    const ended = await svc(args)
    expect(ended.exitCode, ended.stderr + ended.stdout).toBe(0)
    return ended
  }
  return {
    folder,
    env: own,
    svc,
    ok,
    json: async (...args) => jsonDocument((await ok(...args, '--json')).stdout),
    path: (...parts) => join(folder, ...parts),
    async write(name, files) {
      for (const [file, content] of Object.entries(files)) {
        await mkdir(dirname(join(folder, name, file)), { recursive: true })
        await writeFile(join(folder, name, file), content)
      }
      return join(folder, name)
    },
    leave: () => rm(folder, { recursive: true }),
  }
}

export const useHome = (env?: Record<string, string>) => forAllTests(() => openHome(env))

/** Matches a command that ends with this exit code and this text on stderr. */
export const exits = (exitCode: number, text: string | RegExp) => ({ exitCode, stderr: includes(text) })

/** Matches text that contains this. */
export const includes = (text: string | RegExp): unknown =>
  typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text)

export function testHost(env: Record<string, string>, stdin = '', isTerminal = false) {
  const out = captured(isTerminal)
  const err = captured(isTerminal)
  const host: Host = {
    env,
    stdin: Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY: isTerminal }),
    stdout: out.stream,
    stderr: err.stream,
    signal: new AbortController().signal,
    now: Date.now,
  }
  return { host, stdout: out.text, stderr: err.text }
}

function captured(isTTY: boolean): { stream: TextStream; text: () => string } {
  const chunks: Buffer[] = []
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 100 })
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return { stream, text: () => Buffer.concat(chunks).toString() }
}

/** Parses one JSON document per line. */
export function jsonLines<T = Record<string, unknown>>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** Parses output that must be exactly one JSON document. */
export function jsonDocument<T>(text: string): T {
  const [document, ...others] = jsonLines<T>(text)
  if (document === undefined || others.length > 0) throw new Error(`not one document: ${text}`)
  return document
}
