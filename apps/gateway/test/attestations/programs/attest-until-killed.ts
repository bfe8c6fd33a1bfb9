// For tests: a gateway that does its jobs, up to where it has read a locker and asks its storage what is absent. It
// says so, and there it stays.

import { writeSync } from 'node:fs'
import { openLocalProvider } from '@svc/storage/local'
import { onlyProvider } from '@svc/testbed/only-provider'
import { readConfig } from '../../../src/config.ts'
import { startGateway } from '../../../src/gateway.ts'

const { config, secrets } = readConfig(process.env)
const local = await openLocalProvider({ folder: config.storage.localFolder })
const provider = {
  ...local,
  absent() {
    // At once: the process may be killed for it.
    writeSync(1, 'reading\n')
    return new Promise<never>(() => {})
  },
}
const now = Number(process.argv[2])
await startGateway(config, secrets, {
  now: () => now,
  providers: onlyProvider(provider),
})
