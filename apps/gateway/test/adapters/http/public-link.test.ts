// The owner of a locker whose receipt id has leaked rotates its public link, or closes it.

import type { ErrorBody } from '@svc/api/errors'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, type Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { confirmBatch, confirm as confirmIn } from '../../files/confirm/confirm.ts'

const operator = ed25519Identity()

interface Changed {
  public_link: { status: string; id: string | null }
}

const instance = forAllTests(openTestGateway)
const locker = forEachTest(async () => {
  const made = await instance.locker(ed25519Identity(), { operators: [operator] })
  await made.put('folder/a.txt', 'hello')
  return made
})

const read = (id: string, init?: RequestInit) => fetch(`${instance.gateway.url}/v1/r/${id}/f/folder/a.txt`, init)
const change = (action: string, who?: Identity) =>
  locker.call<Changed>(['locker:admin'], 'POST', '/public-link', { action }, who)

async function changed(action: string): Promise<Changed['public_link']> {
  const { status, body } = await change(action)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.public_link
}

const recordedLink = async () => (await locker.call<Changed>(['locker:read'], 'GET', '/record')).body.public_link

/** The whole answer except for the request id, which differs every time and has no fixed length. */
async function answerOf(id: string, init?: RequestInit) {
  const response = await read(id, init)
  const { request_id: _, ...body } = init?.method === 'HEAD' ? {} : JSON.parse(await response.text())
  const { date, 'x-request-id': id_, 'content-length': length, ...headers } = Object.fromEntries(response.headers)
  return { status: response.status, headers, body }
}

/** Expects the answer of an id that never existed, for every method and header. */
async function expectUnknown(id: string): Promise<void> {
  const requests = [{}, { method: 'HEAD' }, { headers: { range: 'bytes=0-1' } }, { headers: { 'if-none-match': '*' } }]
  for (const init of requests) {
    const unknown = await answerOf(`rcpt_${'0'.repeat(32)}`, init)
    expect(unknown.status).toBe(404)
    expect(await answerOf(id, init)).toEqual(unknown)
  }
}

it('T-49 FILE-30 after a rotation, the new id opens the files and the receipt id does not', async () => {
  const { receiptId } = locker
  expect(await (await read(receiptId)).text()).toBe('hello')
  const rotated = await changed('rotate')
  expect(rotated).toEqual({ status: 'open', id: expect.stringMatching(/^link_[0-9a-f]{32}$/) })
  expect(await recordedLink()).toEqual(rotated)
  const { id } = rotated
  expect(await (await read(id!)).text()).toBe('hello')
  expect((await read(id!, { method: 'HEAD' })).status).toBe(200)
  expect(await (await read(id!, { headers: { range: 'bytes=0-1' } })).text()).toBe('he')
  await expectUnknown(receiptId)
})

it('T-49 after another rotation, only the newest id opens the files', async () => {
  const [first, second] = [await changed('rotate'), await changed('rotate')]
  expect(await (await read(second.id!)).text()).toBe('hello')
  await expectUnknown(first.id!)
  await expectUnknown(locker.receiptId)
})

it('T-49 a closed public link opens nothing, and a reopened one works as before', async () => {
  expect(await changed('close')).toEqual({ status: 'closed', id: null })
  expect(await recordedLink()).toEqual({ status: 'closed', id: null })
  await expectUnknown(locker.receiptId)
  expect(await changed('open')).toEqual({ status: 'open', id: locker.receiptId })
  expect((await read(locker.receiptId)).status).toBe(200)

  const { id } = await changed('rotate')
  await changed('close')
  await expectUnknown(id!)
  await expectUnknown(locker.receiptId)
  expect(await changed('open')).toEqual({ status: 'open', id })
  expect((await read(id!)).status).toBe(200)
  await changed('close')
  const { id: third } = await changed('rotate')
  expect((await read(third!)).status).toBe(200)
  await expectUnknown(id!)
})

it('T-49 FILE-30 the public links of other lockers stay, and guessed ids open nothing', async () => {
  const other = await instance.locker(ed25519Identity())
  await other.put('folder/a.txt', 'theirs')
  await changed('rotate')
  expect(await (await read(other.receiptId)).text()).toBe('theirs')
  for (const id of [`link_${'0'.repeat(32)}`, 'link_', 'null', 'closed', locker.lockerId]) await expectUnknown(id)
})

it('T-49 T-28 only the owner changes the public link, in one of three ways', async () => {
  for (const who of [operator, ed25519Identity()]) expect((await change('rotate', who)).status).toBe(403)
  expect((await locker.call(['locker:write'], 'POST', '/public-link', { action: 'close' })).status).toBe(403)
  for (const body of [{}, { action: 'burn' }, { action: null }])
    expect((await locker.call(['locker:admin'], 'POST', '/public-link', body)).status).toBe(422)
  const { body } = await locker.call(['locker:read'], 'GET', '/record', undefined, operator)
  expect(body).toMatchObject({ public_link: { status: 'open', id: locker.receiptId } })
})

it('T-49 FILE-21 a receipt id that no longer opens files confirms new bytes and reveals no content', async () => {
  const { receiptId: receipt_id } = locker
  const filenames = ['folder/a.txt', 'unknown']
  const confirm = (filename: string) => confirmIn<ErrorBody>(instance, locker, filename)
  const batch = async () => (await confirmBatch(instance, locker, filenames)).body.results
  expect((await confirm('folder/a.txt')).status).toBe(200)
  expect((await batch()).map(({ ok }) => ok)).toEqual([true, false])
  for (const action of ['rotate', 'close']) {
    await changed(action)
    const answers = await Promise.all(filenames.map(confirm))
    for (const answer of answers) expectRefusal(answer, 404, 'FILE_NOT_FOUND')
    const [known, unknown] = answers.map(({ body: { message, hint } }) => ({ message, hint }))
    expect(known).toEqual(unknown)
    expect(await batch()).toMatchObject(filenames.map((filename) => ({ filename, error: 'FILE_NOT_FOUND' })))
    await locker.put('new.txt', action)
    const path = '/v1/files/confirm'
    const body = { receipt_id, filename: 'folder/a.txt' }
    const signed = { method: 'POST', path, body, ops: ['locker:write'], receiptId: receipt_id }
    expect((await instance.call(locker.owner, signed)).status).toBe(200)
  }
  await changed('open')
  expect((await confirm('folder/a.txt')).status).toBe(404)
})

it('T-49 RCPT-01 the receipt and the evidence stay public under the receipt id', async () => {
  const { receiptId } = locker
  await changed('close')
  expect((await instance.send('GET', `/v1/receipts/${receiptId}`)).status).toBe(200)
  expect((await instance.send('GET', `/v1/storage/statements?receipt_id=${receiptId}`)).status).not.toBe(404)
})
