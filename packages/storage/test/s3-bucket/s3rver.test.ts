// The driver with a third-party S3 server, which checks its signatures and requests independently.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type OtherStore, startS3rver } from '@svc/devnet/providers/s3-bucket/s3rver'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StorageProvider } from '../../src/provider.ts'
import { openS3Bucket } from '../../src/s3-bucket/open.ts'
import { fetchBytes, keep, newId, streamOf } from '../objects.ts'

const MIB = 1024 * 1024

describe('the S3 bucket driver with s3rver', () => {
  let folder: string
  let store: OtherStore
  let provider: StorageProvider
  const open = (credentials = store.credentials) =>
    openS3Bucket({
      title: 's3rver',
      ...credentials,
      endpoint: store.url,
      bucket: store.bucket,
      prefix: 'svc/files/',
      redirect: 'all',
    })
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-s3rver-'))
    store = await startS3rver({ folder })
    provider = await open()
  })
  afterAll(async () => {
    await store.stop()
    await rm(folder, { recursive: true })
  })

  it.each([
    ['small', 1000, true],
    ['streamed', 3 * MIB, true],
    ['held', 9 * MIB, false],
    ['parted', 65 * MIB, true],
  ])('writes, reads and removes an object that is %s', { tags: ['nightly'] }, async (_, size, isDeclared) => {
    const [id, bytes] = [newId(), randomBytes(size)]
    const key = { id, ref: null }
    expect(await provider.absent([key])).toEqual(new Set([id]))
    await provider.write(id, streamOf(bytes), { contentType: 'image/png', size: isDeclared ? size : null })
    expect([await provider.stat(key), await provider.absent([key])]).toEqual([{ size }, new Set()])
    expect(bytes.equals((await fetchBytes(provider, key))!)).toBe(true)
    const range = { start: size - 500, end: size - 2 }
    expect(bytes.subarray(range.start, range.end + 1).equals((await fetchBytes(provider, key, range))!)).toBe(true)
    await expect(keep(provider, Buffer.from('other'), id)).rejects.toThrow('an object with this id already exists')
    expect(await provider.remove(key)).toBe('removed')
    expect([await provider.stat(key), await provider.read(key)]).toEqual([null, null])
  })

  it('is rejected with a wrong secret', async () => {
    expect(await provider.check()).toBe(true)
    const wrong = await open({ ...store.credentials, secretAccessKey: 'wrong' })
    expect(await wrong.check()).toBe(false)
    await expect(keep(wrong, Buffer.from('x'))).rejects.toMatchObject({ reason: 'closed' })
  })

  it('signs addresses that require the signed content type', async () => {
    const id = newId()
    const terms = { contentType: 'text/plain; charset=utf-8', expiresInSeconds: 60, size: 5, maxBytes: 100 }
    const { url, headers } = (await provider.uploadTarget(id, terms))!
    const put = async (type: string) =>
      (await fetch(url, { method: 'PUT', headers: { ...headers, 'content-type': type }, body: 'hello' })).status
    expect([await put('text/html'), await put(terms.contentType)]).toEqual([403, 200])
    const download = await fetch((await provider.downloadTarget({ id, ref: null }, terms))!.url)
    expect([download.headers.get('content-type'), await download.text()]).toEqual([terms.contentType, 'hello'])
  })
})
