import type { FilesContext } from '../files/room.ts'
import { createTokenOpener, type OpenToken } from './open-token.ts'
import { createSessionFinalizer, type FinalizeSession } from './sessions/finalize-session.ts'
import { createPartRecorder, type RecordPart } from './sessions/record-part.ts'

export interface TransfersContext extends FilesContext {
  openToken: OpenToken
  recordPart: RecordPart
  finalizeSession: FinalizeSession
}

export function createTransfers(files: FilesContext): TransfersContext {
  return {
    ...files,
    openToken: createTokenOpener(files),
    recordPart: createPartRecorder(files),
    finalizeSession: createSessionFinalizer(files),
  }
}
