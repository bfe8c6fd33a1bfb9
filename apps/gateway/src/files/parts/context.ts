import type { FilesContext } from '../room.ts'
import { createSessionFinalizer, type FinalizeSession } from './finalize-session.ts'
import { olderReplicas } from './older-replicas.ts'
import { createPartsOpener, type OpenParts } from './open-parts.ts'
import { createPartHashes, type PartHashes } from './part-hashes.ts'

/** What uploads in parts work with, whichever protocol they come by. */
export interface PartsContext extends FilesContext {
  partHashes: PartHashes
  /** Whether a part may be read by a replica of a release that takes it for lost without its SHA-256. */
  mayBeReadByOlderRelease: () => Promise<boolean>
  openParts: OpenParts
  finalizeSession: FinalizeSession
}

export function createParts(files: FilesContext): PartsContext {
  const partHashes = createPartHashes(files.hashThread)
  return {
    ...files,
    partHashes,
    mayBeReadByOlderRelease: olderReplicas(files),
    openParts: createPartsOpener(files),
    finalizeSession: createSessionFinalizer({ ...files, partHashes }),
  }
}
