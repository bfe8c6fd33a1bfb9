// The keys that sign receipts and statements: the active key, and the retired keys that older signatures need.

import type { SigningKey, SigningKeys } from '@svc/api/info'
import { issuerKeyId } from '@svc/protocol/ids'
import { namedKey } from '@svc/protocol/key-changes'
import { KEY_PURPOSES, SIGNING_KEYS_SCHEMA } from '@svc/protocol/names'
import type { Selectable } from 'kysely'
import type { Context } from '../context.ts'
import type { AnnouncedKeyTable, SigningKeyTable } from '../db/schema.ts'
import { endOf } from './key-periods.ts'
import { allKeyChanges, allSigningKeys, announcedKeys } from './store.ts'

/** One entry for each use of a key (VER-17). Signed documents beside them contain the changes of keys. */
export async function listSigningKeys({ database, config }: Context): Promise<SigningKeys> {
  const { db } = database
  const [keys, announced, changes] = [await allSigningKeys(db), await announcedKeys(db), await allKeyChanges(db)]
  const { endorsements, revocations } = changes
  const { recovery } = config.keys
  return {
    schema: SIGNING_KEYS_SCHEMA,
    keys: keys.flatMap((key) => KEY_PURPOSES.statement.map((use) => listedKey(key, use))),
    note: `Pin these keys out of band. Envelope domain tag (25 ASCII bytes): ${config.evidence.domainTag}.`,
    ...(announced.length > 0 && { next: announced.map(announcedKey) }),
    ...(endorsements.length > 0 && { endorsements }),
    ...(revocations.length > 0 && { revocations }),
    ...(recovery !== null && { recovery: namedKey(recovery) }),
  }
}

/**
 * What others pin of this gateway: its signing keys and the keys of its logs. Resolves once changes of keys are in the
 * journal.
 */
export async function showKeys(context: Context, logs: NonNullable<SigningKeys['logs']>): Promise<SigningKeys> {
  const keys = await listSigningKeys(context)
  await context.continuity.requireKeysWritten()
  return { ...keys, logs }
}

/** Clients that do not understand revocations trust a revoked key until then only. */
function listedKey(key: Selectable<SigningKeyTable>, use: SigningKey['use']): SigningKey {
  const validTo = endOf(key)
  return {
    key_id: issuerKeyId(key.public_key_hex),
    alg: 'ed25519',
    public_key_hex: key.public_key_hex,
    use,
    status: validTo === null ? 'active' : 'retired',
    valid_from: key.valid_from,
    ...(validTo !== null && { valid_to: validTo }),
    ...(key.revoked_since !== null && { revoked_since: key.revoked_since }),
  }
}

function announcedKey({ public_key_hex, valid_from }: AnnouncedKeyTable) {
  return { ...namedKey(public_key_hex), alg: 'ed25519' as const, valid_from }
}
