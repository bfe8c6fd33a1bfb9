// The keys that sign receipts and statements: the active one, and the retired ones that older signatures need.

import type { SigningKey, SigningKeys } from '@svc/api/info'
import { toHex } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { issuerKeyId } from '@svc/protocol/ids'
import { type Ed25519Verifier, ed25519PublicKeyFromHex, isKeyOfTime } from '@svc/protocol/keys'
import { SIGNING_KEYS_SCHEMA } from '@svc/protocol/names'
import { type Context, unixNow } from '../context.ts'
import type { Db } from '../db/schema.ts'
import { activateSigningKey, allSigningKeys } from './store.ts'

const USES: SigningKey['use'][] = ['receipt', 'attestation', 'evidence-envelope']

/** At start, the configured key becomes the active one, and the previous key is retired (ADD-07). */
export async function noteSigningKey(context: Context): Promise<void> {
  const { database, signers } = context
  await activateSigningKey(database.db, toHex(signers.statement.publicKey), isoSeconds(unixNow(context)))
}

/** One entry for each use of a key (AMB-53). */
export async function listSigningKeys({ database, config }: Context): Promise<SigningKeys> {
  const keys = await allSigningKeys(database.db)
  return {
    schema: SIGNING_KEYS_SCHEMA,
    keys: keys.flatMap((key) =>
      USES.map((use) => ({
        key_id: issuerKeyId(key.public_key_hex),
        alg: 'ed25519' as const,
        public_key_hex: key.public_key_hex,
        use,
        status: key.valid_to === null ? ('active' as const) : ('retired' as const),
        valid_from: key.valid_from,
        ...(key.valid_to !== null && { valid_to: key.valid_to }),
      })),
    ),
    note: `Pin these keys out of band. Envelope domain tag (25 ASCII bytes): ${config.evidence.domainTag}.`,
  }
}

/** The keys that may have signed at a time, by their hex (ADD-07). */
export type KeysAt = (unixSeconds: number) => Promise<Map<string, Ed25519Verifier>>

export function createKeysAt({ database }: Pick<Context, 'database'>): KeysAt {
  // Parsing a key takes longer than verifying with it. The map holds as many keys as the operator ever had.
  const parsed = new Map<string, Ed25519Verifier>()

  function verifierOf(hex: string): Ed25519Verifier {
    const key = parsed.get(hex) ?? ed25519PublicKeyFromHex(hex)
    if (!key) throw new Error(`the signing key ${hex} is not an Ed25519 public key`)
    parsed.set(hex, key)
    return key
  }

  return async (unixSeconds) =>
    new Map((await signingKeysAt(database.db, unixSeconds)).map((hex) => [hex, verifierOf(hex)]))
}

async function signingKeysAt(db: Db, unixSeconds: number): Promise<string[]> {
  const keys = (await allSigningKeys(db)).map(({ public_key_hex, valid_from, valid_to }) => ({
    public_key_hex,
    validFrom: unixSecondsOf(valid_from),
    validTo: valid_to === null ? null : unixSecondsOf(valid_to),
  }))
  return keys.filter((key) => isKeyOfTime(key, keys, unixSeconds)).map(({ public_key_hex }) => public_key_hex)
}

function unixSecondsOf(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000)
}
