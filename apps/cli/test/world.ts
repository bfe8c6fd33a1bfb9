// For tests: a process that is not one. Its folder is gone afterwards, and what it says is kept.

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
  /** Whether somebody is there to answer. */
  isTerminal?: boolean
}

export interface TestHome {
  folder: string
  env: Record<string, string>
  /** Runs a command line; `env` beside what the home has. */
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
  const out = kept(isTerminal)
  const err = kept(isTerminal)
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

function kept(isTTY: boolean): { stream: TextStream; text: () => string } {
  const chunks: Buffer[] = []
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 100 })
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return { stream, text: () => Buffer.concat(chunks).toString() }
}

/** One document for each line; what is in them, each test knows. */
export function jsonLines<T = Record<string, unknown>>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** Of output that is one document. */
export function jsonDocument<T>(text: string): T {
  const [document, ...others] = jsonLines<T>(text)
  if (document === undefined || others.length > 0) throw new Error(`not one document: ${text}`)
  return document
}
