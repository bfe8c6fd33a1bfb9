import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '@svc/http-service/service-error'
import { fromBase58 } from '@svc/protocol/bytes'
import { canonicalTx } from '@svc/protocol/ids'

/** From the header X402-TX, else from the body: the first of the two that has the form of a transaction (AMB-49). */
export function transactionId(headers: IncomingHttpHeaders, txSig: string | undefined): string {
  const candidates = [headers['x402-tx'], txSig].filter((text) => typeof text === 'string').map((text) => text.trim())
  const wellFormed = candidates.find(isTransactionId)
  if (wellFormed) return canonicalTx(wellFormed)
  throw new ServiceError('tx_required', 'name the transaction that paid', {
    hint: 'send header X402-TX, or tx_sig in the body: a base58 signature of 64 bytes, or 0x and 64 hex characters',
  })
}

function isTransactionId(text: string): boolean {
  return /^0x[0-9a-f]{64}$/i.test(text) || fromBase58(text, 64) !== null
}
