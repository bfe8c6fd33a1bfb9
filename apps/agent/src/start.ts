import { runUntilStopped } from '@svc/service/program/run'
import { startAgent } from './agent.ts'
import { readConfig } from './config.ts'

await runUntilStopped(async () => {
  const { config, secrets } = readConfig(process.env)
  return startAgent(config, secrets)
})
