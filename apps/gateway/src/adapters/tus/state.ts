import { places } from '@svc/concurrency/locks'
import { createTokenSealer, type TokenSealer } from '../../auth/sealed-tokens.ts'
import type { Context } from '../../context.ts'
import { createUploadLocks, type LockUpload } from './upload-locks.ts'

interface TusState {
  uploadTokens: TokenSealer
  lockUpload: LockUpload
  /** Takes the memory of one block; null when all of it is in use. */
  acquireBuffer: () => (() => void) | null
  /** Takes the memory for a block that arrives while the previous one is written. */
  acquireSpareBuffer: () => (() => void) | null
}

declare module '../../context.ts' {
  interface Context extends TusState {}
}

/** Each has 8 MiB. When all are in use, requests write directly to storage and merge the parts there. */
const BUFFERS = 12
/** A separate limit, so that few large uploads do not starve the others. */
const SPARE_BUFFERS = 4

export function openTus({ signers, randomBytes }: Context): TusState {
  const acquireSlots = places()
  return {
    uploadTokens: createTokenSealer(signers.shortUrl, 'svc/tus-tokens/v1', randomBytes),
    lockUpload: createUploadLocks(),
    acquireBuffer: () => acquireSlots({ key: 'buffers', max: BUFFERS }),
    acquireSpareBuffer: () => acquireSlots({ key: 'spare buffers', max: SPARE_BUFFERS }),
  }
}
