// A gateway that is killed while it stores bytes as a file: before the step that its first argument counts. Each
// statement of the database is a step, as is each side of a commit and of a storage call. The program prints a line
// when it reaches the end.

import { writeSync } from 'node:fs'
import { StatementSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { onlyProvider } from '@svc/devnet/services/only-provider'
import { openLocalProvider } from '@svc/storage/local'
import type { StorageProvider } from '@svc/storage/provider'
import { readConfig } from '../../../src/config.ts'
import { findLockerOf } from '../../../src/files/store.ts'
import { storeBytes } from '../../../src/files/store-bytes.ts'
import { startGateway } from '../../../src/gateway.ts'
import { grantTo } from '../../../src/lockers/access.ts'

const [killedAt, now, lockerId, filename, text] = process.argv.slice(2) as [string, string, string, string, string]
let steps = Number.POSITIVE_INFINITY

function step(): void {
  if (--steps === 0) process.kill(process.pid, 'SIGKILL')
}

for (const name of ['all', 'get', 'run', 'iterate'] as const) {
  const execute = StatementSync.prototype[name] as (...parameters: unknown[]) => unknown
  Object.assign(StatementSync.prototype, {
    [name](this: StatementSync, ...parameters: unknown[]) {
      step()
      const result = execute.apply(this, parameters)
      if (this.sourceSQL === 'commit') step()
      return result
    },
  })
}

const { config, secrets } = readConfig(process.env)
const local = await openLocalProvider({ folder: config.storage.localFolder })
const countingSteps: Pick<StorageProvider, 'write' | 'remove'> = {
  async write(...about) {
    step()
    const written = await local.write(...about)
    step()
    return written
  },
  async remove(...about) {
    step()
    const outcome = await local.remove(...about)
    step()
    return outcome
  },
}
const gateway = await startGateway(config, secrets, {
  now: () => Number(now),
  providers: onlyProvider({ ...local, ...countingSteps }),
})
const { context } = gateway
const locker = (await findLockerOf(gateway.context.database.db, { locker_id: lockerId }))!
const bytes = Buffer.from(text)

steps = Number(killedAt)
const source = { open: () => Readable.from([bytes]), size: bytes.length, hash: 'now' } as const
await storeBytes(context, locker, source, {
  filename,
  contentType: 'text/plain',
  expectedHash: null,
  grant: grantTo(locker.owner, locker),
  mayCreate: true,
})
steps = Number.POSITIVE_INFINITY
writeSync(1, 'stored\n')
await gateway.stop()
