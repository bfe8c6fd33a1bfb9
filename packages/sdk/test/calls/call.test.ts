import { confirmFile } from '@svc/api/confirm-files'
import { createFile, listFiles } from '@svc/api/files'
import { docs, health, openApi } from '@svc/api/info'
import { treasurySummary } from '@svc/api/internal'
import { lockerRecord, lockerUrls } from '@svc/api/lockers'
import { merkleProof } from '@svc/api/proofs'
import { price } from '@svc/api/purchases'
import { readPublicly, writeByToken } from '@svc/api/transfers'
import { finalizeUpload, openUploadSession, uploadPart } from '@svc/api/upload-sessions'
import { HEADER_ENVELOPE, HEADER_SIGNATURE } from '@svc/protocol/names'
import { describe, expect, it } from 'vitest'
import { signedHeaders } from '../../src/calls/signed-headers.ts'
import { GatewayError } from '../../src/errors.ts'
import { errorOf, newEd25519, newEvm, useTestbed } from '../lockers.ts'

const testbed = useTestbed({ INTERNAL_SECRET: 'a-secret-for-internal-callers' })

describe.each([
  ['Ed25519', newEd25519],
  ['secp256k1', newEvm],
])('a call signed with %s', (_, newSigner) => {
  it('ENV-01 ENV-08 creates, uploads, confirms, lists and reads a file', async () => {
    const signer = newSigner()
    const client = testbed.client({ signer })
    const { locker_id, receipt_id } = await testbed.locker(signer)
    const params = { locker_id }
    const filename = 'folder/ä #1?%2F.txt'
    const { body: urls } = await client.call(createFile, { params, body: { filename, content_type: 'text/plain' } })
    const token = urls.upload_url.split('/').at(-1) as string
    const bytes = Buffer.from('by declarations')
    await client.call(writeByToken, { params: { token }, bytes, headers: urls.upload_headers })
    const { body: confirmed } = await client.call(confirmFile, { body: { receipt_id, filename } })
    expect(confirmed).toMatchObject({ filename, size_bytes: bytes.length })
    const { body: list } = await client.call(listFiles, { params, query: { limit: 10 } })
    expect(list.files).toMatchObject([{ filename, status: 'confirmed', content_hash: confirmed.content_hash }])
    const read = await client.call(readPublicly, { params: { receipt_id, filename } })
    expect(Buffer.from(read.body)).toEqual(bytes)
    expect(read.headers.get('content-type')).toBe('text/plain')
  })

  it('LOCK-12 ENV-09 grants only one of several sufficient ops', async () => {
    const signer = newSigner()
    const { locker_id } = await testbed.locker(signer)
    const { body } = await testbed.client({ signer }).call(lockerUrls, { params: { locker_id } })
    expect(body).toMatchObject({ locker_id, found: 0 })
    const header = testbed.proxy.seen.at(-1)?.headers['x-svc-envelope'] as string
    expect(JSON.parse(Buffer.from(header, 'base64url').toString()).ops).toEqual(['locker:read'])
  })

  it('ENV-01 can be sent once by another program with the headers of the client', async () => {
    const signer = newSigner()
    const locker = await testbed.locker(signer)
    const path = `/v1/lockers/${locker.locker_id}/files`
    const request = { method: 'GET', path, ops: ['locker:list'], body: new Uint8Array(), ...locker } as const
    const headers = await signedHeaders({ baseUrl: testbed.gateway.url, signer, now: Date.now }, request)
    expect(Object.keys(headers)).toEqual([HEADER_ENVELOPE, HEADER_SIGNATURE])
    const send = async () => (await fetch(`${testbed.gateway.url}${path}?limit=1`, { headers })).status
    expect([await send(), await send()]).toEqual([200, 403])
  })
})

describe('a call', () => {
  it('SESS-02 accepts the token of an upload session, and bytes instead of a body', async () => {
    const signer = newEd25519()
    const client = testbed.client({ signer })
    const { locker_id } = await testbed.locker(signer)
    const { body: session } = await client.call(openUploadSession, {
      params: { locker_id },
      body: { files: [{ filename: 'a' }, { filename: 'b' }] },
    })
    const { session_id, upload_token: token, files } = session
    const part = (i: number) => ({ params: { session_id, file_id: files[i]!.file_id }, token })
    await client.call(uploadPart, {
      ...part(0),
      query: { index: 0 },
      bytes: Buffer.from('raw'),
      headers: { 'content-type': 'application/octet-stream' },
    })
    await client.call(uploadPart, { ...part(1), body: { index: 0, data: btoa('base64') } })
    const { body } = await client.call(finalizeUpload, { params: { session_id }, token })
    expect(body).toMatchObject({ status: 'complete', files: [{ size_bytes: 3 }, { size_bytes: 6 }] })
  })

  it('T-26 accepts the internal secret as a token', async () => {
    const { body } = await testbed.client().call(treasurySummary, { token: 'a-secret-for-internal-callers' })
    expect(body.receipts_total).toBeTypeOf('number')
  })

  it('reads JSON, text and streams as declared', async () => {
    const client = testbed.client()
    const { status, body } = await client.call(health)
    expect([status, body.status]).toEqual([200, 'ok'])
    expect((await client.call(docs)).body).toContain('<html')
    expect(await (await client.open(openApi)).json()).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) })
  })

  it('GEN-02 throws an error with every field of the refusal', async () => {
    const error = await errorOf(testbed.client().call(merkleProof, { query: { receipt_id: 'rcpt_0', filename: 'a' } }))
    expect(error).toBeInstanceOf(GatewayError)
    expect(error).toMatchObject({
      code: 'receipt_not_found',
      status: 404,
      message: 'no receipt has this id',
      requestId: expect.stringMatching(/^req_/),
      attempts: 1,
    })
    const invalid = await errorOf(testbed.client().call(price, { query: { units: 0 } }))
    expect(invalid).toMatchObject({ code: 'validation_error', inputs: [{ loc: ['query', 'units'] }] })
  })

  it('fails before sending anything if it needs a signer and has none', async () => {
    const call = testbed.client().call(lockerRecord, { params: { locker_id: 'locker_000000000000' } })
    await expect(call).rejects.toThrow('lockerRecord needs a client with a signer')
    expect(testbed.proxy.seen).toEqual([])
  })

  it.each(['..', 'a/../b', 'a/./b'])('T-05 refuses the name %s, which would lead to another path', async (filename) => {
    const call = testbed.client().call(readPublicly, { params: { receipt_id: 'rcpt_0', filename } })
    await expect(call).rejects.toThrow('cannot be part of a path')
    expect(testbed.proxy.seen).toEqual([])
  })

  it('works for a gateway below a path, and signs the path that the gateway sees', async () => {
    const signer = newEd25519()
    const { locker_id } = await testbed.locker(signer)
    const prefix = 'https://example.com/storage'
    const fetchThere: typeof fetch = (url, init) => fetch(String(url).replace(prefix, testbed.gateway.url), init)
    const client = testbed.client({ baseUrl: `${prefix}/`, signer, fetch: fetchThere })
    expect((await client.call(lockerRecord, { params: { locker_id } })).body.locker_id).toBe(locker_id)
  })
})
