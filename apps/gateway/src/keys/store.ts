import { prepared } from '@svc/database/prepared'
import type { Endorsement, Revocation } from '@svc/protocol/key-changes'
import type { KeyPurpose } from '@svc/protocol/names'
import type { Selectable } from 'kysely'
import type { AnnouncedKeyTable, Db, SigningKeyTable, Tx } from '../db/schema.ts'

export async function activateSigningKey(tx: Tx, publicKeyHex: string, now: string): Promise<void> {
  await tx
    .updateTable('signing_keys')
    .set({ valid_to: now })
    .where('valid_to', 'is', null)
    .where('public_key_hex', '!=', publicKeyHex)
    .execute()
  await tx
    .insertInto('signing_keys')
    .values({ public_key_hex: publicKeyHex, valid_from: now, valid_to: null })
    .onConflict((conflict) => conflict.column('public_key_hex').doUpdateSet({ valid_to: null }))
    .execute()
}

/** The active key first, then the retired keys, newest first. */
export async function allSigningKeys(db: Db): Promise<Selectable<SigningKeyTable>[]> {
  return (await signingKeys(db)).rows
}

const signingKeys = prepared((db: Db) =>
  db
    .selectFrom('signing_keys')
    .selectAll()
    .orderBy((eb) => eb.case().when('valid_to', 'is', null).then(0).else(1).end())
    .orderBy('valid_from', 'desc'),
)

/** Ends one key and starts another; false if the first is not active (any more). */
export async function handOver(tx: Tx, { from, to, at }: { from: string; to: string; at: string }): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('signing_keys')
    .set({ valid_to: at })
    .where('public_key_hex', '=', from)
    .where('valid_to', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) return false
  await tx.insertInto('signing_keys').values({ public_key_hex: to, valid_from: at, valid_to: null }).execute()
  return true
}

interface Theft {
  key: string
  since: string
  revocations: readonly Revocation[]
  endorsement: Endorsement | null
}

export async function recordTheft(tx: Tx, { key, since, revocations, endorsement }: Theft): Promise<void> {
  const stolen = tx.updateTable('signing_keys').where('public_key_hex', '=', key)
  await stolen.set({ revoked_since: since }).execute()
  for (const revocation of revocations) await insertRevocation(tx, revocation)
  if (endorsement) await insertEndorsement(tx, endorsement)
}

interface HandOver {
  from: string
  to: string
  at: string
  endorsement: Endorsement | null
}

/** For a database that was set back: restores the periods of the keys. Only the last key signs. */
export async function repeatHandOver(tx: Tx, { from, to, at, endorsement }: HandOver): Promise<void> {
  await tx
    .updateTable('signing_keys')
    .set({ valid_to: at })
    .where('public_key_hex', '=', from)
    .where((eb) => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', at)]))
    .execute()
  await tx
    .insertInto('signing_keys')
    .values({ public_key_hex: to, valid_from: at, valid_to: null })
    .onConflict((conflict) =>
      conflict.column('public_key_hex').doUpdateSet({ valid_from: at }).where('signing_keys.valid_from', '>', at),
    )
    .execute()
  const [active] = await allSigningKeys(tx)
  if (active && active.valid_to === null) await activateSigningKey(tx, active.public_key_hex, active.valid_from)
  await deleteAnnouncedKey(tx, to)
  if (endorsement) await insertEndorsement(tx, endorsement)
}

/** The key that starts first comes first. */
export function announcedKeys(db: Db): Promise<AnnouncedKeyTable[]> {
  return db.selectFrom('announced_keys').selectAll().orderBy('valid_from').orderBy('public_key_hex').execute()
}

/** False if it is already announced. */
export async function insertAnnouncedKey(tx: Tx, key: AnnouncedKeyTable): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('announced_keys')
    .values(key)
    .onConflict((conflict) => conflict.column('public_key_hex').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

export async function deleteAnnouncedKey(tx: Tx, publicKeyHex: string): Promise<boolean> {
  const key = tx.deleteFrom('announced_keys').where('public_key_hex', '=', publicKeyHex)
  return (await key.executeTakeFirst()).numDeletedRows === 1n
}

interface StoredChange {
  purpose: KeyPurpose
  about: string
  by: string
  /** The signed document. */
  document: string
  issuedAt: string
}

/** Stores each kind of change once for the two keys. */
async function insertChange(tx: Tx, kind: 'endorsement' | 'revocation', change: StoredChange): Promise<void> {
  const { purpose, about, by, document, issuedAt } = change
  await tx
    .insertInto('key_changes')
    .values({ kind, purpose, public_key_hex: about, signed_by: by, document, issued_at: issuedAt })
    .onConflict((conflict) =>
      conflict.columns(['kind', 'public_key_hex', 'signed_by']).doUpdateSet({ document, issued_at: issuedAt }),
    )
    .execute()
}

export async function insertEndorsement(tx: Tx, endorsement: Endorsement): Promise<void> {
  const { purpose, endorsed, endorser, issued_at: issuedAt } = endorsement.body
  const keys = { about: endorsed.public_key_hex, by: endorser.public_key_hex }
  await insertChange(tx, 'endorsement', { purpose, ...keys, document: JSON.stringify(endorsement), issuedAt })
}

async function insertRevocation(tx: Tx, revocation: Revocation): Promise<void> {
  const { purpose, revoked, revoked_by, issued_at: issuedAt } = revocation.body
  const keys = { about: revoked.public_key_hex, by: revoked_by.public_key_hex }
  await insertChange(tx, 'revocation', { purpose, ...keys, document: JSON.stringify(revocation), issuedAt })
}

/** The oldest first. */
export async function allKeyChanges(db: Db): Promise<{ endorsements: Endorsement[]; revocations: Revocation[] }> {
  const rows = await db.selectFrom('key_changes').selectAll().orderBy('issued_at').orderBy('public_key_hex').execute()
  const of = (wanted: 'endorsement' | 'revocation') =>
    rows.filter(({ kind }) => kind === wanted).map(({ document }) => JSON.parse(document))
  return { endorsements: of('endorsement'), revocations: of('revocation') }
}
