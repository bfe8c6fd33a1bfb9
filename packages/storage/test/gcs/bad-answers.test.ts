import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeLies, LITTLE_PATIENCE, says, startLiar } from '../bad-answers.ts'
import { keep, newId } from '../objects.ts'
import { startTestGcs, type TestGcs } from './start-gcs.ts'

const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

let gcs: TestGcs
beforeAll(async () => {
  gcs = await startTestGcs()
})
afterAll(() => gcs.close())

describeLies('the driver of Google Cloud Storage', async (endpoint) => {
  const provider = await gcs.open({ endpoint }, LITTLE_PATIENCE)
  const key = { id: newId(), ref: null }
  return { read: (range) => provider.read(key, range), stat: () => provider.stat(key) }
})

it.each(['', 'nowhere:', 'file:///etc/hosts', 'https://127.0.0.1:1/'])(
  'T-31 a session at %j, which is no address of the same kind, is none',
  async (location) => {
    const endpoint = await startLiar(says(200, { location, 'content-length': 2 }, '{}'))
    const provider = await gcs.open({ endpoint }, LITTLE_PATIENCE)
    await expect(keep(provider, Buffer.alloc(3 * 1024 * 1024))).rejects.toMatchObject(UNAVAILABLE)
  },
)

it.each([
  [{ 'content-encoding': 'gzip' }, false],
  [{ 'content-encoding': 'gzip', 'x-goog-stored-content-encoding': 'identity' }, false],
  [{ 'x-goog-stored-content-encoding': 'gzip' }, false],
  [{ 'content-encoding': 'gzip', 'x-goog-stored-content-encoding': 'gzip' }, true],
])('FILE-22 bytes with %o are taken only as they are stored', async (headers, areTaken) => {
  const endpoint = await startLiar(says(200, { ...headers, 'content-length': 5 }, 'bytes'))
  const provider = await gcs.open({ endpoint }, LITTLE_PATIENCE)
  const reading = provider.read({ id: newId(), ref: null })
  if (!areTaken) return expect(reading).rejects.toMatchObject(UNAVAILABLE)
  expect(`${await (await reading)!.toArray()}`).toBe('bytes')
})

it.each([[{ items: {} }], [{ items: [null] }], [null]])(
  'T-31 a list that is %j tells of no object that it is absent',
  async (page) => {
    const endpoint = await startLiar(says(200, { 'transfer-encoding': 'chunked' }, JSON.stringify(page)))
    const provider = await gcs.open({ endpoint }, LITTLE_PATIENCE)
    const keys = Array.from({ length: 30 }, () => ({ id: newId(), ref: null }))
    await expect(provider.absent(keys)).rejects.toMatchObject(UNAVAILABLE)
  },
)
