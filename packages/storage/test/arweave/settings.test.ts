import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SettingsReader } from '@svc/http-service/config'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readArweaveSettings } from '../../src/arweave/settings.ts'
import { settingsTester } from '../settings-tester.ts'
import { SEED } from './start-arweave.ts'

const KEY = Buffer.from(SEED).toString('hex')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-arweave-settings-'))
})
afterAll(() => rm(folder, { recursive: true }))

const { read, problemsOf } = settingsTester(readArweaveSettings)

describe('readArweaveSettings', () => {
  it('returns null when nothing is set, or everything is as in the example', () => {
    const settings = new SettingsReader({})
    expect(readArweaveSettings(settings)).toBeNull()
    expect(settings.asked.size).toBe(5)
    expect(read(Object.fromEntries(settings.asked))).toBeNull()
  })

  it('needs only a key', () => {
    expect(read({ ARWEAVE_KEY: KEY })).toEqual({
      uploadUrl: 'https://upload.ardrive.io',
      gateways: ['https://arweave.net/raw', 'https://permagate.io/raw'],
      token: 'solana',
      seed: SEED,
    })
    const given = {
      ARWEAVE_UPLOAD_URL: 'http://127.0.0.1:3000/',
      ARWEAVE_GATEWAYS: 'https://one.example, http://localhost:1984/raw/',
      ARWEAVE_TOKEN: 'ed25519',
    }
    expect(read({ ARWEAVE_KEY: KEY, ...given })).toMatchObject({
      uploadUrl: 'http://127.0.0.1:3000',
      gateways: ['https://one.example', 'http://localhost:1984/raw'],
      token: 'ed25519',
    })
    expect(problemsOf({ ARWEAVE_TOKEN: 'ed25519' })).toMatch(/ARWEAVE_KEY must be/)
  })

  it("reads a wallet's keypair, and a key from a file", async () => {
    const pair = JSON.stringify([...SEED, ...ed25519Signer(SEED).publicKey])
    expect(read({ ARWEAVE_KEY: pair })?.seed).toEqual(SEED)
    const file = join(folder, 'key')
    await writeFile(file, `${pair}\n`, { mode: 0o600 })
    expect(read({ ARWEAVE_KEY_FILE: file })?.seed).toEqual(SEED)
    expect(problemsOf({ ARWEAVE_KEY_FILE: file, ARWEAVE_KEY: KEY })).toMatch(/both set: leave one of them out/)
    expect(problemsOf({ ARWEAVE_KEY_FILE: `${file}s` })).toMatch(/ARWEAVE_KEY_FILE cannot be read: ENOENT/)
    await writeFile(file, '', { mode: 0o600 })
    expect(problemsOf({ ARWEAVE_KEY_FILE: file })).toMatch(/ARWEAVE_KEY must be/)
  })

  it.each([
    ['ARWEAVE_UPLOAD_URL', 'http://upload.example'],
    ['ARWEAVE_UPLOAD_URL', 'upload.example'],
    ['ARWEAVE_UPLOAD_URL', 'https://user:word@upload.example'],
    ['ARWEAVE_UPLOAD_URL', 'https://upload.example?a=b'],
    ['ARWEAVE_GATEWAYS', 'https://one.example,http://two.example'],
    ['ARWEAVE_GATEWAYS', 'https://one.example,https://one.example/'],
    ['ARWEAVE_GATEWAYS', Array.from({ length: 9 }, (_, i) => `https://${i}.example`).join()],
    ['ARWEAVE_TOKEN', '../solana'],
    ['ARWEAVE_TOKEN', 'Solana'],
  ])('rejects %s=%s without showing the key', (name, value) => {
    const problems = problemsOf({ ARWEAVE_KEY: KEY, [name]: value })
    expect(problems).toContain(`${name} must be`)
    expect(problems).not.toContain(KEY)
  })

  it.each([KEY.slice(1), `${KEY}ff`, `[${'7,'.repeat(63)}7]`])('rejects the key %s without showing it', (key) => {
    const problems = problemsOf({ ARWEAVE_KEY: key })
    expect(problems).toContain('ARWEAVE_KEY must be')
    expect(problems).not.toContain(key)
  })
})
