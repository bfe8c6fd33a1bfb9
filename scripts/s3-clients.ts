// `npm run test:s3-clients`: stock S3 clients against a real gateway, over plain HTTP at `/s3` and over TLS at a host of
// its own. Installs the clients that are missing (Debian, root); those that cannot be had are named at the end.
//
//   npm run test:s3-clients -- rclone restic     some clients

import { rmSync } from 'node:fs'
import { CLIENTS } from './s3-clients/clients.ts'
import { install, versionOf } from './s3-clients/programs.ts'
import { openTestbed } from './s3-clients/testbed.ts'

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !CLIENTS.some((client) => client.name === name))
if (unknown.length > 0) {
  console.error(`no client is named ${unknown.join(', ')}; there are: ${CLIENTS.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

const testbed = await openTestbed()
const outcomes: { client: string; version: string; outcome: string }[] = []
for (const client of CLIENTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  const problem = install(client) ?? client.obstacle?.() ?? null
  const doors = client.needsHost ? [testbed.hosted] : [testbed.plain, testbed.hosted]
  const outcome = problem === null ? await tryClient(client, doors) : `not tried: ${problem}`
  outcomes.push({ client: client.name, version: problem === null ? versionOf(client) : '-', outcome })
  console.log(`${client.name}: ${outcome}`)
}
await testbed.close()
console.table(outcomes)
process.exit(outcomes.some(({ outcome }) => outcome.startsWith('failed')) ? 1 : 0)

async function tryClient(
  { drive }: (typeof CLIENTS)[number],
  doors: readonly (typeof testbed.plain)[],
): Promise<string> {
  try {
    for (const door of doors) {
      const place = await testbed.locker(door)
      await drive(place)
      rmSync(place.folder, { recursive: true })
    }
    return `good over ${doors.map(({ name }) => name).join(' and ')}`
  } catch (error) {
    return `failed: ${(error as Error).message}`
  }
}
