import { namedKey } from '@svc/protocol/key-changes'
import type { Context } from '../../../context.ts'
import { allSigningKeys, announcedKeys, deleteAnnouncedKey } from '../../../keys/store.ts'
import type { Actor } from '../actors.ts'
import { appendAudit } from '../audit.ts'

/** Withdraws an announced key that will not be used. Its successor retires a key that signs. */
export async function retireKey(context: Context, actor: Actor, keyId: string, reason: string) {
  return context.continuity.changeAccess(async (tx, record) => {
    const isIt = ({ public_key_hex }: { public_key_hex: string }) => namedKey(public_key_hex).key_id === keyId
    const announced = (await announcedKeys(tx)).find(isIt)
    if (!announced) {
      const known = (await allSigningKeys(tx)).find(isIt)
      if (!known) throw new Error(`there is no key ${keyId}: see svc-gateway keys list`)
      if (known.valid_to === null)
        throw new Error(`${keyId} is the current key: use svc-gateway keys rotate to retire it`)
      return { changed: false, key_id: keyId, valid_to: known.valid_to }
    }
    await deleteAnnouncedKey(tx, announced.public_key_hex)
    await record({ what: 'announced_key', key: announced.public_key_hex })
    await appendAudit(context, tx, { actor: actor.identity, action: 'retire_key', target: keyId, reason, details: {} })
    return { changed: true, key_id: keyId }
  })
}
