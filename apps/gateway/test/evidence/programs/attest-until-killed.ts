// A gateway that runs its jobs until it asks its storage for absent objects. Then it prints a line and waits until the
// test kills it.

import { writeSync } from 'node:fs'
import { onlyProvider } from '@svc/devnet/services/only-provider'
import { openLocalProvider } from '@svc/storage/local'
import { readConfig } from '../../../src/config.ts'
import { startGateway } from '../../../src/gateway.ts'

const { config, secrets } = readConfig(process.env)
const local = await openLocalProvider({ folder: config.storage.localFolder })
const provider = {
  ...local,
  absent() {
    // This write is synchronous, because the parent kills the process as soon as it reads the line.
    writeSync(1, 'reading\n')
    return new Promise<never>(() => {})
  },
}
const now = Number(process.argv[2])
await startGateway(config, secrets, {
  now: () => now,
  providers: onlyProvider(provider),
})
