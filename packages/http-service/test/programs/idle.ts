import { createLog } from '../../src/log.ts'
import { runUntilStopped } from '../../src/run.ts'

export async function run(): Promise<void> {
  await runUntilStopped(async () => ({
    url: 'http://127.0.0.1',
    stop: async () => createLog('info').info('stopped'),
  }))
}
