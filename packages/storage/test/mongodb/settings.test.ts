import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, SettingsReader, type Variables } from '@svc/http-service/config'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openMongodb } from '../../src/mongodb/open.ts'
import { readMongodbSettings } from '../../src/mongodb/settings.ts'

function read(variables: Variables) {
  const reader = new SettingsReader(variables)
  const settings = readMongodbSettings(reader)
  reader.done()
  return settings
}

const URL = 'mongodb://gateway:p%40ss@a.example:27017,b.example/?replicaSet=rs0&tls=true'

describe('readMongodbSettings', () => {
  it('CFG-01 returns null when nothing is set, and has defaults', () => {
    expect(read({})).toBeNull()
    expect(read({ MONGODB_URL: URL })).toEqual({ url: URL, database: 'svc', bucket: 'objects' })
    const all = { MONGODB_URL: 'mongodb+srv://cluster.example', MONGODB_DATABASE: 'kept', MONGODB_BUCKET: 'b-1' }
    expect(read(all)).toEqual({ url: 'mongodb+srv://cluster.example', database: 'kept', bucket: 'b-1' })
  })

  it('reads the address from a file, and reports a file that cannot be read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-settings-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'url'), `${URL}\n`, { mode: 0o600 })
    expect(read({ MONGODB_URL_FILE: join(folder, 'url') })?.url).toBe(URL)
    expect(() => read({ MONGODB_URL_FILE: join(folder, 'none') })).toThrow('MONGODB_URL_FILE cannot be read: ENOENT')
    expect(() => read({ MONGODB_URL: URL, MONGODB_URL_FILE: join(folder, 'url') })).toThrow('leave one of them out')
  })

  it.each([
    'postgres://gateway:S3cret@host',
    'mongodb://',
    'mongodb://gateway:S3cret@',
    'mongodb://gateway:S3/cret@host/',
    'mongodb://gateway:S3@cret@host/',
    'mongodb://gateway:S3?cret@host/',
    'mongodb://gateway:S3#cret@host/',
  ])('rejects %s, which is not a MongoDB address, without repeating it', (url) => {
    const error = (() => {
      try {
        return read({ MONGODB_URL: url })
      } catch (error) {
        return error
      }
    })()
    expect(error).toBeInstanceOf(ConfigError)
    expect(String(error)).toContain('MONGODB_URL must be mongodb://')
    expect(String(error)).not.toMatch(/S3|cret/)
  })

  it('rejects names that MongoDB does not accept, and names without an address', () => {
    expect(() => read({ MONGODB_URL: URL, MONGODB_DATABASE: 'a.b' })).toThrow('MONGODB_DATABASE must be')
    expect(() => read({ MONGODB_URL: URL, MONGODB_BUCKET: 'a$b' })).toThrow('MONGODB_BUCKET must be')
    expect(() => read({ MONGODB_BUCKET: 'mine' })).toThrow('need MONGODB_URL')
  })

  it('rejects an address with an option that the MongoDB library does not know', async () => {
    const url = 'mongodb://gateway:S3cret@host/?nosuch=1'
    const error: unknown = await openMongodb({ url, database: 'svc', bucket: 'objects' }).catch((error) => error)
    expect(error).toBeInstanceOf(ConfigError)
    expect(String(error)).toContain('option nosuch is not supported')
    expect(String(error)).not.toContain('S3cret')
  })
})
