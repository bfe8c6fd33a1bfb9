import type { Readable } from 'node:stream'
import { gather } from '../batches.ts'
import type { Body } from '../http/send-body.ts'
import { MAX_PARTS, putInParts } from './multipart.ts'
import { carryOut, newWrite, ONLY_IF_NEW, type OwnWrite, refuseTaken } from './own-write.ts'
import { createPortions, notOfDeclaredSize, type Portions } from './portions.ts'
import type { Store } from './bucket.ts'

const MIB = 1024 * 1024
/** Up to here an object is held in memory: so it can be sent again, and its hash be signed. */
const SMALL_BYTES = MIB
/** Storj charges for each part as for one of 64 MiB, and keeps no more than that in one. */
const PART_BYTES = 64 * MIB
/** The store wants to know how long a part is: one of a source that does not say is held in memory first. */
const HELD_BYTES = 8 * MIB

export const MAX_BYTES = MAX_PARTS * PART_BYTES

export async function writeObject(
  store: Store,
  key: string,
  source: Readable,
  { contentType, size }: { contentType: string; size: number | null },
): Promise<number> {
  const gathering = gather(source)
  try {
    if (size !== null && size > MAX_BYTES) throw new RangeError(`the store takes ${MAX_BYTES} bytes in one object`)
    const write = newWrite(key, contentType)
    await refuseTaken(store, write)
    const portions = createPortions(gathering)
    return await carryOut(store, write, () => put(store, write, portions, size))
  } finally {
    gathering.release()
  }
}

async function put(store: Store, write: OwnWrite, portions: Portions, size: number | null): Promise<number> {
  if (size === null) return putUndeclared(store, write, portions)
  if (size <= SMALL_BYTES) return putWhole(store, write, await hold(portions, size))
  if (size <= PART_BYTES) return putWhole(store, write, portions.outflow(size, true))
  return putInParts(store, write, declaredParts(portions, size))
}

async function putWhole(store: Store, { key, headers }: OwnWrite, body: NonNullable<Body>): Promise<number> {
  await store.ask({ method: 'PUT', key, headers: { ...headers, ...ONLY_IF_NEW }, body })
  return body.length
}

async function putUndeclared(store: Store, write: OwnWrite, portions: Portions): Promise<number> {
  const room = Buffer.allocUnsafeSlow(HELD_BYTES)
  const length = await portions.fill(room)
  if (await portions.isAtEnd()) return putWhole(store, write, room.subarray(0, length))
  return putInParts(store, write, heldParts(portions, room, length))
}

async function hold(portions: Portions, size: number): Promise<Buffer> {
  const room = Buffer.allocUnsafeSlow(size)
  if ((await portions.fill(room)) < size || !(await portions.isAtEnd())) throw notOfDeclaredSize()
  return room
}

function* declaredParts(portions: Portions, size: number) {
  for (let left = size; left > 0; left -= PART_BYTES) {
    yield portions.outflow(Math.min(left, PART_BYTES), left <= PART_BYTES)
  }
}

/** One after the other in the same room: each is sent before the next is asked for. */
async function* heldParts(portions: Portions, room: Buffer, firstLength: number) {
  for (let length = firstLength; length > 0; length = await portions.fill(room)) yield room.subarray(0, length)
}
