import { afterEach, expect, it } from 'vitest'
import { ed25519Identity, expectRefusal, type LockerHouse, openLockerHouse } from '../../auth/lockers.ts'
import { confirm, confirmBatch, upload, watchedStorage } from './confirm.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function openHouse(variables: Record<string, string>) {
  const storage = await watchedStorage()
  const house = await openLockerHouse(variables, { providers: storage.providers })
  closing.push(house.close, storage.remove)
  const locker = await house.locker(ed25519Identity())
  await upload(house, locker, 'f', 'bytes')
  return { house, locker, storage }
}

const statuses = async (answers: Promise<{ status: number }>[]) =>
  (await Promise.all(answers)).map(({ status }) => status)

function expectWait(answer: Awaited<ReturnType<LockerHouse['send']>>) {
  expectRefusal(answer, 429, 'RATE_LIMITED')
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
}

it('T-10 AMB-05 confirmations of one receipt are limited before anything is read, and allowed again later', async () => {
  const { house, locker, storage } = await openHouse({ RATE_LIMIT_RECEIPT: '3' })
  for (let i = 0; i < 3; i++) await confirm(house, locker, 'no such file')
  expectWait(await confirm(house, locker, 'f'))
  expectWait(await confirmBatch(house, locker, ['f']))
  expect(storage.reads).toEqual([])
  const other = await house.locker(ed25519Identity())
  expectRefusal(await confirm(house, other, 'f'), 404, 'FILE_NOT_FOUND')
  house.clock.advance(20)
  expect((await confirm(house, locker, 'f')).status).toBe(200)
})

it('T-10 confirmations from one address are limited over all receipts, including unknown ones', async () => {
  const { house, locker } = await openHouse({ RATE_LIMIT_ADDRESS: '4' })
  const guesses = ['rcpt_1', 'rcpt_2', 'rcpt_3'].map((receiptId) => confirm(house, { receiptId }, 'f'))
  expect(await statuses(guesses)).toEqual([404, 404, 404])
  expect((await confirmBatch(house, locker, ['f', 'g', 'h'])).status).toBe(200)
  expectWait(await confirm(house, locker, 'f'))
})

it('T-10 incomplete confirmations do not count against the limit', async () => {
  const { house, locker } = await openHouse({ RATE_LIMIT_ADDRESS: '1', RATE_LIMIT_RECEIPT: '1' })
  expect((await house.send('POST', `/v1/files/confirm?receipt_id=${locker.receiptId}`)).status).toBe(422)
  expect((await confirm(house, locker, 'f')).status).toBe(200)
})

it('T-10 strangers do not use up the limit of a signer, who has one too', async () => {
  const { house, locker } = await openHouse({ RATE_LIMIT_ADDRESS: '2', RATE_LIMIT_SIGNER: '2' })
  for (let i = 0; i < 2; i++) await confirm(house, locker, 'no such file')
  expectWait(await confirm(house, locker, 'f'))
  const { receiptId, owner } = locker
  const body = { receipt_id: receiptId, filename: 'f' }
  const call = { method: 'POST', path: '/v1/files/confirm', body, ops: ['locker:write'], receiptId }
  // Creating the file was the first of the two calls.
  expect((await house.call(owner, call)).status).toBe(200)
  expectWait(await house.call(owner, call))
})
