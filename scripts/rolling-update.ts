// `npm run rolling-update -- <commit>`: replaces two gateways of an earlier commit, one after the other, by two of this
// checkout, on one PostgreSQL under load; then rolls one back. Prints counts, and exits with 1 if an answer was wrong or
// acknowledged data is missing.

import { setTimeout } from 'node:timers/promises'
import { createFreshDatabase } from '../packages/devnet/src/databases.ts'
import { startLocalChains } from '../packages/devnet/src/local-chains.ts'
import { checkOut } from './rolling-update/check-out.ts'
import { startCustomers } from './rolling-update/customers.ts'
import { createFleet } from './rolling-update/fleet.ts'

const PHASE_MS = 20_000

const [commit] = process.argv.slice(2)
if (!commit) {
  console.error('usage: npm run rolling-update -- <commit, for example the tag of the last release>')
  process.exit(2)
}

await using opened = new AsyncDisposableStack()
const earlier = await checkOut(commit)
opened.defer(earlier.remove)
const database = await createFreshDatabase('postgres')
opened.defer(database.drop)
const chains = await startLocalChains({ landing: 'at once' })
opened.defer(chains.stop)
const fleet = await createFleet({ ...chains.variables, DATABASE_URL: database.url })
opened.defer(fleet.stop)

async function phase(name: string): Promise<void> {
  const before = customers.answers()
  await setTimeout(PHASE_MS)
  console.log(`${name}: ${customers.answers() - before} answers`)
}

const here = new URL('..', import.meta.url)
await fleet.start('a', earlier.folder)
await fleet.start('b', earlier.folder)
const customers = startCustomers(fleet.urls, { primary: chains.primary, evm: chains.evm })
await phase('earlier, earlier')
await fleet.replace('a', here)
await phase('this, earlier')
await fleet.replace('b', here)
await phase('this, this')
const isBack = await fleet.replace('b', earlier.folder).then(
  () => true,
  (error: Error) => console.log(`The earlier release does not start on this schema: ${error.message}`),
)
if (isBack) await phase('this, earlier again')
const problems = await customers.stop()
for (const problem of problems) console.error(problem)
console.log(problems.length === 0 ? 'No problems found.' : `${problems.length} problems found.`)
process.exitCode = problems.length === 0 ? 0 : 1
