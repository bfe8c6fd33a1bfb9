// For tests: a gateway, requests of buyers, and signed requests of owners. Receipts of lockers that no test buys are
// written into its database.

import type { Confirmation, Quote } from '@svc/api/purchases'
import type { Overrides } from '@svc/gateway/context'
import type { Gateway } from '@svc/gateway/gateway'
import { lockerId as lockerIdOf } from '@svc/protocol/ids'
import type { Variables } from '@svc/service/program/config'
import { expect } from 'vitest'
import { type TestClock, testClock } from '../clock.ts'
import { startTestGateway } from './gateway.ts'
import { seedReceipt } from './seed-lockers.ts'
import { bytesOf, type Identity, type SignedCall, signCall } from './signing.ts'

export { ed25519Identity, evmIdentity, type Identity, type SignedCall } from './signing.ts'

export interface Reply<Body = Record<string, never>> {
  status: number
  headers: Headers
  body: Body
}

export interface TestGateway {
  gateway: Gateway
  clock: TestClock
  /** Fails the test unless the answer is 402. */
  quote(order?: object, headers?: Record<string, string>): Promise<Quote>
  /** Sends the transaction in the header; null sends none. */
  confirm(body: object, tx: string | null): Promise<Reply<Confirmation>>
  /** Adds a receipt of a purchase by this owner. */
  receipt(owner: Identity, options?: { provider?: string; units?: number }): Promise<string>
  /** Opens the locker of a new receipt, or of the one in the options. */
  locker(owner: Identity, options?: LockerOptions): Promise<TestLocker>
  /** Sends JSON, or the text or bytes of a body, without a signature. */
  send<Body>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply<Body>>
  /** The headers and the body of a signed call. */
  sign(who: Identity, call: SignedCall): { headers: Record<string, string>; body: Uint8Array | undefined }
  call<Body>(who: Identity, call: SignedCall): Promise<Reply<Body>>
  close(): Promise<void>
}

interface LockerOptions {
  provider?: string
  operators?: Identity[]
  tags?: string[]
  receiptId?: string
}

export interface TestLocker {
  owner: Identity
  lockerId: string
  receiptId: string
  /** Calls as the owner by default; `path` begins after `/v1/lockers/{locker_id}`. */
  call<Body>(ops: string[], method: string, path: string, body?: unknown, who?: Identity): Promise<Reply<Body>>
  /** Creates and uploads a file, and confirms it unless `confirm` is false. */
  put(
    filename: string,
    bytes: Uint8Array | string,
    options?: { contentType?: string; confirm?: boolean },
  ): Promise<void>
}

export interface TestGatewayOptions extends Overrides {
  /** A clock that several gateways share, or a gateway and its peers. */
  clock?: TestClock
}

export async function openTestGateway(
  variables: Variables = {},
  { clock = testClock(), ...overrides }: TestGatewayOptions = {},
): Promise<TestGateway> {
  return testGatewayOf(await startTestGateway(variables, { now: clock.now, ...overrides }), clock)
}

/** For a gateway that is already running. Methods that need its database work only if it runs in this process. */
export function testGatewayOf(
  running: Pick<Gateway, 'url'> & Partial<Gateway>,
  clock: TestClock = { now: Date.now, advance: () => {} },
): TestGateway {
  const gateway = running as Gateway
  let stopped: Promise<void> | undefined

  async function send<Body>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const type = { 'content-type': 'application/json' }
    const bytes = bytesOf(body)
    const init = { method, headers: { ...(bytes && type), ...headers }, ...(bytes && { body: bytes }) }
    return reply<Body>(await fetch(gateway.url + path, init as RequestInit))
  }

  const sign = (who: Identity, call: SignedCall) => signCall(who, call, clock.now())

  async function call<Body>(who: Identity, request: SignedCall): Promise<Reply<Body>> {
    const { headers, body } = sign(who, request)
    return send<Body>(request.method ?? 'GET', request.path, body, headers)
  }

  async function receipt({ identity: owner }: Identity, options?: { provider?: string; units?: number }) {
    return (await seedReceipt(gateway.context, { owner, ...options })).receipt_id
  }

  async function locker(
    owner: Identity,
    { provider = 'gcs', operators = [], tags = [], ...known }: LockerOptions = {},
  ): Promise<TestLocker> {
    const receiptId = known.receiptId ?? (await receipt(owner, { provider }))
    const lockerId = lockerIdOf(receiptId)
    const opened = await call(owner, {
      method: 'POST',
      path: '/v1/storage/signed_provision',
      body: { receipt_id: receiptId, tags },
      ops: ['locker:provision'],
      receiptId,
    })
    expect(opened.status, JSON.stringify(opened.body)).toBe(200)
    const base = `/v1/lockers/${lockerId}`
    const test: TestLocker = {
      owner,
      lockerId,
      receiptId,
      call: (ops, method, path, body, who = owner) =>
        call(who, { method, path: base + path, body, ops, lockerId, receiptId }),
      async put(filename, bytes, { contentType = 'text/plain', confirm = true } = {}) {
        const request = { filename, content_type: contentType }
        const made = await test.call<{ upload_url: string }>(['locker:write'], 'POST', '/files', request)
        expect(made.status, JSON.stringify(made.body)).toBe(200)
        const target = new URL(made.body.upload_url)
        const uploaded = await fetch(gateway.url + target.pathname, {
          method: 'PUT',
          headers: { 'content-type': contentType },
          body: bytes as BodyInit,
        })
        expect(uploaded.status, await uploaded.text()).toBe(200)
        if (!confirm) return
        const query = new URLSearchParams({ receipt_id: receiptId, filename })
        const confirmed = await send('POST', `/v1/files/confirm?${query}`)
        expect(confirmed.status, JSON.stringify(confirmed.body)).toBe(200)
      },
    }
    for (const { identity } of operators) {
      const added = await test.call(['locker:admin'], 'POST', '/operators', { pubkey: identity })
      expect(added.status, JSON.stringify(added.body)).toBe(200)
    }
    return test
  }

  return {
    gateway,
    clock,
    async quote(order = { units: 1 }, headers) {
      const { status, body } = await send<Quote>('POST', '/v1/storage/request', order, headers)
      expect(status, JSON.stringify(body)).toBe(402)
      return body
    },
    confirm: (body, tx) => send('POST', '/v1/storage/confirm', body, tx === null ? {} : { 'x402-tx': tx }),
    receipt,
    locker,
    send,
    sign,
    call,
    async close() {
      stopped ??= running.stop?.()
      await stopped
    },
  }
}

export async function reply<Body>(response: Response): Promise<Reply<Body>> {
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : null }
}

/** Expects an error with this status and code. */
export function expectRefusal({ status, body }: Reply<unknown>, wanted: number, code: string): void {
  expect([status, (body as { error?: string } | null)?.error], JSON.stringify(body)).toEqual([wanted, code])
}
