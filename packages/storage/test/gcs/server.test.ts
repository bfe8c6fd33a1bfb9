// The local server of the other tests, used by Google's own library.

import { randomBytes } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { type File, Storage } from '@google-cloud/storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId, streamOf } from '../objects.ts'
import { startTestGcs, type TestGcs } from './start-gcs.ts'

const MIB = 1024 * 1024
const NEW = { preconditionOpts: { ifGenerationMatch: 0 } } as const

let gcs: TestGcs
let storage: Storage
beforeAll(async () => {
  gcs = await startTestGcs({ pageSize: 2 })
  storage = new Storage({ projectId: 'unused', apiEndpoint: gcs.server.url, useAuthWithCustomEndpoint: true })
  storage.authClient.jsonContent = JSON.parse(gcs.server.keyFile)
  const { transporter } = await storage.authClient.getClient()
  const resolved = async (request: { url: URL }) =>
    request.url.pathname === '/token' ? { ...request, url: new URL('/token', gcs.server.url) } : request
  transporter.interceptors.request.add({ resolved } as never) // its type is not exported
})
afterAll(() => gcs.close())

const file = (name = newId()) => storage.bucket(gcs.server.bucket).file(name)

/** The library begins sessions at other hosts than Google's without credentials, so this begins them. */
async function beginSession({ name }: File): Promise<string> {
  const query = new URLSearchParams({ uploadType: 'resumable', name, ifGenerationMatch: '0' })
  const url = `${gcs.server.url}/upload/storage/v1/b/${gcs.server.bucket}/o?${query}`
  const headers = await storage.authClient.getRequestHeaders(url)
  const answer = await fetch(url, { method: 'POST', headers })
  return answer.headers.get('location') as string
}

describe('the local Google Cloud Storage server', () => {
  it('stores an object in a session, by chunks, and returns it and ranges of it', { tags: ['nightly'] }, async () => {
    const bytes = randomBytes(3 * MIB + 7)
    const object = file()
    const session = { uri: await beginSession(object), chunkSize: MIB }
    await pipeline(streamOf(bytes), object.createWriteStream({ ...NEW, ...session }))
    expect((await object.getMetadata())[0].size).toBe(`${bytes.length}`)
    expect((await object.download())[0].equals(bytes)).toBe(true)
    expect((await object.download({ start: 5, end: 9 }))[0]).toEqual(bytes.subarray(5, 10))
    expect(gcs.server.openUploads()).toBe(0)
  })

  it('lists objects page by page, and deletes them', async () => {
    const names = ['list/a', 'list/b', 'list/c']
    for (const name of names) await file(name).save('x', { ...NEW, resumable: false })
    const [listed] = await storage.bucket(gcs.server.bucket).getFiles({ prefix: 'list/' })
    expect(listed.map(({ name }) => name)).toEqual(names)
    await expect(file('list/b').save('y', { ...NEW, resumable: false })).rejects.toMatchObject({ code: 412 })
    await file('list/b').delete()
    await expect(file('list/b').delete()).rejects.toMatchObject({ code: 404 })
    expect(await file('list/b').exists()).toEqual([false])
  })

  it('rejects a forged signature', async () => {
    const object = file('a folder/a+b & ü')
    const terms = { version: 'v4', expires: Date.now() + 60_000 } as const
    const [put] = await object.getSignedUrl({ ...terms, action: 'write', contentType: 'image/png' })
    const send = (url: string, type: string) =>
      fetch(url, { method: 'PUT', body: 'signed', headers: { 'content-type': type } }).then(({ status }) => status)
    expect(await send(put, 'image/jpeg')).toBe(403)
    expect(
      await send(
        put.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
        'image/png',
      ),
    ).toBe(403)
    expect(await send(put, 'image/png')).toBe(200)
    const [get] = await object.getSignedUrl({ ...terms, action: 'read' })
    expect(await (await fetch(get)).text()).toBe('signed')
    expect((await fetch(get, { method: 'PUT', body: 'x' })).status).toBe(403)
    expect((await fetch(`${get}&response-content-type=text/html`)).status).toBe(403)
  })

  it('rejects requests without a token, or with a wrong one', async () => {
    const url = `${gcs.server.url}/storage/v1/b/${gcs.server.bucket}/o`
    expect((await fetch(url)).status).toBe(401)
    expect((await fetch(url, { headers: { authorization: 'Bearer ya29.guessed' } })).status).toBe(401)
    const form = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: 'e30.e30.AAAA' }
    const answer = await fetch(`${gcs.server.url}/token`, { method: 'POST', body: new URLSearchParams(form) })
    expect([answer.status, (await answer.json()).error]).toEqual([400, 'invalid_grant'])
  })
})
