import { hash } from 'node:crypto'
import { startArweaveServer } from '@svc/devnet/providers/arweave/start'
import type { Progress } from '../../src/arweave/deliver.ts'
import { openArweave } from '../../src/arweave/open.ts'
import type { ArweaveSettings } from '../../src/arweave/settings.ts'
import type { StagedObject } from '../../src/slow-store.ts'
import { HTTP_TIMEOUTS, type HttpTimeouts } from '../../src/timeouts.ts'
import { newId, streamOf } from '../objects.ts'

export type TestArweave = Awaited<ReturnType<typeof startTestArweave>>

export const SEED = new Uint8Array(32).fill(7)

/** The driver's own timeouts, almost without pauses between attempts. */
const QUICK: HttpTimeouts = { ...HTTP_TIMEOUTS, answerMs: 60_000, backoffMs: 1 }

export async function startTestArweave() {
  const server = await startArweaveServer()
  const { uploadUrl, gateways } = server
  const settings: ArweaveSettings = { uploadUrl, gateways, token: 'solana', seed: SEED }
  return {
    server,
    store: await openArweave(settings, QUICK),
    /** Opens another driver on the same servers. */
    open: (changed?: Partial<ArweaveSettings>, timeouts?: Partial<HttpTimeouts>) =>
      openArweave({ ...settings, ...changed }, { ...QUICK, ...timeouts }),
  }
}

export interface TestObject extends StagedObject {
  progress: Progress | null
  /** The number of open streams of its bytes. */
  openStreams(): number
}

/** Records the progress for the next run. */
export function stagedObject(bytes: Uint8Array, changed: Partial<StagedObject> = {}): TestObject {
  let openStreams = 0
  const object: TestObject = {
    id: newId(),
    size: bytes.length,
    sha256: hash('sha256', bytes),
    contentType: 'image/png',
    async open(range) {
      openStreams++
      const stream = streamOf(range ? bytes.subarray(range.start, range.end + 1) : bytes)
      return stream.once('close', () => openStreams--)
    },
    async saveProgress(progress) {
      object.progress = JSON.parse(JSON.stringify(progress))
    },
    signal: new AbortController().signal,
    ...changed,
    progress: null,
    openStreams: () => openStreams,
  }
  return object
}
