// A gateway whose lockers are stored at a slow provider, behind a staging folder.

import { hash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LockerRecord } from '@svc/api/lockers'
import type { Drained } from '@svc/database/queue/queue'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway, type TestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import type { SlowStore } from '@svc/storage/slow-store'
import { startSlowServer } from '@svc/storage/test/slow-server'
import { beforeEach } from 'vitest'
import type { Overrides } from '../../../src/context.ts'
import { openStagedProviders, type StagedOptions } from './staged-providers.ts'

/** The staging folder and the provider's server, which several gateways may share. */
export async function openStages() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-staged-'))
  const server = await startSlowServer()
  return {
    folder,
    server,
    /** Ids of the objects that are staged. */
    async staged() {
      const entries = await readdir(join(folder, 'objects'), { recursive: true, withFileTypes: true })
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
    },
    async close() {
      await server.stop()
      await rm(folder, { recursive: true })
    },
  }
}

export async function openDeliveryGateway(
  { folder, server, staged }: Awaited<ReturnType<typeof openStages>>,
  variables: Record<string, string> = {},
  { maxBytes, ...overrides }: Pick<StagedOptions, 'maxBytes'> & Omit<Overrides, 'providers'> = {},
) {
  const hooks = { beforeDelivery: async () => {} }
  const wrap = (slow: SlowStore): SlowStore => ({
    ...slow,
    async deliver(object) {
      await hooks.beforeDelivery()
      return slow.deliver(object)
    },
  })
  const db = () => instance.gateway.context.database.db
  const providers = await openStagedProviders({ folder, url: server.url, db, wrap, maxBytes })
  const instance = await openTestGateway(variables, { providers, ...overrides })
  /** Advances the clock and runs the jobs that are due. */
  async function later(seconds: number): Promise<Drained> {
    instance.clock.advance(seconds)
    return instance.gateway.context.queue.drain()
  }
  return {
    ...instance,
    locker: (...[owner, options]: Parameters<TestGateway['locker']>) =>
      instance.locker(owner, { provider: 'arweave', ...options }),
    server,
    staged,
    /** Run before anything is recorded. */
    hooks,
    objects: () => db().selectFrom('objects').selectAll().execute(),
    deliveries: () => db().selectFrom('settling_objects').selectAll().execute(),
    later,
    async deliveriesOf(locker: TestLocker) {
      const { body } = await locker.call<LockerRecord>(['locker:read'], 'GET', '/record')
      return body.settling
    },
    /** Clears the state that earlier tests left. */
    async reset() {
      hooks.beforeDelivery = async () => {}
      Object.assign(server, { isDown: false, isSealing: true, isReadable: true })
      for (const table of ['settling_objects', 'objects'] as const) await writable(db()).deleteFrom(table).execute()
      for (const id of await staged()) await rm(join(folder, 'objects', id.slice(0, 2), id))
      // Jobs of earlier tests find nothing to do.
      await later(4 * 3600)
    },
  }
}

export const hex = (bytes: string | Uint8Array) => hash('sha256', bytes)

/** Call it where tests are declared. Each test has a new locker and no state of earlier tests. */
export function deliveryGateway(variables = () => ({}), options: Parameters<typeof openDeliveryGateway>[2] = {}) {
  const stages = forAllTests(openStages)
  const instance = forAllTests(() => openDeliveryGateway(stages, variables(), options))
  const locker = forEachTest(() => instance.locker(ed25519Identity()))
  beforeEach(() => instance.reset())
  return { stages, instance, locker }
}
