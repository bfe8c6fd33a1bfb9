import { randomBytes } from 'node:crypto'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { expect, it, onTestFinished } from 'vitest'
import { ed25519Identity } from '../../auth/lockers.ts'
import { stores } from '../../transfers/object-stores.ts'
import { sha256 } from '../../transfers/transfers.ts'
import { openS3House } from '../s3-house.ts'

const PART = 5 * 1_048_576

it.each(Object.keys(stores))(
  'T-98 %s makes an object of parts that come at the same time',
  { tags: ['nightly'] },
  async (provider) => {
    const { GCS_REDIRECT: _, STORJ_REDIRECT: _off, ...variables } = await stores[provider]!()
    const house = await openS3House({ ...variables, LOCAL_PROVIDERS: '' })
    onTestFinished(() => house.close())
    const locker = await house.locker(ed25519Identity(), { provider })
    const { client } = await house.bucketOf(locker)
    const bytes = randomBytes(3 * PART + 17)
    const of = { Bucket: locker.lockerId, Key: 'large' }
    const done = await new Upload({ client, params: { ...of, Body: bytes }, partSize: PART, queueSize: 4 }).done()
    expect(done.ETag).toBe(`"${sha256(bytes).slice(0, 32)}-1"`)
    const { Body } = await client.send(new GetObjectCommand(of))
    expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(bytes)).toBe(true)
    const { db } = house.gateway.context.database
    const held = await db.selectFrom('objects').select('object_id').where('state', '=', 'held').execute()
    expect(held).toHaveLength(1)
  },
)
