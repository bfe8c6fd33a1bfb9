import { createHash, randomBytes } from 'node:crypto'
import { startGcsServer } from '@svc/devnet/providers/gcs/start'
import { gcsUrl } from '@svc/devnet/providers/store-urls'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it, onTestFinished } from 'vitest'
import { openS3Gateway } from '../../s3/s3-gateway.ts'
import { create, creationHeaders, metadata, tusToken } from '../../tus/uploads.ts'
import { newFolder, stores } from '../object-stores.ts'
import { sha256 } from '../transfers.ts'
import { openTestSession, publicBytes } from './sessions.ts'

const MEBIBYTE = 1_048_576
/** The shortest part of an S3 upload that is not the last. */
const PART = 5 * MEBIBYTE
const PROVIDERS = Object.keys(stores)
const nightly = { tags: ['nightly'] }

async function openAt(provider: string) {
  const instance = await openS3Gateway({ ...(await stores[provider]!('off')), LOCAL_PROVIDERS: '' })
  onTestFinished(() => instance.close())
  const locker = await instance.locker(ed25519Identity(), { provider })
  const expectStored = async (filename: string, bytes: Buffer) =>
    expect((await publicBytes(instance, locker, filename)).equals(bytes)).toBe(true)
  return { instance, locker, expectStored }
}

it.each(PROVIDERS)('SESS-02 SESS-03 %s joins parts of any order and length into a file', nightly, async (provider) => {
  const { instance, locker, expectStored } = await openAt(provider)
  const [large, other, small] = [randomBytes(PART), randomBytes(PART + 1), randomBytes(300_000)]
  const contents = { even: [large, large, small], uneven: [large, small, other], replaced: [large, other, large] }
  for (const [filename, parts] of Object.entries(contents)) {
    const session = await openTestSession(instance, locker, { files: [{ filename }] })
    if (filename === 'replaced') for (const i of [0, 1]) expect((await session.raw(i, large)).status).toBe(200)
    const sent = await Promise.all([2, 0, 1].map((i) => session.raw(i, parts[i]!)))
    expect(sent.map(({ status }) => status)).toEqual([200, 200, 200])
    // A repeated part is stored separately: it must not touch the earlier part, and it is removed when replaced.
    const { db } = instance.gateway.context.database
    const rows = db.selectFrom('upload_parts').select('part_ref').where('session_id', '=', session.opened.session_id)
    const inPlace = (await rows.orderBy('part_index').execute()).map(({ part_ref }) => part_ref !== null)
    if (filename === 'replaced') expect(inPlace).toEqual([false, false, true])
    const bytes = Buffer.concat(parts)
    const stored = { size_bytes: bytes.length, content_hash: `sha256:${sha256(bytes)}` }
    expect((await session.finalize()).body).toMatchObject({ status: 'complete', files: [stored] })
    await expectStored(filename, bytes)
  }
})

it.each(PROVIDERS)(
  'T-98 ADD-46 %s accepts chunks of any size, even while memory is short',
  nightly,
  async (provider) => {
    const { instance, locker, expectStored } = await openAt(provider)
    const token = await tusToken(locker)
    const bytes = randomBytes(18_000_017)
    const upload = async (filename: string, sizes: readonly number[]) => {
      const deferred = { 'upload-defer-length': '1', ...metadata({ filename, expected_hash: sha256(bytes) }) }
      const made = await create(instance, locker, token, deferred)
      let offset = 0
      for (const size of sizes) {
        const chunk = bytes.subarray(offset, offset + size)
        const isLast = offset + chunk.length === bytes.length
        const reply = await made.patch(offset, chunk, isLast ? { 'upload-length': `${bytes.length}` } : {})
        expect(reply.status, reply.text).toBe(204)
        offset += chunk.length
      }
      await expectStored(filename, bytes)
    }
    await upload('chunks', [1, 3_000_000, 9_000_000, 18_000_000])
    const buffers: (() => void)[] = []
    const { acquireBuffer } = instance.gateway.context
    for (let release = acquireBuffer(); release; release = acquireBuffer()) buffers.push(release)
    await upload('streamed', [5_000_000, 18_000_000])
    for (const release of buffers) release()
  },
)

it('T-56 refused and replaced parts are removed at a provider where every write has its own name', async () => {
  const server = await startGcsServer({ folder: await newFolder() })
  onTestFinished(server.stop)
  const instance = await openTestGateway({
    GCS: gcsUrl(server),
    FILE_LIMITS: `part_bytes=${MEBIBYTE}`,
    LOCAL_PROVIDERS: '',
  })
  onTestFinished(() => instance.close())
  const locker = await instance.locker(ed25519Identity(), { provider: 'gcs' })
  const partsInPlace = () => server.objects().filter(({ name }) => /\.\d+-/.test(name)).length

  const session = await openTestSession(instance, locker, { files: [{ filename: 'a' }] })
  for (const i of [0, 1]) expect((await session.raw(i, randomBytes(MEBIBYTE))).status).toBe(200)
  expect(partsInPlace()).toBe(2)
  expect((await session.raw(0, randomBytes(MEBIBYTE))).status).toBe(200)
  expect(partsInPlace()).toBe(1)

  const upload = await create(
    instance,
    locker,
    await tusToken(locker),
    creationHeaders(3 * MEBIBYTE, { filename: 'b' }),
  )
  const wrong = { 'upload-checksum': `sha1 ${createHash('sha1').digest('base64')}` }
  expect((await upload.patch(0, randomBytes(2 * MEBIBYTE), wrong)).error).toBe('TUS_CHECKSUM_MISMATCH')
  expect(partsInPlace()).toBe(1)
  expect((await upload.patch(0, randomBytes(2 * MEBIBYTE))).status).toBe(204)
  expect(partsInPlace()).toBe(3)
})
