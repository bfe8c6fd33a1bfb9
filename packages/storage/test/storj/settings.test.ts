import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SettingsReader } from '@svc/http-service/config'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readStorjSettings } from '../../src/storj/settings.ts'
import { settingsTester } from '../settings-tester.ts'

const SECRET = 'a-secret-that-nobody-may-see'
const NEEDED = { STORJ_BUCKET: 'files', STORJ_ACCESS_KEY_ID: 'jwkey', STORJ_SECRET_ACCESS_KEY: SECRET }

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-storj-settings-'))
})
afterAll(() => rm(folder, { recursive: true }))

const { read, problemsOf } = settingsTester(readStorjSettings)

describe('readStorjSettings', () => {
  it('returns null when nothing is set, or everything is as in the example', () => {
    const settings = new SettingsReader({})
    expect(readStorjSettings(settings)).toBeNull()
    expect(settings.asked.size).toBe(8)
    expect(read(Object.fromEntries(settings.asked))).toBeNull()
  })

  it('needs a bucket and credentials, and defaults to the hosted gateway', () => {
    expect(read(NEEDED)).toEqual({
      endpoint: 'https://gateway.storjshare.io',
      region: 'us-east-1',
      bucket: 'files',
      prefix: '',
      accessKeyId: 'jwkey',
      secretAccessKey: SECRET,
      redirect: 'off',
    })
    const given = { STORJ_ENDPOINT: 'http://127.0.0.1:9000/', STORJ_PREFIX: 'svc/files/', STORJ_REDIRECT: 'get' }
    expect(read({ ...NEEDED, ...given, STORJ_REGION: 'eu-1' })).toMatchObject({
      endpoint: 'http://127.0.0.1:9000',
      prefix: 'svc/files/',
      redirect: 'get',
      region: 'eu-1',
    })
  })

  it('reads the secret from a file', async () => {
    const file = join(folder, 'secret')
    await writeFile(file, `${SECRET}\n`, { mode: 0o600 })
    const variables = { ...NEEDED, STORJ_SECRET_ACCESS_KEY: undefined, STORJ_SECRET_ACCESS_KEY_FILE: file }
    expect(read(variables)?.secretAccessKey).toBe(SECRET)
    expect(problemsOf({ ...variables, STORJ_SECRET_ACCESS_KEY: SECRET })).toMatch(/both set: leave one of them out/)
    expect(problemsOf({ ...variables, STORJ_SECRET_ACCESS_KEY_FILE: `${file}s` })).toMatch(/cannot be read: ENOENT/)
    await writeFile(file, '\n', { mode: 0o600 })
    expect(problemsOf(variables)).toMatch(/STORJ_SECRET_ACCESS_KEY must be/)
  })

  it('reports everything that is missing at once', () => {
    const problems = problemsOf({ STORJ_REDIRECT: 'get' })
    for (const name of Object.keys(NEEDED)) expect(problems).toContain(`${name} must be`)
  })

  it.each([
    ['STORJ_ENDPOINT', 'http://store.example'],
    ['STORJ_ENDPOINT', 'http://localhost.example'],
    ['STORJ_ENDPOINT', 'https://store.example/path'],
    ['STORJ_ENDPOINT', 'https://user:password@store.example'],
    ['STORJ_ENDPOINT', 'ftp://store.example'],
    ['STORJ_ENDPOINT', 'store.example'],
    ['STORJ_REGION', 'us/east'],
    ['STORJ_BUCKET', 'Files'],
    ['STORJ_BUCKET', '../files'],
    ['STORJ_BUCKET', 'a'],
    ['STORJ_PREFIX', 'svc'],
    ['STORJ_PREFIX', '/svc/'],
    ['STORJ_PREFIX', '../../../../apps/gateway/src/providers/'],
    ['STORJ_PREFIX', 'a b/'],
    ['STORJ_ACCESS_KEY_ID', 'a/b'],
    ['STORJ_REDIRECT', 'put'],
  ])('rejects %s=%s without showing the secret', (name, value) => {
    const problems = problemsOf({ ...NEEDED, [name]: value })
    expect(problems).toContain(`${name} must be`)
    expect(problems).not.toContain(SECRET)
  })
})
