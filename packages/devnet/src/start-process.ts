// Starts programs as processes, reads what they print, and kills them.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Variables } from '@svc/service/program/config'
import { onTestFinished, TestRunner } from 'vitest'

/** Runs the program that is its first argument from a bundle, in a quarter of the time that its sources take to load. */
export const LAUNCHER = new URL('../../../scripts/launch.mjs', import.meta.url)

/** Other variables are not passed on: the test runner sets some, BASE_URL among them. */
const PASSED_ON = ['PATH', 'NODE_COMPILE_CACHE', 'TMPDIR']
const ASK_EVERY_MS = 5

interface StartOptions {
  args?: readonly string[]
  env?: Variables
  cwd?: string | URL
  /** For a program that starts others: `kill` signals its whole group, and none of it outlives the program. */
  isGroup?: boolean
  /** Leaves it running at the end of the test that starts it: a later hook kills it. */
  outlivesTest?: boolean
}

interface Printed {
  stdout: string
  stderr: string
}

interface Ended extends Printed {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface StartedProcess {
  pid: number
  stdin: Writable
  /** All of its output so far. */
  readonly printed: Readonly<Printed>
  /**
   * Resolves with the first printed line that matches. Returns each line once, so a second call waits for another line.
   * Rejects with the whole output if the process ends first.
   */
  waitForLine(wanted: RegExp): Promise<RegExpMatchArray>
  /** The lines of its JSON log so far. */
  log(): Record<string, unknown>[]
  ended: Promise<Ended>
  /** Resolves when it has ended. */
  kill(signal?: NodeJS.Signals): Promise<Ended>
}

/**
 * A URL is a program for Node, and a string any other command. What a test starts is killed at its end; what a hook
 * starts, another hook has to kill.
 */
export function startProcess(program: URL | string, options: StartOptions = {}): StartedProcess {
  const { args = [], env = {}, cwd, isGroup = false, outlivesTest = false } = options
  const [command, ...first] = typeof program === 'string' ? [program] : [process.execPath, fileURLToPath(program)]
  const child = spawn(command, [...first, ...args], { cwd, env: programEnvironment(env), detached: isGroup })
  const pid = child.pid as number // undefined if the command does not exist; nothing is signalled then
  const printed = { stdout: '', stderr: '' }
  const lines: string[] = []
  let outcome: Ended | null = null
  let changed = Promise.withResolvers<void>()
  const notify = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text
    })
    createInterface(child[name]).on('line', (line) => {
      lines.push(line)
      notify()
    })
  }
  child.stdin.on('error', () => {}) // the process may end before it has read everything
  child.on('error', ({ message }) => {
    printed.stderr += message
  })
  if (isGroup) child.on('exit', () => void kill())
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => {
      outcome = { code, signal, ...printed }
      resolve(outcome)
      notify()
    })
  })

  async function waitForLine(wanted: RegExp): Promise<RegExpMatchArray> {
    for (;;) {
      const index = lines.findIndex((line) => wanted.test(line))
      if (index >= 0) return lines.splice(index, 1)[0]?.match(wanted) as RegExpMatchArray // it matches
      if (outcome) throw endedEarly(outcome, `it printed ${wanted}`)
      await changed.promise
    }
  }

  function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<Ended> {
    try {
      if (isGroup) process.kill(-pid, signal)
      else child.kill(signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // the group has ended
    }
    return ended
  }

  if (TestRunner.getCurrentTest() && !outlivesTest) onTestFinished(async () => void (await kill()))
  const log = () =>
    printed.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  return { pid, stdin: child.stdin, printed, waitForLine, log, ended, kill }
}

/** Resolves when the address answers with 200. Fails as soon as the process ends. */
export async function untilItAnswers(url: string, { ended }: StartedProcess): Promise<void> {
  let outcome: Ended | null = null
  void ended.then((known) => {
    outcome = known
  })
  while (!(await isHealthy(url))) {
    if (outcome) throw endedEarly(outcome, `${url} answered`)
    await setTimeout(ASK_EVERY_MS)
  }
}

async function isHealthy(url: string): Promise<boolean> {
  return fetch(url, { headers: { connection: 'close' } }).then(
    ({ status }) => status === 200,
    () => false,
  )
}

function endedEarly({ code, signal, stdout, stderr }: Ended, before: string): Error {
  return new Error(`the process ended with ${code ?? signal} before ${before}:\n${stdout}${stderr}`)
}

/** The environment of a program that a test starts: these variables, without those of this process that affect it. */
export function programEnvironment(variables: Variables): Record<string, string> {
  const named = PASSED_ON.map((name) => [name, process.env[name]])
  const all = [...named, ...Object.entries(variables)]
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}
