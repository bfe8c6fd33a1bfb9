import { places } from '@svc/concurrency/locks'
import { createTokenSealer, type TokenSealer } from '../../auth/sealed-tokens.ts'
import type { HttpContext } from '../http/room.ts'
import { createTurns, type TakeTurn } from './turns.ts'

export interface TusContext extends HttpContext {
  uploadTokens: TokenSealer
  takeTurn: TakeTurn
  /** The memory of a block; null when all of it is in use. */
  takeBuffer: () => (() => void) | null
}

/** Of 8 MiB each. Requests beyond write what arrives straight to storage, and put it together there. */
const BUFFERS = 16

export function createTus(http: HttpContext): TusContext {
  const { signers, randomBytes } = http
  const takePlaces = places()
  return {
    ...http,
    uploadTokens: createTokenSealer(signers.shortUrl, 'svc/tus-tokens/v1', randomBytes),
    takeTurn: createTurns(),
    takeBuffer: () => takePlaces({ key: 'buffers', max: BUFFERS }),
  }
}
