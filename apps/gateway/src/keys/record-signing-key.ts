// Records the statement key when the gateway starts.

import { toHex } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { issuerKeyId } from '@svc/protocol/ids'
import { type Tools, unixNow } from '../context.ts'
import { activateSigningKey, allKeyChanges, allSigningKeys } from './store.ts'

/** The database may prove to be current only once the chain can be read. */
const WHILE_UNKNOWN = { whileBehind: true }

/**
 * Leaves an active key that this process can sign with. Otherwise the configured key becomes active and the previous
 * key is retired (ADD-07); there is no endorsement, so clients have to pin the new key. A key that was revoked or that
 * handed over does not come back: a replica with old settings would undo the rotation for all replicas.
 */
export async function recordSigningKey(context: Tools): Promise<void> {
  const { continuity, database, statementKeys } = context
  const keys = await allSigningKeys(database.db)
  const active = keys.find(({ valid_to }) => valid_to === null)
  if (active && statementKeys.signerOf(active.public_key_hex)) return
  const configured = toHex(statementKeys.configured.publicKey)
  const known = keys.find(({ public_key_hex }) => public_key_hex === configured)
  const { endorsements } = await allKeyChanges(database.db)
  const successor = endorsements.find(({ body }) => body.endorser.public_key_hex === configured)?.body.endorsed.key_id
  const objection = known?.revoked_since
    ? `was revoked as of ${known.revoked_since}`
    : successor && `handed over to ${successor}`
  if (objection) {
    throw new Error(
      `STATEMENT_KEY is ${issuerKeyId(configured)}, which ${objection}: set STATEMENT_KEY to the current key, ${active ? issuerKeyId(active.public_key_hex) : 'a new one'}`,
    )
  }
  // A database that was set back may have lost the rotation to this key. Nothing is signed until it is repaired.
  if (!(await continuity.isCurrent()) && continuity.status().state === 'behind') return
  const at = isoSeconds(unixNow(context))
  await continuity.changeAccess(async (tx, record) => {
    await activateSigningKey(tx, configured, at)
    if (active) await record({ what: 'rotation', from: active.public_key_hex, to: configured, at, endorsement: null })
  }, WHILE_UNKNOWN)
}
