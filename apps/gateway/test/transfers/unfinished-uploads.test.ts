import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { UploadSession } from '@svc/api/upload-sessions'
import { forEachDatabase } from '@svc/devnet/databases'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { releasedBytes } from '../../src/files/object-store.ts'
import { sweepObjects } from '../../src/files/sweep-objects.ts'
import { expectRefusal } from '../auth/lockers.ts'
import { type Bucket, openS3House, type S3House, signHead } from '../s3/s3-house.ts'
import { CHUNK, create, here, metadata, send, type TestUpload, tusToken } from '../tus/uploads.ts'

const BOUGHT = 10_000
const MEBIBYTE = 1_048_576

forEachDatabase('unfinished uploads', (database) => {
  let house: S3House
  let bucket: Bucket
  beforeAll(async () => {
    house = await openS3House({ ENFORCE_TERMS: 'true', DATABASE_URL: database.url })
    bucket = await house.bucket()
    await shrink(bucket, BOUGHT)
  })
  afterAll(() => house.close())

  async function shrink({ name }: Bucket, storage_limit_bytes: number): Promise<void> {
    const { db } = house.gateway.context.database
    const row = db.selectFrom('lockers').select('terms').where('locker_id', '=', name)
    const terms = JSON.stringify({ ...JSON.parse((await row.executeTakeFirstOrThrow()).terms), storage_limit_bytes })
    await db.updateTable('lockers').set({ terms }).where('locker_id', '=', name).execute()
  }

  const begin = async (key: string, of = bucket) =>
    /<UploadId>([^<]+)/.exec((await of.send('POST', `${key}?uploads=`)).text)?.[1] as string
  const part = (key: string, id: string, bytes: number) =>
    bucket.send('PUT', `${key}?partNumber=1&uploadId=${id}`, { body: Buffer.alloc(bytes) })

  async function openSession(filenames: string[], of = bucket) {
    const files = filenames.map((filename) => ({ filename }))
    const made = await of.locker.call<UploadSession>(['locker:write'], 'POST', '/upload-sessions', { files })
    expect(made.status, JSON.stringify(made.body)).toBe(200)
    const { upload_token, files: opened } = made.body
    const head = (file: number): Sent => ({
      url: `${house.gateway.url}${new URL(opened[file]!.parts_url).pathname}?index=0`,
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'x-upload-token': upload_token },
    })
    return {
      head,
      async part(file: number, bytes: number) {
        const { url, ...init } = head(file)
        const response = await fetch(url, { ...init, body: Buffer.alloc(bytes) })
        return { status: response.status, body: (await response.json()) as { error?: string } }
      },
    }
  }

  interface Sent {
    url: string
    method: string
    headers: Record<string, string>
  }

  const partHead = ({ name, credentials }: Bucket, path: string, bytes: number): Sent => {
    const [target, method] = [`/s3/${name}/${path}`, 'PUT']
    const { host } = new URL(house.gateway.url)
    const [headers, payload] = [{ 'content-length': `${bytes}` }, 'UNSIGNED-PAYLOAD']
    const signed = signHead(credentials, { method, target, host, headers, payload, now: house.clock.now() })
    return { url: house.gateway.url + target, method, headers: signed }
  }

  /** No body is sent before the gateway has let in all of the requests. */
  async function sendTogether(heads: readonly Sent[], bytes: number): Promise<number[]> {
    const requests = heads.map(({ url, method, headers }) =>
      request(url, { method, headers: { ...headers, 'content-length': `${bytes}`, expect: '100-continue' } }),
    )
    const answers = requests.map((sent) => once(sent, 'response') as Promise<[IncomingMessage]>)
    const letIn = requests.map((sent) => once(sent, 'continue'))
    for (const sent of requests) sent.flushHeaders()
    await Promise.all(letIn)
    for (const sent of requests) sent.end(Buffer.alloc(bytes))
    return Promise.all(
      answers.map(async (answer) => {
        const [response] = await answer
        await response.toArray()
        return response.statusCode ?? 0
      }),
    )
  }

  /** Adds uploads that are as the one there is. */
  async function fillUp(lockerId: string, count: number): Promise<void> {
    const { db } = house.gateway.context.database
    const made = db.selectFrom('upload_sessions').selectAll().where('locker_id', '=', lockerId)
    const row = await made.executeTakeFirstOrThrow()
    for (let first = 0; first < count; first += 500) {
      const rows = Array.from({ length: Math.min(500, count - first) }, (_, i) => ({
        ...row,
        session_id: `us_${lockerId}_${first + i}`,
      }))
      await db.insertInto('upload_sessions').values(rows).execute()
    }
  }

  it('T-112 hold no more than was bought, however many there are and whichever door they came by', async () => {
    const token = await tusToken(bucket.locker)
    const tus = (filename: string, length: number) =>
      create(house, bucket.locker, token, { 'upload-length': `${length}`, ...metadata({ filename }) })
    const first = await begin('a')
    expect((await part('a', first, 6000)).status).toBe(200)
    const second = await begin('b')
    const refused = await part('b', second, 6000)
    expect([refused.status, refused.code]).toEqual([403, 'QuotaExceeded'])
    expect((await part('b', second, 2000)).status).toBe(200)
    const upload: TestUpload = await tus('c', 4000)
    const over = await upload.patch(0, Buffer.alloc(3000))
    expect([over.status, over.error]).toEqual([507, 'LOCKER_CAPACITY_EXCEEDED'])
    expect((await upload.head()).headers['upload-offset']).toBe('0')
    // What is ended makes room.
    expect((await bucket.send('DELETE', `a?uploadId=${first}`)).status).toBe(204)
    expect((await upload.patch(0, Buffer.alloc(3000))).status).toBe(204)
    expect((await upload.patch(3000, Buffer.alloc(1000))).status).toBe(204)
    expect((await send(upload.url, 'HEAD')).headers['svc-content-hash']).toMatch(/^sha256:/)
    expect((await part('a', await begin('a'), 7000)).status).toBe(200)
    // 9,000 are under way, and an upload session has no more room than the other doors.
    const session = await openSession(['d', 'e'])
    const refusedPart = await session.part(0, 2000)
    expect([refusedPart.status, refusedPart.body.error]).toEqual([507, 'LOCKER_CAPACITY_EXCEEDED'])
    expect((await session.part(0, 800)).status).toBe(200)
    const another = await openSession(['f'])
    expect((await another.part(0, 300)).status).toBe(507)
    expect((await session.part(1, 200)).status).toBe(200)
    const full = await part('b', second, 1)
    expect([full.status, full.code]).toEqual([403, 'QuotaExceeded'])
  })

  it('T-166 hold no more when parts arrive together, whichever doors they came by', async () => {
    const other = await house.bucket()
    await shrink(other, 1000)
    const token = await tusToken(other.locker)
    const options = { 'upload-length': '800', ...metadata({ filename: 'c' }) }
    const { url } = await create(house, other.locker, token, options)
    const headers = { ...CHUNK, 'tus-resumable': '1.0.0', 'upload-offset': '0' }
    const heads = [
      partHead(other, `a?partNumber=1&uploadId=${await begin('a', other)}`, 400),
      partHead(other, `b?partNumber=1&uploadId=${await begin('b', other)}`, 400),
      { url, method: 'PATCH', headers },
      (await openSession(['d'], other)).head(0),
    ]
    const statuses = await sendTogether(heads, 400)
    expect(statuses.filter((status) => status < 300)).toHaveLength(2)
    expect(statuses.filter((status) => [403, 507].includes(status))).toHaveLength(2)
  })

  it('T-166 count what was refused and lies in the object of a file, until its upload is over', async () => {
    const other = await house.bucket()
    await shrink(other, 2.5 * MEBIBYTE)
    const id = await begin('a', other)
    const heads = [1, 2, 3].map((n) => partHead(other, `a?partNumber=${n}&uploadId=${id}`, MEBIBYTE))
    expect((await sendTogether(heads, MEBIBYTE)).sort()).toEqual([200, 200, 403])
    const small = await begin('b', other)
    const send = () => other.send('PUT', `b?partNumber=1&uploadId=${small}`, { body: Buffer.alloc(1000) })
    expect((await send()).code).toBe('QuotaExceeded')
    expect((await other.send('DELETE', `a?uploadId=${id}`)).status).toBe(204)
    expect(await releasedBytes(house.gateway.context.database.db, other.name)).toBe(2 * MEBIBYTE)
    expect((await send()).status).toBe(200)
    // Nor is there more room when parts are replaced by smaller ones, beside which they stay.
    const replaced = await begin('c', other)
    const part = (n: number, bytes: number) =>
      other.send('PUT', `c?partNumber=${n}&uploadId=${replaced}`, { body: Buffer.alloc(bytes) })
    for (const n of [1, 2]) for (const bytes of [MEBIBYTE, 10]) expect((await part(n, bytes)).status).toBe(200)
    expect((await part(3, MEBIBYTE)).code).toBe('QuotaExceeded')
  })

  it('T-168 are refused, as all bytes are, while as much as was bought waits to be removed', async () => {
    const other = await house.bucket()
    const { locker } = other
    await shrink(other, 10_000)
    await locker.put('a', Buffer.alloc(4000))
    const copy = () => other.send('PUT', 'b', { headers: { 'x-amz-copy-source': `/${other.name}/a` } })
    for (let i = 0; i < 4; i++) expect((await copy()).status).toBe(200)
    const id = await begin('c', other)
    const token = await tusToken(locker)
    const upload = await create(house, locker, token, { 'upload-length': '10', ...metadata({ filename: 'd' }) })
    const session = await openSession(['e'], other)
    const urls = await locker.call<{ upload_url: string }>(['locker:read'], 'GET', '/files/a')
    const { pathname } = new URL(urls.body.upload_url)
    const byUrl = () =>
      house.send<{ error?: string }>('PUT', pathname, Buffer.from('x'), { 'content-type': 'text/plain' })
    const byS3 = [
      copy,
      () => other.send('PUT', 'new', { body: 'x' }),
      () => other.send('PUT', `c?partNumber=1&uploadId=${id}`, { body: 'x' }),
    ]
    for (const send of byS3) {
      const { status, code, headers } = await send()
      expect([status, code, headers.get('retry-after')]).toEqual([503, 'SlowDown', '300'])
    }
    const refused = await byUrl()
    expectRefusal(refused, 429, 'RATE_LIMITED')
    expect(refused.headers.get('retry-after')).toBe('300')
    expect((await session.part(0, 1)).body.error).toBe('RATE_LIMITED')
    expect((await upload.patch(0, 'x')).error).toBe('RATE_LIMITED')
    // What takes nothing goes on.
    expect((await other.send('DELETE', 'b')).status).toBe(204)

    house.clock.advance(20 * 60)
    await sweepObjects(house.gateway.rooms.files)
    expect((await copy()).status).toBe(200)
    expect((await byUrl()).status).toBe(200)
    expect((await session.part(0, 1)).status).toBe(200)
    expect((await upload.patch(0, 'x')).status).toBe(204)
  })

  it('T-168 overwriting files or parts together gives up no more', async () => {
    const { db } = house.gateway.context.database
    const [other, another] = [await house.bucket(), await house.bucket()]
    for (const of of [other, another]) await shrink(of, 10_000)
    await other.locker.put('a', Buffer.alloc(4000))
    const files = await sendTogether(Array(6).fill(partHead(other, 'a', 4000)), 4000)
    expect(files.sort()).toEqual([200, 200, 200, 503, 503, 503])
    expect(await releasedBytes(db, other.name)).toBe(12_000)
    const part = partHead(another, `a?partNumber=1&uploadId=${await begin('a', another)}`, 4000)
    const parts = await sendTogether(Array(6).fill(part), 4000)
    expect(parts.sort()).toEqual([200, 200, 200, 200, 503, 503])
    expect(await releasedBytes(db, another.name)).toBe(12_000)
  })

  it('T-112 keep to the number that a locker may have, also when many begin at once', async () => {
    const other = await house.bucket()
    const { db } = house.gateway.context.database
    const first = await other.send('POST', 'first?uploads=')
    expect(first.status).toBe(200)
    await fillUp(other.name, 995)
    const begun = await Promise.all(Array.from({ length: 12 }, (_, i) => other.send('POST', `key-${i}?uploads=`)))
    expect(begun.filter(({ status }) => status === 200)).toHaveLength(4)
    expect(begun.filter(({ code }) => code === 'InvalidRequest')).toHaveLength(8)
    const open = db.selectFrom('upload_sessions').select('session_id').where('locker_id', '=', other.name)
    expect(await open.execute()).toHaveLength(1000)
  })

  it('T-112 LOCK-15 are ten thousand at most of a locker by sessions and by tus each, whether or not terms are enforced', {
    tags: ['nightly'],
  }, async () => {
    const lenient = await openS3House({ DATABASE_URL: database.url })
    onTestFinished(() => lenient.close())
    for (const at of [house, lenient]) {
      const { locker, name } = await at.bucket()
      const open = () => locker.call(['locker:write'], 'POST', '/upload-sessions', { files: [{ filename: 'a' }] })
      expect((await open()).status).toBe(200)
      await fillUp(name, 9_999)
      const session = await open()
      expectRefusal(session, 429, 'RATE_LIMITED')
      expect(session.body).toMatchObject({
        hint: expect.stringMatching(/finalize.*expire/),
        details: { reason: 'unfinished', limit: 10_000, next_best_method: expect.stringMatching(/finalize/) },
      })
      const other = await at.bucket()
      const headers = { 'x-upload-token': await tusToken(other.locker), 'upload-length': '1' }
      const post = () => send(`${at.gateway.url}/v1/lockers/${other.name}/tus`, 'POST', headers)
      const created = await post()
      expect(created.status).toBe(201)
      await fillUp(other.name, 9_999)
      const refused = await post()
      expect([refused.status, refused.error]).toEqual([429, 'RATE_LIMITED'])
      expect(refused.text).toMatch(/"hint":"[^"]*DELETE/)
      const ended = await send(here(at, `${created.headers.location}`), 'DELETE')
      expect(ended.status).toBe(204)
      expect((await post()).status).toBe(201)
    }
  })
})
