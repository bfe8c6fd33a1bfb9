import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { s3Error } from '@svc/s3/errors'
import { expect, it, vi } from 'vitest'
import { streamXmlWithKeepAlive } from '../../../src/adapters/s3/stream-xml.ts'

const log = { error: vi.fn() }
const context = { log } as unknown as Parameters<typeof streamXmlWithKeepAlive>[0] // the only field that is used

/** A response that has begun before its outcome is known. */
async function begun() {
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, string>>()
  const { status, headers, body } = await streamXmlWithKeepAlive(context, 'CopyObjectResult', promise, 1)
  expect([status, headers['content-length']]).toEqual([200, undefined])
  return { resolve, reject, body: text(body as Readable) }
}

it('T-98 a response that is ready immediately has its length, and an error its status', async () => {
  const ready = await streamXmlWithKeepAlive(context, 'CopyObjectResult', Promise.resolve({ ETag: '"a"' }))
  expect(ready.headers).toHaveProperty('content-length')
  const refused = streamXmlWithKeepAlive(context, 'CopyObjectResult', Promise.reject(s3Error('NoSuchKey', 'none')))
  await expect(refused).rejects.toMatchObject({ code: 'NoSuchKey' })
})

it('T-98 a slow response begins with white space and ends with the result or the error', async () => {
  const good = await begun()
  good.resolve({ ETag: '"a"' })
  expect(await good.body).toMatch(/^<\?xml [^>]*>\n *<CopyObjectResult.*<ETag>&quot;a&quot;<\/ETag>/s)
  const refused = await begun()
  refused.reject(s3Error('NoSuchUpload', 'none', 'create another upload'))
  expect(await refused.body).toMatch(/^<\?xml [^>]*>\n *<Error><Code>NoSuchUpload<\/Code>.*<Hint>/s)
  const failed = await begun()
  failed.reject(new Error('an internal detail'))
  const body = await failed.body
  expect(body).toContain('<Code>InternalError</Code>')
  expect(body).not.toContain('internal detail')
  expect(log.error).toHaveBeenCalledOnce()
})
