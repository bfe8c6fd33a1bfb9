// The parameters in the address: `#units=3&provider=gcs`, `#extends=rcpt_…`, `#purchase=…`. They are untrusted input.

import { MAX_UNITS } from '../../price/calculator.tsx'

export interface Wanted {
  units: number
  provider: string
  extends: string | null
  purchase: string | null
}

export const RECEIPT_ID = /^rcpt_[0-9a-f]{32}$/

export function parseHash(hash: string): Wanted {
  const fields = new URLSearchParams(hash.slice(1))
  const units = Number(fields.get('units'))
  const provider = fields.get('provider') ?? ''
  const of = fields.get('extends')
  const purchase = fields.get('purchase')
  return {
    units: Number.isInteger(units) && units >= 1 && units <= MAX_UNITS ? units : 1,
    provider: /^[a-z0-9_-]{1,30}$/.test(provider) ? provider : '',
    extends: of === null || of.length > 100 ? null : of,
    purchase: purchase !== null && /^[0-9a-f]{24}$/.test(purchase) ? purchase : null,
  }
}
