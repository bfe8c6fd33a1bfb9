import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createFile } from '@svc/api/files'
import { beforeAll, describe, expect, it } from 'vitest'
import { BytesDiffer } from '../../src/errors.ts'
import type { Download } from '../../src/files/download.ts'
import type { Locker } from '../../src/lockers.ts'
import { saveAs } from '../../src/node/files.ts'
import { errorOf, newEd25519, useFolder, useTestbed } from '../lockers.ts'

const signer = newEd25519()
let locker: Locker
const bytes = randomBytes(3_000_000)
const filename = 'folder/a file.bin'
const sha256 = (of: Uint8Array) => `sha256:${createHash('sha256').update(of).digest('hex')}`
const folder = useFolder()
const testbed = useTestbed()
beforeAll(async () => {
  locker = await testbed.locker(signer)
  const client = testbed.client({ signer })
  await client.put(locker, filename, bytes, { contentType: 'image/png' })
  await client.put(locker, 'empty', new Uint8Array())
})

const READ = /^\/(f|v1\/r)\//
const reads = () => testbed.proxy.seen.filter(({ path }) => READ.test(path))
const flip = { bytes: (all: Buffer) => Buffer.concat([all.subarray(0, -1), Buffer.from([all.at(-1)! ^ 1])]) }

describe.each<[string, (options?: object) => Promise<Download>]>([
  ['by its owner', (options) => testbed.client({ signer }).get(locker, filename, options)],
  ['in public', (options) => testbed.client().getPublicly(locker.receipt_id, filename, options)],
])('a file that is read %s', (_, read) => {
  it('FILE-17 SHORT-05 has all its bytes, its type, size and hash', async () => {
    const progress: number[] = []
    const download = await read({ onProgress: (done: number) => void progress.push(done) })
    expect(download).toMatchObject({
      filename,
      contentType: 'image/png',
      size: bytes.length,
      contentHash: sha256(bytes),
    })
    expect(Buffer.from(await download.bytes()).equals(bytes)).toBe(true)
    expect(progress.at(-1)).toBe(bytes.length)
  })

  it('ADD-06 continues at the first missing byte when the connection breaks', async () => {
    testbed.proxy.plan(READ, { cut: 1_000_000 }, { cut: 500_000 }, { cut: 'request' })
    expect(Buffer.from(await (await read()).bytes()).equals(bytes)).toBe(true)
    const starts = reads().map(({ headers }) => Number(/bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0))
    expect(starts).toHaveLength(4)
    expect(starts[1]).toBeGreaterThan(0)
    expect(starts[2]).toBeGreaterThan(starts[1] as number)
    expect(starts[3]).toBe(starts[2])
  })

  it('fails if the connection keeps breaking before any byte arrives', { tags: ['nightly'] }, async () => {
    testbed.proxy.always(READ, { cut: 0 })
    await expect(read().then((download) => download.bytes())).rejects.toThrow()
    expect(reads().length).toBeLessThan(30)
  })

  it('is refused if its bytes differ from its hash, as bytes, as a stream and as a file', async () => {
    testbed.proxy.plan(READ, flip, flip, flip)
    const error = await errorOf((await read()).bytes())
    expect(error).toBeInstanceOf(BytesDiffer)
    expect(error).toMatchObject({ filename, expected: sha256(bytes) })
    await expect(new Response((await read()).stream).arrayBuffer()).rejects.toThrow()
    const target = await mkdtemp(join(folder, 'bad-'))
    await expect(saveAs(await read(), join(target, 'bad'))).rejects.toBeInstanceOf(BytesDiffer)
    expect(await readdir(target)).toEqual([])
  })

  it('is compared with the hash that the reader expects', async () => {
    const good = await read({ expectedHash: sha256(bytes).slice(7).toUpperCase() })
    expect((await good.bytes()).length).toBe(bytes.length)
    const other = sha256(Buffer.from('other'))
    await expect((await read({ expectedHash: other })).bytes()).rejects.toMatchObject({ expected: other })
  })

  it('gets its name on disk once it is complete, and replaces a file only if allowed', async () => {
    const path = join(await mkdtemp(join(folder, 'saved-')), 'a')
    testbed.proxy.plan(READ, { cut: 1_000_000 })
    await saveAs(await read(), path, { replace: false })
    expect((await readFile(path)).equals(bytes)).toBe(true)
    await writeFile(path, 'mine')
    await expect(saveAs(await read(), path, { replace: false })).rejects.toThrow('already exists')
    expect([await readFile(path, 'utf8'), await readdir(dirname(path))]).toEqual(['mine', ['a']])
    await saveAs(await read(), path)
    expect((await readFile(path)).equals(bytes)).toBe(true)
  })

  it('stops when the signal aborts', async () => {
    const controller = new AbortController()
    const onProgress = () => controller.abort(new Error('enough'))
    const download = await read({ onProgress, signal: controller.signal })
    await expect(download.bytes()).rejects.toThrow('enough')
  })

  it('causes no further requests when its stream is cancelled', async () => {
    const reader = (await read()).stream.getReader()
    await reader.read()
    await reader.cancel()
    expect(reads()).toHaveLength(1)
  })

  it('is refused if it is replaced during the download', async () => {
    testbed.proxy.plan(READ, { cut: 1_000_000 })
    const download = await read()
    const client = testbed.client({ signer })
    await client.put(locker, filename, randomBytes(bytes.length), { contentType: 'image/png' })
    await expect(download.bytes()).rejects.toBeInstanceOf(BytesDiffer)
    await client.put(locker, filename, bytes, { contentType: 'image/png' })
  })
})

