// The agent service as operators run it: `npx svc-agent`, configured by the environment.

import { runUntilStopped, useCompileCache } from '@svc/http-service/run'

useCompileCache()
await runUntilStopped(async () => {
  const { readConfig } = await import('./config.ts')
  const { config, secrets } = readConfig(process.env)
  const { startAgent } = await import('./agent.ts')
  return startAgent(config, secrets)
})
