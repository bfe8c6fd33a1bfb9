// For tests: runs `svc` inside the test process, with a temporary home folder and captured output.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { run } from '../src/run.ts'
import type { TextStream, World } from '../src/world.ts'

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
  leave(): Promise<void>
}

export async function openHome(env: Record<string, string> = {}): Promise<TestHome> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-cli-'))
  const own = { HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), NO_COLOR: '1', ...env }
  return {
    folder,
    env: own,
    async svc(args, { env: more = {}, stdin = '', isTerminal = false } = {}) {
      const { world, stdout, stderr } = testWorld({ ...own, ...more }, stdin, isTerminal)
      const exitCode = await run(args, world)
      return { exitCode, stdout: stdout(), stderr: stderr() }
    },
    leave: () => rm(folder, { recursive: true }),
  }
}

export function testWorld(env: Record<string, string>, stdin = '', isTerminal = false) {
  const out = captured(isTerminal)
  const err = captured(isTerminal)
  const world: World = {
    env,
    stdin: Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY: isTerminal }),
    stdout: out.stream,
    stderr: err.stream,
    signal: new AbortController().signal,
    now: Date.now,
  }
  return { world, stdout: out.text, stderr: err.text }
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
