import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { destructiveMigrations } from '@svc/devnet/destructive-migrations'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../src/config.ts'
import { migrations } from '../src/db/migrations.ts'
import { SETTINGS } from '../src/settings.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-witness-config-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

it('WIT-07 a witness without settings is named after its address and creates its key once', () => {
  const { config, secrets } = readConfig({ DATA_DIR: folder, BASE_URL: 'https://witness.example/w1/' })
  expect(config).toMatchObject({ name: 'witness.example/w1', http: { port: 8404 }, logsFile: join(folder, 'logs.txt') })
  expect(readConfig({ DATA_DIR: folder }).secrets).toEqual(secrets)
  expect(statSync(join(folder, 'witness.key')).mode & 0o777).toBe(0o600)
  expect(JSON.stringify(config)).not.toContain(readFileSync(join(folder, 'witness.key'), 'utf8').trim())
})

it('WIT-07 a configured key file that is missing is an error, and no new key is created', () => {
  const missing = join(folder, 'missing')
  expect(() => readConfig({ DATA_DIR: missing, WITNESS_KEY_FILE: join(missing, 'key') })).toThrow(
    'WITNESS_KEY_FILE cannot',
  )
  expect(statSync(missing, { throwIfNoEntry: false })).toBeUndefined()
  writeFileSync(join(folder, 'open.key'), 'ab'.repeat(32), { mode: 0o644 })
  expect(() => readConfig({ DATA_DIR: folder, WITNESS_KEY_FILE: join(folder, 'open.key') })).toThrow('chmod 600')
})

it('WIT-07 all invalid settings are reported together', () => {
  const bad = { PORT: 'x', LOG_LEVEL: 'loud', WITNESS_NAME: 'two words', WITNESS_KEY: '1234' }
  for (const name of Object.keys(bad)) expect(() => readConfig({ DATA_DIR: folder, ...bad })).toThrow(name)
})

it('CFG-01 every setting is read, and the example contains its default', () => {
  const { namesRead } = readConfig({ DATA_DIR: folder })
  expect([...namesRead].toSorted()).toEqual(Object.keys(SETTINGS).toSorted())
  const example = parseEnv(readFileSync(new URL('../.env.example', import.meta.url), 'utf8'))
  const defaults = Object.entries(SETTINGS).map(([name, setting]) => [name, setting.default ?? ''])
  expect(example).toEqual(Object.fromEntries(defaults))
})

it('ADD-31 no migration removes anything', async () => {
  expect(await destructiveMigrations(migrations)).toEqual([])
})
