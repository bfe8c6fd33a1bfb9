import type { Kysely, Selectable } from 'kysely'
import type { Schema, SigningKeyTable } from '../db/schema.ts'

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
export function allSigningKeys(db: Kysely<Schema>): Promise<Selectable<SigningKeyTable>[]> {
  return db
    .selectFrom('signing_keys')
    .selectAll()
    .orderBy((eb) => eb.case().when('valid_to', 'is', null).then(0).else(1).end())
    .orderBy('valid_from', 'desc')
    .execute()
}
