// A stock client uses credentials.

import { CreateMultipartUploadCommand, ListObjectsV2Command, ListPartsCommand } from '@aws-sdk/client-s3'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { createKeyFinder } from '../../../../src/adapters/s3/credentials/store.ts'
import {
  expectS3Error,
  type GivenCredentials as Given,
  objectsOf,
  openS3Gateway,
  putInHalves,
  s3Client,
} from '../s3-gateway.ts'
import { askCredentials, askKey, expectSuccess, revokeKey } from './credentials-gateway.ts'

const HOUR = 3600

forEachDatabase('S3 credentials in use', (database) => {
  const operator = ed25519Identity()
  const instance = forAllTests(() => openS3Gateway({ DATABASE_URL: database.url }))
  const locker = forEachTest(async () => {
    const made = await instance.locker(ed25519Identity(), { operators: [operator] })
    await made.put('a/1.txt', 'one')
    await made.put('ab/2.txt', 'two')
    return made
  })

  const clientOf = (given: Given) =>
    s3Client(instance.s3Url, given, { systemClockOffset: instance.clock.now() - Date.now() })
  const objects = (given: Given, name = locker.lockerId) => objectsOf({ name, client: clientOf(given) })
  const read = async (given: Given, key = 'a/1.txt', bucket?: string) =>
    (await objects(given, bucket).bytesOf(key)).toString()
  const write = (given: Given, key = 'a/3.txt') => objects(given).put(key, 'three')

  const given = {
    key: async (scope: object) => expectSuccess(await askKey(locker, scope)) as Given,
    session: async (scope: object) => expectSuccess(await askCredentials(locker, scope)) as Given,
  }

  const KINDS = ['key', 'session'] as const
  it.each(KINDS)('T-95 ADD-42 a %s reaches its own folder only', { tags: ['nightly'] }, async (kind) => {
    const other = await instance.locker(ed25519Identity())
    await other.put('a/1.txt', 'of another')
    const credentials = await given[kind]({ access: 'write', prefix: 'a/' })
    expect(await read(credentials)).toBe('one')
    await write(credentials)
    expect(await read(credentials, 'a/3.txt')).toBe('three')
    await expectS3Error(read(credentials, 'ab/2.txt'), 403, 'AccessDenied')
    await expectS3Error(write(credentials, 'b.txt'), 403, 'AccessDenied')
    await expectS3Error(read(credentials, 'a/1.txt', other.lockerId), 403, 'AccessDenied')
    await expectS3Error(read(credentials, 'a/1.txt', 'locker_000000000000'), 403, 'AccessDenied')
  })

  it.each(KINDS)('T-95 a %s for reading does not write, and ends when everything is revoked', async (kind) => {
    const credentials = await given[kind]({ access: 'read' })
    expect(await read(credentials)).toBe('one')
    await expectS3Error(write(credentials), 403, 'AccessDenied')
    expectSuccess(await locker.call(['locker:admin'], 'POST', '/revoke', {}))
    await expectS3Error(read(credentials), 403, 'AccessDenied')
  })

  it('T-95 a key that is revoked during use opens nothing more', async () => {
    const credentials = await given.key({ access: 'write' })
    expect(await read(credentials)).toBe('one')
    expectSuccess(await revokeKey(locker, credentials.access_key_id))
    await expectS3Error(read(credentials), 403, 'InvalidAccessKeyId')
    await expectS3Error(write(credentials), 403, 'InvalidAccessKeyId')
  })

  it('T-36 a key that is revoked before the last byte of an upload stores nothing', async () => {
    const [credentials, other] = [await given.key({ access: 'write' }), await given.key({ access: 'write' })]
    const client = clientOf(credentials)
    const [Bucket, Key] = [locker.lockerId, 'late']
    const upload = { Bucket, Key, ...(await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))) }
    const targets = [`/s3/${Bucket}/late`, `/s3/${Bucket}/late?partNumber=1&uploadId=${upload.UploadId}`]
    const revoked = Promise.withResolvers<void>()
    const started = targets.map(() => Promise.withResolvers<void>())
    const sent = targets.map((target, i) =>
      putInHalves(instance, credentials, target, async () => {
        started[i]!.resolve()
        await revoked.promise
      }),
    )
    await Promise.all(started.map(({ promise }) => promise))
    expectSuccess(await revokeKey(locker, credentials.access_key_id))
    revoked.resolve()
    for (const answer of await Promise.all(sent))
      expect(answer).toMatchObject({ status: 403, text: expect.stringContaining('AccessDenied') })
    const { Contents } = await clientOf(other).send(new ListObjectsV2Command({ Bucket, Prefix: Key }))
    expect(Contents).toBeUndefined()
    const parts = clientOf(other).send(new ListPartsCommand({ Bucket, Key, UploadId: upload.UploadId }))
    await expectS3Error(parts, 404, 'NoSuchUpload')
  })

  it('T-95 credentials of an operator end when the owner removes the operator, and stay invalid when the operator returns', async () => {
    const credentials = expectSuccess(await askCredentials(locker, { access: 'write' }, operator))
    expect(await read(credentials)).toBe('one')
    expectSuccess(await locker.call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`))
    await expectS3Error(read(credentials), 403, 'AccessDenied')
    await expectS3Error(write(credentials), 403, 'AccessDenied')
    expectSuccess(await locker.call(['locker:admin'], 'POST', '/operators', { pubkey: operator.identity }))
    await expectS3Error(read(credentials), 403, 'AccessDenied')
  })

  it('T-95 an id with a wrong secret opens nothing', async () => {
    const [one, two] = [await given.key({}), await given.key({})]
    await expectS3Error(read({ ...one, secret_access_key: two.secret_access_key }), 403, 'SignatureDoesNotMatch')
    const session = await given.session({})
    await expectS3Error(read({ ...session, session_token: `${session.session_token}A` }), 403, 'InvalidAccessKeyId')
    await expectS3Error(read({ ...one, session_token: session.session_token as string }), 403, 'InvalidAccessKeyId')
  })

  it('ADD-42 the last use of a key is recorded at most once an hour, and not for wrong signatures', async () => {
    const credentials = await given.key({ access: 'read' })
    const { db } = instance.gateway.context.database
    const lastUse = async () => (await createKeyFinder(db)(credentials.access_key_id))?.last_used_at ?? null
    const seconds = () => Math.floor(instance.clock.now() / 1000)
    await expectS3Error(read({ ...credentials, secret_access_key: 'x'.repeat(40) }), 403, 'SignatureDoesNotMatch')
    expect(await lastUse()).toBeNull()
    const first = seconds()
    await read(credentials)
    await expect.poll(lastUse).toBe(first)
    instance.clock.advance(HOUR - 1)
    await read(credentials)
    instance.clock.advance(1)
    await read(credentials)
    await expect.poll(lastUse).toBe(first + HOUR)
  })
})
