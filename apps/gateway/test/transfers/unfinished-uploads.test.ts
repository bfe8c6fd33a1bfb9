import type { UploadSession } from '@svc/api/upload-sessions'
import { forEachDatabase } from '@svc/devnet/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Bucket, openS3House, type S3House } from '../s3/s3-house.ts'
import { create, metadata, send, type TestUpload, tusToken } from '../tus/uploads.ts'

const BOUGHT = 10_000

forEachDatabase('unfinished uploads', (database) => {
  let house: S3House
  let bucket: Bucket
  beforeAll(async () => {
    house = await openS3House({ ENFORCE_TERMS: 'true', DATABASE_URL: database.url })
    bucket = await house.bucket()
    const { db } = house.gateway.context.database
    const { terms } = await db.selectFrom('lockers').select('terms').executeTakeFirstOrThrow()
    const smaller = JSON.stringify({ ...JSON.parse(terms), storage_limit_bytes: BOUGHT })
    await db.updateTable('lockers').set({ terms: smaller }).execute()
  })
  afterAll(() => house.close())

  const begin = async (key: string) =>
    /<UploadId>([^<]+)/.exec((await bucket.send('POST', `${key}?uploads=`)).text)?.[1] as string
  const part = (key: string, id: string, bytes: number) =>
    bucket.send('PUT', `${key}?partNumber=1&uploadId=${id}`, { body: Buffer.alloc(bytes) })

  async function openSession(filenames: string[]) {
    const files = filenames.map((filename) => ({ filename }))
    const made = await bucket.locker.call<UploadSession>(['locker:write'], 'POST', '/upload-sessions', { files })
    expect(made.status, JSON.stringify(made.body)).toBe(200)
    const { upload_token, files: opened } = made.body
    return {
      async part(file: number, bytes: number) {
        const { pathname } = new URL(opened[file]!.parts_url)
        const headers = { 'content-type': 'application/octet-stream', 'x-upload-token': upload_token }
        const init = { method: 'POST', headers, body: Buffer.alloc(bytes) }
        const response = await fetch(`${house.gateway.url}${pathname}?index=0`, init)
        return { status: response.status, body: (await response.json()) as { error?: string } }
      },
    }
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

  it('T-112 are ten thousand at most of a locker by tus, so that their rows end', async () => {
    const other = await house.bucket()
    const token = await tusToken(other.locker)
    const headers = { 'x-upload-token': token, 'upload-length': '1' }
    const post = () => send(`${house.gateway.url}/v1/lockers/${other.name}/tus`, 'POST', headers)
    expect((await post()).status).toBe(201)
    await fillUp(other.name, 9_999)
    const reply = await post()
    expect([reply.status, reply.error]).toEqual([507, 'LOCKER_CAPACITY_EXCEEDED'])
  })
})
