import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { callRaw, lockerRow, sendRaw, storeFile } from './files.ts'

const NAMES = ['docs/a.txt', 'docs%2Fb.txt', 'é', 'manifest', 'a+b', 'a b']
const instance = forAllTests(openTestGateway)
const locker = forAllTests(async () => {
  const made = await instance.locker(ed25519Identity())
  for (const name of NAMES) await storeFile(instance, made, name, `the bytes of ${name}`)
  return made
})

const OPS = ['locker:read', 'locker:write', 'locker:list']

async function call(method: string, path: string, signedPath = path) {
  const { lockerId, owner } = locker
  const base = `/v1/lockers/${lockerId}`
  const envelope = { path: base + signedPath.split('?', 1)[0] }
  const reply = await callRaw(instance, owner, { method, path: base + path, ops: OPS, lockerId, envelope })
  return { status: reply.status, body: JSON.parse(reply.text || 'null') }
}

it.each([
  ['docs%2Fa.txt', 'docs/a.txt'],
  ['docs/a.txt?ttl_min=5&x=/../y', 'docs/a.txt'],
  ['docs%252Fb.txt', 'docs%2Fb.txt'],
  ['manifest', 'manifest'],
  ['a+b', 'a+b'],
  ['a%2Bb', 'a+b'],
])('T-05 AMB-22 /files/%s is the file %j', async (path, filename) => {
  const { status, body } = await call('GET', `/files/${path}`)
  expect([status, body.filename], JSON.stringify(body)).toEqual([200, filename])
})

/** For a path that reaches no file, by any method. */
async function expectRefused(path: string, ...expected: unknown[]): Promise<void> {
  for (const method of ['GET', 'DELETE']) {
    const { status, body } = await call(method, `/files/${path}`)
    expect([status, body.error, body.detail?.[0].loc[0]], JSON.stringify(body)).toEqual(expected)
  }
  expect((await lockerRow(instance, locker)).file_count).toBe(NAMES.length)
}

const ABSENT = ['DOCS/a.txt', 'docs%252Fa.txt', 'docs/a.txt;x', 'docs/a.txt%20', 'docs/a.txt%3F', 'e%CC%81']
it.each(ABSENT)('T-05 /files/%s is not a file', async (path) => {
  await expectRefused(path, 404, 'FILE_NOT_FOUND', undefined)
})

it.each([
  'docs//a.txt',
  'docs/a.txt%2F',
  '%2E%2e',
  './docs/a.txt',
  'docs%2F..%2Fdocs%2Fa.txt',
  '../manifest',
  '..;/docs/a.txt',
  'docs/a.txt%3A%3A$DATA',
  'docs/a.txt%00',
  'docs/a.txt%0d%0aX:%20y',
])('AMB-22 FILE-16 /files/%s is refused for its name', async (path) => {
  await expectRefused(path, 422, 'validation_error', 'path')
})

const MALFORMED = ['%', '%zz', 'a%', '%ff', '%C3%28', '%c0%ae', '%ED%A0%80', '%u002e']
it.each(MALFORMED)('T-05 /files/%s is refused for its encoding', async (path) => {
  await expectRefused(path, 422, 'validation_error', 'path')
  expect((await sendRaw(instance, 'GET', `/v1/r/${locker.receiptId}/f/${path}`)).status).toBe(422)
})

it.each([
  ['docs%2Fa.txt', 'docs/a.txt'],
  ['docs/a.txt', 'docs%252Fa.txt'],
  ['docs/a.txt', 'x/../docs/a.txt'],
  ['%C3%A9', 'e%CC%81'],
  ['docs/a.txt?ttl_min=6', 'docs/a.txt%3Fttl_min=5'],
])('T-05 ENV-06 a signature for another spelling is refused: sent %s, signed %s', async (sent, signed) => {
  const { lockerId, owner } = locker
  const base = `/v1/lockers/${lockerId}/files/`
  const call = { path: base + sent, ops: OPS, lockerId, envelope: { path: base + signed } }
  const { status, text } = await callRaw(instance, owner, call)
  expect([status, JSON.parse(text).error]).toEqual([403, 'PATH_MISMATCH'])
})

it('T-05 ENV-06 a signature over the decoded path is accepted', async () => {
  expect((await call('GET', '/files/d%6Fcs/a.txt', '/files/docs/a.txt')).status).toBe(200)
  expect((await call('GET', '/files/%C3%A9', '/files/é')).status).toBe(200)
})

it('T-05 dots in the path reach no other endpoint', async () => {
  const { body } = await call('GET', '/files/../manifest')
  expect(body).not.toHaveProperty('manifest_version')
  const { status } = await call('DELETE', '/operators/../files/docs/a.txt')
  expect(status).toBe(404)
})

it.each([
  ['docs/a.txt#x', 200],
  ['docs/a.txt#%zz', 200],
  ['#', 404],
  ['%23#', 404],
  ['\u00ff', 400],
  ['docs/\u00e9', 400],
])('T-05 the invalid target /files/%s is read up to its fragment, or refused', async (path, status) => {
  expect((await call('GET', `/files/${path}`)).status).toBe(status)
  expect((await sendRaw(instance, 'GET', `/v1/r/${locker.receiptId}/f/${path}`)).status).toBe(status)
})

it('T-05 a request target in absolute form is no way around the checks', async () => {
  const { lockerId, owner } = locker
  const path = `/v1/lockers/${lockerId}/files/docs/a.txt`
  const { headers } = instance.sign(owner, { path, ops: OPS, lockerId })
  const other = `http://other.example/v1/lockers/${lockerId}/files/batch`
  const reply = await sendRaw(instance, 'GET', other, headers)
  expect([reply.status, JSON.parse(reply.text).error]).toEqual([403, 'PATH_MISMATCH'])
})
