import { randomBytes } from 'node:crypto'
import { mintS3Credentials } from '@svc/api/s3-credentials'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, evmIdentity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { fromBase64Url, toBase64Url } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { schemaCheck } from '@svc/service/http/validate'
import { expect, it, onTestFinished } from 'vitest'
import {
  createCredentialKeys,
  MAX_TOKEN_CHARACTERS,
  SALT_BYTES,
} from '../../../../src/adapters/s3/credentials/credential-keys.ts'
import { isKeyId, newKeyId } from '../../../../src/adapters/s3/credentials/key-ids.ts'
import { MAX_EPOCHS } from '../../../../src/adapters/s3/credentials/mint-credentials.ts'
import { type LockerScope, openSession, sealSession } from '../../../../src/adapters/s3/credentials/session-token.ts'
import { askCredentials, askKey, expectSuccess, findScope, listKeys } from './credentials-gateway.ts'

forEachDatabase('short-lived S3 credentials', (database) => {
  const operator = ed25519Identity()
  const variables = () => ({ DATABASE_URL: database.url, BASE_URL: 'https://gateway.example' })
  const instance = forAllTests(() => openTestGateway(variables()))
  const locker = forEachTest(() => instance.locker(evmIdentity(), { operators: [operator] }))

  const seconds = () => Math.floor(instance.clock.now() / 1000)

  it('ADD-42 include everything that a client needs, and are not stored', async () => {
    const before = await instance.gateway.context.database.db.selectFrom('s3_keys').selectAll().execute()
    const reply = await askCredentials(locker, { access: 'write', prefix: 'photos/', ttl_min: 5 })
    const credentials = expectSuccess(reply)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(schemaCheck(mintS3Credentials.responses[200])(credentials)).toBeNull()
    expect(credentials).toMatchObject({
      access: 'write',
      prefix: 'photos/',
      expires_at: new Date(instance.clock.now() + 300_000).toISOString().replace('.000', ''),
      endpoint: 'https://gateway.example/s3',
      region: 'us-east-1',
      bucket: locker.lockerId,
    })
    expect(await findScope(instance, credentials)).toEqual({
      accessKeyId: credentials.access_key_id,
      secret: credentials.secret_access_key,
      lockerId: locker.lockerId,
      grant: { key: locker.owner.identity, epoch: 0 },
      access: 'write',
      prefix: 'photos/',
      expiresAt: seconds() + 300,
    })
    expect(await instance.gateway.context.database.db.selectFrom('s3_keys').selectAll().execute()).toEqual(before)
  })

  it('ADD-42 read the whole locker for an hour by default, for operators too', async () => {
    const credentials = expectSuccess(await askCredentials(locker, {}, operator))
    const grant = { key: operator.identity, epoch: 0 }
    const scope = { access: 'read', prefix: '', expiresAt: seconds() + 3600, grant }
    expect(await findScope(instance, credentials)).toMatchObject(scope)
  })

  it('ADD-42 expire on time, with the error code that clients know', async () => {
    const credentials = expectSuccess(await askCredentials(locker, { ttl_min: 1 }))
    instance.clock.advance(59)
    expect(await findScope(instance, credentials)).not.toBeNull()
    instance.clock.advance(1)
    await expect(findScope(instance, credentials)).rejects.toMatchObject({ code: 'ExpiredToken' })
  })

  it('T-95 need an envelope for writing when they can write', async () => {
    expectRefusal(await askCredentials(locker, { access: 'write' }, undefined, ['locker:read']), 403, 'MISSING_OPS')
    expectRefusal(await askCredentials(locker, {}, undefined, ['locker:list']), 403, 'MISSING_OPS')
    expectSuccess(await askCredentials(locker, { access: 'read' }, undefined, ['locker:write']))
  })

  it('T-95 are refused to unknown keys and to operators of other lockers', async () => {
    expectRefusal(await askCredentials(locker, {}, ed25519Identity()), 403, 'SIGNATURE_INVALID')
    const other = await instance.locker(ed25519Identity())
    expectRefusal(await askCredentials(other, {}, operator), 403, 'SIGNATURE_INVALID')
  })

  it.each([
    ['a prefix that is not a folder', { prefix: 'photos' }],
    ['a prefix that is too long in UTF-8', { prefix: `${'ü'.repeat(257)}/` }],
    ['more than an hour', { ttl_min: 61 }],
    ['another access', { access: 'admin' }],
  ])('T-95 %s is refused', async (_, body) => {
    expectRefusal(await askCredentials(locker, body), 422, 'validation_error')
  })

  const restrict = async (restriction: string) => {
    const path = `/v1/internal/operations/lockers/${locker.lockerId}/restriction`
    expectSuccess(await instance.send('PUT', path, { restriction, reason: 'order 17 of a court' }))
  }

  it('T-95 let only the owner read a frozen locker, for a few minutes, and never write', async () => {
    await restrict('frozen')
    expect(await findScope(instance, expectSuccess(await askCredentials(locker)))).toMatchObject({
      expiresAt: seconds() + 300,
    })
    expectRefusal(await askCredentials(locker, { access: 'write' }), 423, 'LOCKER_FROZEN')
    expectRefusal(await askCredentials(locker, {}, operator), 423, 'LOCKER_FROZEN')
  })

  it('T-95 are refused for a locker that was taken down', async () => {
    await restrict('taken_down')
    expectRefusal(await askCredentials(locker), 451, 'LOCKER_TAKEN_DOWN')
    expectRefusal(await askCredentials(locker, { access: 'write' }), 451, 'LOCKER_TAKEN_DOWN')
  })
})

