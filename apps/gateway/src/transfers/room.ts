import type { FilesContext } from '../files/room.ts'
import { createEgress, type Egress } from './egress.ts'
import { createTokenOpener, type OpenToken } from './open-token.ts'
import { createSessionFinalizer, type FinalizeSession } from './sessions/finalize-session.ts'
import { createPartsOpener, type OpenParts } from './sessions/open-parts.ts'
import { createPartHashes, type PartHashes } from './sessions/part-hashes.ts'
import { createViewIds, type ViewId } from './sessions/view.ts'

/** What comes from other rooms. */
export interface TransferLinks {
  /** Where people look at a file of a public link, or of an upload. */
  viewerUrl: (linkId: string, filename: string) => string
}

export interface TransfersContext extends FilesContext, TransferLinks {
  openToken: OpenToken
  partHashes: PartHashes
  openParts: OpenParts
  finalizeSession: FinalizeSession
  viewId: ViewId
  egress: Egress
}

export function createTransfers(files: FilesContext, links: TransferLinks): TransfersContext {
  const partHashes = createPartHashes()
  return {
    ...files,
    ...links,
    egress: createEgress(files),
    viewId: createViewIds(files.signers.shortUrl),
    openToken: createTokenOpener(files),
    partHashes,
    openParts: createPartsOpener(files),
    finalizeSession: createSessionFinalizer({ ...files, partHashes }),
  }
}
