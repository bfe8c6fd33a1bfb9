import { afterAll, beforeAll, expect, it } from 'vitest'
import { answerWith, describeBadAnswers, SHORT_TIMEOUTS, startBadServer } from '../bad-answers.ts'
import { keep, newId } from '../objects.ts'
import { startTestGcs, type TestGcs } from './start-gcs.ts'

const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

let gcs: TestGcs
beforeAll(async () => {
  gcs = await startTestGcs()
})
afterAll(() => gcs.close())

describeBadAnswers('the Google Cloud Storage driver', async (endpoint) => {
  const provider = await gcs.open({ endpoint }, SHORT_TIMEOUTS)
  const key = { id: newId(), ref: null }
  return { read: (range) => provider.read(key, range), stat: () => provider.stat(key) }
})

it.each(['', 'nowhere:', 'file:///etc/hosts', 'https://127.0.0.1:1/'])(
  'T-31 the Google Cloud Storage driver rejects %j as the address of an upload session',
  async (location) => {
    const endpoint = await startBadServer(answerWith(200, { location, 'content-length': 2 }, '{}'))
    const provider = await gcs.open({ endpoint }, SHORT_TIMEOUTS)
    await expect(keep(provider, Buffer.alloc(3 * 1024 * 1024))).rejects.toMatchObject(UNAVAILABLE)
  },
)

it.each([
  [{ 'content-encoding': 'gzip' }, false],
  [{ 'content-encoding': 'gzip', 'x-goog-stored-content-encoding': 'identity' }, false],
  [{ 'x-goog-stored-content-encoding': 'gzip' }, false],
  [{ 'content-encoding': 'gzip', 'x-goog-stored-content-encoding': 'gzip' }, true],
])(
  'FILE-22 the Google Cloud Storage driver accepts bytes with headers %o only when they are not transformed',
  async (headers, isAccepted) => {
    const endpoint = await startBadServer(answerWith(200, { ...headers, 'content-length': 5 }, 'bytes'))
    const provider = await gcs.open({ endpoint }, SHORT_TIMEOUTS)
    const reading = provider.read({ id: newId(), ref: null })
    if (!isAccepted) return expect(reading).rejects.toMatchObject(UNAVAILABLE)
    expect(`${await (await reading)!.toArray()}`).toBe('bytes')
  },
)

it.each([[{ items: {} }], [{ items: [null] }], [null]])(
  'T-31 the Google Cloud Storage driver rejects the list %j of objects',
  async (page) => {
    const endpoint = await startBadServer(answerWith(200, { 'transfer-encoding': 'chunked' }, JSON.stringify(page)))
    const provider = await gcs.open({ endpoint }, SHORT_TIMEOUTS)
    const keys = Array.from({ length: 30 }, () => ({ id: newId(), ref: null }))
    await expect(provider.absent(keys)).rejects.toMatchObject(UNAVAILABLE)
  },
)
