import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROVIDERS, type Provider } from '@svc/api/providers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ProviderSettings } from '../src/drivers.ts'
import { openProviders, type ProvidersConfig } from '../src/open-providers.ts'
import { keep } from './objects.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-providers-'))
})
afterAll(() => rm(folder, { recursive: true }))

const NOT_CONFIGURED = Object.fromEntries(PROVIDERS.map((name) => [name, null])) as unknown as ProviderSettings

function open(drivers: ProvidersConfig['drivers']) {
  const storage = { drivers, localFolder: join(folder, 'local'), stagingFolder: join(folder, 'staging') }
  return openProviders({ storage, settings: NOT_CONFIGURED, findRefs: async () => new Map(), now: Date.now })
}

it.each(PROVIDERS)('ADD-12 %s does not fall back to the local disk when its own driver is missing', async (name) => {
  await expect(open({ [name]: 'own' } as Partial<Record<Provider, 'own'>>)).rejects.toThrow(
    `${name} is sold, but no driver was opened to store its bytes`,
  )
})

it('ADD-12 only the configured providers are on the local disk', async () => {
  const providers = await open({ storj: 'local' })
  await keep(providers.named('storj'), Buffer.from('bytes'))
  const stored = await readdir(join(folder, 'local'), { recursive: true, withFileTypes: true })
  expect(stored.filter((entry) => entry.isFile())).toHaveLength(1)
  expect(() => providers.named('gcs')).toThrow('no longer configured')
  await providers.close?.()
})
