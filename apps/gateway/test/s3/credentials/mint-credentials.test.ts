import { mintS3Credentials } from '@svc/api/s3-credentials'
import { forEachDatabase } from '@svc/devnet/databases'
import { schemaCheck } from '@svc/http-service/validate'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  type Identity,
  type LockerHouse,
  openLockerHouse,
  type TestLocker,
} from '../../auth/lockers.ts'
import { askCredentials, done, found } from './credentials-house.ts'

forEachDatabase('short-lived S3 credentials', (database) => {
  let house: LockerHouse
  let locker: TestLocker
  let operator: Identity
  beforeAll(async () => {
    house = await openLockerHouse({ DATABASE_URL: database.url, BASE_URL: 'https://gateway.example' })
  })
  afterAll(() => house.close())
  beforeEach(async () => {
    operator = ed25519Identity()
    locker = await house.locker(evmIdentity(), { operators: [operator] })
  })

  const seconds = () => Math.floor(house.clock.now() / 1000)

  it('ADD-42 are answered with all that a client is set up with, and nothing of them is stored', async () => {
    const before = await house.gateway.context.database.db.selectFrom('s3_keys').selectAll().execute()
    const reply = await askCredentials(locker, { access: 'write', prefix: 'photos/', ttl_min: 5 })
    const credentials = done(reply)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(schemaCheck(mintS3Credentials.responses[200])(credentials)).toBeNull()
    expect(credentials).toMatchObject({
      access: 'write',
      prefix: 'photos/',
      expires_at: new Date(house.clock.now() + 300_000).toISOString().replace('.000', ''),
      endpoint: 'https://gateway.example/s3',
      region: 'us-east-1',
      bucket: locker.lockerId,
    })
    expect(await found(house, credentials)).toEqual({
      accessKeyId: credentials.access_key_id,
      secret: credentials.secret_access_key,
      lockerId: locker.lockerId,
      grant: { key: locker.owner.identity, epoch: 0 },
      access: 'write',
      prefix: 'photos/',
      expiresAt: seconds() + 300,
    })
    expect(await house.gateway.context.database.db.selectFrom('s3_keys').selectAll().execute()).toEqual(before)
  })

  it('ADD-42 read the whole locker for an hour unless asked otherwise, for operators too', async () => {
    const credentials = done(await askCredentials(locker, {}, operator))
    expect(await found(house, credentials)).toMatchObject({
      access: 'read',
      prefix: '',
      expiresAt: seconds() + 3600,
      grant: { key: operator.identity, epoch: 0 },
    })
  })

  it('ADD-42 expire at their time, with the code that clients know', async () => {
    const credentials = done(await askCredentials(locker, { ttl_min: 1 }))
    house.clock.advance(59)
    expect(await found(house, credentials)).not.toBeNull()
    house.clock.advance(1)
    await expect(found(house, credentials)).rejects.toMatchObject({ code: 'ExpiredToken' })
  })

  it('T-95 those that write need an envelope for writing', async () => {
    expectRefusal(await askCredentials(locker, { access: 'write' }, undefined, ['locker:read']), 403, 'MISSING_OPS')
    expectRefusal(await askCredentials(locker, {}, undefined, ['locker:list']), 403, 'MISSING_OPS')
    done(await askCredentials(locker, { access: 'read' }, undefined, ['locker:write']))
  })

  it('T-95 strangers and operators of other lockers get none', async () => {
    expectRefusal(await askCredentials(locker, {}, ed25519Identity()), 403, 'SIGNATURE_INVALID')
    const other = await house.locker(ed25519Identity())
    expectRefusal(await askCredentials(other, {}, operator), 403, 'SIGNATURE_INVALID')
  })

  it.each([
    ['a prefix that is no folder', { prefix: 'photos' }],
    ['a prefix with ..', { prefix: 'a/../b/' }],
    ['a prefix of a slash', { prefix: '/' }],
    ['a prefix with //', { prefix: 'a//' }],
    ['a hidden prefix', { prefix: '.secret/' }],
    ['a prefix with a control character', { prefix: 'a\n/' }],
    ['a prefix that is too long', { prefix: `${'a'.repeat(512)}/` }],
    ['a prefix that is too long in UTF-8', { prefix: `${'ü'.repeat(257)}/` }],
    ['a prefix that is no text', { prefix: 1 }],
    ['no minutes', { ttl_min: 0 }],
    ['more than an hour', { ttl_min: 61 }],
    ['half a minute', { ttl_min: 0.5 }],
    ['another access', { access: 'admin' }],
  ])('T-95 %s is refused', async (_, body) => {
    expectRefusal(await askCredentials(locker, body), 422, 'validation_error')
  })

  it('T-95 a session token is of no use without its own access key id, nor the id without the token', async () => {
    const [one, two] = [done(await askCredentials(locker)), done(await askCredentials(locker))]
    expect(await found(house, { ...one, session_token: two.session_token })).toBeNull()
    expect(await found(house, { access_key_id: one.access_key_id })).toBeNull()
  })

  it('T-95 credentials of another gateway open nothing, and those of a replica do', async () => {
    const shared = { DATABASE_URL: database.url, SHORT_URL_KEY: '07'.repeat(32) }
    const [one, two] = [await openLockerHouse(shared), await openLockerHouse(shared)]
    try {
      const credentials = done(await askCredentials(await one.locker(ed25519Identity())))
      expect(await found(two, credentials)).toMatchObject({ secret: credentials.secret_access_key })
      expect(await found(house, credentials)).toBeNull()
    } finally {
      await one.close()
      await two.close()
    }
  })

  describe('of a locker that the operator of the gateway has restricted', () => {
    const restrict = async (restriction: string) => {
      const path = `/v1/internal/operations/lockers/${locker.lockerId}/restriction`
      done(await house.send('PUT', path, { restriction, reason: 'order 17 of a court' }))
    }

    it('T-95 a frozen one is read by its owner for a few minutes, and written by nobody', async () => {
      await restrict('frozen')
      expect(await found(house, done(await askCredentials(locker)))).toMatchObject({ expiresAt: seconds() + 300 })
      expectRefusal(await askCredentials(locker, { access: 'write' }), 423, 'LOCKER_FROZEN')
      expectRefusal(await askCredentials(locker, {}, operator), 423, 'LOCKER_FROZEN')
    })

    it('T-95 one that was taken down gives none', async () => {
      await restrict('taken_down')
      expectRefusal(await askCredentials(locker), 451, 'LOCKER_TAKEN_DOWN')
      expectRefusal(await askCredentials(locker, { access: 'write' }), 451, 'LOCKER_TAKEN_DOWN')
    })
  })
})

