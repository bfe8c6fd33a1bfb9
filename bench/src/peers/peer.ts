import { drainBytes, sendBytes, textOf } from '../bytes.ts'
import type { ServerProcess } from '../server-process.ts'

/** A server that a user could pick, and how a client stores and reads objects there. */
export interface Peer {
  name: string
  /** What it has done with the bytes when it answers. */
  does: string
  /** Whether it stores records about its objects, as the gateway does. The others serve a plain folder. */
  keepsRecords: boolean
  server: ServerProcess
  put(name: string, length: number): Promise<void>
  /** Stores several small objects in the fastest way of this server. */
  putMany(names: readonly string[], length: number): Promise<void>
  get(name: string): Promise<void>
  /** Uploads resumably; null if the server cannot. */
  putInParts: ((name: string, length: number) => Promise<void>) | null
}

const PART_BYTES = 8 * 1_048_576
const AT_ONCE = 4

/** Runs work for each item, four at a time. */
export async function fourAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values()
  const worker = async () => {
    for (const item of waiting) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

export function partsOf(length: number): { index: number; bytes: number }[] {
  return Array.from({ length: Math.ceil(length / PART_BYTES) }, (_, index) => ({
    index,
    bytes: Math.min(PART_BYTES, length - index * PART_BYTES),
  }))
}

/** A server that stores an object at its URL. */
export function plainPeer(about: Pick<Peer, 'name' | 'does' | 'keepsRecords' | 'server'>): Peer {
  const { url } = about.server
  const put = async (name: string, length: number) => {
    await textOf(await sendBytes({ url: `${url}/${name}` }, length))
  }
  return {
    ...about,
    put,
    putMany: (names, length) => fourAtOnce(names, (name) => put(name, length)),
    get: async (name) => void (await drainBytes(`${url}/${name}`)),
    putInParts: null,
  }
}
