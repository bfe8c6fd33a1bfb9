import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { readDevSettings } from '../../src/services/dev-settings.ts'

it('DEV_SAS_PROGRAM_SO names the file with the registry program, which must be there', () => {
  const file = fileURLToPath(import.meta.url)
  expect(readDevSettings({ DEV_SAS_PROGRAM_SO: file }).dev.registryProgram).toBe(file)
  expect(readDevSettings({}).dev).not.toHaveProperty('registryProgram')
  const missing = `${file}.missing`
  expect(() => readDevSettings({ DEV_SAS_PROGRAM_SO: missing })).toThrow('DEV_SAS_PROGRAM_SO cannot be read: ENOENT')
})