async function openInstance(variables: Record<string, string>) {
  const instance = await openTestGateway(variables)
  onTestFinished(instance.close)
  return { instance, locker: await instance.locker(ed25519Identity()) }
}

it('T-93 ADD-42 a gateway without the S3 endpoint issues no credentials or keys, and says why', async () => {
  const { instance, locker } = await openInstance({ S3: 'off' })
  expectRefusal(await askCredentials(locker), 501, 'S3_DISABLED')
  expectRefusal(await askKey(locker), 501, 'S3_DISABLED')
  expect(await listKeys(locker)).toEqual([])
  const { status, headers } = await fetch(`${instance.gateway.url}/s3/${locker.lockerId}`)
  expect([status, headers.get('content-type')]).toEqual([404, expect.stringContaining('json')])
})

it('ADD-42 credentials include the host and the region of the S3 endpoint', async () => {
  const endpoint = { S3: 'on,host=s3.gateway.example,region=eu-central-1' }
  const { locker } = await openInstance({ BASE_URL: 'https://gateway.example:8443', ...endpoint })
  const reported = { endpoint: 'https://s3.gateway.example:8443', region: 'eu-central-1' }
  expect(expectSuccess(await askCredentials(locker))).toMatchObject(reported)
})

it('LIM-11 requests for credentials count towards the rate limit of the signer', async () => {
  const { locker } = await openInstance({ RATE_LIMITS: 'signer=1/min' })
  expectSuccess(await askCredentials(locker))
  expectRefusal(await askCredentials(locker), 429, 'RATE_LIMITED')
})

const seed = randomBytes(32)
const keys = createCredentialKeys(ed25519Signer(seed))
const foreign = createCredentialKeys(ed25519Signer(randomBytes(32)))

const SCOPE: LockerScope = {
  lockerId: 'locker_0123456789ab',
  grant: { key: '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2', epoch: 3 },
  access: 'write',
  prefix: 'photos/',
  expiresAt: 1_800_000_000,
}
const seal = (scope: Partial<LockerScope> = {}) => sealSession(keys, { ...SCOPE, ...scope }, randomBytes(SALT_BYTES))

