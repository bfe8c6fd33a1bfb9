// Two processes, one of which is killed right before it is asked a question. The first attempt to replace it fails.

import { execFileSync } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { createLog } from '../../../src/program/log.ts'
import { startProcesses } from '../../../src/program/processes.ts'
import { runUntilStopped } from '../../../src/program/run.ts'

const log = createLog('info')
const program = new URL('idle.ts', import.meta.url)
await runUntilStopped(() => startProcesses({ program, count: 2, address: { host: '127.0.0.1', port: 0 }, log }))
const lost = cluster.workers?.[2]
if (!lost?.process.pid) throw new Error('there is no second process')
await once(lost, 'message')

cluster.setupPrimary({ cwd: '/no/such/folder' })
cluster.on('fork', (worker) => {
  if (worker.process.pid === undefined) cluster.setupPrimary({ cwd: process.cwd() })
  else worker.once('message', () => log.info('replaced'))
})
lost.process.kill('SIGKILL')
while (!stateOf(lost.process.pid).startsWith('Z'));
lost.emit('message', { ask: 1 })

/** Synchronous, so that this process does not learn of the end before it asks. */
function stateOf(pid: number): string {
  return execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
}
