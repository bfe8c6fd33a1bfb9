// A gateway with running workers on a restored older copy of its database: it refuses every write, with any
// credential, and still serves reads.

import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Endpoint } from '@svc/api/endpoint'
import type { FileList } from '@svc/api/files'
import { gatewayEndpoints } from '@svc/api/gateway'
import type { UploadSessionStatus } from '@svc/api/upload-sessions'
import { createFreshDatabase, forEachDatabase } from '@svc/devnet/databases'
import { expectRefusal, type Reply } from '@svc/devnet/services/test-gateway'
import type { Variables } from '@svc/service/program/config'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { bucketVerbs } from '../../src/adapters/s3/buckets/verbs.ts'
import { folderVerbs } from '../../src/adapters/s3/folders/verbs.ts'
import { multipartVerbs } from '../../src/adapters/s3/multipart/verbs.ts'
import { objectVerbs } from '../../src/adapters/s3/objects/verbs.ts'
import { sweepObjects } from '../../src/files/sweep-objects.ts'
import { expectSuccess } from '../adapters/s3/credentials/credentials-gateway.ts'
import { sendSigned } from '../adapters/s3/s3-gateway.ts'
import { type EndpointRequest, requestsOf } from './behind-requests.ts'
import {
  CHUNK,
  fillEntryPoints,
  fillRecords,
  type OperatorAccess,
  openStory,
  type StoredRecords,
  type Story,
  TEXT,
  TUS,
  type Written,
} from './behind-story.ts'
import { copyDatabase } from './copy-database.ts'
import { healthIn } from './health.ts'

const writing = gatewayEndpoints.filter(({ method }) => method !== 'GET')
const refused = writing.filter(({ whileBehind }) => whileBehind !== 'served')
const served = gatewayEndpoints.filter((endpoint) => !refused.includes(endpoint))
const DIALECTS = ['sqlite', 'postgres'] as const

/** Other tables do not change. The tables of pg-boss, which also record who has which job, are in their own schema. */
const MAY_CHANGE: Record<string, { why: string; on: readonly string[] }> = {
  nonces: { why: 'a signed read uses up its envelope', on: DIALECTS },
  rate_limits: { why: 'reads are rate-limited too', on: DIALECTS },
  jobs: {
    why: 'schedules enqueue jobs, and workers take them; each job waits for the database to be current',
    on: ['sqlite'],
  },
  schedules: { why: 'when a job is due next', on: DIALECTS },
  logbooks: { why: 'processes report to each other that they run, and what they miss', on: ['postgres'] },
}

/** The module of a command. */
type Load = () => Promise<{ run(args: string[]): Promise<void> }>

async function runHere(load: Load, args: string[], env: Variables) {
  const output: string[] = []
  const record = (...words: unknown[]) => void output.push(words.join(' '))
  for (const stream of ['log', 'error'] as const) vi.spyOn(console, stream).mockImplementation(record)
  const before = { env: process.env, exitCode: process.exitCode }
  process.env = { SVC_MODE: 'development', LOG_LEVEL: 'silent', ...env } as NodeJS.ProcessEnv
  process.exitCode = 0
  try {
    await (await load()).run(args)
    return { code: process.exitCode, output: output.join('\n') }
  } finally {
    process.env = before.env
    process.exitCode = before.exitCode
    vi.restoreAllMocks()
  }
}

