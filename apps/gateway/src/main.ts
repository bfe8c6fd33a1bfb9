// The gateway as operators run it: `node apps/gateway/src/main.ts`, configured by the environment.

import { runUntilStopped } from '@svc/http-service/run'
import { readConfig } from './config.ts'
import { startGateway } from './gateway.ts'

await runUntilStopped(async () => {
  const { config, secrets } = readConfig(process.env)
  return startGateway(config, secrets)
})
