// What somebody sees who may only upload: what this upload has stored, and nothing else of the locker.

import type { FinalizedUpload } from '@svc/api/upload-sessions'
import { forEachDatabase } from '@svc/devnet/databases'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import {
  ed25519Identity,
  expectRefusal,
  type Identity,
  type LockerHouse,
  openLockerHouse,
  type Reply,
  reply,
  type TestLocker,
} from '../../auth/lockers.ts'
import { openTestSession, type TestSession } from './sessions.ts'

forEachDatabase('the view of an upload', (database) => {
  let house: LockerHouse
  let operator: Identity
  let locker: TestLocker
  let session: TestSession
  let viewer: string
  beforeAll(async () => {
    house = await openLockerHouse({ DATABASE_URL: database.url })
  })
  afterAll(() => house.close())
  beforeEach(async () => {
    operator = ed25519Identity()
    locker = await house.locker(ed25519Identity(), { operators: [operator] })
    await locker.put('secret.txt', 'secret')
    const files = [{ filename: 'a.txt', content_type: 'text/plain' }, { filename: 'b.txt' }, { filename: 'never.txt' }]
    session = await openTestSession(house, locker, { files, ttl_min: 60 }, operator)
    await session.raw(0, 'mine')
    await session.raw(0, 'mine, too', { file: 1 })
    viewer = (await session.finalize()).body.viewer_url as string
  })

  /** The id in place of a receipt's. */
  const viewId = () => viewer.split('/').at(-3) as string
  const bytesOf = (filename: string, id = viewId()) =>
    fetch(`${house.gateway.url}/v1/r/${id}/f/${encodeURIComponent(filename)}`)
  const read = async (filename: string, id?: string): Promise<[number, string]> => {
    const response = await bytesOf(filename, id)
    return [response.status, await response.text()]
  }
  const refusalOf = async (filename: string, id?: string) => reply<unknown>(await bytesOf(filename, id))
  const viewToken = () => ({ 'x-upload-token': viewId().split('.')[1] as string })
  const sessionPath = () => `/v1/upload-sessions/${session.opened.session_id}`

  it('SESS-03 SHAPE-29 opens every file that the session has stored', async () => {
    expect(await read('a.txt')).toEqual([200, 'mine'])
    expect(await read('b.txt')).toEqual([200, 'mine, too'])
    const { headers } = await bytesOf('a.txt')
    expect([headers.get('content-type'), headers.get('cache-control')]).toEqual(['text/plain', 'private, no-store'])
    expect((await session.finalize()).body.viewer_url).toBe(viewer)
    const listed = await house.send('GET', sessionPath(), undefined, viewToken())
    expect(listed.body).toEqual((await session.status()).body)
  })

  it('T-49 opens nothing else: no other file, nothing that was put in place of one, no other session', async () => {
    expectRefusal(await refusalOf('never.txt'), 404, 'FILE_NOT_FOUND')
    const [other, unknown] = [await refusalOf('secret.txt'), await refusalOf('unknown.txt')]
    expectRefusal(other, 404, 'FILE_NOT_FOUND')
    const shown = ({ body }: Reply<unknown>) => JSON.stringify(body).replace(/"(filename|request_id)":"[^"]*"/g, '')
    expect(shown(other)).toBe(shown(unknown))
    await locker.put('a.txt', 'private now')
    expectRefusal(await refusalOf('a.txt'), 404, 'FILE_NOT_FOUND')
    expect(await read('b.txt')).toEqual([200, 'mine, too'])
    const id = viewId()
    const { session_id } = (await openTestSession(house, locker, { files: [{ filename: 'secret.txt' }] })).opened
    const forged = [
      `${session_id}.${id.split('.')[1]}`,
      session.opened.session_id,
      `${id}x`,
      `${id.slice(0, -1)}`,
      'us_',
    ]
    for (const each of forged) expectRefusal(await refusalOf('b.txt', each), 404, 'receipt_not_found')
    expectRefusal(
      await house.send('GET', `/v1/upload-sessions/${session_id}`, undefined, viewToken()),
      401,
      'UPLOAD_TOKEN_INVALID',
    )
  })

  it('SESS-02 T-49 uploads nothing', async () => {
    const type = { 'content-type': 'application/octet-stream' }
    const part = await house.send('POST', `${session.partsPath(2)}?index=0`, Buffer.from('x'), {
      ...viewToken(),
      ...type,
    })
    expectRefusal(part, 401, 'UPLOAD_TOKEN_INVALID')
    const finalized = await house.send('POST', `${sessionPath()}/finalize`, undefined, viewToken())
    expectRefusal(finalized, 401, 'UPLOAD_TOKEN_INVALID')
    expectRefusal(await refusalOf('a.txt', session.opened.upload_token), 404, 'receipt_not_found')
  })

  it('T-49 ends with the token of the session, and with the access of whoever opened it', async () => {
    const open = await openTestSession(house, locker, { files: [{ filename: 'c.txt' }], ttl_min: 120 })
    await open.raw(0, 'of the owner')
    const own = ((await open.finalize()).body.viewer_url as string).split('/').at(-3)
    await locker.call(['locker:admin'], 'POST', '/public-link', { action: 'close' })
    expect(await read('a.txt')).toEqual([200, 'mine'])
    await locker.call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`)
    expectRefusal(await refusalOf('a.txt'), 404, 'receipt_not_found')
    expect(await read('c.txt', own)).toEqual([200, 'of the owner'])
    house.clock.advance(2 * 3600)
    expectRefusal(await refusalOf('c.txt', own), 404, 'receipt_not_found')
    const [again, status] = [(await open.finalize()).body, (await open.status()).body]
    expect([again.viewer_url, status.viewer_url]).toEqual([null, null])
  })

  it('T-49 no answer to the holder of an upload token names the receipt or the public link', async () => {
    const rotated = await locker.call<{ public_link: { id: string } }>(['locker:admin'], 'POST', '/public-link', {
      action: 'rotate',
    })
    const mint = await locker.call<{ tus_endpoint: string; headers: Record<string, string> }>(
      ['locker:write'],
      'POST',
      '/tus/tokens',
      { prefix: 'inbox/' },
      operator,
    )
    const tus = { 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream' }
    const metadata = { 'upload-metadata': `filename ${Buffer.from('t.txt').toString('base64')}` }
    const here = (url: string) => url.replace(house.gateway.context.config.http.baseUrl, house.gateway.url)
    const create = (length: string, body: string, token = mint.body.headers) =>
      fetch(here(mint.body.tus_endpoint), {
        method: 'POST',
        headers: { ...tus, ...metadata, ...token, 'upload-length': length },
        body,
      })
    const created = await create('4', 'te')
    const upload = here(created.headers.get('location') as string)
    const chunk = (offset: string) =>
      fetch(upload, { method: 'PATCH', headers: { ...tus, 'upload-offset': offset }, body: 'xt' })
    const path = sessionPath()
    const send = (method: string, at: string, body?: string) =>
      fetch(house.gateway.url + at, {
        method,
        headers: { ...session.headers, 'content-type': 'application/json' },
        ...(body !== undefined && { body }),
      })
    const named = await locker.call<{ upload_url: string; delete_url: string }>(['locker:write'], 'POST', '/files', {
      filename: 'direct.txt',
    })
    const put = (body: string, type = 'application/octet-stream') =>
      fetch(`${here(named.body.upload_url)}?proxy=1`, { method: 'PUT', headers: { 'content-type': type }, body })
    const answers = [
      await send('GET', path),
      await send('POST', session.partsPath(2), '{"index":0,"data":"YQ=="}'),
      await send('POST', session.partsPath(0), '{"index":0,"data":"YQ=="}'),
      await send('POST', session.partsPath(2), '{"index":0,"data":"not base64"}'),
      await send('POST', `${path}/files/f_9999/parts`, '{"index":0,"data":"YQ=="}'),
      await send('POST', `${path}/finalize`),
      await send('POST', `${path}/finalize`),
      await send('POST', session.partsPath(2), '{"index":0,"data":"YQ=="}'),
      created,
      await create('4', 'te', { 'X-Upload-Token': 'wrong' }),
      await create('99999999999999', ''),
      await chunk('0'),
      await fetch(upload, { method: 'HEAD', headers: tus }),
      await fetch(upload),
      await chunk('2'),
      await chunk('4'),
      await fetch(upload, { method: 'DELETE', headers: tus }),
      await put('direct'),
      await put('direct', 'text/plain'),
      await fetch(here(named.body.delete_url), { method: 'DELETE' }),
      await bytesOf('a.txt'),
      await bytesOf('secret.txt'),
    ]
    for (const answer of answers) {
      const text = `${[...answer.headers].join('\n')}\n${await answer.text()}`
      for (const hidden of [locker.receiptId, rotated.body.public_link.id, 'secret.txt'])
        if (!answer.url.includes(hidden)) expect(text, answer.url).not.toContain(hidden)
    }
  })

  it('SESS-05 the job that finalizes answers the same', async () => {
    const { body } = await house.send<FinalizedUpload>('POST', '/v1/internal/jobs/finalize-upload', {
      session_id: session.opened.session_id,
    })
    expect(body.viewer_url).toBe(viewer)
  })
})
