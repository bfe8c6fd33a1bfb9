// `svc-gateway start`: runs the gateway until it is stopped.

import cluster from 'node:cluster'
import { createLog } from '@svc/service/program/log'
import { startProcesses } from '@svc/service/program/processes'
import { runUntilStopped } from '@svc/service/program/run'
import { readConfig } from '../config.ts'

export async function run(): Promise<void> {
  await runUntilStopped(async () => {
    const { config, secrets } = readConfig(process.env)
    const { mode, processes } = config
    if (processes > 1 && cluster.isPrimary) {
      const log = createLog(config.log.level)
      const program = new URL(import.meta.url)
      const running = await startProcesses({ program, count: processes, address: config.http, log })
      log.info({ url: running.url, mode, processes }, 'gateway started')
      return running
    }
    const { startGateway } = await import('../gateway.ts')
    return startGateway(config, secrets)
  })
}
