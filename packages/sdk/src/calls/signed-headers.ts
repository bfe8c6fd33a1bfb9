// The headers of a signed request, for callers that send it themselves.

import type { Endpoint, EnvelopeAuth } from '@svc/api/endpoint'
import { createContext, NO_KEYS, type Service } from '../context.ts'
import type { Signer } from '../signers.ts'
import { credentials } from './credentials.ts'

export interface RequestToSign {
  method: Endpoint['method']
  /** Without the query. */
  path: string
  ops: EnvelopeAuth['ops']
  body: Uint8Array
  /** Omitted if the request is not about a locker. */
  locker_id?: string
  receipt_id?: string
}

interface SignOptions {
  baseUrl: string
  signer: Signer
  /** Unix milliseconds, by the clock of the gateway. */
  now: () => number
}

export function signedHeaders(
  { now, ...options }: SignOptions,
  { method, path, ops, body, locker_id = '', receipt_id = '' }: RequestToSign,
): Promise<Record<string, string>> {
  const endpoint: Endpoint = { name: path, method, path, auth: { ops }, summary: '', responses: {} }
  const input = { query: { locker_id, receipt_id } }
  return credentials(createContext(GATEWAY, options, { now }), endpoint, { path, body, input })
}

const GATEWAY: Service = {
  name: 'gateway',
  readKeys: async () => NO_KEYS,
  ownsLockers: true,
  signerHeaders: () => ({}),
}
