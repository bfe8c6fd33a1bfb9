import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { BytesDiffer } from '../../src/errors.ts'
import { type SourceLike, streamSource } from '../../src/files/source.ts'
import type { Locker } from '../../src/lockers.ts'
import { fileSource } from '../../src/node/files.ts'
import { errorOf, newEd25519, useFolder, useTestbed } from '../lockers.ts'

const MiB = 1024 * 1024
const signer = newEd25519()
let locker: Locker
const folder = useFolder()
const testbed = useTestbed({ FILE_LIMITS: `part_bytes=${4 * MiB}` })
beforeAll(async () => {
  locker = await testbed.locker(signer)
})

const sha256 = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
const small = randomBytes(100_000)
const large = randomBytes(9 * MiB + 7)

async function stored(filename: string): Promise<Buffer> {
  const response = await fetch(`${testbed.gateway.url}/v1/r/${locker.receipt_id}/f/${filename}`)
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

async function* slowly(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 300_001) yield bytes.subarray(at, at + 300_001)
}

const onDisk = async (bytes: Buffer) => {
  const path = join(folder, String(bytes.length))
  await writeFile(path, bytes)
  return path
}

const sources: [string, (bytes: Buffer) => SourceLike | Promise<SourceLike>][] = [
  ['bytes', (bytes) => bytes],
  ['a Blob', (bytes) => new Blob([new Uint8Array(bytes)], { type: 'image/png' })],
  ['a stream', (bytes) => new Blob([new Uint8Array(bytes)]).stream()],
  ['a generator', (bytes) => slowly(bytes)],
  ['a generator of known size', (bytes) => streamSource(slowly(bytes), bytes.length)],
  ['a file on disk', async (bytes) => fileSource(await onDisk(bytes))],
  ["a stream of Node's", async (bytes) => createReadStream(await onDisk(bytes))],
]

describe.each([
  ['zero bytes', Buffer.alloc(0)],
  ['100 kB', small],
  ['9 MiB', large],
])('putting %s', (_, bytes) => {
  it.each(sources)('FILE-01 FILE-21 stores exactly the bytes of %s', { tags: ['nightly'] }, async (_, sourceOf) => {
    const client = testbed.client({ signer, baseUrl: testbed.gateway.url })
    const progress: [number, number | null][] = []
    const file = await client.put(locker, 'folder/ü.bin', await sourceOf(bytes), {
      onProgress: (...now) => void progress.push(now),
    })
    expect(file).toEqual({ filename: 'folder/ü.bin', size_bytes: bytes.length, content_hash: sha256(bytes) })
    expect((await stored('folder/%C3%BC.bin')).equals(bytes)).toBe(true)
    expect(progress.at(-1)?.[0]).toBe(bytes.length)
    expect(progress.map(([done]) => done)).toEqual(progress.map(([done]) => done).sort((a, b) => a - b))
  })
})

it('FILE-09 the content type is the given one, or else that of the source', async () => {
  const client = testbed.client({ signer })
  const types = async () => {
    const all: Record<string, string> = {}
    for await (const { filename, content_type } of client.files(locker)) all[filename] = content_type
    return all
  }
  await client.put(locker, 'typed', new Blob(['a'], { type: 'text/css' }))
  await client.put(locker, 'given', new Blob(['a'], { type: 'text/css' }), { contentType: 'text/plain; charset=utf-8' })
  await client.put(locker, 'unknown', small)
  expect(await types()).toMatchObject({
    typed: 'text/css',
    given: 'text/plain; charset=utf-8',
    unknown: 'application/octet-stream',
  })
})

describe('put', () => {
  const OTHER = sha256(Buffer.from('other'))

  it('fails if the confirmation has another hash', async () => {
    testbed.proxy.plan(/files\/confirm/, { lie: (answer) => ({ ...answer, content_hash: OTHER }) })
    const error = await errorOf(testbed.client({ signer }).put(locker, 'lied about', small))
    expect(error).toBeInstanceOf(BytesDiffer)
    expect(error).toMatchObject({ filename: 'lied about', expected: sha256(small), actual: OTHER })
  })

  it('fails if the finalized session has another hash', { tags: ['nightly'] }, async () => {
    const lie = (answer: { files: object[] }) => ({ ...answer, files: [{ ...answer.files[0], content_hash: OTHER }] })
    testbed.proxy.plan(/finalize/, { lie })
    testbed.proxy.plan(/finalize/, { lie })
    for (const source of [large, slowly(large)])
      expect(await errorOf(testbed.client({ signer }).put(locker, 'lied about', source))).toBeInstanceOf(BytesDiffer)
  })

  it('FILE-23 ERR-21 fails if the bytes change in transit, which the gateway detects', async () => {
    const client = testbed.client({ signer, fetch: (url, init) => fetch(url, changed(String(url), init)) })
    expect(await errorOf(client.put(locker, 'changed', small))).toMatchObject({
      name: 'BytesDiffer',
      expected: sha256(small),
      actual: sha256(small.subarray(1)),
    })
  })

  it.each([small.length - 1, small.length + 1])(
    'fails if the source has 100000 bytes and declares %i',
    async (size) => {
      const source = streamSource(slowly(small), size)
      await expect(testbed.client({ signer }).put(locker, 'short', source)).rejects.toThrow(RangeError)
    },
  )
})

it.each(['', '../a', 'a:b', '.hidden', 'a//b'])(
  'FILE-05 FILE-06 put refuses the name %j before anything is sent',
  async (name) => {
    await expect(testbed.client({ signer }).put(locker, name, small)).rejects.toThrow(RangeError)
    expect(testbed.proxy.seen).toEqual([])
  },
)

/** Removes the first byte of each upload. */
function changed(url: string, init?: RequestInit): RequestInit | undefined {
  return url.includes('/f/') ? { ...init, body: (init?.body as Uint8Array | undefined)?.subarray(1) as BodyInit } : init
}
