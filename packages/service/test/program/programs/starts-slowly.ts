// The second process keeps starting until it is asked to stop.

import cluster from 'node:cluster'
import { createLog } from '../../../src/program/log.ts'
import { processGroup } from '../../../src/program/process-group.ts'
import { runUntilStopped } from '../../../src/program/run.ts'

const log = createLog('info')
export async function run(): Promise<void> {
  await runUntilStopped(async () => {
    processGroup().fromAll(async () => null)
    if (cluster.worker?.id === 2) {
      const { promise, resolve } = Promise.withResolvers<void>()
      process.on('message', (message) => message === 'stop' && resolve())
      log.info('the second process starts')
      await promise
    }
    return { url: 'http://127.0.0.1', stop: async () => log.info('stopped') }
  })
}
