import type { Patience } from '../timeouts.ts'
import type { UploadService } from './upload-service.ts'

/** What a run leaves to the next. */
export interface Notes {
  /** Of the item. */
  id: string
  /** Where its chunks are sent, when it is sent in chunks. */
  uploadId: string | null
}

export interface SettleTools {
  service: UploadService
  seed: Uint8Array
  patience: Patience
  /** How many bytes of the item are to be read somewhere; null also where nobody can be asked. */
  sizeAtGateways(id: string): Promise<number | null>
}
