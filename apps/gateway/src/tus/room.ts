import { places } from '@svc/concurrency/locks'
import { createTokenSealer, type TokenSealer } from '../auth/sealed-tokens.ts'
import type { TransfersContext } from '../transfers/room.ts'
import { createTurns, type TakeTurn } from './turns.ts'

export interface TusContext extends TransfersContext {
  uploadTokens: TokenSealer
  takeTurn: TakeTurn
  /** The memory of a block; null when all of it is in use. */
  takeBuffer: () => (() => void) | null
}

/** Of 8 MiB each. Requests beyond write what arrives straight to storage, and put it together there. */
const BUFFERS = 16

export function createTus(transfers: TransfersContext): TusContext {
  const { signers, randomBytes } = transfers
  const takePlaces = places()
  return {
    ...transfers,
    uploadTokens: createTokenSealer(signers.shortUrl, 'svc/tus-tokens/v1', randomBytes),
    takeTurn: createTurns(),
    takeBuffer: () => takePlaces({ key: 'buffers', max: BUFFERS }),
  }
}
