// `npm run test:s3-clients`: tests stock S3 clients with a real gateway, over plain HTTP at `/s3` and over TLS at its own
// host. Installs missing clients (Debian, root), and lists unavailable ones at the end.
//
//   npm run test:s3-clients -- rclone restic     some clients

import { rmSync } from 'node:fs'
import { CLIENTS } from './s3-clients/clients.ts'
import { install, versionOf } from './s3-clients/programs.ts'
import { openTestbed } from './s3-clients/testbed.ts'

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !CLIENTS.some((client) => client.name === name))
if (unknown.length > 0) {
  console.error(`unknown client: ${unknown.join(', ')}; the clients are ${CLIENTS.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

const testbed = await openTestbed()
const outcomes: { client: string; version: string; outcome: string }[] = []
for (const client of CLIENTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  const problem = install(client) ?? client.obstacle?.() ?? null
  const endpoints = client.needsHost ? [testbed.hosted] : [testbed.plain, testbed.hosted]
  const outcome = problem === null ? await tryClient(client, endpoints) : `not tried: ${problem}`
  outcomes.push({ client: client.name, version: problem === null ? versionOf(client) : '-', outcome })
  console.log(`${client.name}: ${outcome}`)
}
await testbed.close()
console.table(outcomes)
process.exit(outcomes.some(({ outcome }) => outcome.startsWith('failed')) ? 1 : 0)

async function tryClient(
  { drive }: (typeof CLIENTS)[number],
  endpoints: readonly (typeof testbed.plain)[],
): Promise<string> {
  try {
    for (const endpoint of endpoints) {
      const setup = await testbed.locker(endpoint)
      await drive(setup)
      rmSync(setup.folder, { recursive: true })
    }
    return `passed over ${endpoints.map(({ name }) => name).join(' and ')}`
  } catch (error) {
    return `failed: ${(error as Error).message}`
  }
}
