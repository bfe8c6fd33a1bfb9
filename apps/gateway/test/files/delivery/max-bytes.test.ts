import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal } from '@svc/testbed/test-gateway'
import { expect, it } from 'vitest'
import { openTestSession } from '../../transfers/sessions/sessions.ts'
import { createFile, put } from '../../transfers/transfers.ts'
import type { ErrorReply } from '../confirm/confirm.ts'
import { openDeliveryHouse, openStages } from './delivery-house.ts'

const MAX = 1000
const TOO_MUCH = Buffer.alloc(MAX + 1)
const stages = forAllTests(openStages)
const house = forAllTests(() => openDeliveryHouse(stages, {}, { maxBytes: MAX }))
const locker = forAllTests(() => house.locker(ed25519Identity()))

async function expectTooLarge({ status, body }: { status: number; body: unknown }): Promise<void> {
  const { error, message, details } = body as ErrorReply
  expect([status, error, details.max_bytes]).toEqual([413, 'UPLOAD_TOO_LARGE', MAX])
  expect(message).toContain(String(MAX))
  expect([await house.staged(), await house.deliveries()]).toEqual([[], []])
}

it('T-11 an upload larger than its provider takes is refused, by its declared or its counted size', async () => {
  const { upload } = await createFile(house, locker, 'a')
  const announced = await put(upload, TOO_MUCH)
  await expectTooLarge({ status: announced.status, body: await announced.json() })
  const counted = await put(upload, new Blob([TOO_MUCH]).stream())
  await expectTooLarge({ status: counted.status, body: await counted.json() })
})

it('T-11 SESS-01 SESS-06 an upload session refuses a file larger than its provider takes', async () => {
  const declared = { files: [{ filename: 'a', size_bytes: MAX + 1 }] }
  await expectTooLarge(await locker.call(['locker:write'], 'POST', '/upload-sessions', declared))
  const session = await openTestSession(house, locker, { files: [{ filename: 'b' }] })
  expect(session.opened.part_max_bytes).toBe(MAX)
  await expectTooLarge(await session.raw(0, TOO_MUCH))
  await expectTooLarge(await session.part(0, TOO_MUCH))
  expect((await session.raw(0, TOO_MUCH.subarray(1))).status).toBe(200)
  expectRefusal(await session.raw(1, 'x'), 413, 'UPLOAD_TOO_LARGE')
  expectRefusal(await session.part(1, 'x'), 413, 'UPLOAD_TOO_LARGE')
  expect((await session.finalize()).body.status).toBe('complete')
  expect(await house.deliveriesOf(locker)).toMatchObject({ files: 1, bytes: MAX })
  await locker.call(['locker:write'], 'DELETE', '/files/b')
})
