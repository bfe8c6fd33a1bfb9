import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SettingsReader } from '@svc/http-service/config'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readGcsSettings } from '../../src/gcs/settings.ts'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' })
const account = { type: 'service_account', client_email: 'a@b.example', private_key, token_uri: 'https://t.example' }
const DEFAULTS = {
  GCS_ENDPOINT: 'https://storage.googleapis.com',
  GCS_IAM_ENDPOINT: 'https://iamcredentials.googleapis.com',
  GCS_REDIRECT: 'off',
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-gcs-settings-'))
  await writeFile(join(folder, 'key.json'), JSON.stringify(account), { mode: 0o600 })
})
afterAll(() => rm(folder, { recursive: true }))

function read(variables: Record<string, string>) {
  const settings = new SettingsReader(variables)
  const found = readGcsSettings(settings)
  settings.done()
  return found
}

describe('readGcsSettings', () => {
  it('returns null when nothing is set, or everything has its default', () => {
    expect(read({})).toBeNull()
    expect(read({ ...DEFAULTS, GCS_BUCKET: '', GCS_PREFIX: '', GCS_CREDENTIALS: '' })).toBeNull()
  })

  it('needs only a bucket', () => {
    expect(read({ GCS_BUCKET: 'files' })).toEqual({
      bucket: 'files',
      prefix: '',
      credentials: null,
      endpoint: 'https://storage.googleapis.com',
      iamEndpoint: 'https://iamcredentials.googleapis.com',
      redirect: 'off',
    })
  })

  it('reads the key from a variable or from a file', () => {
    const { type: _, ...credentials } = account
    const given = { GCS_BUCKET: 'files', GCS_PREFIX: 'svc/files/', GCS_REDIRECT: 'get' }
    const byValue = read({ ...given, GCS_CREDENTIALS: JSON.stringify(account) })
    expect(byValue).toMatchObject({ prefix: 'svc/files/', redirect: 'get', credentials })
    expect(read({ ...given, GCS_CREDENTIALS_FILE: join(folder, 'key.json') })).toEqual(byValue)
  })

  it.each([
    [{ GCS_PREFIX: 'files/' }, 'GCS_BUCKET must name'],
    [{ GCS_BUCKET: 'Not A Bucket' }, 'GCS_BUCKET must name'],
    [{ GCS_BUCKET: 'files/others' }, 'GCS_BUCKET must name'],
    [{ GCS_BUCKET: 'files', GCS_PREFIX: '/files/' }, 'GCS_PREFIX must be'],
    [{ GCS_BUCKET: 'files', GCS_PREFIX: '../../../../apps/gateway/src/providers/' }, 'GCS_PREFIX must be'],
    [{ GCS_BUCKET: 'files', GCS_PREFIX: 'files' }, 'GCS_PREFIX must be'],
    [{ GCS_BUCKET: 'files', GCS_REDIRECT: 'put' }, 'GCS_REDIRECT must be one of off, get, all'],
    [{ GCS_BUCKET: 'files', GCS_ENDPOINT: 'storage' }, 'GCS_ENDPOINT must be an http or https address'],
    [{ GCS_BUCKET: 'files', GCS_ENDPOINT: 'http://storage.example' }, 'GCS_ENDPOINT must begin with https://'],
    [{ GCS_BUCKET: 'files', GCS_IAM_ENDPOINT: 'http://127.0.0.1.evil.example' }, 'GCS_IAM_ENDPOINT must begin'],
    [{ GCS_BUCKET: 'files', GCS_CREDENTIALS: 'x', GCS_CREDENTIALS_FILE: 'x' }, 'are both set'],
    [{ GCS_BUCKET: 'files', GCS_CREDENTIALS_FILE: '/nowhere.json' }, 'GCS_CREDENTIALS_FILE cannot be read: ENOENT'],
  ])('reports what to change for %o', (variables, problem) => {
    expect(() => read(variables)).toThrow(problem)
  })

  it('accepts an unencrypted address on this machine', () => {
    const local = { GCS_ENDPOINT: 'http://127.0.0.1:4443/', GCS_IAM_ENDPOINT: 'http://localhost:4443' }
    expect(read({ GCS_BUCKET: 'files', ...local })).toMatchObject({
      endpoint: 'http://127.0.0.1:4443',
      iamEndpoint: 'http://localhost:4443',
    })
  })

  it.each([
    'secret-but-no-json',
    '"secret"',
    '{"client_email":"secret@b.example"}',
    JSON.stringify({ ...account, private_key: 'secret' }),
    JSON.stringify({ ...account, client_email: 7 }),
    JSON.stringify({ ...account, token_uri: 'http://secret.example' }),
  ])('does not repeat an invalid key in the problem', (text) => {
    const problem = () => read({ GCS_BUCKET: 'files', GCS_CREDENTIALS: text })
    expect(problem).toThrow('GCS_CREDENTIALS does not hold the key of a service account')
    expect(problem).not.toThrow(/secret|PRIVATE/)
  })
})
