// A thread beside the tests that ends a hanging process and prints its position.

import { writeSync } from 'node:fs'
import { type Debugger, Session } from 'node:inspector'
import { setTimeout as pause } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'

export interface Watched {
  file: string
  limitMs: number
}

const ANSWER_MS = 5000
/** A busy thread reaches its next statement within this time. */
const STEP_MS = 1000

let timer: NodeJS.Timeout | undefined

parentPort?.on('message', (watched: Watched | null) => {
  clearTimeout(timer)
  if (watched) timer = setTimeout(() => void end(watched), watched.limitMs)
})

async function end({ file, limitMs }: Watched): Promise<void> {
  const where = await Promise.race([currentPosition(), pause(ANSWER_MS, 'in native code')])
  writeSync(2, `\n${file} has not ended within ${limitMs / 1000} s; it is ${where}\n`)
  process.kill(process.pid, 'SIGKILL')
}

async function currentPosition(): Promise<string> {
  const session = new Session()
  session.connectToMainThread()
  const frames = await Promise.race([nextStatement(session), pause(STEP_MS, [])])
  // Otherwise the debugger would pause at the evaluation below.
  if (frames.length === 0) session.post('Debugger.disable')
  return ['at', ...frames, `with these open: ${await openResources(session)}`].join('\n  ')
}

function nextStatement(session: Session): Promise<string[]> {
  const urls = new Map<string, string>()
  const frameText = ({ functionName, location: { scriptId, lineNumber } }: Debugger.CallFrame) =>
    `${functionName || '(anonymous)'} (${urls.get(scriptId)}:${lineNumber + 1})`
  return new Promise((resolve) => {
    session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url))
    session.once('Debugger.paused', ({ params }) => resolve(params.callFrames.map(frameText)))
    session.post('Debugger.enable')
    session.post('Debugger.pause')
  })
}

function openResources(session: Session): Promise<string> {
  const expression = '[...new Set(process.getActiveResourcesInfo())].join(", ")'
  return new Promise((resolve) => {
    session.post('Runtime.evaluate', { expression }, (error, answer) => resolve(error?.message ?? answer.result.value))
  })
}
