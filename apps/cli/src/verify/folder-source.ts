import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileSource } from '@svc/verifier/check-files'
import { walk } from '../files/walk.ts'

/** The files of a folder, as the verifier asks for them. Everything else that is there counts as a file it does not know. */
export function folderSource(folder: string, { allowExtra }: { allowExtra: boolean }): FileSource {
  return {
    async open(name) {
      const path = join(folder, name)
      const facts = await stat(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
        throw error
      })
      // A pipe or a device would be read for ever.
      return facts?.isFile() ? createReadStream(path, { highWaterMark: 1024 * 1024 }) : null
    },
    ...(!allowExtra && { names: () => namesIn(folder) }),
  }
}

async function* namesIn(folder: string): AsyncGenerator<string> {
  for await (const found of walk(folder, { follow: true })) {
    if (!('leftOut' in found && found.leftOut === 'an empty folder')) yield found.name
  }
}
