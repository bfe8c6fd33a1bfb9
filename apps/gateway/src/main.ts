// The gateway as operators run it: `node apps/gateway/src/main.ts`, configured by the environment.

import { runUntilStopped, useCompileCache } from '@svc/http-service/run'

useCompileCache()
await runUntilStopped(async () => {
  const { readConfig } = await import('./config.ts')
  const { config, secrets } = readConfig(process.env)
  const { startGateway } = await import('./gateway.ts')
  return startGateway(config, secrets)
})
