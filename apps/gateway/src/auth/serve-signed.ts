// Endpoints behind a signed envelope.

import type { Endpoint, EnvelopeAuth } from '@svc/api/endpoint'
import { hasEnvelopeHeaders, missingEnvelope, requireEnvelopeHeaders } from '@svc/http-service/envelope'
import { type Operation, serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import type { Callers, LockerCaller, ReceiptCaller } from './callers.ts'

/** Bytes that are streamed cannot be bound: their hash is known too late. */
type SignedEndpoint = Endpoint & { auth: EnvelopeAuth; takesBytes?: never }
interface Doorkeeper {
  callers: Callers
}

/** For callers of a locker: the one in the path, or the one the envelope names. */
export function serveLocker<E extends SignedEndpoint>(
  service: Service,
  { callers }: Doorkeeper,
  endpoint: E,
  operation: Operation<E, LockerCaller>,
): void {
  const { ops } = endpoint.auth
  serveKnown(
    service,
    endpoint,
    (wire, { params }) =>
      callers.ofLocker(wire, ops, (params as { locker_id?: string } | undefined)?.locker_id ?? null),
    operation,
  )
}

/** For callers of a receipt, whose locker may be yet to come: the one in the query, or the one the envelope names. */
export function serveReceipt<E extends SignedEndpoint>(
  service: Service,
  { callers }: Doorkeeper,
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

/** Where an envelope may be left out, as long as the endpoint is open: null then. One that is sent is checked. */
export function serveReceiptOrAnybody<E extends SignedEndpoint>(
  service: Service,
  { callers }: Doorkeeper,
  endpoint: E,
  operation: Operation<E, ReceiptCaller | null>,
  isOpen = true,
): void {
  serveKnown(
    service,
    endpoint,
    (wire) => {
      if (hasEnvelopeHeaders(wire)) {
        requireEnvelopeHeaders(wire)
        return callers.ofReceipt(wire, endpoint.auth.ops, null)
      }
      if (isOpen) return null
      throw missingEnvelope()
    },
    operation,
  )
}
