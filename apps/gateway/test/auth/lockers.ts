// For tests: a gateway without chains whose receipts are written straight into its book, and clients that sign.

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
  /** A receipt of a purchase by this owner. */
  receipt(owner: Identity, options?: { provider?: string; units?: number }): Promise<string>
  /** The same, or a receipt that is there, with its locker opened. */
  locker(owner: Identity, options?: LockerOptions): Promise<TestLocker>
  /** Anything JSON, unsigned. */
  send<Body>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply<Body>>
  /** Headers of a signed call, and the body as it is to be sent. */
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
  /** As the owner, for this locker; `path` begins after `/v1/lockers/{locker_id}`. */
  call<Body>(ops: string[], method: string, path: string, body?: unknown, who?: Identity): Promise<Reply<Body>>
  /** Creates, uploads and (unless told otherwise) confirms a file. */
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

/** Around a gateway that runs. */
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

async function reply<Body>(response: Response): Promise<Reply<Body>> {
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : null }
}

/** An error by its code. */
export function expectRefusal({ status, body }: Reply<unknown>, wanted: number, code: string): void {
  expect([status, (body as { error?: string } | null)?.error], JSON.stringify(body)).toEqual([wanted, code])
}
