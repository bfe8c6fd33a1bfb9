// The suite on a provider's own service, with an account in the format of the gateway's setting: `npm run try-real` sets
// TEST_GCS from GCS, and so on. The objects get a place of their own in the account, and are removed at the end.

import { randomBytes } from 'node:crypto'
import { PROVIDER_FACTS, type Provider } from '@svc/api/providers'
import { SettingsReader } from '@svc/service/program/config'
import { expect } from 'vitest'
import { type DriverSettings, PROVIDER_SETTINGS, readProviderSettings } from '../src/drivers.ts'
import type { ObjectKey, StorageProvider } from '../src/provider.ts'
import { describeProvider, type OpenedProvider } from './provider-suite.ts'

const MIB = 1024 * 1024
/** Bounds on what a broken suite can cost: four times what it writes. The objects of staged providers stay. */
const MAX_BYTES = 480 * MIB
const MAX_STAGED_BYTES = 48 * MIB

/** `open` gets the name of a place that no gateway uses. */
export function describeReal<Name extends Provider>(
  name: Name,
  open: (settings: DriverSettings<Name>, place: string) => Promise<OpenedProvider>,
  { isStaged = false }: { isStaged?: boolean } = {},
): void {
  const setting = name.toUpperCase()
  const { [`TEST_${setting}`]: url } = process.env
  if (!url) return
  const { title } = PROVIDER_FACTS[name]
  const openReal = async () => {
    const reader = new SettingsReader({ [setting]: url }, PROVIDER_SETTINGS)
    const { [name]: settings } = readProviderSettings(reader)
    reader.done()
    const { provider, close } = await open(
      settings as DriverSettings<Name>,
      `svc-try-${randomBytes(4).toString('hex')}`,
    )
    const counted = countObjects(provider, isStaged ? MAX_STAGED_BYTES : MAX_BYTES)
    return {
      provider: counted.provider,
      async close() {
        await counted.removeAll(title)
        await close()
      },
    }
  }
  describeProvider(`${title} itself`, openReal, { isStaged })
}

function countObjects(provider: StorageProvider, maxBytes: number) {
  const keys = new Map<string, ObjectKey>()
  let bytes = 0

  function count(size: number): void {
    bytes += size
    if (bytes > maxBytes) throw new Error(`more than ${maxBytes} bytes were written: the suite is stopped`)
  }

  const counting: StorageProvider = {
    ...provider,
    async write(id, source, about) {
      count(0)
      keys.set(id, { id, ref: null })
      const stored = await provider.write(id, source, about)
      keys.set(id, { id, ref: stored.ref })
      count(stored.size)
      return stored
    },
    parts: {
      ...provider.parts,
      begin(id, about) {
        keys.set(id, { id, ref: null })
        return provider.parts.begin(id, about)
      },
      async write(upload, part, source) {
        count(part.size)
        return provider.parts.write(upload, part, source)
      },
    },
  }

  return {
    provider: counting,
    async removeAll(title: string): Promise<void> {
      // The suite also writes under invalid ids, which are rejected.
      const written = [...keys.values()].filter(({ id }) => /^[0-9a-f]{32}$/.test(id))
      const outcomes = new Set<string>()
      for (const key of written) outcomes.add(await provider.remove(key))
      const wrote = `wrote ${Math.ceil(bytes / MIB)} MiB in ${written.length} objects`
      if (outcomes.has('immutable')) return console.log(`${title}: ${wrote}, which stay`)
      expect((await provider.absent(written)).size).toBe(written.length)
      console.log(`${title}: ${wrote}, and removed them all`)
    },
  }
}
