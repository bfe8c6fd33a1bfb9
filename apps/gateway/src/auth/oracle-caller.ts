// Who may have a statement computed by asking for it: oracles that show their secret; anybody where there is none.

import { hash, timingSafeEqual } from 'node:crypto'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'

/** False for a caller who shows nothing where a secret is needed; a wrong secret throws (AMB-39). */
export type OracleCheck = (wire: Pick<WireRequest, 'headers'>) => boolean

export function createOracleCheck(secret: string | null): OracleCheck {
  if (secret === null) return () => true
  const expected = digest(secret)
  return ({ headers }) => {
    const shown = headers['x-oracle-secret']
    if (shown === undefined) return false
    // Digests: they are equally long, and how far two of them agree tells nothing about the secret (T-15).
    if (typeof shown === 'string' && timingSafeEqual(digest(shown), expected)) return true
    throw new ServiceError('ORACLE_SECRET_INVALID', 'this is not the secret of oracles', {
      hint: 'leave X-Oracle-Secret out to read what is attested already',
    })
  }
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
