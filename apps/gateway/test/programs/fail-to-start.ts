// Tries to start a gateway and prints the code of the error. The process exits by itself when no handle is open.

import { readConfig } from '../../src/config.ts'
import { startGateway } from '../../src/gateway.ts'

const { config, secrets } = readConfig(process.env)
await startGateway(config, secrets).then(
  ({ url }) => console.log(url),
  ({ code }) => console.log(code),
)
