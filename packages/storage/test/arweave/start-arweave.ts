import { hash } from 'node:crypto'
import { type ArweaveServer, startArweaveServer } from '@svc/devnet/providers/arweave/start'
import { openArweave } from '../../src/arweave/open.ts'
import { PATIENCE } from '../../src/arweave/patience.ts'
import type { ArweaveSettings } from '../../src/arweave/settings.ts'
import type { Notes } from '../../src/arweave/settle-tools.ts'
import type { Patience } from '../../src/timeouts.ts'
import type { SettlingObject, SlowStore } from '../../src/slow-store.ts'
import { newId, streamOf } from '../objects.ts'

export interface TestArweave {
  server: ArweaveServer
  store: SlowStore
  /** Opens another driver on the same servers. */
  open(settings?: Partial<ArweaveSettings>, patience?: Partial<Patience>): Promise<SlowStore>
}

export const SEED = new Uint8Array(32).fill(7)

/** Waits for no time that a test would notice. */
const QUICK: Patience = { ...PATIENCE, backoffMs: 1 }

export async function startTestArweave(): Promise<TestArweave> {
  const server = await startArweaveServer()
  const { uploadUrl, gateways } = server
  const settings: ArweaveSettings = { uploadUrl, gateways, token: 'solana', seed: SEED }
  return {
    server,
    store: await openArweave(settings, QUICK),
    open: (changed, patience) => openArweave({ ...settings, ...changed }, { ...QUICK, ...patience }),
  }
}

export interface TestObject extends SettlingObject {
  notes: Notes | null
  /** How many streams of its bytes are still held. */
  held(): number
}

/** Keeps what is noted, for the next run. */
export function settlingObject(bytes: Uint8Array, changed: Partial<SettlingObject> = {}): TestObject {
  let held = 0
  const object: TestObject = {
    id: newId(),
    size: bytes.length,
    sha256: hash('sha256', bytes),
    contentType: 'image/png',
    async open(range) {
      held++
      const stream = streamOf(range ? bytes.subarray(range.start, range.end + 1) : bytes)
      return stream.once('close', () => held--)
    },
    async note(notes) {
      object.notes = JSON.parse(JSON.stringify(notes))
    },
    signal: new AbortController().signal,
    ...changed,
    notes: null,
    held: () => held,
  }
  return object
}
