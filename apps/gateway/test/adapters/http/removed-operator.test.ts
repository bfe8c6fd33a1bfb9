// URLs and sessions that an operator requested end when the owner removes the key.

import { once } from 'node:events'
import { request } from 'node:http'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, type Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { expect, it } from 'vitest'
import { openTestSession, publicBytes } from './sessions/sessions.ts'
import { createFile, errorOf, type FileUrls, leftovers, put, rawUpload, signPayload } from './transfers.ts'

const TEXT = { 'content-type': 'text/plain' }
const INVALID = [403, 'SHORT_URL_INVALID']

interface Minted {
  download_url?: string
  urls?: { download_url: string }[]
}

forEachDatabase('URLs and sessions of an operator', (database) => {
  const [operator, other] = [ed25519Identity(), ed25519Identity()]
  const instance = forAllTests(() => openTestGateway({ DATABASE_URL: database.url }))
  const locker = forEachTest(async () => {
    const made = await instance.locker(ed25519Identity(), { operators: [operator, other] })
    await made.put('a.txt', 'kept')
    return made
  })

  const urlsOf = (who?: Identity) => createFile(instance, locker, 'a.txt', {}, who)

  const admin = async (method: string, path: string, body?: object) =>
    expect((await locker.call(['locker:admin'], method, path, body)).status).toBe(200)
  const remove = ({ identity }: Identity) => admin('DELETE', `/operators/${identity}`)
  const add = ({ identity: pubkey }: Identity) => admin('POST', '/operators', { pubkey })
  const revokeAll = () => admin('POST', '/revoke', {})
  const content = async (filename = 'a.txt') => String(await publicBytes(instance, locker, filename))

  async function expectRefused({ download, upload, remove }: FileUrls): Promise<void> {
    expect(await errorOf(await fetch(download))).toEqual(INVALID)
    expect((await fetch(download, { method: 'HEAD' })).status).toBe(403)
    expect(await errorOf(await fetch(download, { headers: { range: 'bytes=0-1' } }))).toEqual(INVALID)
    expect(await errorOf(await put(upload, 'defaced'))).toEqual(INVALID)
    expect(await errorOf(await put(`${upload}?proxy=1`, 'defaced'))).toEqual(INVALID)
    expect(await errorOf(await fetch(remove, { method: 'DELETE' }))).toEqual(INVALID)
    expect(await content()).toBe('kept')
  }

  /** Expects that the URLs read, replace and delete. */
  async function expectWorking({ download, upload, remove }: FileUrls): Promise<void> {
    expect(await (await fetch(download)).text()).toBe('kept')
    expect((await put(upload, 'kept')).status).toBe(200)
    expect((await fetch(remove, { method: 'DELETE' })).status).toBe(200)
  }

  it('T-36 the URLs of a removed operator end, and the URLs of the owner and of other operators still work', async () => {
    const [own, ofOwner, ofOther] = [await urlsOf(operator), await urlsOf(), await urlsOf(other)]
    await remove(operator)
    await expectRefused(own)
    await expectWorking(ofOther)
    await locker.put('a.txt', 'kept')
    await expectWorking(ofOwner)
  })

  it('T-36 adding the same key again does not revive its URLs, and new ones work', async () => {
    const before = await urlsOf(operator)
    await remove(operator)
    await add(operator)
    const between = await urlsOf(operator)
    await remove(operator)
    await add(operator)
    await expectRefused(before)
    await expectRefused(between)
    await expectWorking(await urlsOf(operator))
  })

  it('T-36 every endpoint that issues download URLs ties them to the key that requested them', async () => {
    const here = (url: string) => instance.gateway.url + new URL(url).pathname
    const calls = [
      locker.call<Minted>(['locker:read'], 'GET', '/files/a.txt', undefined, operator),
      locker.call<Minted>(['locker:read'], 'POST', '/files/urls', { filenames: ['a.txt'] }, operator),
      locker.call<Minted>(['locker:list'], 'GET', '/urls', undefined, operator),
    ]
    const urls = (await Promise.all(calls)).map(({ body }) => here(body.download_url ?? body.urls![0]!.download_url))
    for (const url of urls) expect((await fetch(url)).status).toBe(200)
    await remove(operator)
    for (const url of urls) expect(await errorOf(await fetch(url))).toEqual(INVALID)
  })

  it('T-36 an upload in progress is not stored once its operator is removed', async () => {
    const { upload } = await urlsOf(operator)
    const before = await leftovers(instance.gateway)
    const socket = rawUpload(upload, ['Content-Type: text/plain', 'Content-Length: 7'], 'def')
    await expect.poll(async () => (await leftovers(instance.gateway)).writing.length).toBe(before.writing.length + 1)
    await remove(operator)
    socket.write('aced')
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 403 /)
    expect(await content()).toBe('kept')
    expect(await leftovers(instance.gateway)).toEqual(before)
  })

  it('T-36 sessions of a removed operator accept no parts, store nothing and cannot be read, and other sessions continue', async () => {
    const good = await openTestSession(instance, locker, { files: [{ filename: 'b.txt' }] }, other)
    expect((await good.part(0, 'two ')).status).toBe(200)
    const session = await openTestSession(instance, locker, { files: [{ filename: 'a.txt' }] }, operator)
    expect((await session.part(0, 'defaced')).status).toBe(200)
    await remove(operator)
    for (const refused of [await session.part(1, '!'), await session.finalize(), await session.status()])
      expect([refused.status, refused.body]).toMatchObject([401, { error: 'UPLOAD_TOKEN_INVALID' }])
    await add(operator)
    expect((await session.finalize()).status).toBe(401)
    expect(await content()).toBe('kept')
    await good.part(1, 'parts')
    expect((await good.finalize()).body).toMatchObject({ status: 'complete' })
    expect(await content('b.txt')).toBe('two parts')
  })

  it('T-36 SESS-05 a job that finalizes a session of a removed operator closes it and stores nothing', async () => {
    const session = await openTestSession(instance, locker, { files: [{ filename: 'a.txt' }] }, operator)
    await session.part(0, 'defaced')
    await remove(operator)
    const { session_id } = session.opened
    const done = await instance.send('POST', '/v1/internal/jobs/finalize-upload', { session_id })
    expect(done.body).toMatchObject({ status: 'failed', files: [{ ok: false, error: 'SESSION_CLOSED' }] })
    expect(await content()).toBe('kept')
  })

  it('T-36 a part in progress is refused once its operator is removed', async () => {
    const session = await openTestSession(instance, locker, { files: [{ filename: 'b.txt' }] }, operator)
    const before = await leftovers(instance.gateway)
    const sending = request(`${instance.gateway.url}${session.partsPath(0)}?index=0`, {
      method: 'POST',
      headers: { ...session.headers, 'content-type': 'application/octet-stream', 'content-length': '2' },
    })
    sending.write('a')
    await expect.poll(async () => (await leftovers(instance.gateway)).writing.length).toBe(before.writing.length + 1)
    await remove(operator)
    sending.end('b')
    const [answer] = await once(sending, 'response')
    expect(answer.resume().statusCode).toBe(401)
    expect(await leftovers(instance.gateway)).toEqual(before)
  })

  /** The URL of a token with these fields, in the format of release 1.0.0. */
  function urlWith(method: string, more = {}): string {
    const e = Math.floor(instance.clock.now() / 1000) + 600
    const payload = { e, f: 'a.txt', l: locker.lockerId, m: method, n: '00', p: 1, v: 1, ...more }
    return `${instance.gateway.url}/f/${signPayload(payload, instance.gateway.context.signers.shortUrl)}`
  }

  const oldUrls = () => ({ download: urlWith('GET'), upload: urlWith('PUT'), remove: urlWith('DELETE') })

  it.each([
    ['an operator is removed', () => remove(operator)],
    ['everything is revoked', () => revokeAll()],
  ])('SHORT-12 T-36 URLs of release 1.0.0, which name no key, stay valid until %s', async (_, end) => {
    await expectWorking(oldUrls())
    await locker.put('a.txt', 'kept')
    await add(ed25519Identity())
    expect((await fetch(urlWith('GET'))).status).toBe(200)
    await end()
    await expectRefused(oldUrls())
  })

  it('T-36 upload sessions of release 1.0.0 stay valid until an operator is removed', async () => {
    const files = [{ filename: 'a.txt' }, { filename: 'b.txt' }]
    const session = await openTestSession(instance, locker, { files })
    const { db } = instance.gateway.context.database
    await writable(db).updateTable('upload_sessions').set({ minted_by: null, minted_epoch: null }).execute()
    expect((await session.part(0, 'x')).status).toBe(200)
    await remove(operator)
    expect((await session.part(1, 'y')).status).toBe(401)
    expect((await session.finalize()).status).toBe(401)
  })

  it('T-36 SHORT-02 a token does not reveal whose key requested it', async () => {
    const { download } = await urlsOf(operator)
    const { download: second } = await urlsOf(operator)
    const payload = (url: string) =>
      JSON.parse(/^\{.*?\}/.exec(Buffer.from(url.split('/f/')[1]!, 'base64url').toString('latin1'))![0])
    expect(payload(download)).toMatchObject({ a: 0, k: expect.stringMatching(/^[A-Za-z0-9_-]{16}$/) })
    expect(payload(second).k).toBe(payload(download).k)
    expect(JSON.stringify(payload(download))).not.toContain(operator.identity)
  })

  it('T-36 a token with an unknown or incomplete key mark is refused', async () => {
    for (const more of [{ a: 0, k: 'nobody' }, { a: 0 }, { k: 'nobody' }, { a: '0', k: 'nobody' }])
      expect(await errorOf(await fetch(urlWith('GET', more)))).toEqual(INVALID)
  })

  it('T-36 T-49 URLs and sessions of all keys end when the owner revokes everything, and new ones work', async () => {
    const before = [await urlsOf(), await urlsOf(operator), await urlsOf(other)]
    const session = await openTestSession(instance, locker, { files: [{ filename: 'b.txt' }] })
    await revokeAll()
    for (const urls of before) await expectRefused(urls)
    expect((await session.part(0, 'x')).status).toBe(401)
    for (const who of [operator, undefined]) {
      await expectWorking(await urlsOf(who))
      await locker.put('a.txt', 'kept')
    }
  })

  it('T-28 T-36 operators and unknown keys cannot revoke', async () => {
    for (const who of [operator, ed25519Identity()])
      expect((await locker.call(['locker:admin'], 'POST', '/revoke', {}, who)).status).toBe(403)
    expect((await locker.call(['locker:write'], 'POST', '/revoke', {})).status).toBe(403)
    expect((await instance.send('POST', `/v1/lockers/${locker.lockerId}/revoke`)).status).toBe(422)
  })

  it('FILE-07 T-36 a request signed for reading gets no delete_url, and a request signed for writing gets one', async () => {
    const get = (ops: string[]) => locker.call<Record<string, string>>(ops, 'GET', '/files/a.txt')
    const [reading, writing] = [await get(['locker:read']), await get(['locker:read', 'locker:write'])]
    expect(Object.keys(reading.body)).not.toContain('delete_url')
    expect(reading.body).toMatchObject({ upload_url: expect.stringContaining('/f/'), download_url: expect.any(String) })
    const url = instance.gateway.url + new URL(writing.body.delete_url!).pathname
    expect((await fetch(url, { method: 'DELETE', headers: TEXT })).status).toBe(200)
  })
})
