// A gateway that is reopened on one database, unchanged or restored from a backup.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testClock } from '@svc/devnet/clock'
import { type Identity, openTestGateway, type TestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import type { Overrides } from '../../src/context.ts'
import { type CopiedDatabase, copyDatabase, dropBackup } from './copy-database.ts'

export async function openRestorable(
  database: CopiedDatabase,
  own: Record<string, string> = {},
  overridesIn: (folder: string) => Promise<Overrides> = async () => ({}),
) {
  const clock = testClock(Date.now())
  const folder = await mkdtemp(join(tmpdir(), 'svc-restorable-'))
  const places = { DATA_DIR: folder, DATABASE_URL: database.url, LOGBOOK_DIR: join(folder, 'logbook') }
  const variables: Record<string, string> = { ...places, S3: 'on', ...own }
  let instance: TestGateway
  async function open(): Promise<void> {
    const overrides = await overridesIn(folder)
    instance = await openTestGateway(variables, { clock, ...overrides })
    // Envelopes that may have been used before a loss are refused for a while.
    clock.advance(31)
  }
  await open()
  return {
    clock,
    folder,
    database,
    variables,
    /** The gateway that is open. */
    instance: () => instance,
    /** Backs the database up, or restores it, and opens the gateway again. */
    async exchange(from: 'live' | 'backup'): Promise<void> {
      await instance.close()
      await copyDatabase(database, from)
      await open()
    },
    /** A locker of the gateway that is open. */
    async locker(owner: Identity, operators: Identity[] = [], receiptId?: string): Promise<TestLocker> {
      const made = await instance.locker(owner, { operators, ...(receiptId !== undefined && { receiptId }) })
      const ids = { lockerId: made.lockerId, receiptId: made.receiptId }
      const call: TestLocker['call'] = (ops, method, path, body, who = owner) =>
        instance.call(who, { method, path: `/v1/lockers/${ids.lockerId}${path}`, body, ops, ...ids })
      return { ...made, call }
    },
    async close() {
      await instance.close()
      await dropBackup(database)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
