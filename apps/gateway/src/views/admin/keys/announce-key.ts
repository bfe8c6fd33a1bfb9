import { isoSeconds } from '@svc/protocol/evidence'
import { namedKey } from '@svc/protocol/key-changes'
import { type Context, unixNow } from '../../../context.ts'
import { allSigningKeys, announcedKeys, insertAnnouncedKey } from '../../../keys/store.ts'
import type { Actor } from '../actors.ts'
import { appendAudit } from '../audit.ts'

interface Announcement {
  publicKeyHex: string
  /** Unix seconds; the key signs from then on at the earliest. */
  start: number
  reason: string
}

/** Announces a key that will sign. One key is announced at a time, so the next one is never ambiguous. */
export async function announceKey(context: Context, actor: Actor, { publicKeyHex, start, reason }: Announcement) {
  const valid_from = isoSeconds(start)
  return context.continuity.changeAccess(async (tx, record) => {
    const known = (await allSigningKeys(tx)).find(({ public_key_hex }) => public_key_hex === publicKeyHex)
    if (known) throw new Error('this key has already signed, and a replaced key cannot be used again')
    const announced_at = isoSeconds(unixNow(context))
    const key = { public_key_hex: publicKeyHex, purpose: 'statement', valid_from, announced_at }
    if (!(await insertAnnouncedKey(tx, key))) throw announcedAlready(namedKey(publicKeyHex).key_id)
    await record({ what: 'key_announced', row: key })
    await appendAudit(context, tx, {
      actor: actor.identity,
      action: 'announce_key',
      target: namedKey(publicKeyHex).key_id,
      reason,
      details: { public_key_hex: publicKeyHex, valid_from },
    })
    // Another announcement may have had the audit lock in the meantime.
    const other = (await announcedKeys(tx)).find(({ public_key_hex }) => public_key_hex !== publicKeyHex)
    if (other) throw announcedAlready(namedKey(other.public_key_hex).key_id)
    return { ...namedKey(publicKeyHex), valid_from }
  })
}

function announcedAlready(keyId: string): Error {
  return new Error(`${keyId} is already announced: rotate to it, or withdraw it with svc-gateway keys retire ${keyId}`)
}
