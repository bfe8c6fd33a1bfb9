// A gateway on a restored copy of its database: no door writes, whatever credential it is shown, and reads go on.

import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Endpoint } from '@svc/api/endpoint'
import type { UrlSet } from '@svc/api/file-entries'
import type { FileList } from '@svc/api/files'
import { gatewayEndpoints } from '@svc/api/gateway'
import type { NewS3Key } from '@svc/api/s3-credentials'
import type { TusToken } from '@svc/api/tus'
import type { UploadSession, UploadSessionStatus } from '@svc/api/upload-sessions'
import { createFreshDatabase } from '@svc/devnet/databases'
import { openLocalProvider } from '@svc/storage/local'
import { onlyProvider } from '@svc/testbed/only-provider'
import { ed25519Identity, expectRefusal, reply } from '@svc/testbed/test-gateway'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sweepObjects } from '../../src/files/sweep-objects.ts'
import { bucketVerbs } from '../../src/s3/buckets/verbs.ts'
import { folderVerbs } from '../../src/s3/folders/verbs.ts'
import { multipartVerbs } from '../../src/s3/multipart/verbs.ts'
import { objectVerbs } from '../../src/s3/objects/verbs.ts'
import { done, KEY } from '../s3/credentials/credentials-house.ts'
import { sendSigned } from '../s3/s3-house.ts'
import { copyDatabase } from './copy-database.ts'
import { healthIn } from './health.ts'
import { openRestorable } from './restorable.ts'

const TEXT = { 'content-type': 'text/plain' }
const JSON_TYPE = { 'content-type': 'application/json' }
const TUS = { 'tus-resumable': '1.0.0' }
const CHUNK = { ...TUS, 'content-type': 'application/offset+octet-stream' }

