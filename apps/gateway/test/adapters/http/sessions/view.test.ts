// The view of an upload session: a caller who may only upload sees the files of this upload, and nothing else.

import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway, type Reply, reply } from '@svc/devnet/services/test-gateway'
import { beforeEach, expect, it } from 'vitest'
import { CHUNK, create, metadata, send as sendTus, tusToken } from '../../tus/uploads.ts'
import { createFile, put } from '../transfers.ts'
import { openTestSession } from './sessions.ts'

forEachDatabase('the view of an upload', (database) => {
  const operator = ed25519Identity()
  const instance = forAllTests(() => openTestGateway({ DATABASE_URL: database.url }))
  const locker = forEachTest(() => instance.locker(ed25519Identity(), { operators: [operator] }))
  const session = forEachTest(() => {
    const files = [{ filename: 'a.txt', content_type: 'text/plain' }, { filename: 'b.txt' }, { filename: 'never.txt' }]
    return openTestSession(instance, locker, { files, ttl_min: 60 }, operator)
  })
  let viewer: string
  beforeEach(async () => {
    await locker.put('secret.txt', 'secret')
    await session.raw(0, 'mine')
    await session.raw(0, 'mine, too', { file: 1 })
    viewer = (await session.finalize()).body.viewer_url as string
  })

  /** The id that replaces a receipt id. */
  const viewId = () => viewer.split('/').at(-3) as string
  const bytesOf = (filename: string, id = viewId()) =>
    fetch(`${instance.gateway.url}/v1/r/${id}/f/${encodeURIComponent(filename)}`)
  const read = async (filename: string, id?: string): Promise<[number, string]> => {
    const response = await bytesOf(filename, id)
    return [response.status, await response.text()]
  }
  const refusalOf = async (filename: string, id?: string) => reply<unknown>(await bytesOf(filename, id))
  const viewToken = () => ({ 'x-upload-token': viewId().split('.')[1] as string })
  const sessionPath = () => `/v1/upload-sessions/${session.opened.session_id}`

  it('SESS-03 opens every file that the session has stored', async () => {
    expect(await read('a.txt')).toEqual([200, 'mine'])
    expect(await read('b.txt')).toEqual([200, 'mine, too'])
    const { headers } = await bytesOf('a.txt')
    expect([headers.get('content-type'), headers.get('cache-control')]).toEqual(['text/plain', 'private, no-store'])
    expect((await session.finalize()).body.viewer_url).toBe(viewer)
    const listed = await instance.send('GET', sessionPath(), undefined, viewToken())
    expect(listed.body).toEqual((await session.status()).body)
  })

  it('T-49 opens nothing else: no other file, no replacement of one, no other session', async () => {
    expectRefusal(await refusalOf('never.txt'), 404, 'FILE_NOT_FOUND')
    const [other, unknown] = [await refusalOf('secret.txt'), await refusalOf('unknown.txt')]
    expectRefusal(other, 404, 'FILE_NOT_FOUND')
    const shown = ({ body }: Reply<unknown>) => JSON.stringify(body).replace(/"(filename|request_id)":"[^"]*"/g, '')
    expect(shown(other)).toBe(shown(unknown))
    await locker.put('a.txt', 'private now')
    expectRefusal(await refusalOf('a.txt'), 404, 'FILE_NOT_FOUND')
    expect(await read('b.txt')).toEqual([200, 'mine, too'])
    const id = viewId()
    const { session_id } = (await openTestSession(instance, locker, { files: [{ filename: 'secret.txt' }] })).opened
    const forged = [
      `${session_id}.${id.split('.')[1]}`,
      session.opened.session_id,
      `${id}x`,
      `${id.slice(0, -1)}`,
      'us_',
    ]
    for (const each of forged) expectRefusal(await refusalOf('b.txt', each), 404, 'receipt_not_found')
    expectRefusal(
      await instance.send('GET', `/v1/upload-sessions/${session_id}`, undefined, viewToken()),
      401,
      'UPLOAD_TOKEN_INVALID',
    )
  })

  it('T-49 ADD-22 follows no rename, and shows nothing that others upload or rename to its filenames', async () => {
    const rename = async (filename: string, new_filename: string) => {
      const body = { files: [{ filename, new_filename }], overwrite: true }
      const renamed = await locker.call(['locker:write', 'locker:delete'], 'POST', '/files/rename', body)
      expect(renamed.status, JSON.stringify(renamed.body)).toBe(200)
    }
    const expectClosed = async (...names: string[]) => {
      for (const name of names) expectRefusal(await refusalOf(name), 404, 'FILE_NOT_FOUND')
    }
    await rename('a.txt', 'kept.txt')
    await expectClosed('a.txt', 'kept.txt')
    const theirs = await openTestSession(instance, locker, {
      files: [{ filename: 'a.txt' }, { filename: 'never.txt' }],
    })
    await theirs.raw(0, 'theirs')
    await theirs.raw(0, 'theirs, too', { file: 1 })
    expect((await theirs.finalize()).body.status).toBe('complete')
    await expectClosed('a.txt', 'never.txt')
    await rename('secret.txt', 'b.txt')
    await expectClosed('b.txt', 'secret.txt')
    const { viewer_url } = (await session.status()).body
    expect(viewer_url).toBe(viewer)
  })

  it('ERR-29 SESS-06 names the viewer as the layer that refused, and says where its filenames are listed', async () => {
    const next_best_method = 'GET /v1/upload-sessions/{session_id}'
    const details = { layer: 'viewer', recovery_hint: expect.any(String), next_best_method }
    expect((await refusalOf('secret.txt')).body).toMatchObject({ details: { ...details, filename: 'secret.txt' } })
    expect((await refusalOf('b.txt', 'us_')).body).toMatchObject({ details: { ...details, next_best_method: 'none' } })
  })

  it('SESS-02 T-49 accepts no uploads', async () => {
    const type = { 'content-type': 'application/octet-stream' }
    const part = await instance.send('POST', `${session.partsPath(2)}?index=0`, Buffer.from('x'), {
      ...viewToken(),
      ...type,
    })
    expectRefusal(part, 401, 'UPLOAD_TOKEN_INVALID')
    const finalized = await instance.send('POST', `${sessionPath()}/finalize`, undefined, viewToken())
    expectRefusal(finalized, 401, 'UPLOAD_TOKEN_INVALID')
    expectRefusal(await refusalOf('a.txt', session.opened.upload_token), 404, 'receipt_not_found')
  })

  it('T-49 ends with the token of the session, and with the access of the key that opened it', async () => {
    const open = await openTestSession(instance, locker, { files: [{ filename: 'c.txt' }], ttl_min: 120 })
    await open.raw(0, 'of the owner')
    const own = ((await open.finalize()).body.viewer_url as string).split('/').at(-3)
    await locker.call(['locker:admin'], 'POST', '/public-link', { action: 'close' })
    expect(await read('a.txt')).toEqual([200, 'mine'])
    await locker.call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`)
    expectRefusal(await refusalOf('a.txt'), 404, 'receipt_not_found')
    expect(await read('c.txt', own)).toEqual([200, 'of the owner'])
    instance.clock.advance(2 * 3600)
    expectRefusal(await refusalOf('c.txt', own), 404, 'receipt_not_found')
    const [again, status] = [(await open.finalize()).body, (await open.status()).body]
    expect([again.viewer_url, status.viewer_url]).toEqual([null, null])
  })

  /** Expects neither headers nor body to contain the receipt id, the public link or the name of another file. */
  async function expectNothingRevealed(...answers: { url: string; headers: object; text: string }[]): Promise<void> {
    const { body } = await locker.call<{ public_link: { id: string } }>(['locker:read'], 'GET', '/record')
    for (const { url, headers, text } of answers)
      for (const hidden of [locker.receiptId, body.public_link.id, 'secret.txt'])
        if (!url.includes(hidden)) expect(`${JSON.stringify(headers)} ${text}`, url).not.toContain(hidden)
  }

  const readAnswer = async (asked: Response | Promise<Response>) => {
    const answer = await asked
    return { url: answer.url, headers: Object.fromEntries(answer.headers), text: await answer.text() }
  }

  it('T-49 no answer to the holder of an upload token names the receipt or the public link', async () => {
    await locker.call(['locker:admin'], 'POST', '/public-link', { action: 'rotate' })
    const headers = { ...session.headers, 'content-type': 'application/json' }
    const send = (path: string, body = '{"index":0,"data":"YQ=="}') =>
      readAnswer(fetch(instance.gateway.url + path, { method: 'POST', headers, body }))
    await expectNothingRevealed(
      await readAnswer(fetch(instance.gateway.url + sessionPath(), { headers })),
      await send(session.partsPath(2)),
      await send(session.partsPath(0)),
      await send(session.partsPath(2), '{"index":0,"data":"not base64"}'),
      await send(`${sessionPath()}/files/f_9999/parts`),
      await send(`${sessionPath()}/finalize`, ''),
      await send(`${sessionPath()}/finalize`, ''),
      await send(session.partsPath(2)),
      await readAnswer(bytesOf('a.txt')),
      await readAnswer(bytesOf('secret.txt')),
    )
  })

  it('T-49 no answer to the holder of a tus token or short URLs names the receipt or the public link', async () => {
    await locker.call(['locker:admin'], 'POST', '/public-link', { action: 'rotate' })
    const options = { 'upload-length': '4', ...CHUNK, ...metadata({ filename: 't.txt' }) }
    const upload = await create(instance, locker, await tusToken(locker, { prefix: 'inbox/' }, operator), options, 'te')
    const wrong = { ...options, 'x-upload-token': 'wrong' }
    const endpoint = `${instance.gateway.url}/v1/lockers/${locker.lockerId}/tus`
    const urls = await createFile(instance, locker, 'direct.txt')
    const replies = [
      upload.created,
      await sendTus(endpoint, 'POST', wrong, 'te'),
      await upload.patch(0, 'xt'),
      await upload.head(),
      await sendTus(upload.url, 'GET'),
      await upload.patch(2, 'xt'),
      await upload.patch(4, 'xt'),
      await sendTus(upload.url, 'DELETE'),
    ]
    await expectNothingRevealed(
      ...replies.map((answer) => ({ ...answer, url: upload.url })),
      await readAnswer(put(`${urls.upload}?proxy=1`, 'direct')),
      await readAnswer(put(`${urls.upload}?proxy=1`, 'direct', { 'content-type': 'image/png' })),
      await readAnswer(fetch(urls.remove, { method: 'DELETE' })),
    )
  })
})
