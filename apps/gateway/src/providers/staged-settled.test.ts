import { rm } from 'node:fs/promises'
import { makeFolder } from './local/test-folder.ts'
import { openLocalProvider } from './local.ts'
import { openStagedProvider } from './staged.ts'
import { describeProvider } from './test-provider-suite.ts'
import { startSlowServer } from './test-slow-server.ts'
import { openTestSlowStore, settleStaged } from './test-slow-store.ts'

describeProvider('staged, and settled at once', async () => {
  const folder = await makeFolder()
  const server = await startSlowServer()
  const slow = openTestSlowStore(server.url)
  const staging = await openLocalProvider({ folder })
  const staged = openStagedProvider({ staging, slow, findRefs: async () => new Map() })
  return {
    provider: {
      ...staged,
      async write(id, bytes, about) {
        const { size } = await staged.write(id, bytes, about)
        const ref = await settleStaged(slow, staging, id)
        await staging.remove({ id, ref: null })
        return { size, ref }
      },
    },
    async close() {
      await server.stop()
      await rm(folder, { recursive: true })
    },
  }
})
