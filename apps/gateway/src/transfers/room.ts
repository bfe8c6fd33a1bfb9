import type { FilesContext } from '../files/room.ts'
import { createTokenOpener, type OpenToken } from './open-token.ts'
import { createSessionFinalizer, type FinalizeSession } from './sessions/finalize-session.ts'
import { createPartKeeper, type KeepPart } from './sessions/record-part.ts'

export interface TransfersContext extends FilesContext {
  openToken: OpenToken
  keepPart: KeepPart
  finalizeSession: FinalizeSession
}

export function createTransfers(files: FilesContext): TransfersContext {
  return {
    ...files,
    openToken: createTokenOpener(files),
    keepPart: createPartKeeper(files),
    finalizeSession: createSessionFinalizer(files),
  }
}
