import { createLog } from '../../../src/program/log.ts'
import { runUntilStopped } from '../../../src/program/run.ts'

export async function run(): Promise<void> {
  await runUntilStopped(async () => ({
    url: 'http://127.0.0.1',
    stop: async () => createLog('info').info('stopped'),
  }))
}
