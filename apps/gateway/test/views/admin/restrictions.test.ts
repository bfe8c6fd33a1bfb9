import type { LockerRecord } from '@svc/api/lockers'
import { forEachDatabase } from '@svc/devnet/databases'
import {
  ed25519Identity,
  expectRefusal,
  type Identity,
  openTestGateway,
  type Reply,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import type { StorageProvider } from '@svc/storage/provider'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { finalizeUpload } from '../../../src/adapters/http/sessions/read-session.ts'
import { resumeFinalizations, sweepSessions } from '../../../src/files/parts/close-session.ts'
import { createSessionFinalizer } from '../../../src/files/parts/finalize-session.ts'
import { openTestSession } from '../../adapters/http/sessions/sessions.ts'
import { attest } from '../../evidence/attest.ts'

interface Urls {
  download_url: string
  upload_url: string
  delete_url: string
  urls_expire_in_sec: number
}

forEachDatabase('lockers restricted by the admin', (database) => {
  let instance: TestGateway
  let operator: Identity
  beforeAll(async () => {
    instance = await openTestGateway({ DATABASE_URL: database.url })
    operator = ed25519Identity()
  })
  afterAll(() => instance.close())

  const restrict = (locker: TestLocker, restriction: string, notice?: string) =>
    instance.send<{ changed: boolean }>('PUT', `/v1/internal/operations/lockers/${locker.lockerId}/restriction`, {
      restriction,
      reason: 'order 17 of a court',
      ...(notice && { notice }),
    })

  /** A locker with a confirmed file, URLs of it, an open session and a statement. */
  async function lockerWithContent() {
    const locker = await instance.locker(ed25519Identity(), { operators: [operator] })
    await locker.put('a.txt', 'evidence')
    await attest(instance, locker)
    const urls = (await locker.call<Urls>(['locker:read', 'locker:write'], 'GET', '/files/a.txt')).body
    const session = await openTestSession(instance, locker, { files: [{ filename: 'b.txt' }] })
    await session.raw(0, 'half')
    return { locker, urls, session, publicPath: `/v1/r/${locker.receiptId}/f/a.txt` }
  }

  const path = (url: string) => new URL(url).pathname
  const get = async (target: string): Promise<Reply<unknown>> => {
    const response = await fetch(instance.gateway.url + target)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  }
  const put = (url: string) => instance.send('PUT', path(url), Buffer.from('other'), { 'content-type': 'text/plain' })

  async function expectNoWrites(
    { locker, urls, session }: Awaited<ReturnType<typeof lockerWithContent>>,
    status: number,
  ) {
    const code = status === 423 ? 'LOCKER_FROZEN' : 'LOCKER_TAKEN_DOWN'
    const refused = [
      await locker.call(['locker:write'], 'POST', '/files', { filename: 'c.txt' }),
      await locker.call(['locker:write'], 'POST', '/files', { filename: 'c.txt' }, operator),
      await locker.call(['locker:write'], 'DELETE', '/files/a.txt'),
      await locker.call(['locker:write'], 'POST', '/files/rename', {
        files: [{ filename: 'a.txt', new_filename: 'z.txt' }],
      }),
      await locker.call(['locker:write'], 'POST', '/upload-sessions', { files: [{ filename: 'd.txt' }] }),
      await locker.call(['locker:admin'], 'POST', '/operators', { pubkey: ed25519Identity().identity }),
      await locker.call(['locker:admin'], 'POST', '/public-link', { action: 'rotate' }),
      await locker.call(['locker:read'], 'GET', '/files/a.txt', undefined, operator),
      await put(urls.upload_url),
      await instance.send('DELETE', path(urls.delete_url)),
      await session.raw(1, 'more'),
      await session.finalize(),
    ]
    for (const reply of refused) expectRefusal(reply, status, code)
    expect((await locker.call<{ files: unknown[] }>(['locker:list'], 'GET', '/files')).body.files).toHaveLength(1)
  }

  it('ADD-25 a frozen locker stays readable but rejects writes and new links until it is unfrozen', async () => {
    const content = await lockerWithContent()
    const { locker, urls, session, publicPath } = content
    expect((await restrict(locker, 'frozen', 'See our letter.')).body.changed).toBe(true)
    await expectNoWrites(content, 423)

    expect((await get(path(urls.download_url))).body).toBe('evidence')
    expect((await get(publicPath)).body).toBe('evidence')
    const fresh = await locker.call<Urls>(['locker:read'], 'GET', '/files/a.txt?ttl_min=600')
    expect([fresh.status, fresh.body.urls_expire_in_sec]).toEqual([200, 300])
    expect((await get(path(fresh.body.download_url))).body).toBe('evidence')
    const record = await locker.call<LockerRecord>(['locker:read'], 'GET', '/record')
    expect(record.body.restriction).toMatchObject({ state: 'frozen', notice: 'See our letter.' })
    expect((await session.status()).status).toBe(200)
    expect((await get(`/v1/storage/verify?receipt_id=${locker.receiptId}`)).status).toBe(200)
    // Revoking access is allowed.
    expect((await locker.call(['locker:admin'], 'POST', '/public-link', { action: 'close' })).status).toBe(200)

    expect((await restrict(locker, 'none')).body.changed).toBe(true)
    expect((await locker.call<LockerRecord>(['locker:read'], 'GET', '/record')).body).not.toHaveProperty('restriction')
    expect((await put(urls.upload_url)).status).toBe(200)
    expect((await session.raw(1, 'more')).status).toBe(200)
    expect((await session.finalize()).body).toMatchObject({ status: 'complete' })
  })

  it('ADD-25 a locker that is taken down serves no bytes to anyone, but its statements stay readable', async () => {
    const content = await lockerWithContent()
    const { locker, urls, publicPath } = content
    await restrict(locker, 'taken_down')
    await expectNoWrites(content, 451)
    for (const reply of [
      await get(path(urls.download_url)),
      await get(publicPath),
      await locker.call(['locker:read'], 'GET', '/files/a.txt'),
      await locker.call(['locker:read'], 'GET', '/urls'),
      await locker.call(['locker:read'], 'POST', '/files/urls', { filenames: ['a.txt'] }),
    ]) {
      expectRefusal(reply, 451, 'LOCKER_TAKEN_DOWN')
    }
    const record = await locker.call<LockerRecord>(['locker:read'], 'GET', '/record')
    expect(record.body.restriction).toMatchObject({ state: 'taken_down', notice: null })
    expect((await get(`/v1/storage/evidence-bundle?receipt_id=${locker.receiptId}`)).status).toBe(200)
    expectRefusal(await get(`/v1/r/rcpt_${'0'.repeat(32)}/f/a.txt`), 404, 'receipt_not_found')
  })

  it('T-50 an upload stopped by a restriction stays open meanwhile, and regains its time afterwards', async () => {
    const { locker, session } = await lockerWithContent()
    const interrupted = await openTestSession(instance, locker, { files: [{ filename: 'c.txt' }], ttl_min: 10 })
    const { context } = instance.gateway
    await interrupted.raw(0, 'cut ')
    await interrupted.raw(1, 'off')
    // Freeze the locker during the finalization: after its check, before its write.
    const finalizeSession = createSessionFinalizer({
      ...context,
      providers: {
        ...context.providers,
        named(name) {
          const provider = context.providers.named(name)
          const write: StorageProvider['write'] = async (...bytes) => {
            await restrict(locker, 'frozen')
            return provider.write(...bytes)
          }
          return { ...provider, write }
        },
      },
    })
    const finalized = await finalizeUpload({ ...context, finalizeSession }, interrupted.opened.session_id)
    expect(finalized).toMatchObject({ status: 'partial', files: [{ ok: false }] })
    expect((await locker.call<LockerRecord>(['locker:read'], 'GET', '/record')).body.restriction?.state).toBe('frozen')
    instance.clock.advance(5 * 86_400)
    await sweepSessions(context)
    await restrict(locker, 'taken_down')
    instance.clock.advance(5 * 86_400)
    await sweepSessions(context)
    await resumeFinalizations(context)
    await context.queue.drain()
    for (const { status } of [session, interrupted]) expect((await status()).body.status).toBe('partial')

    await restrict(locker, 'none')
    await context.queue.drain()
    expect((await interrupted.status()).body).toMatchObject({ status: 'complete', files: [{ state: 'stored' }] })
    const extension = Date.parse((await session.status()).body.expires_at) - Date.parse(session.opened.expires_at)
    expect(extension).toBe(10 * 86_400_000)
    expect((await session.raw(1, 'more')).status).toBe(200)
    expect((await session.finalize()).body).toMatchObject({ status: 'complete' })
  })
})
