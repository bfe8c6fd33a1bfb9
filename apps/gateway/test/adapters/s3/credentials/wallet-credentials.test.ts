// Credentials of a wallet: one credential for all lockers that it owns.

import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
} from '@aws-sdk/client-s3'
import {
  createWalletS3Key,
  listWalletS3Keys,
  mintWalletS3Credentials,
  revokeWalletS3Key,
} from '@svc/api/s3-credentials'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, evmIdentity, expectRefusal, type TestLocker } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { schemaCheck } from '@svc/service/http/validate'
import { createLog } from '@svc/service/program/log'
import { expect, it } from 'vitest'
import {
  expectS3Error,
  type GivenCredentials as Given,
  objectsOf,
  openS3Gateway,
  putInHalves,
  s3Client,
  sendSigned,
} from '../s3-gateway.ts'
import {
  askKey,
  askWalletCredentials,
  askWalletKey,
  callWallet,
  expectSuccess,
  findScope,
  KEY,
  listKeys,
  listWalletKeys,
  revokeKey,
  revokeWalletKey,
} from './credentials-gateway.ts'

const DAY = 86_400

forEachDatabase('S3 credentials of a wallet', (database) => {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const log = createLog('info', { write, writeSoon: () => {}, flush: () => {} })
  const instance = forAllTests(() =>
    openS3Gateway({ DATABASE_URL: database.url, RATE_LIMITS: 'address=0/min' }, { log }),
  )
  const wallet = forEachTest(async () => ({ ...evmIdentity() }))
  const named = (...tags: string[]) => instance.locker(wallet, { tags })

  const clientOf = (given: Given) =>
    s3Client(instance.s3Url, given, { systemClockOffset: instance.clock.now() - Date.now() })
  const objects = (given: Given, name: string) => objectsOf({ name, client: clientOf(given) })
  const read = async (given: Given, bucket: string, key = 'a') => (await objects(given, bucket).bytesOf(key)).toString()
  const bucketsOf = async (given: Given) => {
    const { Buckets = [] } = await clientOf(given).send(new ListBucketsCommand({}))
    return Buckets.map(({ Name }) => Name)
  }
  const revokeAll = async (locker: TestLocker) =>
    expectSuccess(await locker.call<object>(['locker:admin'], 'POST', '/revoke', {}))
  const restrict = async ({ lockerId }: TestLocker, restriction: string) => {
    const path = `/v1/internal/operations/lockers/${lockerId}/restriction`
    expectSuccess(await instance.send<object>('PUT', path, { restriction, reason: 'order 17 of a court' }))
  }

  const given = {
    key: async (body: object = {}) => expectSuccess(await askWalletKey(instance, wallet, body)) as Given,
    session: async (body: object = {}) =>
      expectSuccess(await askWalletCredentials(instance, wallet, { access: 'write', ...body })) as Given,
  }
  const KINDS = ['key', 'session'] as const

  it.each(KINDS)(
    'ADD-42 ADD-44 a %s lists and opens every locker that the wallet owns, by name and by id',
    async (kind) => {
      const [photos, other] = [await named('name:photos'), await named()]
      await photos.put('a', 'of photos')
      const credentials = await given[kind]()
      expect(await bucketsOf(credentials)).toEqual([other.lockerId, 'photos'].sort())
      await objects(credentials, other.lockerId).put('a', 'of the other')
      expect(await read(credentials, other.lockerId)).toBe('of the other')
      for (const bucket of ['photos', photos.lockerId]) {
        expect(await read(credentials, bucket)).toBe('of photos')
        const { Name, Contents } = await clientOf(credentials).send(new ListObjectsV2Command({ Bucket: bucket }))
        expect([Name, Contents?.map(({ Key }) => Key)]).toEqual([bucket, ['a']])
      }
      const later = await named('name:later')
      expect(await bucketsOf(credentials)).toContain('later')
      await objects(credentials, 'later').put('b', 'new')
      expect(await read(credentials, later.lockerId, 'b')).toBe('new')
      const listed = await sendSigned(instance, credentials, 'GET', '/s3?prefix=pho')
      expect(listed.text.match(/<Name>/g)).toHaveLength(1)
      expect(listed.text).not.toContain(wallet.identity)
    },
  )

  it('ADD-44 a locker is listed by its id when its name is no valid bucket name or is not unique', async () => {
    const sharedNames = [await named('name:twin'), await named('name:twin')]
    const invalidNames = [await named('name:Photos 2026'), await named('name:10.0.0.1'), await named('name:ab')]
    const credentials = await given.key()
    const ids = [...sharedNames, ...invalidNames].map(({ lockerId }) => lockerId)
    expect(await bucketsOf(credentials)).toEqual(ids.sort())
    for (const name of ['twin', 'Photos%202026', '10.0.0.1', 'ab', 'photos', 'TWIN'])
      expect(await sendSigned(instance, credentials, 'HEAD', `/s3/${name}`), name).toMatchObject({ status: 403 })
    for (const id of ids)
      expect(await sendSigned(instance, credentials, 'HEAD', `/s3/${id}`)).toMatchObject({ status: 200 })
  })

  it('T-95 T-93 lockers of other owners are neither listed nor opened, even if the wallet operates them', async () => {
    const owner = ed25519Identity()
    const own = await instance.locker(owner, { tags: ['name:own'] })
    const operated = await instance.locker(ed25519Identity(), { operators: [owner], tags: ['name:photos'] })
    const credentials = expectSuccess(await askWalletKey(instance, owner)) as Given
    expect(await bucketsOf(credentials)).toEqual(['own'])
    const answers = []
    for (const bucket of [operated.lockerId, 'photos', 'locker_000000000000', '%00', 'locker_%00', `own%00`, '%27--'])
      answers.push(await sendSigned(instance, credentials, 'GET', `/s3/${bucket}/a`))
    for (const { status, text } of answers) {
      expect([status, /<Code>\w+<\/Code><Message>.*<\/Hint>/.exec(text)?.[0]]).toEqual([
        403,
        /<Code>\w+<\/Code><Message>.*<\/Hint>/.exec(answers[0]!.text)?.[0],
      ])
    }
    expect(await sendSigned(instance, credentials, 'HEAD', `/s3/${own.lockerId}`)).toMatchObject({ status: 200 })
  })

  it('ADD-44 T-93 buckets are neither created nor deleted, and creating an existing one succeeds', async () => {
    await named('name:photos')
    const client = clientOf(await given.key())
    await client.send(new CreateBucketCommand({ Bucket: 'photos' }))
    expect(await client.send(new HeadBucketCommand({ Bucket: 'photos' }))).toMatchObject({ BucketRegion: 'us-east-1' })
    await expectS3Error(client.send(new CreateBucketCommand({ Bucket: 'new-bucket' })), 403, 'AccessDenied')
    await expectS3Error(client.send(new DeleteBucketCommand({ Bucket: 'photos' })), 501, 'NotImplemented')
    const refused = await sendSigned(instance, await given.key(), 'PUT', '/s3/new-bucket')
    expect(refused.text).toContain('svc buy --name')
  })

  it('ADD-43 a wallet credential copies between lockers of the wallet, and a credential of one locker does not', async () => {
    const [from, to] = [await named('name:from'), await named('name:into')]
    await from.put('a', 'bytes')
    const credentials = await given.key()
    const copy = (source: string, who: Given, bucket = 'into') =>
      sendSigned(instance, who, 'PUT', `/s3/${bucket}/a`, { headers: { 'x-amz-copy-source': source } })
    expect(await copy('from/a', credentials)).toMatchObject({ status: 200 })
    expect(await read(credentials, 'into')).toBe('bytes')
    expect(await copy(`${from.lockerId}/a`, credentials)).toMatchObject({ status: 200 })
    await sendSigned(instance, credentials, 'PUT', '/s3/from/d/', { body: '' })
    const folder = { headers: { 'x-amz-copy-source': 'from/d/' } }
    expect(await sendSigned(instance, credentials, 'PUT', '/s3/into/d/', folder)).toMatchObject({ status: 200 })
    const ofOne = expectSuccess(await askKey(to)) as Given
    expect(await copy(`${from.lockerId}/a`, ofOne, to.lockerId)).toMatchObject({ status: 403, code: 'AccessDenied' })
    await revokeAll(from)
    expect(await copy('from/a', credentials)).toMatchObject({ status: 403, code: 'AccessDenied' })
  })

  it('ADD-42 the owner makes, lists and revokes keys; each change is logged', async () => {
    const locker = await named()
    const made = expectSuccess(await askWalletKey(instance, wallet))
    expect(schemaCheck(createWalletS3Key.responses[200])(made)).toBeNull()
    const { secret_access_key, endpoint: _, region: _region, ...shown } = made
    expect(shown).toMatchObject({ name: 'backup', access: 'write', last_used_at: null })
    const listed = await callWallet(instance, wallet, ['GET', '/v1/s3/keys'])
    expect(schemaCheck(listWalletS3Keys.responses[200])(listed.body)).toBeNull()
    expect(listed.body).toEqual({ wallet: wallet.identity, keys: [shown], count: 1 })
    expect(await listKeys(locker)).toEqual([])
    expectRefusal(await revokeKey(locker, shown.access_key_id), 404, 'S3_KEY_NOT_FOUND')
    await bucketsOf(made)
    await expect.poll(async () => (await listWalletKeys(instance, wallet))[0]?.last_used_at).not.toBeNull()
    const revoked = await revokeWalletKey(instance, wallet, shown.access_key_id)
    expect(schemaCheck(revokeWalletS3Key.responses[200])(expectSuccess(revoked))).toBeNull()
    expect(await listWalletKeys(instance, wallet)).toEqual([])
    await expectS3Error(bucketsOf(made), 403, 'InvalidAccessKeyId')
    expectRefusal(await revokeWalletKey(instance, wallet, shown.access_key_id), 404, 'S3_KEY_NOT_FOUND')
    const logged = lines.map((line) => JSON.parse(line)).filter((line) => line.access_key_id === shown.access_key_id)
    expect(logged.map(({ msg, wallet }) => [msg, wallet])).toEqual([
      ['created an S3 key of a wallet', wallet.identity],
      ['revoked an S3 key of a wallet', wallet.identity],
    ])
    expect(lines.join('')).not.toContain(secret_access_key)
  })

  it('T-95 only the wallet makes, sees and revokes its keys, which do not include the keys of its lockers', async () => {
    const locker = await named()
    const { access_key_id } = expectSuccess(await askWalletKey(instance, wallet))
    const unknownWallet = ed25519Identity()
    expectRefusal(await askWalletKey(instance, wallet, {}, unknownWallet), 403, 'SIGNATURE_INVALID')
    const list = callWallet(instance, wallet, ['GET', '/v1/s3/keys'], { who: unknownWallet })
    expectRefusal(await list, 403, 'SIGNATURE_INVALID')
    await instance.locker(unknownWallet)
    expectRefusal(await revokeWalletKey(instance, unknownWallet, access_key_id), 404, 'S3_KEY_NOT_FOUND')
    const ofLocker = expectSuccess(await askKey(locker))
    for (const id of [ofLocker.access_key_id, 'x', 'SVCK', '__proto__'])
      expectRefusal(await revokeWalletKey(instance, wallet, id), 404, 'S3_KEY_NOT_FOUND')
    expect(await listWalletKeys(instance, wallet)).toHaveLength(1)
    expect(await listKeys(locker)).toHaveLength(1)
  })

  it('T-95 a wallet without a locker gets no key, so that unknown wallets cannot fill the table', async () => {
    expectRefusal(await askWalletKey(instance, wallet), 404, 'locker_not_found')
    expectRefusal(await askWalletCredentials(instance, wallet, {}), 404, 'locker_not_found')
  })

  it('T-95 a wallet has at most 100 keys, even if more are requested concurrently', async () => {
    await named()
    const asked = await Promise.all(Array.from({ length: 105 }, () => askWalletKey(instance, wallet)))
    const byStatus = Object.groupBy(asked, ({ status }) => status)
    expect([byStatus[200]?.length, byStatus[409]?.length]).toEqual([100, 5])
    expectRefusal(await askWalletKey(instance, wallet), 409, 'S3_KEY_LIMIT_EXCEEDED')
    const [first] = await listWalletKeys(instance, wallet)
    expectSuccess(await revokeWalletKey(instance, wallet, first!.access_key_id))
    expectSuccess(await askWalletKey(instance, wallet, { expires_in_days: 1 }))
    instance.clock.advance(30 * DAY)
    expect(await listWalletKeys(instance, wallet)).toEqual([])
    expectSuccess(await askWalletKey(instance, wallet))
    instance.clock.advance(-30 * DAY)
  })

  it.each([
    ['a name that is too long', { name: 'n'.repeat(65) }],
    ['a name that no database accepts', { name: 'a\0' }],
    ['more than a year', { expires_in_days: 366 }],
    ['another access', { access: 'admin' }],
  ])('T-95 a key with %s is refused', async (_, changes) => {
    await named()
    expectRefusal(await askWalletKey(instance, wallet, { ...KEY, ...changes }), 422, 'validation_error')
  })

  it('ADD-42 T-95 one-hour credentials have their own form, and write only if the request was signed for writing', async () => {
    await named()
    const credentials = expectSuccess(await askWalletCredentials(instance, wallet, { ttl_min: 5 }))
    expect(schemaCheck(mintWalletS3Credentials.responses[200])(credentials)).toBeNull()
    const expiresAt = Math.floor(instance.clock.now() / 1000) + 300
    expect(await findScope(instance, credentials)).toMatchObject({ wallet: wallet.identity, access: 'read', expiresAt })
    const ops = ['locker:read']
    const body = { access: 'write' }
    const refused = await callWallet(instance, wallet, ['POST', '/v1/s3/credentials'], { ops, body })
    expectRefusal(refused, 403, 'MISSING_OPS')
  })

  it.each(KINDS)('T-95 a %s for reading does not write', async (kind) => {
    const locker = await named()
    await locker.put('a', 'bytes')
    const credentials = await given[kind]({ access: 'read' })
    expect(await read(credentials, locker.lockerId)).toBe('bytes')
    await expectS3Error(objects(credentials, locker.lockerId).put('a', 'x'), 403, 'AccessDenied')
    await expectS3Error(objects(credentials, locker.lockerId).remove('a'), 403, 'AccessDenied')
  })

  it.each(KINDS)(
    'T-95 revoking everything of a locker ends a %s there and nowhere else, and later ones work',
    async (kind) => {
      const [revoked, other] = [await named('name:revoked'), await named('name:other')]
      for (const locker of [revoked, other]) await locker.put('a', 'bytes')
      const before = await given[kind]()
      await revokeAll(revoked)
      expect(await bucketsOf(before)).toEqual(['other'])
      await expectS3Error(read(before, 'revoked'), 403, 'AccessDenied')
      await expectS3Error(read(before, revoked.lockerId), 403, 'AccessDenied')
      expect(await read(before, 'other')).toBe('bytes')
      const after = await given[kind]()
      expect(await bucketsOf(after)).toEqual(['other', 'revoked'])
      expect(await read(after, 'revoked')).toBe('bytes')
      await revokeAll(revoked)
      await expectS3Error(read(after, 'revoked'), 403, 'AccessDenied')
    },
  )

  it('T-95 T-93 a frozen locker gets no new long-lived access, and a locker that was taken down opens to no key', async () => {
    const locker = await named('name:photos')
    await locker.put('a', 'bytes')
    const before = await given.key()
    instance.clock.advance(1)
    await restrict(locker, 'frozen')
    expect(await read(before, 'photos')).toBe('bytes')
    await expectS3Error(objects(before, 'photos').put('a', 'x'), 403, 'AccessDenied')
    const [key, session, short] = [await given.key(), await given.session(), await given.session({ ttl_min: 5 })]
    for (const credentials of [key, session]) await expectS3Error(read(credentials, 'photos'), 403, 'AccessDenied')
    expect(await read(short, 'photos')).toBe('bytes')
    await expectS3Error(objects(short, 'photos').put('a', 'x'), 403, 'AccessDenied')
    await restrict(locker, 'none')
    expect(await read(key, 'photos')).toBe('bytes')
    await restrict(locker, 'taken_down')
    for (const credentials of [before, key, short])
      await expectS3Error(read(credentials, 'photos'), 403, 'AccessDenied')
  })

  it.each([
    ['another wallet', { minted_by: 'somebody' }],
    ['one locker', { locker_id: 'locker_000000000000' }],
    ['an epoch of a locker', { minted_epochs: '{"locker_000000000000":9}' }],
    ['no epochs', { minted_epochs: null }],
    ['more access', { access: 'write' as const }],
    ['a longer life', { expires_at: 9_000_000_000 }],
  ])('T-95 editing the database row for %s changes the secret', async (_, changes) => {
    await named()
    const made = expectSuccess(await askWalletKey(instance, wallet, { access: 'read' }))
    const { db } = instance.gateway.context.database
    await writable(db).updateTable('s3_keys').set(changes).where('access_key_id', '=', made.access_key_id).execute()
    expect((await findScope(instance, made))?.secret).not.toBe(made.secret_access_key)
  })

  it('T-36 a key that is revoked before the last byte of an upload stores nothing in any locker', async () => {
    const lockers = [await named('name:one'), await named('name:two')]
    const [credentials, other] = [await given.key(), await given.key()]
    const Key = 'late'
    const uploads = await Promise.all(
      lockers.map(async ({ lockerId: Bucket }) => {
        const { UploadId } = await clientOf(credentials).send(new CreateMultipartUploadCommand({ Bucket, Key }))
        return { Bucket, Key, UploadId }
      }),
    )
    const revoked = Promise.withResolvers<void>()
    const targets = uploads.flatMap(({ Bucket, UploadId }) => [
      `/s3/${Bucket}/late`,
      `/s3/${Bucket}/late?partNumber=1&uploadId=${UploadId}`,
    ])
    const started = targets.map(() => Promise.withResolvers<void>())
    const sent = targets.map((target, i) =>
      putInHalves(instance, credentials, target, async () => {
        started[i]!.resolve()
        await revoked.promise
      }),
    )
    await Promise.all(started.map(({ promise }) => promise))
    expectSuccess(await revokeWalletKey(instance, wallet, (credentials as { access_key_id: string }).access_key_id))
    revoked.resolve()
    for (const answer of await Promise.all(sent))
      expect(answer).toMatchObject({ status: 403, text: expect.stringContaining('AccessDenied') })
    for (const upload of uploads) {
      const { Contents } = await clientOf(other).send(new ListObjectsV2Command({ Bucket: upload.Bucket }))
      expect(Contents).toBeUndefined()
      await expectS3Error(clientOf(other).send(new ListPartsCommand(upload)), 404, 'NoSuchUpload')
    }
  })
})
