// For tests: for each line of input, takes from many keys, many times at once, and prints how many takes were admitted.

import { once } from 'node:events'
import { openDatabase } from '@svc/database/open'
import { createRateLimiter } from '../../../src/guard/rate-limiter.ts'
import type { RateTables } from '../../../src/guard/rate-store.ts'
import { countAdmitted, rateMigrations } from '../rate-tables.ts'

const [url, now] = process.argv.slice(2) as [string, string]
const database = await openDatabase<RateTables>({ url, migrations: rateMigrations })
const { take } = createRateLimiter({ database, now: () => Number(now) })
console.log('ready')
await once(process.stdin, 'data')
process.stdin.pause()
let count = 0
for (let round = 0; round < 20; round++) {
  const ask = { key: `round ${round}`, perMinute: 10 }
  count += await countAdmitted(Array.from({ length: 100 }, (_, i) => take({ key: `${i % 7}`, perMinute: 1000 }, ask)))
}
console.log(count)
await database.close()
