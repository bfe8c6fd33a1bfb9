// For tests: a real gateway behind a faulty proxy, and clients that record their waits instead of waiting.

import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FaultyProxy, startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { forAllTests } from '@svc/devnet/for-tests'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { seedLocker } from '@svc/devnet/services/seed-lockers'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type Client, createClient } from '../src/client.ts'
import type { ClientOptions, Overrides } from '../src/context.ts'
import { type Signer, signerFromEvmKey, signerFromSeed } from '../src/signers.ts'

type Settings = Parameters<typeof startTestGateway>
type TestGateway = Awaited<ReturnType<typeof startTestGateway>>

export interface Testbed {
  gateway: TestGateway
  proxy: FaultyProxy
  /** The recorded waits of all clients, in milliseconds. */
  waits: number[]
  /** Records a wait and resolves immediately. */
  wait: NonNullable<Overrides['wait']>
  client(options?: Partial<ClientOptions>, overrides?: Overrides): Client
  /** Creates an open locker of this owner. */
  locker(owner: Signer): Promise<{ locker_id: string; receipt_id: string }>
  close(): Promise<void>
}

export async function openTestbed(...settings: Settings): Promise<Testbed> {
  const gateway = await startTestGateway(...settings)
  const proxy = await startFaultyProxy(gateway.url)
  const waits: number[] = []
  const wait = async (ms: number, signal?: AbortSignal) => {
    signal?.throwIfAborted()
    waits.push(Math.round(ms))
  }
  return {
    gateway,
    proxy,
    waits,
    wait,
    client: (options, overrides) =>
      createClient({ baseUrl: proxy.url, onWarning: () => {}, ...options }, { wait, ...overrides }),
    async locker({ address: owner }) {
      const { locker_id, receipt_id } = await seedLocker(gateway.context, { owner })
      return { locker_id, receipt_id }
    },
    async close() {
      await proxy.stop()
      await gateway.stop()
    },
  }
}

/** The testbed of a test file. Each test begins without faults, recorded requests and waits. */
export function shared<T extends Testbed>(open: () => Promise<T>): T {
  const place = forAllTests(open)
  beforeEach(() => {
    place.proxy.behave()
    place.proxy.seen.length = 0
    place.waits.length = 0
  })
  return place
}

export const useTestbed = (...settings: Settings) => shared(() => openTestbed(...settings))

/** A temporary folder for the tests of a file. */
export function useFolder(): string {
  const folder = join(tmpdir(), `svc-sdk-${randomUUID()}`)
  beforeAll(() => mkdir(folder))
  afterAll(() => rm(folder, { recursive: true }))
  return folder
}

export const newEd25519 = () => signerFromSeed(randomBytes(32))
export const newEvm = () => signerFromEvmKey(randomBytes(32))

/** The error that a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`not rejected: ${JSON.stringify(value)}`)
    },
    (error: unknown) => error,
  )
}
