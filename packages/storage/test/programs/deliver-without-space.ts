// On a full disk: prints the outcome of writing a new object, then delivers a staged one and frees its space.
import { openLocalProvider } from '../../src/local/open.ts'
import { ProviderError } from '../../src/provider.ts'
import { openStagedProvider } from '../../src/staged.ts'
import { streamOf } from '../objects.ts'
import { deliverStaged, openTestSlowStore } from '../slow-store.ts'

const [folder, url, staged, fresh] = process.argv.slice(2) as [string, string, string, string]
const staging = await openLocalProvider({ folder })
const slow = openTestSlowStore(url)
const provider = openStagedProvider({ staging, slow, findRefs: async () => new Map() })

async function write(): Promise<unknown> {
  try {
    return await provider.write(fresh, streamOf(Buffer.alloc(100_000)), { contentType: 'text/plain', size: 100_000 })
  } catch (error) {
    return error instanceof ProviderError ? error.reason : `${error}`
  }
}

const written = await write()
const ref = await deliverStaged(slow, staging, staged)
console.log(JSON.stringify({ written, ref, removed: await provider.remove({ id: staged, ref }) }))
