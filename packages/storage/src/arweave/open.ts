import type { SlowStore } from '../slow-store.ts'
import { HTTP_TIMEOUTS, type HttpTimeouts } from '../timeouts.ts'
import { MAX_HEADER_BYTES } from './data-item.ts'
import { deliverItem } from './deliver.ts'
import { openGateways } from './gateways.ts'
import { itemSize, readItem } from './read.ts'
import type { ArweaveSettings } from './settings.ts'
import { openUploadService } from './upload-service.ts'

/** The service needs a while to join the chunks of an upload. */
const TIMEOUTS: HttpTimeouts = { ...HTTP_TIMEOUTS, answerMs: 60_000, backoffMs: 500 }

/** Turbo accepts this much as one item. */
const MAX_ITEM_BYTES = 4 * 1024 ** 3
const MAX_BYTES = MAX_ITEM_BYTES - MAX_HEADER_BYTES

/** Objects as data items on Arweave, which cannot be removed. */
export async function openArweave(settings: ArweaveSettings, timeouts = TIMEOUTS): Promise<SlowStore> {
  const gateways = openGateways(settings.gateways, timeouts)
  return {
    maxBytes: MAX_BYTES,
    async deliver(object) {
      const { size, signal } = object
      if (size > MAX_BYTES) throw new RangeError(`an object of ${size} bytes is too large for Arweave`)
      signal.throwIfAborted()
      const service = openUploadService(settings, timeouts)
      signal.addEventListener('abort', service.close)
      const sizeAtGateways = (id: string) => itemSize(gateways, id).catch(() => null)
      try {
        return { ref: await deliverItem({ service, seed: settings.seed, timeouts, sizeAtGateways }, object) }
      } catch (error) {
        signal.throwIfAborted()
        throw error
      } finally {
        signal.removeEventListener('abort', service.close)
        service.close()
      }
    },
    read: (ref, range) => readItem(gateways, timeouts, ref, range),
    async stat(ref) {
      const size = await itemSize(gateways, ref)
      return size === null ? null : { size }
    },
    async check() {
      const service = openUploadService(settings, timeouts)
      const answers = await Promise.all([service.isHealthy(), gateways.isHealthy()])
      service.close()
      return answers.every(Boolean)
    },
  }
}
