import type { Endorsement, Revocation } from '@svc/protocol/key-changes'
import type { KeyPurpose } from '@svc/protocol/names'
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { AnnouncedKeyTable, Db, Schema, SigningKeyTable } from '../db/schema.ts'

type Tx = Transaction<Schema>

export async function activateSigningKey(db: Kysely<Schema>, publicKeyHex: string, now: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
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
  })
}

/** The active key first, then retired ones, newest first. */
export function allSigningKeys(db: Db): Promise<Selectable<SigningKeyTable>[]> {
  return db
    .selectFrom('signing_keys')
    .selectAll()
    .orderBy((eb) => eb.case().when('valid_to', 'is', null).then(0).else(1).end())
    .orderBy('valid_from', 'desc')
    .execute()
}

/** Ends one key and begins another; false if the first is not the active one (any more). */
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

export async function setRevoked(tx: Tx, publicKeyHex: string, since: string): Promise<void> {
  const key = tx.updateTable('signing_keys').where('public_key_hex', '=', publicKeyHex)
  await key.set({ revoked_since: since }).execute()
}

/** The first to begin first. */
export function announcedKeys(db: Db): Promise<AnnouncedKeyTable[]> {
  return db.selectFrom('announced_keys').selectAll().orderBy('valid_from').orderBy('public_key_hex').execute()
}

/** False if it is announced already. */
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

/** Each kind of change once for the two keys. */
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

export async function insertRevocation(tx: Tx, revocation: Revocation): Promise<void> {
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
