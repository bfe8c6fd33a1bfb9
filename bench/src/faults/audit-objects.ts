// Compares the number of objects at the providers with the number referenced, after the sweeps: no object stays orphaned.
// The sweeps wait for up to two days, so a gateway and a store whose clocks are days ahead run them. That gateway does
// not compare its clock with the database's.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { lockersOf } from '../mixed/ledger.ts'
import type { Shopper } from '../mixed/shopper.ts'
import type { Check } from './check.ts'
import type { Testbed } from './testbed.ts'

const HOUR_MS = 3_600_000
/** Longer than an upload session may be open or an upload may take. */
const FIRST_HOURS = 50
const PASSES = 12
const POLLS_PER_PASS = 20

export async function auditObjects(testbed: Testbed, shopper: Shopper): Promise<Check> {
  const referenced = (await countReferences(shopper)) - shopper.ledger.restores.undeleted
  const isRestored = shopper.ledger.losses.length > 0
  const check: Check = { promise: 'no bytes stay orphaned', checked: referenced, broken: [] }
  await Promise.all(testbed.replicas.map((replica) => replica.kill()))
  const [sweeper] = testbed.replicas
  for (let pass = 0; pass < PASSES; pass++) {
    // One sweep releases an object, and a later one removes it.
    const jumpMs = (FIRST_HOURS + pass) * HOUR_MS
    testbed.storj.setClock(jumpMs)
    await sweeper!.start({ clock: { jumpMs, afterMs: 0 }, variables: { CLOCK_TOLERANCE_SECONDS: '0' } })
    for (let poll = 0; poll < POLLS_PER_PASS; poll++) {
      const spare = countStored(testbed) - referenced
      // A restored database does not know the objects stored after its backup.
      if ((spare === 0 && testbed.storj.uploads() === 0) || (isRestored && spare >= 0)) return check
      await setTimeout(500)
    }
  }
  check.broken.push(`${countStored(testbed)} objects and ${testbed.storj.uploads()} uploads for ${referenced} files`)
  return check
}

/** The number of files with bytes in the lists of all lockers. */
async function countReferences(shopper: Shopper): Promise<number> {
  let count = 0
  for (const locker of lockersOf(shopper.ledger)) {
    const path = `/v1/lockers/${locker.lockerId}/manifest?limit=1000`
    const manifest = await shopper.signed(locker.owner, 'audit', { ...locker, path, ops: ['locker:read'] })
    if (!manifest) throw new Error(`no manifest of ${locker.lockerId}`)
    const files = manifest.files as { status: string }[]
    count += files.filter(({ status }) => status === 'confirmed').length
  }
  return count
}

function countStored({ storageFolder, storj }: Testbed): number {
  const files = readdirSync(storageFolder, { recursive: true, encoding: 'utf8' })
  // A sweep may remove a file meanwhile.
  const isFile = (name: string) => statSync(join(storageFolder, name), { throwIfNoEntry: false })?.isFile()
  return files.filter(isFile).length + storj.objects()
}
