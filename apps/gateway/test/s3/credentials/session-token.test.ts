import { randomBytes } from 'node:crypto'
import { fromBase64Url, toBase64Url } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { expect, it } from 'vitest'
import { createCredentialKeys, MAX_TOKEN_CHARACTERS, SALT_BYTES } from '../../../src/s3/credentials/credential-keys.ts'
import { isKeyId, newKeyId } from '../../../src/s3/credentials/key-ids.ts'
import { type CredentialScope, openSession, sealSession } from '../../../src/s3/credentials/session-token.ts'

const seed = randomBytes(32)
const keys = createCredentialKeys(ed25519Signer(seed))
const foreign = createCredentialKeys(ed25519Signer(randomBytes(32)))

const SCOPE: CredentialScope = {
  lockerId: 'locker_0123456789ab',
  grant: { key: '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2', epoch: 3 },
  access: 'write',
  prefix: 'photos/',
  expiresAt: 1_800_000_000,
}
const seal = (scope: Partial<CredentialScope> = {}) =>
  sealSession(keys, { ...SCOPE, ...scope }, randomBytes(SALT_BYTES))

it('ADD-42 session tokens hold all that a credential opens, and replicas with the same key open them', () => {
  const { accessKeyId, secret, token } = seal()
  const replica = createCredentialKeys(ed25519Signer(seed))
  for (const held of [keys, replica]) expect(openSession(held, accessKeyId, token)).toEqual({ ...SCOPE, secret })
})

it('ADD-42 credentials have the form that clients check, also with the longest prefix', () => {
  const prefixes = ['', `${'"'.repeat(511)}/`, `${'ü'.repeat(255)}/`]
  for (const { accessKeyId, secret, token } of prefixes.map((prefix) => seal({ prefix }))) {
    expect(accessKeyId).toMatch(/^SVCS[A-Z2-7]{16}$/)
    expect(secret).toMatch(/^[A-Za-z0-9_-]{40}$/)
    expect(token).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(token.length).toBeLessThanOrEqual(MAX_TOKEN_CHARACTERS)
    expect(openSession(keys, accessKeyId, token)).not.toBeNull()
  }
})

it('T-95 tokens show nothing of what they hold, and two of the same scope have nothing in common', () => {
  const [one, two] = [seal(), seal()]
  const plain = Buffer.from(fromBase64Url(one.token) as Uint8Array).toString('latin1')
  for (const told of [SCOPE.lockerId, SCOPE.grant.key, SCOPE.prefix]) expect(plain).not.toContain(told)
  expect(new Set([one.token, two.token, one.secret, two.secret, one.accessKeyId, two.accessKeyId]).size).toBe(6)
})

it('T-95 a token with any changed byte, and one that is cut anywhere, opens nothing', () => {
  const { accessKeyId, token } = seal()
  const bytes = fromBase64Url(token) as Uint8Array
  for (const i of bytes.keys()) {
    const changed = bytes.with(i, (bytes[i] as number) ^ 1)
    expect(openSession(keys, accessKeyId, toBase64Url(changed)), `byte ${i}`).toBeNull()
    expect(openSession(keys, accessKeyId, toBase64Url(bytes.subarray(0, i))), `cut at ${i}`).toBeNull()
  }
})

it.each([
  ['nothing', ''],
  ['another alphabet', '+/+/'],
  ['padding', `${seal().token}=`],
  ['a letter more', `${seal().token}A`],
  ['too many characters', 'A'.repeat(MAX_TOKEN_CHARACTERS + 1)],
  ['zeros', 'A'.repeat(400)],
])('T-95 a token of %s opens nothing', (_, token) => {
  expect(openSession(keys, seal().accessKeyId, token)).toBeNull()
})

it('T-95 a token of another gateway, or with the access key id of another token, opens nothing', () => {
  const [one, two] = [seal(), seal()]
  expect(openSession(foreign, one.accessKeyId, one.token)).toBeNull()
  expect(openSession(keys, two.accessKeyId, one.token)).toBeNull()
  const id = sealSession(foreign, SCOPE, randomBytes(SALT_BYTES)).accessKeyId
  expect(openSession(keys, id, one.token)).toBeNull()
})

it('ADD-42 T-95 ids of long-lived keys have the form that clients check, and are told from guesses', () => {
  const id = newKeyId(keys, randomBytes)
  expect(id).toMatch(/^SVCK[A-Z2-7]{16}$/)
  expect(isKeyId(keys, id)).toBe(true)
  expect(isKeyId(foreign, id)).toBe(false)
  const changed = id.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
  for (const guess of [changed, `${id}A`, id.slice(0, -1), id.toLowerCase(), `SVCS${id.slice(4)}`, '', 'SVCK'])
    expect(isKeyId(keys, guess), guess).toBe(false)
})
