import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { ArweaveServer } from '@svc/devnet/providers/arweave/start'
import { expect } from 'vitest'
import type { SlowStore, StagedObject } from '../../src/slow-store.ts'
import { stagedObject, type TestObject } from './start-arweave.ts'

const MIB = 1024 * 1024
const MUCH = randomBytes(9 * MIB)

/** New bytes each time. Large objects are sent in two chunks. */
export function newObject(size: 'small' | 'large', changed: Partial<StagedObject> = {}): TestObject {
  if (size === 'small') return stagedObject(randomBytes(100_000), changed)
  return stagedObject(Buffer.concat([randomBytes(16), MUCH]), changed)
}

/** Returns the requests that were completely sent since then, without upload ids, and the number of paid items. */
export function watch(server: ArweaveServer) {
  const [bodies, items, uploads] = [server.bodies.length, server.items().length, server.uploads()]
  return () => ({
    sent: server.bodies.slice(bodies).map((line) => line.replace(/[0-9a-f-]{36}/, 'ID')),
    paid: server
      .items()
      .slice(items)
      .map(({ paid }) => paid),
    begun: server.uploads() - uploads,
  })
}

const CHUNKS = [0, 8 * MIB].map((offset) => `upload POST /v1/chunks/solana/ID/${offset}`)

export const ONE_POST = { sent: ['upload POST /v1/tx/solana'], paid: [1], begun: 0 }
export const ALL_CHUNKS = { sent: CHUNKS, paid: [1], begun: 1 }

export async function expectStored(store: SlowStore, object: TestObject, ref: string): Promise<void> {
  const [stored, whole] = await Promise.all([store.read(ref), object.open()])
  expect((await buffer(stored!)).equals(await buffer(whole))).toBe(true)
  expect(await store.stat(ref)).toEqual({ size: object.size })
  await expect.poll(object.openStreams).toBe(0)
}
