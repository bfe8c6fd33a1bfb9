// Serves endpoints that need a signed envelope.

import { type Endpoint, type EnvelopeAuth, maxBodyBytes } from '@svc/api/endpoint'
import { hasEnvelopeHeaders, missingEnvelope, requireEnvelopeHeaders } from '@svc/service/http/envelope'
import { type Operation, serveKnown } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { Auth } from './auth.ts'
import type { EnvelopeWalletCaller, LockerCaller, ReceiptCaller } from './callers.ts'
import { requireWritable } from './restrictions.ts'

/** An envelope cannot bind streamed bytes, because their hash is known too late. */
type SignedEndpoint = Endpoint & { auth: EnvelopeAuth; takesBytes?: never }
type Checks = Pick<Auth, 'callers'>

/** The caller acts on a locker: the one in the path, or the one in the envelope. */
export function serveLocker<E extends SignedEndpoint>(
  service: Service,
  { callers }: Checks,
  endpoint: E,
  operation: Operation<E, LockerCaller>,
): void {
  const { ops } = endpoint.auth
  const isWrite = ops.includes('locker:write')
  serveKnown(
    service,
    endpoint,
    async (wire, { params }) => {
      const pathLockerId = (params as { locker_id?: string } | undefined)?.locker_id ?? null
      const caller = await callers.ofLocker(wire, ops, pathLockerId)
      // Checked before any work; transactions that change the locker check again.
      if (isWrite) requireWritable(caller.locker)
      return caller
    },
    operation,
  )
}

/** The caller acts on a receipt, which may have no locker yet: the one in the query, or the one in the envelope. */
export function serveReceipt<E extends SignedEndpoint>(
  service: Service,
  { callers }: Checks,
  endpoint: E,
  operation: Operation<E, ReceiptCaller>,
): void {
  const { ops } = endpoint.auth
  serveKnown(
    service,
    endpoint,
    (wire, { query }) =>
      callers.ofReceipt(wire, ops, (query as { receipt_id?: string } | undefined)?.receipt_id ?? null),
    operation,
  )
}

/** The caller acts for a wallet: the one in the query, which must have signed. */
export function serveWallet<E extends SignedEndpoint>(
  service: Service,
  { callers }: Checks,
  endpoint: E,
  operation: Operation<E, EnvelopeWalletCaller>,
): void {
  const { ops } = endpoint.auth
  serveKnown(
    service,
    endpoint,
    (wire, { query }) => callers.ofWallet(wire, ops, (query as { wallet: string }).wallet),
    operation,
  )
}

/** An envelope is optional: without one the caller is null. An envelope that is sent is always checked. */
export function serveReceiptOrAnybody<E extends SignedEndpoint>(
  service: Service,
  { callers }: Checks,
  endpoint: E,
  operation: Operation<E, ReceiptCaller | null>,
  isOpen = true,
): void {
  serveKnown(
    service,
    endpoint,
    async (wire) => {
      if (hasEnvelopeHeaders(wire)) {
        requireEnvelopeHeaders(wire)
        return callers.ofReceipt(wire, endpoint.auth.ops, null)
      }
      await wire.collect(maxBodyBytes({}))
      if (isOpen) return null
      throw missingEnvelope()
    },
    operation,
  )
}
