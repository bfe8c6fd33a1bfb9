// The key that signs requests of this page. It stays in memory, and only its signatures are sent.

import { signal } from '@preact/signals'
import type { Endpoint } from '@svc/api/endpoint'
import type { Op } from '@svc/protocol/names'
import type { Signer } from '@svc/sdk/signers'
import { getJson, publicUrl } from '../../gateway.ts'
import type { Operation } from './document.ts'
import { type FormValues, type PreparedRequest, prepare } from './request.ts'

export const signer = signal<Signer | null>(null)

export async function freshKey(): Promise<Signer> {
  const { signerFromSeed } = await import('@svc/sdk/signers')
  return signerFromSeed(crypto.getRandomValues(new Uint8Array(32)))
}

/** The lead of the gateway's clock in milliseconds; the gateway checks envelopes by its own clock. */
let clockLead: number | null = null

/** The request with the two headers that sign it. They work once, for a minute. */
export async function signed(operation: Operation, values: FormValues, by: Signer): Promise<PreparedRequest> {
  const { signedHeaders } = await import('@svc/sdk/signed-headers')
  clockLead ??= await readClockLead()
  const isAboutWallet = isOfWallet(operation)
  const request = prepare(operation, isAboutWallet ? withWallet(values, by) : values)
  const { path, body } = request
  const lead = clockLead
  const headers = await signedHeaders(
    { baseUrl: publicUrl(), signer: by, now: () => Date.now() + lead },
    {
      method: request.method as Endpoint['method'],
      path,
      // The description lists alternative ops as `a or b`.
      ops: operation.ops.map((op) => op.split(' or ')[0] as Op),
      body: typeof body === 'string' ? new TextEncoder().encode(body) : (body ?? new Uint8Array()),
      ...(isAboutWallet ? {} : idsOf(values)),
    },
  )
  return { ...request, headers: { ...request.headers, ...headers } }
}

/** Whether a request is about a wallet instead of a locker; that wallet must sign. */
export function isOfWallet({ parameters }: Operation): boolean {
  return parameters.some(({ name }) => name === 'wallet')
}

function withWallet(values: FormValues, { address: wallet }: Signer): FormValues {
  return { ...values, parameters: { ...values.parameters, wallet } }
}

async function readClockLead(): Promise<number> {
  const { time } = await getJson<{ time: string }>('/health').catch(() => ({ time: '' }))
  const lead = Date.parse(time) - Date.now()
  return Math.abs(lead) > 2_000 ? lead : 0
}

/** The locker and receipt that the request is about. */
function idsOf({ parameters, body, receiptId }: FormValues): { locker_id: string; receipt_id: string } {
  const fields = parsed(body)
  const named = (name: string) => String(parameters[name] || fields[name] || '')
  return { locker_id: named('locker_id'), receipt_id: named('receipt_id') || receiptId }
}

function parsed(body: string): Record<string, unknown> {
  try {
    return (JSON.parse(body) as Record<string, unknown> | null) ?? {}
  } catch {
    return {}
  }
}
