// A thread that watches made-up input: a busy loop never reaches a timer of its own thread.

import { writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { openCaseBox } from './case-box.ts'

const { memory, hangsMs } = workerData as { memory: SharedArrayBuffer; hangsMs: number }
/** The limit for a case that waits forever, which takes no processor time. */
const WAITS_MS = 600_000
const MAX_MEGABYTES = 1024
const LOOK_MS = 200

const box = openCaseBox(memory)
let [seen, since, usage, megabytes] = [0, performance.now(), process.cpuUsage(), residentMegabytes()]
for (;;) {
  await pause(LOOK_MS)
  const now = box.current()
  if (now === 0 || now !== seen) {
    ;[seen, since, usage, megabytes] = [now, performance.now(), process.cpuUsage(), residentMegabytes()]
  } else if (processorMs(usage) > hangsMs || performance.now() - since > WAITS_MS) end('does not end')
  else if (residentMegabytes() - megabytes > MAX_MEGABYTES) end(`takes more than ${MAX_MEGABYTES} MB`)
}

function end(problem: string): void {
  writeSync(2, `\nmade-up input ${problem}; in base64 ${Buffer.from(box.read()).toString('base64')}\n`)
  process.kill(process.pid, 'SIGKILL')
}

/** The time of this process alone, since another program may have the processor. */
function processorMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}

function residentMegabytes(): number {
  return process.memoryUsage.rss() / 2 ** 20
}