it('ADD-42 session tokens contain the scope of a credential, and replicas with the same key open them', () => {
  const { accessKeyId, secret, token } = seal()
  const replica = createCredentialKeys(ed25519Signer(seed))
  for (const keysOfGateway of [keys, replica])
    expect(openSession(keysOfGateway, accessKeyId, token)).toEqual({ ...SCOPE, secret })
})

it('ADD-42 credentials have the form that clients check, even with the longest prefix', () => {
  const prefixes = ['', `${'"'.repeat(511)}/`, `${'ü'.repeat(255)}/`]
  for (const { accessKeyId, secret, token } of prefixes.map((prefix) => seal({ prefix }))) {
    expect(accessKeyId).toMatch(/^SVCS[A-Z2-7]{16}$/)
    expect(secret).toMatch(/^[A-Za-z0-9_-]{40}$/)
    expect(token).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(token.length).toBeLessThanOrEqual(MAX_TOKEN_CHARACTERS)
    expect(openSession(keys, accessKeyId, token)).not.toBeNull()
  }
})

it('ADD-42 a session token of a wallet fits the epochs of its lockers', () => {
  const ids = Array.from({ length: MAX_EPOCHS }, (_, i) => `locker_${String(i).padStart(12, '0')}`)
  const epochs = Object.fromEntries(ids.map((id) => [id, 12_345_678]))
  const { access, expiresAt } = SCOPE
  const scope = { wallet: SCOPE.grant.key, epochs, mintedAt: expiresAt, access, expiresAt }
  const { accessKeyId, secret, token } = sealSession(keys, scope, randomBytes(SALT_BYTES))
  expect(openSession(keys, accessKeyId, token)).toEqual({ ...scope, secret })
})

it('T-95 tokens reveal nothing of their content, and two tokens of the same scope have nothing in common', () => {
  const [one, two] = [seal(), seal()]
  const plain = Buffer.from(fromBase64Url(one.token) as Uint8Array).toString('latin1')
  for (const reported of [SCOPE.lockerId, SCOPE.grant.key, SCOPE.prefix]) expect(plain).not.toContain(reported)
  expect(new Set([one.token, two.token, one.secret, two.secret, one.accessKeyId, two.accessKeyId]).size).toBe(6)
})

it('T-95 a token that is changed or truncated anywhere opens nothing', () => {
  const { accessKeyId, token } = seal()
  const bytes = fromBase64Url(token) as Uint8Array
  for (const i of bytes.keys()) {
    const changed = bytes.with(i, (bytes[i] as number) ^ 1)
    expect(openSession(keys, accessKeyId, toBase64Url(changed)), `byte ${i}`).toBeNull()
    expect(openSession(keys, accessKeyId, toBase64Url(bytes.subarray(0, i))), `cut at ${i}`).toBeNull()
  }
})

it('T-95 a token of another gateway, or with the access key id of another token, opens nothing', () => {
  const [one, two] = [seal(), seal()]
  expect(openSession(foreign, one.accessKeyId, one.token)).toBeNull()
  expect(openSession(keys, two.accessKeyId, one.token)).toBeNull()
  const id = sealSession(foreign, SCOPE, randomBytes(SALT_BYTES)).accessKeyId
  expect(openSession(keys, id, one.token)).toBeNull()
})

it('ADD-42 T-95 ids of long-lived keys have the form that clients check, and guessed ids are recognized', () => {
  const id = newKeyId(keys, randomBytes)
  expect(id).toMatch(/^SVCK[A-Z2-7]{16}$/)
  expect(isKeyId(keys, id)).toBe(true)
  expect(isKeyId(foreign, id)).toBe(false)
  const changed = id.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
  for (const guess of [changed, `${id}A`, id.slice(0, -1), id.toLowerCase(), `SVCS${id.slice(4)}`, '', 'SVCK'])
    expect(isKeyId(keys, guess), guess).toBe(false)
})
