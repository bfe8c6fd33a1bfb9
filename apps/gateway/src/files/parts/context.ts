import type { FilesContext } from '../room.ts'
import { createSessionFinalizer, type FinalizeSession } from './finalize-session.ts'
import { createPartsOpener, type OpenParts } from './open-parts.ts'
import { createPartHashes, type PartHashes } from './part-hashes.ts'

/** What uploads in parts work with, whichever protocol they come by. */
export interface PartsContext extends FilesContext {
  partHashes: PartHashes
  openParts: OpenParts
  finalizeSession: FinalizeSession
}

export function createParts(files: FilesContext): PartsContext {
  const partHashes = createPartHashes()
  return {
    ...files,
    partHashes,
    openParts: createPartsOpener(files),
    finalizeSession: createSessionFinalizer({ ...files, partHashes }),
  }
}
