import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { FileSource } from '@svc/verifier/check-files'
import { Refusal } from '../failures.ts'
import { fileSource } from './file-source.ts'
import type { Root } from './root.ts'

/** The files of a folder, for the verifier: opened one by one, and only below the root. */
export function folderSource(root: Root, folder: string): FileSource {
  return {
    async open(filename) {
      const file = await root.open(join(folder, filename)).catch(nullIfMissing)
      if (!file) return null
      return closing(file, (await fileSource(file)).open())
    },
    async *names() {
      for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue
        yield relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/')
      }
    },
  }
}

function nullIfMissing(error: unknown): null {
  if (error instanceof Refusal && error.code === 'path_unreadable') return null
  throw error
}

async function* closing(file: { close(): Promise<void> }, bytes: AsyncIterable<Uint8Array>) {
  try {
    yield* bytes
  } finally {
    await file.close()
  }
}