describe('the settings of the door', () => {
  it('ADD-42 a gateway without the door gives no credentials and keys, and says so', async () => {
    const house = await openLockerHouse({ S3_DOOR: 'off' })
    try {
      const locker = await house.locker(ed25519Identity())
      expectRefusal(await askCredentials(locker), 501, 'S3_DISABLED')
      const body = { name: 'a', access: 'read', expires_in_days: 1 }
      expectRefusal(await locker.call(['locker:admin'], 'POST', '/s3/keys', body), 501, 'S3_DISABLED')
      expect(done(await locker.call(['locker:admin'], 'GET', '/s3/keys'))).toMatchObject({ keys: [], count: 0 })
      expect((await fetch(`${house.gateway.url}/s3/${locker.lockerId}`)).status).toBe(404)
    } finally {
      await house.close()
    }
  })

  it('ADD-42 clients are told the host and the region of the door', async () => {
    const house = await openLockerHouse({
      BASE_URL: 'https://gateway.example:8443',
      S3_HOST: 's3.gateway.example',
      S3_REGION: 'eu-central-1',
    })
    try {
      expect(done(await askCredentials(await house.locker(ed25519Identity())))).toMatchObject({
        endpoint: 'https://s3.gateway.example:8443',
        region: 'eu-central-1',
      })
    } finally {
      await house.close()
    }
  })

  it('LIM-11 asking for credentials counts for the limit of the signer', async () => {
    const house = await openLockerHouse({ RATE_LIMIT_SIGNER: '2' })
    try {
      const locker = await house.locker(ed25519Identity())
      done(await askCredentials(locker))
      done(await askCredentials(locker))
      expectRefusal(await askCredentials(locker), 429, 'RATE_LIMITED')
    } finally {
      await house.close()
    }
  })
})
