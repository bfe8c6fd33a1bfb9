import { places } from '@svc/concurrency/locks'
import { createTokenSealer, type TokenSealer } from '../../auth/sealed-tokens.ts'
import type { Context } from '../../context.ts'
import { createUploadLocks, type LockUpload } from './upload-locks.ts'

interface TusState {
  uploadTokens: TokenSealer
  lockUpload: LockUpload
  /** The memory of a block; null when all of it is in use. */
  takeBuffer: () => (() => void) | null
  /** The memory of a block that arrives while the one before it is written. */
  takeSpareBuffer: () => (() => void) | null
}

declare module '../../context.ts' {
  interface Context extends TusState {}
}

/** Of 8 MiB each. Requests beyond write what arrives straight to storage, and put it together there. */
const BUFFERS = 12
/** Apart from the others, so that few large uploads leave them to many. */
const SPARE_BUFFERS = 4

export function openTus({ signers, randomBytes }: Context): TusState {
  const takePlaces = places()
  return {
    uploadTokens: createTokenSealer(signers.shortUrl, 'svc/tus-tokens/v1', randomBytes),
    lockUpload: createUploadLocks(),
    takeBuffer: () => takePlaces({ key: 'buffers', max: BUFFERS }),
    takeSpareBuffer: () => takePlaces({ key: 'spare buffers', max: SPARE_BUFFERS }),
  }
}
