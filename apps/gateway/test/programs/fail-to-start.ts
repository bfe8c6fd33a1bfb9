// For tests: tries to start a gateway, and prints the code of what went wrong. The process ends by itself once nothing is
// open any more.

import { readConfig } from '../../src/config.ts'
import { startGateway } from '../../src/gateway.ts'

const { config, secrets } = readConfig(process.env)
await startGateway(config, secrets).then(
  ({ url }) => console.log(url),
  ({ code }) => console.log(code),
)