it('FILE-34 SHORT-07 an expired short URL is renewed at the start and in the middle of a download', async () => {
  const body = { error: 'SHORT_URL_EXPIRED', message: 'over', request_id: 'req_0' }
  const expired = { answer: { status: 403, body } }
  testbed.proxy.plan(READ, expired, { cut: 1_000_000 }, expired)
  const download = await testbed.client({ signer }).get(locker, filename)
  expect(Buffer.from(await download.bytes()).equals(bytes)).toBe(true)
  expect(testbed.proxy.seen.filter(({ path }) => path.endsWith('/urls'))).toHaveLength(3)
})

it('T-36 a download continues after the owner has revoked all URLs, and ends after the key is removed', {
  tags: ['nightly'],
}, async () => {
  const operator = newEd25519()
  const owner = testbed.client({ signer })
  await owner.addOperator(locker, operator.address)
  const getBoth = (afterFirst: () => Promise<unknown>) => {
    const onDownload = async (download: Download) => {
      await download.bytes()
      await afterFirst()
    }
    return testbed.client({ signer: operator }).getMany(locker, [filename, 'empty'], onDownload, { atOnce: 1 })
  }
  expect(await getBoth(() => owner.revokeAccess(locker))).toEqual([{ filename }, { filename: 'empty' }])
  const outcomes = await getBoth(() => owner.removeOperator(locker, operator.address))
  expect(outcomes).toMatchObject([{ filename }, { filename: 'empty', error: { code: 'SIGNATURE_INVALID' } }])
})

it('an empty file is read as zero bytes', async () => {
  const download = await testbed.client({ signer }).get(locker, 'empty')
  expect([download.size, (await download.bytes()).length]).toEqual([0, 0])
})

it('FILE-15 ERR-17 reading a missing file fails with the error code of the gateway', async () => {
  const client = testbed.client({ signer })
  await client.call(createFile, { params: { locker_id: locker.locker_id }, body: { filename: 'awaited' } })
  await expect(client.get(locker, 'awaited')).rejects.toMatchObject({ code: 'CONTENT_NOT_FOUND' })
  await expect(client.get(locker, 'nothing')).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' })
  await expect(client.getPublicly(locker.receipt_id, 'nothing')).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' })
})

it('reading fails if the gateway lists a file but returns no URL for it', async () => {
  const client = testbed.client({ signer })
  testbed.proxy.always(/files\/urls/, { lie: (answer: object) => ({ ...answer, urls: [] }) })
  await expect(client.get(locker, 'empty')).rejects.toMatchObject({ name: 'UntrueAnswer' })
})
