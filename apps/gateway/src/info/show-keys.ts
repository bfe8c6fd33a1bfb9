import type { SigningKeys } from '@svc/api/info'
import { formatKey } from '@svc/transparency/note'
import { listSigningKeys } from '../keys/signing-keys.ts'
import type { InfoContext } from './room.ts'

/** What others pin of this gateway: the keys that sign, and the key of its log. */
export async function showKeys(context: InfoContext): Promise<SigningKeys> {
  const { logKey } = context
  return { ...(await listSigningKeys(context)), logs: [{ origin: logKey.name, vkey: formatKey(logKey) }] }
}
