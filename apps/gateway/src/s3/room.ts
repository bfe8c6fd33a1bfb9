import { createHashThread, type HashThread } from '../files/confirm/hash-thread.ts'
import type { TransfersContext } from '../transfers/room.ts'
import { createCredentialKeys } from './credentials/credential-keys.ts'
import type { CredentialsContext } from './credentials/find-credential.ts'
import { createKeyUse, type NoteKeyUse } from './credentials/key-use.ts'

export interface S3Context extends TransfersContext, CredentialsContext {
  noteKeyUse: NoteKeyUse
  /** Hashes objects while they are stored. */
  hashThread: HashThread<null>
}

export function createS3(transfers: TransfersContext): S3Context {
  return {
    ...transfers,
    credentialKeys: createCredentialKeys(transfers.signers.shortUrl),
    noteKeyUse: createKeyUse(transfers),
    hashThread: createHashThread(new URL('../files/confirm/hash-worker.ts', import.meta.url)),
  }
}
