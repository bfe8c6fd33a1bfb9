import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SettingsReader, type Variables } from '@svc/http-service/config'
import { afterAll, describe, expect, it } from 'vitest'
import { readFirestoreSettings } from '../../src/firestore/settings.ts'

function read(variables: Variables) {
  const reader = new SettingsReader(variables)
  const settings = readFirestoreSettings(reader)
  reader.done()
  return settings
}

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const credentials = { client_email: 'gateway@svc.example', private_key: privateKey }
const account = JSON.stringify({ type: 'service_account', project_id: 'other', ...credentials })
const folder = mkdtempSync(join(tmpdir(), 'svc-settings-'))
writeFileSync(join(folder, 'key.json'), account, { mode: 0o600 })
afterAll(() => rmSync(folder, { recursive: true }))

const project = { FIRESTORE_PROJECT: 'svc-files' }

describe('readFirestoreSettings', () => {
  it('CFG-01 returns null when nothing is set, or everything has its default', () => {
    expect(read({})).toBeNull()
    const asInExample = { FIRESTORE_DATABASE: '(default)', FIRESTORE_COLLECTION: 'objects', FIRESTORE_PROJECT: '' }
    expect(read({ ...asInExample, FIRESTORE_MAX_OBJECT_BYTES: '52428800' })).toBeNull()
  })

  it('needs only a project', () => {
    expect(read(project)).toEqual({
      project: 'svc-files',
      database: '(default)',
      collection: 'objects',
      credentials: null,
      emulator: null,
      maxObjectBytes: 50 * 1024 * 1024,
    })
  })

  it('reads the key from a variable or from a file, and an emulator', () => {
    const byValue = read({ ...project, FIRESTORE_DATABASE: 'kept-files', FIRESTORE_CREDENTIALS: account })
    expect(byValue).toMatchObject({ database: 'kept-files', credentials })
    expect(read({ ...project, FIRESTORE_CREDENTIALS_FILE: join(folder, 'key.json') })).toMatchObject({ credentials })
    const local = { FIRESTORE_EMULATOR: '127.0.0.1:8085', FIRESTORE_MAX_OBJECT_BYTES: '7' }
    expect(read({ ...project, ...local })).toMatchObject({ emulator: '127.0.0.1:8085', maxObjectBytes: 7 })
  })

  it.each([
    [{ FIRESTORE_COLLECTION: 'files' }, 'FIRESTORE_PROJECT must be'],
    [{ FIRESTORE_PROJECT: 'Not a project' }, 'FIRESTORE_PROJECT must be'],
    [{ FIRESTORE_PROJECT: 'files/databases' }, 'FIRESTORE_PROJECT must be'],
    [{ ...project, FIRESTORE_DATABASE: 'default/documents' }, 'FIRESTORE_DATABASE must be'],
    [{ ...project, FIRESTORE_COLLECTION: 'a/b' }, 'FIRESTORE_COLLECTION must be'],
    [{ ...project, FIRESTORE_COLLECTION: '__ours__' }, 'FIRESTORE_COLLECTION must be'],
    [{ ...project, FIRESTORE_MAX_OBJECT_BYTES: '0' }, 'FIRESTORE_MAX_OBJECT_BYTES must be an integer from 1'],
    [{ ...project, FIRESTORE_MAX_OBJECT_BYTES: '2000000000' }, 'FIRESTORE_MAX_OBJECT_BYTES must be an integer'],
    [{ ...project, FIRESTORE_EMULATOR: 'http://localhost:8085' }, 'FIRESTORE_EMULATOR must be host:port'],
    [{ ...project, FIRESTORE_EMULATOR: 'localhost:8085', FIRESTORE_CREDENTIALS: account }, 'takes no credentials'],
    [{ ...project, FIRESTORE_CREDENTIALS: account, FIRESTORE_CREDENTIALS_FILE: 'x' }, 'are both set'],
    [{ ...project, FIRESTORE_CREDENTIALS_FILE: '/nowhere.json' }, 'FIRESTORE_CREDENTIALS_FILE cannot be read: ENOENT'],
  ])('reports what to change for %o', (variables, problem) => {
    expect(() => read(variables)).toThrow(problem)
  })

  it.each([
    'secret-but-no-json',
    '"secret"',
    '{"client_email":"secret@b.example"}',
    JSON.stringify({ ...credentials, private_key: 'secret' }),
    JSON.stringify({ ...credentials, client_email: 7 }),
  ])('does not repeat an invalid key in the problem', (text) => {
    const problem = () => read({ ...project, FIRESTORE_CREDENTIALS: text })
    expect(problem).toThrow('FIRESTORE_CREDENTIALS does not hold the key of a service account')
    expect(problem).not.toThrow(/secret|PRIVATE/)
  })
})
