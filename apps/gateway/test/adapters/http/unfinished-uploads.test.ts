import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { expectRefusal } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { expect, it, onTestFinished } from 'vitest'
import { sweepObjects } from '../../../src/files/sweep-objects.ts'
import { bytesInTrash } from '../../../src/lockers/quota.ts'
import { limitBytes } from '../../files/files.ts'
import { type Bucket, openS3Gateway, signHead } from '../s3/s3-gateway.ts'
import { CHUNK, create, creationHeaders, here, send, tusToken } from '../tus/uploads.ts'
import { openTestSession } from './sessions/sessions.ts'

const MEBIBYTE = 1_048_576

forEachDatabase('unfinished uploads', (database) => {
  const instance = forAllTests(() => openS3Gateway({ ENFORCE_TERMS: 'true', DATABASE_URL: database.url }))
  const db = () => instance.gateway.context.database.db

  async function bucketOf(bytes: number): Promise<Bucket> {
    const made = await instance.bucket()
    await limitBytes(instance, made.locker, bytes)
    return made
  }

  const begin = async (key: string, of: Bucket) =>
    /<UploadId>([^<]+)/.exec((await of.send('POST', `${key}?uploads=`)).text)?.[1] as string

  async function openSession(filenames: string[], of: Bucket) {
    const files = filenames.map((filename) => ({ filename }))
    const { raw, partsPath, headers } = await openTestSession(instance, of.locker, { files })
    const type = { 'content-type': 'application/octet-stream' }
    return {
      head: (file: number): Sent => ({
        url: `${instance.gateway.url}${partsPath(file)}?index=0`,
        method: 'POST',
        headers: { ...headers, ...type },
      }),
      part: (file: number, bytes: number) => raw(0, Buffer.alloc(bytes), { file }),
    }
  }

  interface Sent {
    url: string
    method: string
    headers: Record<string, string>
  }

  const partHead = ({ name, credentials }: Bucket, path: string, bytes: number): Sent => {
    const [target, method] = [`/s3/${name}/${path}`, 'PUT']
    const headers = signHead(instance, credentials, method, target, { 'content-length': `${bytes}` })
    return { url: instance.gateway.url + target, method, headers }
  }

  /** Sends no body until the gateway has accepted all requests. */
  async function sendTogether(heads: readonly Sent[], bytes: number): Promise<number[]> {
    const requests = heads.map(({ url, method, headers }) =>
      request(url, { method, headers: { ...headers, 'content-length': `${bytes}`, expect: '100-continue' } }),
    )
    const answers = requests.map((sent) => once(sent, 'response') as Promise<[IncomingMessage]>)
    const accepted = requests.map((sent) => once(sent, 'continue'))
    for (const sent of requests) sent.flushHeaders()
    await Promise.all(accepted)
    for (const sent of requests) sent.end(Buffer.alloc(bytes))
    return Promise.all(
      answers.map(async (answer) => {
        const [response] = await answer
        await response.toArray()
        return response.statusCode ?? 0
      }),
    )
  }

  /** Adds copies of the existing upload. */
  async function fillUp(lockerId: string, count: number): Promise<void> {
    const made = db().selectFrom('upload_sessions').selectAll().where('locker_id', '=', lockerId)
    const row = await made.executeTakeFirstOrThrow()
    const rows = Array.from({ length: count }, (_, i) => ({ ...row, session_id: `us_${lockerId}_${i}` }))
    for (let i = 0; i < count; i += 500) {
      const some = rows.slice(i, i + 500)
      await writable(db()).insertInto('upload_sessions').values(some).execute()
    }
  }

  it('T-56 use no more space than was bought, in any number and through any protocol', async () => {
    const bucket = await bucketOf(10_000)
    const part = (key: string, id: string, bytes: number) =>
      bucket.send('PUT', `${key}?partNumber=1&uploadId=${id}`, { body: Buffer.alloc(bytes) })
    const tooMuch = await bucket.send('PUT', 'large', { body: Buffer.alloc(10_001) })
    const refusal = { status: 403, code: 'QuotaExceeded', text: expect.stringContaining('renew the locker') }
    expect(tooMuch).toMatchObject(refusal)
    const first = await begin('a', bucket)
    expect((await part('a', first, 6000)).status).toBe(200)
    const second = await begin('b', bucket)
    const refused = await part('b', second, 6000)
    expect(refused).toMatchObject({ status: 403, code: 'QuotaExceeded' })
    expect((await part('b', second, 2000)).status).toBe(200)
    const upload = await create(
      instance,
      bucket.locker,
      await tusToken(bucket.locker),
      creationHeaders(4000, { filename: 'c' }),
    )
    const over = await upload.patch(0, Buffer.alloc(3000))
    expect([over.status, over.error]).toEqual([507, 'LOCKER_CAPACITY_EXCEEDED'])
    expect((await upload.head()).headers['upload-offset']).toBe('0')
    // An aborted upload frees its space.
    expect((await bucket.send('DELETE', `a?uploadId=${first}`)).status).toBe(204)
    expect((await upload.patch(0, Buffer.alloc(3000))).status).toBe(204)
    expect((await upload.patch(3000, Buffer.alloc(1000))).status).toBe(204)
    expect((await send(upload.url, 'HEAD')).headers['svc-content-hash']).toMatch(/^sha256:/)
    expect((await part('a', await begin('a', bucket), 7000)).status).toBe(200)
    // Uploads in progress use 9,000 bytes, and an upload session shares the quota with the other protocols.
    const session = await openSession(['d', 'e'], bucket)
    const refusedPart = await session.part(0, 2000)
    expectRefusal(refusedPart, 507, 'LOCKER_CAPACITY_EXCEEDED')
    expect((await session.part(0, 800)).status).toBe(200)
    const another = await openSession(['f'], bucket)
    expect((await another.part(0, 300)).status).toBe(507)
    expect((await session.part(1, 200)).status).toBe(200)
    const full = await part('b', second, 1)
    expect([full.status, full.code]).toEqual([403, 'QuotaExceeded'])
  })

  it('T-56 use no more space when parts arrive together through several protocols', async () => {
    const other = await bucketOf(1000)
    const { url } = await create(
      instance,
      other.locker,
      await tusToken(other.locker),
      creationHeaders(800, { filename: 'c' }),
    )
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

  it('T-56 count refused bytes that remain in the object of a file until its upload ends', async () => {
    const other = await bucketOf(2.5 * MEBIBYTE)
    const id = await begin('a', other)
    const heads = [1, 2, 3].map((n) => partHead(other, `a?partNumber=${n}&uploadId=${id}`, MEBIBYTE))
    expect((await sendTogether(heads, MEBIBYTE)).sort()).toEqual([200, 200, 403])
    const small = await begin('b', other)
    const send = () => other.send('PUT', `b?partNumber=1&uploadId=${small}`, { body: Buffer.alloc(1000) })
    expect((await send()).code).toBe('QuotaExceeded')
    expect((await other.send('DELETE', `a?uploadId=${id}`)).status).toBe(204)
    expect(await bytesInTrash(db(), other.name)).toBe(2 * MEBIBYTE)
    expect((await send()).status).toBe(200)
    // Replacing parts by smaller ones frees nothing, since the old parts stay beside them.
    const replaced = await begin('c', other)
    const part = (n: number, bytes: number) =>
      other.send('PUT', `c?partNumber=${n}&uploadId=${replaced}`, { body: Buffer.alloc(bytes) })
    for (const n of [1, 2]) for (const bytes of [MEBIBYTE, 10]) expect((await part(n, bytes)).status).toBe(200)
    expect((await part(3, MEBIBYTE)).code).toBe('QuotaExceeded')
  })

  it('T-56 are refused, like all bytes, while as many bytes as were bought wait for removal', async () => {
    const other = await bucketOf(10_000)
    const { locker } = other
    await locker.put('a', Buffer.alloc(4000))
    const copy = () => other.send('PUT', 'b', { headers: { 'x-amz-copy-source': `/${other.name}/a` } })
    for (let i = 0; i < 4; i++) expect(await copy()).toMatchObject({ status: 200, code: null })
    const id = await begin('c', other)
    const upload = await create(instance, locker, await tusToken(locker), creationHeaders(10, { filename: 'd' }))
    const session = await openSession(['e'], other)
    const urls = await locker.call<{ upload_url: string }>(['locker:read'], 'GET', '/files/a')
    const { pathname } = new URL(urls.body.upload_url)
    const byUrl = () =>
      instance.send<{ error?: string }>('PUT', pathname, Buffer.from('x'), { 'content-type': 'text/plain' })
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
    expectRefusal(await session.part(0, 1), 429, 'RATE_LIMITED')
    expect((await upload.patch(0, 'x')).error).toBe('RATE_LIMITED')
    // Requests that store nothing still work.
    expect((await other.send('DELETE', 'b')).status).toBe(204)

    instance.clock.advance(20 * 60)
    await sweepObjects(instance.gateway.context)
    expect((await copy()).status).toBe(200)
    expect((await byUrl()).status).toBe(200)
    expect((await session.part(0, 1)).status).toBe(200)
    expect((await upload.patch(0, 'x')).status).toBe(204)
  })

  it('T-56 put no more bytes into the trash when they overwrite files or parts together', async () => {
    const [other, another] = [await bucketOf(10_000), await bucketOf(10_000)]
    await other.locker.put('a', Buffer.alloc(4000))
    const files = await sendTogether(Array(6).fill(partHead(other, 'a', 4000)), 4000)
    expect(files.sort()).toEqual([200, 200, 200, 503, 503, 503])
    expect(await bytesInTrash(db(), other.name)).toBe(12_000)
    const part = partHead(another, `a?partNumber=1&uploadId=${await begin('a', another)}`, 4000)
    const parts = await sendTogether(Array(6).fill(part), 4000)
    expect(parts.sort()).toEqual([200, 200, 200, 200, 503, 503])
    expect(await bytesInTrash(db(), another.name)).toBe(12_000)
  })

  it('T-56 stay within the number that a locker may have, even when many begin at once', async () => {
    const other = await instance.bucket()
    await begin('first', other)
    await fillUp(other.name, 995)
    const begun = await Promise.all(Array.from({ length: 12 }, (_, i) => other.send('POST', `key-${i}?uploads=`)))
    expect(begun.filter(({ status }) => status === 200)).toHaveLength(4)
    expect(begun.filter(({ code }) => code === 'InvalidRequest')).toHaveLength(8)
    const open = db().selectFrom('upload_sessions').select('session_id').where('locker_id', '=', other.name)
    expect(await open.execute()).toHaveLength(1000)
  })

  it('T-56 LOCK-15 are limited to ten thousand sessions and ten thousand tus uploads per locker, whether or not terms are enforced', {
    tags: ['nightly'],
  }, async () => {
    const lenient = await openS3Gateway({ DATABASE_URL: database.url })
    onTestFinished(() => lenient.close())
    for (const at of [instance, lenient]) {
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
