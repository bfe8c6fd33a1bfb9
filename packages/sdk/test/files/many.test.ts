import { inParallel } from '@svc/concurrency/parallel'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Locker } from '../../src/lockers.ts'
import { newEd25519, useTestbed } from '../lockers.ts'

const signer = newEd25519()
let locker: Locker
const testbed = useTestbed()
beforeEach(async () => {
  locker = await testbed.locker(signer)
})

const requests = (pattern: RegExp) => testbed.proxy.seen.filter(({ path }) => pattern.test(path)).length
const texts = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ filename: `${i}.txt`, bytes: Buffer.from(`file ${i}`) }))

describe('many files', () => {
  it('LIM-11 FILE-17 are created and confirmed in batches of a hundred', {
    tags: ['nightly'],
  }, async () => {
    const reported: string[] = []
    const client = testbed.client({ signer })
    const outcomes = await client.putMany(locker, texts(130), {
      onFile: ({ filename }) => void reported.push(filename),
    })
    expect(outcomes.filter((outcome) => 'stored' in outcome)).toHaveLength(130)
    expect(reported).toHaveLength(130)
    expect([requests(/batch$/), requests(/^\/f\//), requests(/files$/)]).toEqual([4, 130, 0])
    const names: string[] = []
    for await (const { filename, status } of client.files(locker)) if (status === 'confirmed') names.push(filename)
    expect(names).toHaveLength(130)

    const seen = new Map<string, string>()
    const got = await client.getMany(locker, [...names, 'nothing'], async (download) => {
      seen.set(download.filename, Buffer.from(await download.bytes()).toString())
    })
    expect(got.filter(({ error }) => error)).toMatchObject([{ filename: 'nothing' }])
    expect(seen.get('77.txt')).toBe('file 77')
    expect(seen.size).toBe(130)
    expect(requests(/urls$/)).toBe(1)
  })

  it('FILE-17 have one outcome each, for any names in the answer of the gateway', async () => {
    const client = testbed.client({ signer })
    await client.putMany(locker, texts(3))
    testbed.proxy.plan(/urls$/, {
      lie: ({ urls: [first], ...rest }: { urls: object[] }) => ({
        ...rest,
        urls: [first, first, { ...first, filename: 'other' }],
      }),
    })
    const received: string[] = []
    const outcomes = await client.getMany(locker, ['0.txt', '1.txt', '0.txt', 'nothing'], async ({ filename }) => {
      received.push(filename)
    })
    expect(received).toEqual(['0.txt'])
    const untrue = { name: 'UntrueAnswer' }
    expect(outcomes.filter(({ error }) => error)).toMatchObject([
      { filename: '0.txt', error: untrue },
      { filename: 'other', error: untrue },
      { filename: 'nothing' },
      { filename: '1.txt', error: untrue },
    ])
    expect(outcomes.filter(({ error }) => !error)).toEqual([{ filename: '0.txt' }])
  })

  it('ADD-60 are stored unless their names exist, if they must not replace others', async () => {
    const client = testbed.client({ signer })
    await client.putMany(locker, texts(5).slice(2, 4))
    const outcomes = await client.putMany(locker, texts(5), { overwrite: false })
    expect(outcomes.filter((outcome) => 'error' in outcome)).toMatchObject([
      { filename: '2.txt', error: { name: 'NameTaken', filename: '2.txt' } },
      { filename: '3.txt', error: { name: 'NameTaken', filename: '3.txt' } },
    ])
    expect(outcomes.filter((outcome) => 'stored' in outcome)).toHaveLength(3)
    expect(requests(/upload-sessions$/)).toBe(2)
  })

  it('succeed even if some of them fail', async () => {
    testbed.proxy.plan(/^\/f\//, {
      answer: { status: 413, body: { error: 'UPLOAD_TOO_LARGE', message: '', request_id: '' } },
    })
    const files = [...texts(3), { filename: '../bad', bytes: Buffer.from('x') }]
    const outcomes = await testbed.client({ signer }).putMany(locker, files)
    const names = outcomes.map((outcome) => ('error' in outcome ? (outcome.error as Error).name : 'stored'))
    expect(names.sort()).toEqual(['GatewayError', 'InvalidFilename', 'stored', 'stored'])
  })

  it('have one failure if a batch confirmation is wrong about one of them', async () => {
    testbed.proxy.plan(/confirm-batch/, {
      lie: ({ results, ...rest }: { results: object[] }) => ({
        ...rest,
        results: results.map((one, i) => (i === 1 ? { ...one, size_bytes: 1 } : one)),
      }),
    })
    const outcomes = await testbed.client({ signer }).putMany(locker, texts(3))
    expect(outcomes.filter((outcome) => 'error' in outcome)).toMatchObject([{ error: { name: 'BytesDiffer' } }])
  })

  it.each<[string, string[], string?]>([
    ['repeats its first page', ['a', 'b'], 'next'],
    ['has an empty page', [], 'next'],
    ['is not in order', ['b', 'a']],
  ])('cannot be listed from an answer that %s, because the list might never end', async (_, names, next_cursor) => {
    const files = names.map((filename) => ({ filename }))
    const body = { ...locker, manifest_version: 1, file_count: 2, total_bytes: 2, files, next_cursor }
    testbed.proxy.always(/manifest/, { answer: { status: 200, body } })
    const read = async () => {
      for await (const { filename } of testbed.client({ signer }).files(locker)) expect(names).toContain(filename)
    }
    await expect(read()).rejects.toMatchObject({ name: 'UntrueAnswer' })
  })

  it('stop uploading when the signal aborts', { tags: ['nightly'] }, async () => {
    const controller = new AbortController()
    const options = { onFile: () => controller.abort(new Error('enough')), signal: controller.signal }
    await expect(testbed.client({ signer }).putMany(locker, texts(250), options)).rejects.toThrow('enough')
    expect(requests(/^\/f\//)).toBe(100)
  })
})

it('inParallel never exceeds its limit, reads an item only when a slot is free, and ends with the first failure', async () => {
  let [running, taken, done] = [0, 0, 0]
  async function* items() {
    for (; ; taken++) {
      expect(taken - done).toBeLessThanOrEqual(3)
      yield taken
    }
  }
  const work = inParallel(items(), 3, async (i) => {
    expect(++running).toBeLessThanOrEqual(3)
    await new Promise(setImmediate)
    if (i === 20) throw new Error('the twentieth')
    running--
    done++
  })
  await expect(work).rejects.toThrow('the twentieth')
  expect(taken).toBeLessThanOrEqual(23)
})
