import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startS3BucketServer } from '@svc/devnet/providers/s3-bucket/start'
import { s3Url } from '@svc/devnet/providers/store-urls'
import { expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it, onTestFinished } from 'vitest'
import { createPublish } from '../../../src/publication/log/publish.ts'
import { createPublished } from '../../../src/publication/log/published.ts'
import { addStatements, logReader } from './log-reader.ts'

it('LOG-17 a log in a bucket is completed after an interrupted write, and lost tiles are rewritten', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-log-bucket-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const server = await startS3BucketServer({ folder })
  onTestFinished(() => server.stop())
  const instance = await openTestGateway({
    LOG_STORE: s3Url(server, 'log/'),
  })
  onTestFinished(instance.close)
  const { context, url } = instance.gateway
  const reader = logReader(url, context.logIdentity.key)
  const { db } = context.database
  const digests = await addStatements(db, 300)
  await context.publishLog()
  const first = await reader.head()
  expect(await reader.entries(first)).toEqual(digests)
  expect(server.objects().map(({ key }) => key)).toContain('log/checkpoint')

  digests.push(...(await addStatements(db, 10)))
  server.fail({ at: /GET/, fault: { status: 403, code: 'AccessDenied' } })
  await expect(context.publishLog()).rejects.toThrow('closed')
  expectRefusal(await instance.send('GET', '/log/tile/entries/001.p/43'), 503, 'STORAGE_UNAVAILABLE')
  // A checkpoint is cached for a second.
  await expect.poll(() => context.transparencyLog.proof(digests[299]!)).toBeNull()
  server.recover()
  await context.logFiles.remove('tile/0/001.p/44')
  await context.logFiles.remove('tile/entries/000')
  // A process that has just started reads without a cache.
  const published = createPublished(context.logFiles, context.logIdentity.key)
  await createPublish({ ...context, identity: context.logIdentity, files: context.logFiles, published })()
  expect(await context.logFiles.read('tile/entries/000')).toHaveLength(256 * 34)
  await context.publishedLog.newest()
  const second = await reader.head()
  expect(await reader.entries(second)).toEqual(digests)
  await reader.expectGrown(first, second)
})

it('LOG-18 the origin and the key are fixed with the first checkpoint', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-log-key-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const open = (own: Record<string, string>) => openTestGateway({ DATA_DIR: folder, ...own })
  const key = (byte: string) => byte.repeat(32)
  const unsigned = await open({ LOG_ORIGIN: 'first.example/log', LOG_KEY: key('0a') })
  await unsigned.close()
  const instance = await open({ LOG_ORIGIN: 'second.example/log', LOG_KEY: key('0b') })
  expect(instance.gateway.context.logIdentity.key.name).toBe('second.example/log')
  await addStatements(instance.gateway.context.database.db, 1)
  await instance.gateway.context.publishLog()
  await instance.close()

  await expect(open({ LOG_ORIGIN: 'third.example/log' })).rejects.toThrow('is second.example/log, which cannot change')
  const other = await open({ LOG_KEY: key('0c') })
  expect(other.gateway.context.logIdentity.key).toEqual(instance.gateway.context.logIdentity.key)
  const { body } = await other.send<{ warnings: string[] }>('GET', '/health')
  expect(body.warnings).toContain('LOG_KEY is not the key of the transparency log: this process does not write it')
  await addStatements(other.gateway.context.database.db, 1)
  await other.gateway.context.publishLog()
  expect((await logReader(other.gateway.url, other.gateway.context.logIdentity.key).head()).size).toBe(1)
  await other.close()

  await writeFile(join(folder, 'policy'), 'witness nobody\n')
  await expect(open({ LOG_POLICY_FILE: join(folder, 'policy') })).rejects.toThrow(
    'LOG_POLICY_FILE is not a policy: line 1',
  )
  await expect(open({ LOG_POLICY_FILE: join(folder, 'none') })).rejects.toThrow(join(folder, 'none'))
})
