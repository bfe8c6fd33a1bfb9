import { ed25519Identity, expectRefusal, openTestGateway, type Reply } from '@svc/testbed/test-gateway'
import { expect, it, onTestFinished } from 'vitest'
import { confirm, confirmBatch, upload, watchedStorage } from './confirm.ts'

async function openHouse(variables: Record<string, string>) {
  const storage = await watchedStorage()
  const house = await openTestGateway(variables, { providers: storage.providers })
  onTestFinished(async () => {
    await house.close()
    await storage.remove()
  })
  const locker = await house.locker(ed25519Identity())
  await upload(house, locker, 'f', 'bytes')
  return { house, locker, storage }
}

function expectWait(answer: Reply<unknown>) {
  expectRefusal(answer, 429, 'RATE_LIMITED')
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
}

it('T-10 AMB-05 confirmations of one receipt are limited before anything is read, and allowed again later', async () => {
  const { house, locker, storage } = await openHouse({ RATE_LIMIT_RECEIPT: '3' })
  expect((await house.send('POST', `/v1/files/confirm?receipt_id=${locker.receiptId}`)).status).toBe(422)
  for (let i = 0; i < 3; i++) expectRefusal(await confirm(house, locker, 'no such file'), 404, 'FILE_NOT_FOUND')
  expectWait(await confirm(house, locker, 'f'))
  expectWait(await confirmBatch(house, locker, ['f']))
  expect(storage.reads).toEqual([])
  const other = await house.locker(ed25519Identity())
  expectRefusal(await confirm(house, other, 'f'), 404, 'FILE_NOT_FOUND')
  house.clock.advance(20)
  expect((await confirm(house, locker, 'f')).status).toBe(200)
})

it('T-10 confirmations from one address are limited over all receipts, unknown ones too, but not those of a signer, who has an own limit', async () => {
  const { house, locker } = await openHouse({ RATE_LIMIT_ADDRESS: '4', RATE_LIMIT_SIGNER: '2' })
  for (const receiptId of ['rcpt_1', 'rcpt_2', 'rcpt_3']) await confirm(house, { receiptId }, 'f')
  expect((await confirmBatch(house, locker, ['f', 'g', 'h'])).status).toBe(200)
  expectWait(await confirm(house, locker, 'f'))
  const { receiptId, owner } = locker
  const body = { receipt_id: receiptId, filename: 'f' }
  const call = { method: 'POST', path: '/v1/files/confirm', body, ops: ['locker:write'], receiptId }
  // Creating the file was the first of the two calls.
  expect((await house.call(owner, call)).status).toBe(200)
  expectWait(await house.call(owner, call))
})
