// For tests: a gateway without chains, whose receipts are written into its database, and clients that sign.

import { type TestClock, testClock } from '@svc/devnet/clock'
import type { Variables } from '@svc/http-service/config'
import { lockerId as lockerIdOf } from '@svc/protocol/ids'
import { startTestGateway } from '@svc/testbed/gateway'
import { seedReceipt } from '@svc/testbed/seed-lockers'
import { bytesOf, type Identity, type SignedCall, signCall } from '@svc/testbed/signing'
import { expect } from 'vitest'
import type { Overrides } from '../../src/context.ts'
import type { Gateway } from '../../src/gateway.ts'

export { ed25519Identity, evmIdentity, type Identity, type SignedCall } from '@svc/testbed/signing'

export interface Reply<Body = Record<string, never>> {
  status: number
  headers: Headers
  body: Body
}

export interface LockerHouse {
  gateway: Gateway
  clock: TestClock
  /** Adds a receipt of a purchase by this owner. */
  receipt(owner: Identity, options?: { provider?: string; units?: number }): Promise<string>
  /** Opens the locker of a new receipt, or of the one in the options. */
  locker(owner: Identity, options?: LockerOptions): Promise<TestLocker>
  /** Sends JSON without a signature. */
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

export async function openLockerHouse(variables: Variables = {}, overrides: Overrides = {}): Promise<LockerHouse> {
  const clock = testClock()
  const gateway = await startTestGateway(variables, { now: clock.now, ...overrides })
  return houseOf(gateway, clock)
}

/** For a gateway that is already running. */
export function houseOf(gateway: Gateway, clock: LockerHouse['clock']): LockerHouse {
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

  return { gateway, clock, receipt, locker, send, sign, call, close: () => gateway.stop() }
}

export async function reply<Body>(response: Response): Promise<Reply<Body>> {
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : null }
}

/** Expects an error with this status and code. */
export function expectRefusal({ status, body }: Reply<unknown>, wanted: number, code: string): void {
  expect([status, (body as { error?: string } | null)?.error], JSON.stringify(body)).toEqual([wanted, code])
}
