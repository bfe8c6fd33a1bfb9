// `npm start`: the whole service in development mode on this machine, nothing external.

import { existsSync } from 'node:fs'
import { readConfig } from '@svc/gateway/config'
import { startGateway } from '@svc/gateway/gateway'
import { runUntilStopped } from '@svc/http-service/run'

await runUntilStopped(async () => {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const { config, secrets } = readConfig({
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    ...process.env,
    SVC_MODE: 'development',
  })
  const gateway = await startGateway(config, secrets)
  const { baseUrl } = config.http
  console.log(`
svc storage gateway (development mode)

  gateway      ${baseUrl}
  API page     ${baseUrl}/docs
  index        ${baseUrl}/.well-known/svc.json
  data         ${config.dataDir}

Try:   curl ${baseUrl}/.well-known/svc.json
Stop:  Ctrl-C
`)
  return gateway
})
