// The gateway as operators run it: `node apps/gateway/src/main.ts`, configured by the environment.

import { rememberCompiled } from '@svc/http-service/compile-cache'
import { runUntilStopped } from '@svc/http-service/run'

rememberCompiled()
await runUntilStopped(async () => {
  const { readConfig } = await import('./config.ts')
  const { config, secrets } = readConfig(process.env)
  const { startGateway } = await import('./gateway.ts')
  return startGateway(config, secrets)
})
