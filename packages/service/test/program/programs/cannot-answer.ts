// The first process cannot answer the question of the second one.

import cluster from 'node:cluster'
import { createLog } from '../../../src/program/log.ts'
import { processGroup } from '../../../src/program/process-group.ts'
import { runUntilStopped } from '../../../src/program/run.ts'

const isFirst = cluster.worker?.id === 1
const fromAll = processGroup().fromAll(async () => {
  if (isFirst) throw new Error('no answer')
  return 'answer'
})
export async function run(): Promise<void> {
  await runUntilStopped(async () => ({ url: 'http://127.0.0.1', stop: async () => {} }))
  if (!isFirst) createLog('info').info({ answers: await fromAll() }, 'answered')
}
