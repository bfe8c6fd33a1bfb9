// Requests of a locker's owner over HTTP: buy and open a locker, sign calls, upload files.

import { type PayableLeg, payLeg } from '@svc/devnet/pay-leg'
import { bytesOf, type Identity, type SignedCall, signCall } from '@svc/devnet/services/signing'
import { expect, vi } from 'vitest'
import type { Installation } from './npm-start.ts'

type Body = Record<string, unknown>

export interface Locker {
  receiptId: string
  lockerId: string
}

export function gatewayRequests(installation: Pick<Installation, 'gateway' | 'primaryChain' | 'evmChain'>) {
  async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const bytes = bytesOf(body)
    const json = bytes && { 'content-type': 'application/json' }
    const init = { method, headers: { ...json, ...headers }, ...(bytes && { body: bytes as BodyInit }) }
    const response = await fetch(installation.gateway + path, init)
    return { status: response.status, body: (await response.json()) as Body }
  }

  /** A signed request; any status but 200 fails the test. */
  async function call(who: Identity, request: SignedCall): Promise<Body> {
    const { headers, body } = signCall(who, request, Date.now())
    const answer = await send(request.method ?? 'GET', request.path, body, headers)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    return answer.body
  }

  async function buyLocker(owner: Identity, asset: string, network: string, payer = 0): Promise<Locker> {
    const leg = { pay_network: network, pay_asset: asset }
    const quote = await send('POST', '/v1/storage/request', { units: 1, ...leg })
    const [chosen] = quote.body.accepts as [PayableLeg]
    const chains = { primary: { url: installation.primaryChain }, evm: { url: installation.evmChain } }
    const tx = await payLeg(chains, chosen, { payer })
    const body = { pay_req_id: chosen.extra.pay_req_id, ...leg }
    const confirm = async () => {
      const answer = await send('POST', '/v1/storage/confirm', body, { 'x402-tx': tx })
      return answer.status !== 402 && answer
    }
    const confirmed = await vi.waitUntil(confirm, { timeout: 150_000, interval: 500 })
    expect(confirmed.status, JSON.stringify(confirmed.body)).toBe(200)
    const receiptId = confirmed.body.receipt_id as string
    const order = { receipt_id: receiptId, tags: ['acceptance'] }
    const request = { method: 'POST', path: '/v1/storage/signed_provision', body: order, receiptId }
    const { space } = await call(owner, { ...request, ops: ['locker:provision'] })
    return { receiptId, lockerId: (space as { locker_id: string }).locker_id }
  }

  /** Uploads the file and returns its URLs. */
  async function putFile(who: Identity, ids: Locker, file: Body, bytes: Uint8Array): Promise<Body> {
    const path = `/v1/lockers/${ids.lockerId}/files`
    const urls = await call(who, { ...ids, method: 'POST', path, body: file, ops: ['locker:write'] })
    const headers = urls.upload_headers as Record<string, string>
    const put = await fetch(urls.upload_url as string, { method: 'PUT', headers, body: bytes as BodyInit })
    expect(put.status, await put.text()).toBe(200)
    return urls
  }

  const confirmFile = ({ receiptId }: Locker, filename: string) =>
    send('POST', `/v1/files/confirm?${new URLSearchParams({ receipt_id: receiptId, filename })}`)

  return { send, call, buyLocker, putFile, confirmFile }
}
