import { createHash, randomBytes } from 'node:crypto'
import { startGcsServer } from '@svc/devnet/providers/gcs/start'
import { expect, it, onTestFinished } from 'vitest'
import { ed25519Identity, openLockerHouse } from '../../auth/lockers.ts'
import { create, metadata, tusToken } from '../../tus/uploads.ts'
import { newFolder, stores } from '../object-stores.ts'
import { sha256 } from '../transfers.ts'
import { openTestSession, publicBytes } from './sessions.ts'

/** The shortest part of an S3 upload that is not the last. */
const PART = 5 * 1_048_576

it.each(Object.keys(stores))(
  'SESS-02 SESS-03 %s makes a file of parts of any order and length',
  { tags: ['nightly'] },
  async (provider) => {
    const { GCS_REDIRECT: _, STORJ_REDIRECT: _off, ...variables } = await stores[provider]!()
    const house = await openLockerHouse({ ...variables, LOCAL_PROVIDERS: '' })
    onTestFinished(() => house.close())
    const locker = await house.locker(ed25519Identity(), { provider })
    const [large, other, small] = [randomBytes(PART), randomBytes(PART + 1), randomBytes(300_000)]
    const contents = { even: [large, large, small], uneven: [large, small, other], replaced: [large, other, large] }
    for (const [filename, parts] of Object.entries(contents)) {
      const session = await openTestSession(house, locker, { files: [{ filename }] })
      if (filename === 'replaced') for (const i of [0, 1]) expect((await session.raw(i, large)).status).toBe(200)
      const sent = await Promise.all([2, 0, 1].map((i) => session.raw(i, parts[i]!)))
      expect(sent.map(({ status }) => status)).toEqual([200, 200, 200])
      // Whatever becomes of a part that is sent again, it must not touch the one before, nor stay when it is replaced (T-11).
      const { db } = house.gateway.context.database
      const rows = db.selectFrom('upload_parts').select('part_ref').where('session_id', '=', session.opened.session_id)
      const inPlace = (await rows.orderBy('part_index').execute()).map(({ part_ref }) => part_ref !== null)
      if (filename === 'replaced') expect(inPlace).toEqual([false, false, true])
      const bytes = Buffer.concat(parts)
      const { body } = await session.finalize()
      const content_hash = `sha256:${sha256(bytes)}`
      expect(body).toMatchObject({ status: 'complete', files: [{ size_bytes: bytes.length, content_hash }] })
      expect((await publicBytes(house, locker, filename)).equals(bytes)).toBe(true)
    }
  },
)

it('T-169 parts that were refused or replaced do not stay where each write has a name of its own', async () => {
  const MEBIBYTE = 1_048_576
  const server = await startGcsServer({ folder: await newFolder() })
  onTestFinished(server.stop)
  const { url, bucket, keyFile } = server
  const house = await openLockerHouse({
    GCS_BUCKET: bucket,
    GCS_CREDENTIALS: keyFile,
    GCS_ENDPOINT: url,
    GCS_IAM_ENDPOINT: url,
    SESSION_PART_MAX_BYTES: `${MEBIBYTE}`,
    LOCAL_PROVIDERS: '',
  })
  onTestFinished(() => house.close())
  const locker = await house.locker(ed25519Identity(), { provider: 'gcs' })
  const partsInPlace = () => server.objects().filter(({ name }) => /\.\d+-/.test(name)).length

  const session = await openTestSession(house, locker, { files: [{ filename: 'a' }] })
  for (const i of [0, 1]) expect((await session.raw(i, randomBytes(MEBIBYTE))).status).toBe(200)
  expect(partsInPlace()).toBe(2)
  expect((await session.raw(0, randomBytes(MEBIBYTE))).status).toBe(200)
  expect(partsInPlace()).toBe(1)

  const length = { 'upload-length': `${3 * MEBIBYTE}`, ...metadata({ filename: 'b' }) }
  const upload = await create(house, locker, await tusToken(locker), length)
  const wrong = { 'upload-checksum': `sha1 ${createHash('sha1').digest('base64')}` }
  expect((await upload.patch(0, randomBytes(2 * MEBIBYTE), wrong)).error).toBe('TUS_CHECKSUM_MISMATCH')
  expect(partsInPlace()).toBe(1)
  expect((await upload.patch(0, randomBytes(2 * MEBIBYTE))).status).toBe(204)
  expect(partsInPlace()).toBe(3)
})