forEachDatabase('a gateway whose database is behind', (database) => {
  let story: Story
  let access: OperatorAccess
  let records: StoredRecords
  let requests: Record<string, EndpointRequest>
  let current: Record<string, string>
  const changed = new Set<string>()
  beforeAll(async () => {
    story = await openStory(database)
    access = await fillEntryPoints(story)
    records = await fillRecords(story)
    requests = requestsOf(story, access, records)
    await story.exchange('live')
    await story.removeOperator()
    story.variables.RUN_JOBS = 'true'
    await story.exchange('backup')
    await healthIn(story.instance().gateway, 'behind')
    current = await everything()
  })
  afterAll(async () => {
    const may = Object.entries(MAY_CHANGE).filter(([, { on }]) => on.includes(database.dialect))
    await story.close()
    expect([...changed].sort()).toEqual(may.map(([table]) => table).sort())
  })

  /** The rows of each table, and the names of the objects. */
  async function everything(): Promise<Record<string, string>> {
    const { db } = story.instance().gateway.context.database
    const tables =
      database.dialect === 'sqlite'
        ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
        : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`
    const found: Record<string, string> = {}
    for (const { name } of (await tables.execute(db)).rows) {
      const { rows } = await sql`select * from ${sql.table(name)}`.execute(db)
      found[name] = rows
        .map((row) => JSON.stringify(row))
        .sort()
        .join('\n')
    }
    const objects = await readdir(join(story.folder, 'objects'), { recursive: true })
    return { ...found, objects: objects.sort().join('\n') }
  }

  /** Expects no change outside the tables that may change. */
  async function expectUnchanged(): Promise<void> {
    const now = await everything()
    for (const table of Object.keys(now)) {
      if (now[table] === current[table]) continue
      changed.add(table)
      if (!MAY_CHANGE[table]?.on.includes(database.dialect))
        expect({ [table]: now[table] }).toEqual({ [table]: current[table] })
    }
    current = now
  }

  /** On SQLite the check takes longer than the requests, so it runs only at the end. */
  const afterRequest = database.dialect === 'postgres' ? expectUnchanged : async () => {}

  function pathOf({ name, path }: Endpoint): string {
    const { ids, operator } = story
    const params: Record<string, string> = {
      locker_id: ids.lockerId,
      receipt_id: ids.receiptId,
      session_id: access.session.session_id,
      file_id: access.session.files[0]!.file_id,
      filename: 'a.txt',
      token: new URL(tokenUrl(name)).pathname.slice('/f/'.length),
      upload_id: access.upload.split('/').at(-1)!,
      pubkey: operator.identity,
      access_key_id: access.key.access_key_id,
      share_id: access.share.id,
      job_id: records.jobId,
      code: 'not_found',
      id: 'a'.repeat(64),
      path: '0/000.p/1',
    }
    return path.replace(/\{\+?(\w+)\}/g, (_, param) => params[param] ?? expect.fail(`a value for ${param}`))
  }

  function uploadQuery(method: string): string {
    return `?${method === 'PUT' ? 'partNumber=1&' : ''}uploadId=${access.uploadId}`
  }

  function tokenUrl(name: string): string {
    if (name === 'writeByToken') return access.urls.upload_url
    return name === 'deleteByToken' ? access.urls.delete_url : access.urls.download_url
  }

  /** Sends the request with the authorization that its endpoint needs. */
  async function sendAuthorized(endpoint: Endpoint): Promise<Reply<{ error?: string }>> {
    const { name, method, auth } = endpoint
    const { query, body, headers = {} } = requests[name] ?? {}
    const path = pathOf(endpoint) + (query ? `?${new URLSearchParams(query)}` : '')
    const { instance, owner, ids, issuer } = story
    const base = instance().gateway.url
    const isToken = auth === 'internal' || auth === 'oidc'
    const token = isToken && { authorization: `Bearer ${issuer.token({ sub: 'operator', receipt_id: ids.receiptId })}` }
    const isOfWallet = name === 'listLockers' || name.includes('WalletS3')
    const about = isOfWallet ? { envelope: { aud: base } } : ids
    const signed =
      typeof auth === 'object' ? instance().sign(owner, { method, path, body, ops: auth.ops.flat(), ...about }) : null
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
    const response = await fetch(base + path, {
      method,
      headers: { ...(text && { 'content-type': 'application/json' }), ...headers, ...token, ...signed?.headers },
      ...(text && { body: text }),
    })
    const answer = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, headers: response.headers, body: isJson && answer ? JSON.parse(answer) : {} }
  }

  it('T-37 refuses every endpoint that writes, and nothing changes', async () => {
    for (const endpoint of refused) {
      expect(endpoint.errors).toContain('database_behind')
      const answer = await sendAuthorized(endpoint)
      expect([endpoint.name, answer.status, answer.body.error]).toEqual([endpoint.name, 503, 'database_behind'])
      expect(answer.headers.get('retry-after')).toBe('60')
      await afterRequest()
    }
    await expectUnchanged()
  })

  it('T-37 T-50 serves every endpoint that reads, and nothing changes', async () => {
    expect(writing.filter(({ whileBehind }) => whileBehind === 'served').map(({ name }) => name)).toEqual([
      'requestStorage',
      'confirmStorage',
      'paymentOutcome',
      'findPayment',
      'fileUrls',
      'verifyByPost',
      'simulateAttest',
    ])
    const answers: unknown[] = []
    for (const endpoint of served) {
      const { status, body } = await sendAuthorized(endpoint)
      answers.push([endpoint.name, status, status === 200 ? undefined : body.error])
      await afterRequest()
    }
    await expectUnchanged()
    // Sales are counted once the database is current.
    const sales = served.find(({ name }) => name === 'adminSales')!
    expect((await sendAuthorized(sales)).body).toMatchObject({ periods: [{ purchases: 1 }], uncounted: 1 })
    expect(answers).toEqual(served.map(({ name }) => [name, requests[name]?.status ?? 200, requests[name]?.code]))
  })

  it('T-37 refuses every S3 request that writes, serves those that read, and nothing changes', async () => {
    const verbs = { ...bucketVerbs, ...objectVerbs, ...folderVerbs, ...multipartVerbs }
    // This request only answers whether the bucket exists.
    const reading = Object.keys(verbs).filter((name) => verbs[name]!.needs === 'read' && !/^(GET|HEAD) /.test(name))
    expect(reading).toEqual(['PUT bucket'])
    const answers: Record<string, unknown> = {}
    for (const [name, { needs }] of Object.entries(verbs)) {
      const [, method = '', level = '', subresource, copy] = /^(\w+) (\w+)\??([\w-]+)?( copy)?$/.exec(name) ?? []
      const bucket = level === 'service' ? '' : story.ids.lockerId
      const object = subresource === 'uploadId' ? '/multipart.txt' : '/kept.txt'
      const key = { service: '', bucket: '', folder: '/folder/', object }[level]
      const query = subresource === 'uploadId' ? uploadQuery(method) : subresource ? `?${subresource}=` : ''
      const target = `/s3/${bucket}${key}${query}`
      const source = `${story.ids.lockerId}${level === 'folder' ? '/folder/' : '/kept.txt'}`
      const headers: Record<string, string> = {
        ...(copy && { 'x-amz-copy-source': source }),
        ...(subresource === 'attributes' && { 'x-amz-object-attributes': 'ETag' }),
      }
      const body = needs === 'write' ? { body: 'stolen' } : {}
      const answer = await sendSigned(story.instance(), access.key, method, target, { headers, ...body })
      if (needs === 'write') expect([name, answer.status, answer.code]).toEqual([name, 503, 'ServiceUnavailable'])
      else answers[name] = answer.code ?? answer.status
      await afterRequest()
    }
    await expectUnchanged()
    const others = Object.entries(answers).filter(([, answer]) => answer !== 200)
    // No bucket has these.
    expect(Object.fromEntries(others)).toEqual({
      'GET bucket?cors': 'NoSuchCORSConfiguration',
      'GET bucket?encryption': 'ServerSideEncryptionConfigurationNotFoundError',
      'GET bucket?lifecycle': 'NoSuchLifecycleConfiguration',
      'GET bucket?object-lock': 'ObjectLockConfigurationNotFoundError',
      'GET bucket?ownershipControls': 'OwnershipControlsNotFoundError',
      'GET bucket?policy': 'NoSuchBucketPolicy',
      'GET bucket?policyStatus': 'NoSuchBucketPolicy',
      'GET bucket?publicAccessBlock': 'NoSuchPublicAccessBlockConfiguration',
      'GET bucket?replication': 'ReplicationConfigurationNotFoundError',
      'GET bucket?tagging': 'NoSuchTagSet',
      'GET bucket?website': 'NoSuchWebsiteConfiguration',
    })
  })

  it('T-37 refuses every tus request that writes, serves those that read, and nothing changes', async () => {
    const { send } = story
    const over = (method: string) => ({ ...CHUNK, 'x-http-method-override': method, 'upload-offset': '4' })
    const creating = { ...TUS, ...access.tusToken.headers, 'upload-length': '4' }
    const metadata = { 'upload-metadata': `filename ${Buffer.from('new.txt').toString('base64')}` }
    const { tus_endpoint } = access.tusToken
    const requests: [number, string, string, Record<string, string>, string?][] = [
      [204, 'OPTIONS', tus_endpoint, {}],
      [204, 'OPTIONS', access.upload, {}],
      [200, 'HEAD', access.upload, TUS],
      [200, 'GET', access.upload, TUS],
      [503, 'POST', tus_endpoint, { ...creating, ...metadata }],
      [503, 'POST', tus_endpoint, { ...CHUNK, ...creating, ...metadata }, 'four'],
      [503, 'POST', tus_endpoint, { ...creating, ...metadata, 'upload-concat': 'partial' }],
      [503, 'PATCH', access.upload, { ...CHUNK, 'upload-offset': '4' }, 'stole'],
      [503, 'DELETE', access.upload, TUS],
      [503, 'POST', access.upload, over('PATCH'), 'stole'],
      [503, 'POST', access.upload, over('DELETE')],
    ]
    for (const [status, method, url, headers, body] of requests) {
      const answer = await send<{ error?: string }>(method, url, headers, body)
      expect([method, headers, answer.status]).toEqual([method, headers, status])
      if (status === 503) expectRefusal(answer, 503, 'database_behind')
      await afterRequest()
    }
    await expectUnchanged()
  })

  it('T-37 refuses every command that writes, runs the others, and nothing changes', async () => {
    const { ids, variables, folder } = story
    const because = ['--reason', 'a test']
    const lockers = () => import('../../src/bin/lockers.ts')
    const keys = () => import('../../src/bin/keys.ts')
    const jobs = () => import('../../src/bin/jobs.ts')
    const journal = () => import('../../src/bin/journal.ts')
    const publicKey = ['--public-key', 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025']
    const empty = join(folder, 'export.jsonl')
    await writeFile(empty, '')
    const refusedCommands: [load: Load, ...args: string[]][] = [
      [lockers, 'freeze', ids.lockerId, ...because],
      [lockers, 'unfreeze', ids.lockerId, ...because],
      [lockers, 'take-down', ids.lockerId, ...because],
      [jobs, 'retry', records.jobId, ...because],
      [jobs, 'delete', records.jobId, ...because],
      [keys, 'new', ...publicKey, ...because],
      [keys, 'rotate', '--early', ...because],
      [keys, 'retire', records.announced, ...because],
      [keys, 'revoke', records.retired, '--since', '2025-03-01T00:00:00Z', ...because],
      [journal, 'prune', '--before', '2020-01-01', ...because],
    ]
    for (const [load, ...args] of refusedCommands) {
      const { code, output } = await runHere(load, args, variables)
      expect([args, code, output]).toEqual([
        args,
        1,
        expect.stringContaining('older than what this gateway has signed'),
      ])
      await afterRequest()
    }
    await expectUnchanged()
    const shown: [load: Load, code: number, ...args: string[]][] = [
      [lockers, 0, 'show', ids.lockerId],
      [jobs, 0, 'list'],
      [keys, 0, 'list'],
      [journal, 0, 'show'],
      [() => import('../../src/bin/audit.ts'), 0],
      [() => import('../../src/bin/log.ts'), 0, 'show'],
      [() => import('../../src/bin/replay.ts'), 1, 'show'],
      // The export is empty.
      [() => import('../../src/bin/import-attestations.ts'), 0, empty],
    ]
    for (const [load, wanted, ...args] of shown) {
      const { code, output } = await runHere(load, args, variables)
      expect([args, code], output).toEqual([args, wanted])
      await afterRequest()
    }
    await expectUnchanged()
  })

  describe('as time goes by', { shuffle: false }, () => {
    it('T-37 T-50 serves reads, issues no write credentials, and adopts no bytes that arrived', async () => {
      const { send, call, ids } = story
      const { urls, session, holder, upload } = access
      const read = <Body>(path: string, body?: unknown) =>
        call<Body>(['locker:read'], body === undefined ? 'GET' : 'POST', path, body)
      const bytesAt = async (path: string) => {
        const response = await fetch(new URL(path, story.instance().gateway.url))
        return [response.status, await response.text()]
      }
      const fresh = expectSuccess(await call<Partial<Written>>(['locker:read', 'locker:write'], 'GET', '/files/a.txt'))
      expect(Object.keys(fresh).filter((name) => name.endsWith('_url'))).toEqual(['download_url'])
      expect(await bytesAt(new URL(fresh.download_url!).pathname)).toEqual([200, 'first'])
      expect(await bytesAt(new URL(urls.download_url).pathname)).toEqual([200, 'first'])
      expect(await bytesAt(`/v1/r/${ids.receiptId}/f/a.txt`)).toEqual([200, 'first'])
      expect((await bytesAt(`/v1/r/${ids.receiptId}/f/direct.txt`))[0]).toBe(404)
      expectRefusal(await read('/files/direct.txt'), 404, 'CONTENT_NOT_FOUND')
      const { files } = expectSuccess(await call<FileList>(['locker:list'], 'GET', '/files'))
      expect(files.map(({ filename }) => filename)).toEqual(['a.txt', 'direct.txt', 'kept.txt'])
      const minted = [
        expectSuccess(await read('/files/urls', { filenames: ['a.txt'] })),
        expectSuccess(await read('/urls')),
      ]
      for (const answer of minted) expect(JSON.stringify(answer)).not.toMatch(/upload_url|delete_url/)
      const status = expectSuccess(await send<UploadSessionStatus>('GET', session.endpoints.status, holder))
      expect(status.files[0]).toMatchObject({ received_bytes: 4, state: 'open' })
      const head = await send('HEAD', upload, TUS)
      expect([head.status, head.headers.get('upload-offset')]).toEqual([200, '4'])
      await expectUnchanged()
    })

    it('T-37 T-50 changes nothing by a job or a read, long after everything it knows has expired', async () => {
      const { clock, instance } = story
      // The session has expired: its parts would be released, and nothing seems to refer to the objects.
      for (const days of [2, 7]) {
        clock.advance(days * 86_400)
        // Workers look for jobs once a second.
        await expect
          .poll(async () =>
            Object.values(await instance().gateway.context.queue.counts()).some(({ running }) => running > 0),
          )
          .toBe(true)
        for (const endpoint of served) await sendAuthorized(endpoint)
        await expectUnchanged()
      }
      await expect(sweepObjects(instance().gateway.context)).rejects.toMatchObject({ code: 'database_behind' })
      await expectUnchanged()
    })
  })
})

it('T-37 T-14 an upload that began before the database was replaced changes nothing', {
  tags: ['nightly'],
}, async () => {
  const fresh = await createFreshDatabase('postgres')
  onTestFinished(fresh.drop)
  const story = await openStory({ url: fresh.url, dialect: 'postgres' })
  const { urls } = await fillEntryPoints(story)
  await story.exchange('live')
  await story.removeOperator()
  const { gateway } = story.instance()
  const path = `${new URL(urls.upload_url).pathname}?proxy=1`
  // The URLs are those of the owner: those of the operator have expired.
  const own = expectSuccess(
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
  // Its connection leads to the replaced database, or broke with the old one.
  expect(response.statusCode, text).toBe(503)
  expect(['database_behind', 'database_unavailable']).toContain(JSON.parse(text).error)
  const bytes = await fetch(`${gateway.url}/v1/r/${story.ids.receiptId}/f/a.txt`)
  expect(await bytes.text()).toBe('first')
  await story.close()
})
