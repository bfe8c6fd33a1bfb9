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
  })

  it('T-112 are ten thousand at most of a locker by tus, so that their rows end', async () => {
    const other = await house.bucket()
    const token = await tusToken(other.locker)
    const { db } = house.gateway.context.database
    const headers = { 'x-upload-token': token, 'upload-length': '1' }
    const post = () => send(`${house.gateway.url}/v1/lockers/${other.name}/tus`, 'POST', headers)
    expect((await post()).status).toBe(201)
    const made = db.selectFrom('upload_sessions').selectAll().where('locker_id', '=', other.name)
    const row = await made.executeTakeFirstOrThrow()
    for (let i = 0; i < 10; i++) {
      const rows = Array.from({ length: i === 9 ? 999 : 1000 }, (_, at) => ({ ...row, session_id: `us_${i}_${at}` }))
      await db.insertInto('upload_sessions').values(rows.slice(0, 500)).execute()
      await db.insertInto('upload_sessions').values(rows.slice(500)).execute()
    }
    const reply = await post()
    expect([reply.status, reply.error]).toEqual([507, 'LOCKER_CAPACITY_EXCEEDED'])
  })
})
