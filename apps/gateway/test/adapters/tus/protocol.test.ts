import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { listed, publicBytes } from '../http/sessions/sessions.ts'
import { sha256 } from '../http/transfers.ts'
import { CHUNK, create, creationHeaders, metadata, send, tusToken } from './uploads.ts'

forEachDatabase('tus', (database) => {
  const instance = forAllTests(() => openTestGateway({ DATABASE_URL: database.url, FILE_LIMITS: 'part_bytes=1000' }))
  const locker = forEachTest(() => instance.locker(ed25519Identity()))
  const begin = async (headers: Record<string, string>, body?: string) =>
    create(instance, locker, await tusToken(locker), headers, body)
  const partsOfLocker = () => {
    const { db } = instance.gateway.context.database
    const parts = db.selectFrom('upload_parts as p').innerJoin('upload_sessions as s', 's.session_id', 'p.session_id')
    return parts.select('p.part_index').where('s.locker_id', '=', locker.lockerId).execute()
  }

  it('T-98 ADD-46 an upload in chunks becomes a stored file with its hash', async () => {
    const bytes = randomBytes(2500)
    const filename = 'a b/ü.bin'
    const pairs = { filename, filetype: 'image/png' }
    const named = { 'svc-filename': 'a%20b/%C3%BC.bin' }
    const upload = await begin(creationHeaders(2500, pairs))
    const { headers } = upload.created
    expect(headers).toMatchObject({ ...named, 'tus-resumable': '1.0.0', 'upload-offset': '0' })
    const base = instance.gateway.context.config.http.baseUrl
    expect(headers.location).toMatch(new RegExp(`^${base}/v1/tus/[A-Za-z0-9_-]{43}$`))
    expect(Date.parse(headers['upload-expires'] ?? '')).toBe(Date.parse('2026-09-02T12:00:00Z'))

    const first = await upload.patch(0, bytes.subarray(0, 700))
    expect([first.status, first.headers['upload-offset']]).toEqual([204, '700'])
    expect(await upload.patch(700, bytes.subarray(700, 1800))).toMatchObject({ status: 204 })
    const offset = { 'upload-offset': '1800', 'upload-length': '2500', 'cache-control': 'no-store' }
    expect(await upload.head()).toMatchObject({ status: 200, text: '', headers: { ...offset, ...metadata(pairs) } })
    expect(await listed(locker, filename)).toBeUndefined()

    const last = await upload.patch(1800, bytes.subarray(1800))
    const content_hash = `sha256:${sha256(bytes)}`
    expect(last.headers).toMatchObject({ ...named, 'upload-offset': '2500', 'svc-content-hash': content_hash })
    const file = { size_bytes: 2500, content_hash, content_type: 'image/png', status: 'confirmed' }
    expect(await listed(locker, filename)).toMatchObject(file)
    expect(await publicBytes(instance, locker, filename)).toEqual(bytes)
    expect((await upload.head()).headers['upload-offset']).toBe('2500')
    expect(JSON.parse((await send(upload.url, 'GET')).text)).toMatchObject({ state: 'stored', offset: 2500 })
  })

  it('T-98 a creation request may carry the first bytes, all bytes or none', async () => {
    const some = await begin({ ...creationHeaders(10, { filename: 'some' }), ...CHUNK }, '01234')
    expect(some.created.headers['upload-offset']).toBe('5')
    expect((await some.patch(5, '56789')).headers['svc-content-hash']).toBe(`sha256:${sha256('0123456789')}`)
    const all = await begin({ ...creationHeaders(5, { filename: 'all' }), ...CHUNK }, '01234')
    expect(all.created.headers).toMatchObject({ 'upload-offset': '5', 'svc-content-hash': `sha256:${sha256('01234')}` })
    const none = await begin(creationHeaders(0, { filename: 'none' }))
    expect(none.created.headers).toMatchObject({ 'upload-offset': '0', 'svc-content-hash': `sha256:${sha256('')}` })
    expect(await listed(locker, 'none')).toMatchObject({ size_bytes: 0, status: 'confirmed' })
  })

  it('T-98 a deferred length may arrive with any chunk, even after the last byte, and only once', async () => {
    const deferred = (filename: string) => begin({ 'upload-defer-length': '1', ...metadata({ filename }) })
    const upload = await deferred('later')
    expect((await upload.head()).headers['upload-defer-length']).toBe('1')
    for (let i = 0; i < 5; i++) await upload.patch(i * 300, Buffer.alloc(300, i))
    expect(await upload.patch(1500, '', { 'upload-length': '1499' })).toMatchObject({ status: 422 })
    const bytes = Buffer.concat([0, 1, 2, 3, 4].map((i) => Buffer.alloc(300, i)))
    const last = await upload.patch(1500, '', { 'upload-length': '1500' })
    expect(last.headers['svc-content-hash']).toBe(`sha256:${sha256(bytes)}`)
    const other = await deferred('other')
    expect((await other.patch(0, '12', { 'upload-length': '4' })).status).toBe(204)
    expect((await other.patch(2, '34', { 'upload-length': '5' })).status).toBe(422)
    expect((await other.patch(2, '34', { 'upload-length': '4' })).headers['svc-content-hash']).toBeDefined()
  })

  it('T-98 a chunk with a wrong checksum is dropped, and one with a right checksum counts', async () => {
    const upload = await begin(creationHeaders(4000, { filename: 'checked' }))
    const chunk = randomBytes(1000)
    const bytes = Buffer.concat([chunk, chunk, chunk, chunk])
    const crc = Buffer.alloc(4)
    crc.writeUInt32BE(crc32(chunk))
    const digests = [
      ...['md5', 'sha1', 'sha256'].map((name) => `${name} ${createHash(name).update(chunk).digest('base64')}`),
      `crc32 ${crc.toString('base64')}`,
    ]
    for (const [i, checksum] of digests.entries()) {
      const wrong = Buffer.from(chunk)
      wrong[999]! ^= 1
      const refused = await upload.patch(i * 1000, wrong, { 'upload-checksum': checksum })
      expect(refused).toMatchObject({ status: 460, error: 'TUS_CHECKSUM_MISMATCH' })
      expect((await upload.head()).headers['upload-offset']).toBe(`${i * 1000}`)
      expect((await upload.patch(i * 1000, chunk, { 'upload-checksum': checksum })).status).toBe(204)
    }
    expect(await publicBytes(instance, locker, 'checked')).toEqual(bytes)
  })

  it('T-98 a file that does not match expected_hash is not stored', async () => {
    const pairs = { filename: 'promised', expected_hash: sha256('right') }
    const wrong = await begin(creationHeaders(5, pairs))
    expect(await wrong.patch(0, 'wrong')).toMatchObject({ status: 460, error: 'TUS_CHECKSUM_MISMATCH' })
    expect(await listed(locker, 'promised')).toBeUndefined()
    expect((await wrong.head()).status).toBe(410)
    const right = await begin(creationHeaders(5, pairs))
    expect((await right.patch(0, 'right')).status).toBe(204)
    expect(await listed(locker, 'promised')).toMatchObject({ status: 'confirmed' })
  })

  it('T-98 a terminated upload is gone and leaves nothing', async () => {
    const upload = await begin(creationHeaders(5000, { filename: 'given-up' }))
    await upload.patch(0, randomBytes(2500))
    expect(await send(upload.url, 'DELETE')).toMatchObject({ status: 204 })
    expect([(await upload.head()).status, (await upload.patch(2500, 'x')).status]).toEqual([410, 410])
    expect(await partsOfLocker()).toEqual([])
  })

  it('T-98 partial uploads are joined once, and the same request again finds the same upload', async () => {
    const parts = [randomBytes(2300), randomBytes(10), randomBytes(1000)]
    const urls: string[] = []
    for (const part of parts) {
      const partial = await begin({ 'upload-concat': 'partial', 'upload-length': `${part.length}` })
      expect((await partial.patch(0, part)).status).toBe(204)
      const head = await partial.head()
      expect(head.headers).toMatchObject({ 'upload-concat': 'partial', 'upload-offset': `${part.length}` })
      urls.push(partial.url)
    }
    const final = { 'upload-concat': `final;${urls.join(' ')}`, ...metadata({ filename: 'joined' }) }
    const joined = await begin(final)
    const content = `sha256:${sha256(Buffer.concat(parts))}`
    expect(joined.created.headers).toMatchObject({ 'upload-offset': '3310', 'svc-content-hash': content })
    expect(await publicBytes(instance, locker, 'joined')).toEqual(Buffer.concat(parts))
    expect((await begin(final)).url).toBe(joined.url)
    const head = await joined.head()
    expect(head.headers).toMatchObject({ 'upload-concat': final['upload-concat'], 'upload-length': '3310' })
    expect(await joined.patch(3310, 'x')).toMatchObject({ status: 403, error: 'TUS_UPLOAD_FINISHED' })
  })

  it('T-98 environments without PATCH and DELETE can override the method', async () => {
    const upload = await begin(creationHeaders(3, { filename: 'overridden' }))
    const override = (method: string, more = {}) => ({ 'x-http-method-override': method, ...more })
    const patch = override('PATCH', { ...CHUNK, 'upload-offset': '0' })
    expect((await send(upload.url, 'POST', patch, 'abc')).headers['upload-offset']).toBe('3')
    const other = await begin(creationHeaders(3, { filename: 'other' }))
    expect((await send(other.url, 'POST', override('DELETE'))).status).toBe(204)
    expect((await send(other.url, 'POST', override('PUT'))).status).toBe(405)
  })

  it('T-98 OPTIONS reports what the gateway supports, to programs and to browsers', async () => {
    const { gateway } = instance
    for (const path of [`/v1/lockers/${locker.lockerId}/tus`, '/v1/tus/x']) {
      const { status, headers } = await send(gateway.url + path, 'OPTIONS', { 'tus-resumable': '' })
      expect(status).toBe(204)
      expect(headers).toMatchObject({
        'tus-version': '1.0.0',
        'tus-max-size': `${gateway.context.config.storage.maxUploadBytes}`,
        'tus-checksum-algorithm': 'md5,sha1,sha256,crc32',
        'access-control-allow-origin': '*',
      })
      expect(headers['tus-extension']?.split(',')).toContain('concatenation')
      expect(headers['access-control-allow-methods']).toContain('PATCH')
      expect(headers['access-control-allow-headers']).toContain('Upload-Metadata')
    }
  })

  it('T-98 many tiny chunks leave few parts and the right file', { tags: ['nightly'] }, async () => {
    const bytes = randomBytes(700)
    const upload = await begin(creationHeaders(1000, { filename: 'tiny' }))
    for (let i = 0; i < 150; i++) expect((await upload.patch(i, bytes.subarray(i, i + 1))).status).toBe(204)
    expect((await partsOfLocker()).length).toBeLessThan(64)
    await upload.patch(150, bytes.subarray(150))
    await upload.patch(700, bytes.subarray(0, 300))
    expect(await publicBytes(instance, locker, 'tiny')).toEqual(Buffer.concat([bytes, bytes.subarray(0, 300)]))
  })
})
