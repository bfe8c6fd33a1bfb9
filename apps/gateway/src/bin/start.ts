// `svc-gateway start`: the gateway, until it is stopped.

import { runUntilStopped } from '@svc/http-service/run'

export async function run(): Promise<void> {
  await runUntilStopped(async () => {
    const { readConfig } = await import('../config.ts')
    const { config, secrets } = readConfig(process.env)
    const { startGateway } = await import('../gateway.ts')
    return startGateway(config, secrets)
  })
}
