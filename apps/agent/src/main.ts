// The agent service as operators run it: `node apps/agent/src/main.ts`, configured by the environment.

import { runUntilStopped, useCompileCache } from '@svc/http-service/run'

useCompileCache()
await runUntilStopped(async () => {
  const { readConfig } = await import('./config.ts')
  const { config, secrets } = readConfig(process.env)
  const { startAgent } = await import('./agent.ts')
  return startAgent(config, secrets)
})
