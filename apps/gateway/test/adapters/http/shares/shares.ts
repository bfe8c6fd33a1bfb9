// For tests: shares of a locker, and reads of them without a signature.

import type { Share, ShareList } from '@svc/api/shares'
import type { Identity, Reply, TestGateway, TestLocker } from '@svc/devnet/services/test-gateway'
import { expect } from 'vitest'

type Called = Pick<TestLocker, 'call'>

export function askShare(locker: Called, body: object, who?: Identity): Promise<Reply<Share>> {
  return locker.call<Share>(['locker:read'], 'POST', '/shares', body, who)
}

export async function share(locker: Called, path: string, more: object = {}, who?: Identity): Promise<Share> {
  const { status, body } = await askShare(locker, { path, ...more }, who)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

export async function sharesOf(locker: TestLocker, who?: Identity): Promise<Share[]> {
  const { status, body } = await locker.call<ShareList>(['locker:read'], 'GET', '/shares', undefined, who)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body).toMatchObject({ locker_id: locker.lockerId, count: body.shares.length })
  return body.shares
}

export function endShare(locker: TestLocker, id: string, who?: Identity) {
  return locker.call(['locker:read'], 'DELETE', `/shares/${id}`, undefined, who)
}

export const UNKNOWN_ID = 'AAAAAAAAAAAAAAAAAAAAAA'

/** All addresses of a share, with one of its files. */
export function addressesOf(id: string, filename: string): string[] {
  return [`/s/${id}`, ...['', `/f/${filename}`, `/proof/${filename}`].map((rest) => `/v1/shares/${id}${rest}`)]
}

/** Everything in an answer that may differ between two shares, so without the request id and times. */
export async function answerOf({ gateway }: Pick<TestGateway, 'gateway'>, path: string, init: RequestInit = {}) {
  const response = await fetch(gateway.url + path, { redirect: 'manual', ...init })
  const text = await response.text()
  const { date, 'x-request-id': id, 'content-length': length, ...headers } = Object.fromEntries(response.headers)
  return { status: response.status, headers, text: text.replace(id as string, '') }
}

/** Expects that the share answers like one that never existed, to every kind of request. */
export async function expectEnded(instance: Pick<TestGateway, 'gateway'>, id: string, filename = 'a.txt') {
  const unknown = addressesOf(UNKNOWN_ID, filename)
  for (const [i, path] of addressesOf(id, filename).entries()) {
    for (const init of [{}, { method: 'HEAD' }, { headers: { range: 'bytes=0-1' } }]) {
      const expected = await answerOf(instance, unknown[i] as string, init)
      expect(expected.status).toBe(404)
      expect(await answerOf(instance, path, init)).toEqual(expected)
    }
  }
}
