import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { ed25519Identity, expectRefusal, openLockerHouse } from '../auth/lockers.ts'
import { openTestSession } from '../transfers/sessions/sessions.ts'
import { provisionAt } from './provision.ts'

describe('the limit of lockers per owner', () => {
  it('LOCK-08 LOCK-09 ERR-25 LIM-06 an owner cannot exceed the limit, and may repeat a request for an existing locker', async () => {
    const capped = await openLockerHouse({ MAX_LOCKERS_PER_OWNER: '1' })
    const owner = ed25519Identity()
    const [first, second] = [await capped.receipt(owner), await capped.receipt(owner)]
    expect((await provisionAt(capped, owner, first)).status).toBe(200)
    const refused = await provisionAt(capped, owner, second)
    expectRefusal(refused, 429, 'LOCKER_LIMIT_EXCEEDED')
    expect(refused.body).toMatchObject({ hint: expect.any(String), details: { receipt_id: second, limit: 1 } })
    expect((await provisionAt(capped, owner, first)).body.already_provisioned).toBe(true)
    const other = ed25519Identity()
    expect((await provisionAt(capped, other, await capped.receipt(other))).status).toBe(200)
    await capped.close()
  })
})

it('LOCK-14 LOCK-15 LIM-07 ERR-28 AMB-69 the terms of a locker are not enforced by any way of writing, and it outlives them', async () => {
  const fetchSource = async () => {
    const stream = Readable.from([Buffer.from('fetched bytes')])
    return { stream, contentType: 'text/plain', size: 13, finalUrl: '' }
  }
  const house = await openLockerHouse({}, { fetchSource })
  const locker = await house.locker(ed25519Identity())
  const { lockerId, receiptId, put, call } = locker
  const terms = JSON.stringify({ storage_limit_bytes: 1, file_limit: 1, egress_included_bytes: 0, ttl_days: 1 })
  const { db } = house.gateway.context.database
  await db.updateTable('lockers').set({ terms }).where('locker_id', '=', lockerId).execute()
  await put('a.txt', 'more than one byte')
  house.clock.advance(400 * 86_400)
  expect(await house.gateway.context.queue.drain()).toMatchObject({ failed: 0, dead: 0 })
  const link = await fetch(`${house.gateway.url}/v1/r/${locker.receiptId}/f/a.txt`)
  expect([link.status, await link.text()]).toEqual([200, 'more than one byte'])
  await put('b.txt', 'more than one file')
  const { body } = await call<{ file_count: number; total_bytes: number }>(['locker:read'], 'GET', '/record')
  expect(body).toMatchObject({ file_count: 2, total_bytes: 36, expires_at: '2027-09-01T12:00:00Z' })
  const files = [{ filename: 'c.txt' }, { filename: 'd.txt' }]
  expect((await call(['locker:write'], 'POST', '/files/batch', { files })).status).toBe(200)
  const session = await openTestSession(house, locker, { files })
  for (const file of [0, 1]) expect((await session.raw(0, 'one more file', { file })).status).toBe(200)
  expect((await session.finalize()).body).toMatchObject({ status: 'complete', files: [{ ok: true }, { ok: true }] })
  const fetched = await house.call(locker.owner, {
    method: 'POST',
    path: '/v1/files/fetch-and-store',
    body: { source_url: 'https://files.example.test/e.txt' },
    ops: ['locker:write'],
    lockerId,
    receiptId,
  })
  expect(fetched.status, JSON.stringify(fetched.body)).toBe(200)
  expect(await (await fetch(`${house.gateway.url}/v1/r/${receiptId}/f/e.txt`)).text()).toBe('fetched bytes')
  expect((await call(['locker:read'], 'GET', '/record')).body).toMatchObject({
    file_count: 5,
    terms: JSON.parse(terms),
  })
  await house.close()
})
