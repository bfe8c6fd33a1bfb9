import type { Patience } from '../timeouts.ts'
import type { SlowStore } from '../slow-store.ts'
import { MAX_HEADER_BYTES } from './data-item.ts'
import { openGateways } from './gateways.ts'
import { PATIENCE } from './patience.ts'
import { itemSize, readItem } from './read.ts'
import type { ArweaveSettings } from './settings.ts'
import { settleItem } from './settle.ts'
import { openUploadService } from './upload-service.ts'

/** What Turbo takes as one item. */
const MAX_ITEM_BYTES = 4 * 1024 ** 3
const MAX_BYTES = MAX_ITEM_BYTES - MAX_HEADER_BYTES

/** Objects as data items on Arweave, where they stay for good. */
export async function openArweave(settings: ArweaveSettings, patience: Patience = PATIENCE): Promise<SlowStore> {
  const gateways = openGateways(settings.gateways, patience)
  return {
    maxBytes: MAX_BYTES,
    async settle(object) {
      const { size, signal } = object
      if (size > MAX_BYTES) throw new RangeError(`an object of ${size} bytes is too large for Arweave`)
      signal.throwIfAborted()
      const service = openUploadService(settings, patience)
      signal.addEventListener('abort', service.close)
      const sizeAtGateways = (id: string) => itemSize(gateways, id).catch(() => null)
      try {
        return { ref: await settleItem({ service, seed: settings.seed, patience, sizeAtGateways }, object) }
      } catch (error) {
        signal.throwIfAborted()
        throw error
      } finally {
        signal.removeEventListener('abort', service.close)
        service.close()
      }
    },
    read: (ref, range) => readItem(gateways, patience, ref, range),
    async stat(ref) {
      const size = await itemSize(gateways, ref)
      return size === null ? null : { size }
    },
    async check() {
      const service = openUploadService(settings, patience)
      const answers = await Promise.all([service.isWell(), gateways.isWell()])
      service.close()
      return answers.every(Boolean)
    },
  }
}