/** With a locker and an operator of it. */
async function openStory(dialect: 'sqlite' | 'postgres') {
  const [owner, operator] = [ed25519Identity(), ed25519Identity()]
  const fresh = await createFreshDatabase(dialect)
  /** The objects that clients were sent to. */
  const directIds: string[] = []
  const gateway = await openRestorable({ url: fresh.url, dialect }, {}, async (folder) => {
    const store = await openLocalProvider({ folder: join(folder, 'objects') })
    const uploadTarget = async (id: string) => {
      directIds.push(id)
      return { url: `https://provider.example/${id}`, headers: {} }
    }
    return { providers: onlyProvider({ ...store, uploadTarget }) }
  })
  const { call, lockerId, receiptId } = await gateway.locker(owner, [operator])
  return {
    ...gateway,
    ids: { lockerId, receiptId },
    owner,
    operator,
    directIds,
    call,
    /** At the address of whichever gateway is open. */
    async send<Body>(method: string, url: string, headers: Record<string, string> = {}, body?: string) {
      const base = gateway.house().gateway.url
      const { pathname, search } = new URL(url, base)
      const init = { method, headers, redirect: 'manual', ...(body !== undefined && { body }) } as const
      return reply<Body>(await fetch(base + pathname + search, init))
    },
    removeOperator: async () => done(await call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`)),
    async close() {
      await gateway.close()
      await fresh.drop()
    },
  }
}

type Story = Awaited<ReturnType<typeof openStory>>
type Written = UrlSet & { delete_url: string }

/** What an operator holds of every door, and bytes that wait at each. */
async function fillDoors({ call, send, operator, directIds, house }: Story) {
  const write = <Body>(path: string, body: unknown) => call<Body>(['locker:write'], 'POST', path, body, operator)
  const name = async (filename: string) =>
    done(await write<Written>('/files', { filename, content_type: 'text/plain', ttl_min: 600 }))
  const urls = await name('a.txt')
  expect((await send('PUT', `${urls.upload_url}?proxy=1`, TEXT, 'first')).status).toBe(200)
  const direct = await name('direct.txt')
  expect((await send('PUT', direct.upload_url, TEXT, '')).status).toBe(307)
  const about = { contentType: 'text/plain', size: 6 }
  const storage = house().gateway.context.providers.named('gcs')
  await storage.write(directIds.at(-1)!, Readable.from([Buffer.from('direct')]), about)
  const session = done(
    await write<UploadSession>('/upload-sessions', { files: [{ filename: 'parts.txt', content_type: 'text/plain' }] }),
  )
  const holder = { 'x-upload-token': session.upload_token, ...JSON_TYPE }
  const part = JSON.stringify({ index: 0, data: Buffer.from('part').toString('base64') })
  expect((await send('POST', session.files[0]!.parts_url, holder, part)).status).toBe(200)
  const token = done(await write<TusToken>('/tus/tokens', { ttl_min: 600 }))
  const metadata = { 'upload-metadata': `filename ${Buffer.from('tus.txt').toString('base64')}` }
  const begin = { ...CHUNK, ...token.headers, ...metadata, 'upload-length': '9' }
  const created = await send('POST', token.tus_endpoint, begin, 'four')
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  const key = done(await call<NewS3Key>(['locker:admin'], 'POST', '/s3/keys', KEY))
  return { urls, session, holder, upload: created.headers.get('location')!, key }
}

const writing = gatewayEndpoints.filter(({ method }) => method !== 'GET')
const refused = writing.filter(({ whileBehind }) => whileBehind !== 'served')

describe('a gateway whose database is behind', () => {
  let story: Story
  let held: Awaited<ReturnType<typeof fillDoors>>
  beforeAll(async () => {
    story = await openStory('sqlite')
    held = await fillDoors(story)
    await story.exchange('live')
    await story.removeOperator()
    await story.exchange('backup')
    await healthIn(story.house().gateway, 'behind')
  })
  afterAll(() => story.close())

  /** Reading leaves nonces and counts: requests, bytes, sales. A running gateway says that it runs. */
  const LEFT_BY_READING = ['nonces', 'rate_limits', 'locker_egress', 'sales_periods', 'uncounted_receipts', 'logbooks']

  async function everyRow(): Promise<Record<string, unknown[]>> {
    const { db } = story.house().gateway.context.database
    const { rows: tables } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(
      db,
    )
    const rows: Record<string, unknown[]> = {}
    for (const { name } of tables) {
      if (LEFT_BY_READING.includes(name)) continue
      rows[name] = (await sql`select * from ${sql.table(name)}`.execute(db)).rows
    }
    return rows
  }

  async function expectUnchanged(work: () => Promise<void>): Promise<void> {
    const everything = async () => [
      await everyRow(),
      (await readdir(join(story.folder, 'objects'), { recursive: true })).sort(),
    ]
    const before = await everything()
    await work()
    expect(await everything()).toEqual(before)
  }

  function pathOf({ path }: Endpoint): string {
    const { ids, operator } = story
    const params: Record<string, string> = {
      locker_id: ids.lockerId,
      receipt_id: ids.receiptId,
      session_id: held.session.session_id,
      file_id: 'f_0001',
      filename: 'a.txt',
      token: new URL(held.urls.download_url).pathname.slice('/f/'.length),
      upload_id: held.upload.split('/').at(-1)!,
      pubkey: operator.identity,
      access_key_id: held.key.access_key_id,
      job_id: '1',
      code: 'not_found',
      id: 'unknown',
      path: '0/000',
    }
    return path.replace(/\{\+?(\w+)\}/g, (_, name) => params[name] ?? expect.fail(`a value for ${name}`))
  }

  it.each(refused.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    'T-37 refuses %s before anything else',
    async (_, endpoint) => {
      expect(endpoint.errors).toContain('database_behind')
      const answer = await story.send(endpoint.method, pathOf(endpoint), JSON_TYPE, '{}')
      expectRefusal(answer, 503, 'database_behind')
      expect(answer.headers.get('retry-after')).toBe('60')
    },
  )

  it('T-37 T-94 refuses every S3 request that writes', async () => {
    const verbs = Object.entries({ ...bucketVerbs, ...objectVerbs, ...folderVerbs, ...multipartVerbs })
    const changing = verbs.filter(([name]) => !/^(GET|HEAD) /.test(name))
    // It only answers that the bucket is there.
    expect(changing.filter(([, { needs }]) => needs === 'read').map(([name]) => name)).toEqual(['PUT bucket'])
    await expectUnchanged(async () => {
      for (const [name] of changing.filter(([, { needs }]) => needs === 'write')) {
        const [, method = '', level = '', subresource, copy] = /^(\w+) (\w+)\??(\w+)?( copy)?$/.exec(name) ?? []
        const key = { bucket: '', folder: '/folder/', object: '/a.txt' }[level]
        const target = `/s3/${story.ids.lockerId}${key}${subresource ? `?${subresource}=` : ''}`
        const headers = copy ? { 'x-amz-copy-source': `${story.ids.lockerId}/a.txt` } : {}
        const answer = await sendSigned(story.house(), held.key, method, target, { headers, body: 'stolen' })
        expect([name, answer.status, answer.code]).toEqual([name, 503, 'ServiceUnavailable'])
      }
    })
  })

  describe('as time goes by', { shuffle: false }, () => {
    it('T-37 T-50 reads what is there, mints nothing to write by, and takes no bytes that have arrived', async () => {
      const { send, call, ids } = story
      const { urls, session, holder, upload } = held
      const read = <Body>(path: string, body?: unknown) =>
        call<Body>(['locker:read'], body === undefined ? 'GET' : 'POST', path, body)
      const bytesAt = async (path: string) => {
        const response = await fetch(new URL(path, story.house().gateway.url))
        return [response.status, await response.text()]
      }
      await expectUnchanged(async () => {
        const fresh = done(await call<Partial<Written>>(['locker:read', 'locker:write'], 'GET', '/files/a.txt'))
        expect(Object.keys(fresh).filter((name) => name.endsWith('_url'))).toEqual(['download_url'])
        expect(await bytesAt(new URL(fresh.download_url!).pathname)).toEqual([200, 'first'])
        expect(await bytesAt(new URL(urls.download_url).pathname)).toEqual([200, 'first'])
        expect(await bytesAt(`/v1/r/${ids.receiptId}/f/a.txt`)).toEqual([200, 'first'])
        expect((await bytesAt(`/v1/r/${ids.receiptId}/f/direct.txt`))[0]).toBe(404)
        expectRefusal(await read('/files/direct.txt'), 404, 'CONTENT_NOT_FOUND')
        const { files } = done(await call<FileList>(['locker:list'], 'GET', '/files'))
        expect(files.map(({ filename }) => filename)).toEqual(['a.txt', 'direct.txt'])
        const minted = [done(await read('/files/urls', { filenames: ['a.txt'] })), done(await read('/urls'))]
        for (const answer of minted) expect(JSON.stringify(answer)).not.toMatch(/upload_url|delete_url/)
        const status = done(await send<UploadSessionStatus>('GET', session.endpoints.status, holder))
        expect(status.files[0]).toMatchObject({ received_bytes: 4, state: 'open' })
        const head = await send('HEAD', upload, TUS)
        expect([head.status, head.headers.get('upload-offset')]).toEqual([200, '4'])
      })
    })

    it('T-37 changes nothing by any GET, nor by the requests that are served', async () => {
      expect(writing.filter(({ whileBehind }) => whileBehind === 'served').map(({ name }) => name)).toEqual([
        'requestStorage',
        'confirmStorage',
        'paymentOutcome',
        'findPayment',
        'fileUrls',
        'verifyByPost',
        'simulateAttest',
      ])
      const { ids, owner, house } = story
      // The session is over, and its parts would be released.
      house().clock.advance(2 * 86_400)
      const query = new URLSearchParams({ receipt_id: ids.receiptId, filename: 'a.txt', wallet: owner.identity })
      const answered: string[] = []
      await expectUnchanged(async () => {
        for (const endpoint of gatewayEndpoints.filter((each) => !refused.includes(each))) {
          const { method, auth } = endpoint
          const path = `${pathOf(endpoint)}?${query}`
          const body = method === 'GET' ? undefined : { receipt_id: ids.receiptId, filenames: ['a.txt'], units: 1 }
          const about = path.startsWith('/v1/lockers?') ? {} : ids
          const signed =
            typeof auth === 'object'
              ? house().sign(owner, { method, path, body, ops: auth.ops.flat(), ...about })
              : null
          const { status } = await fetch(house().gateway.url + path, {
            method,
            headers: { ...held.holder, ...signed?.headers },
            ...(body && { body: JSON.stringify(body) }),
          })
          if (status === 200) answered.push(endpoint.name)
        }
      })
      const reads = ['getFile', 'listFiles', 'fileUrls', 'lockerRecord', 'listS3Keys', 'lockerUsage']
      expect(answered).toEqual(expect.arrayContaining([...reads, 'readUploadSession', 'readPublicly', 'verifyByPost']))
    })

    it('T-37 T-50 removes no object, however long nothing seems to hold it', async () => {
      story.house().clock.advance(7 * 86_400)
      const objects = () => readdir(join(story.folder, 'objects'), { recursive: true })
      const kept = await objects()
      await expect(sweepObjects(story.house().gateway.rooms.files)).rejects.toMatchObject({ code: 'database_behind' })
      expect(await objects()).toEqual(kept)
    })
  })
})

it('T-37 T-109 an upload that began before the database was exchanged changes nothing', {
  tags: ['nightly'],
}, async () => {
  const story = await openStory('postgres')
  const { urls } = await fillDoors(story)
  await story.exchange('live')
  await story.removeOperator()
  const { gateway } = story.house()
  const path = `${new URL(urls.upload_url).pathname}?proxy=1`
  // By the owner: the operator's URLs are over by now.
  const own = done(
    await story.call<Written>(['locker:write'], 'POST', '/files', { filename: 'a.txt', content_type: 'text/plain' }),
  )
  expectRefusal(await story.send('PUT', path, TEXT, 'stolen'), 403, 'SHORT_URL_INVALID')
  const request = httpRequest(`${gateway.url}${new URL(own.upload_url).pathname}?proxy=1`, {
    method: 'PUT',
    headers: { ...TEXT, 'content-length': '4', expect: '100-continue' },
  })
  const answered = once(request, 'response') as Promise<[IncomingMessage]>
  request.flushHeaders()
  await once(request, 'continue')
  request.write('by')
  await copyDatabase(story.database, 'backup')
  await healthIn(gateway, 'behind')
  request.end('te')
  const [response] = await answered
  const text = Buffer.concat(await response.toArray()).toString()
  // By a connection to the exchanged database, or one that broke with it.
  expect(response.statusCode, text).toBe(503)
  expect(['database_behind', 'database_unavailable']).toContain(JSON.parse(text).error)
  const bytes = await fetch(`${gateway.url}/v1/r/${story.ids.receiptId}/f/a.txt`)
  expect(await bytes.text()).toBe('first')
  await story.close()
})
