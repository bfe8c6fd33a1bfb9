import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readDevSettings } from '../src/dev-settings.ts'

describe('DEV_SAS_PROGRAM_SO', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-dev-settings-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('names the file with the registry program', () => {
    const file = join(folder, 'program.so')
    writeFileSync(file, '')
    expect(readDevSettings({ DEV_SAS_PROGRAM_SO: file }).dev.registryProgram).toBe(file)
    expect(readDevSettings({}).dev).not.toHaveProperty('registryProgram')
  })

  it('is refused when the file cannot be read', () => {
    const missing = join(folder, 'missing.so')
    expect(() => readDevSettings({ DEV_SAS_PROGRAM_SO: missing })).toThrow(`DEV_SAS_PROGRAM_SO cannot be read: ENOENT`)
  })
})
