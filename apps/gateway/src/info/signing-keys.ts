import type { SigningKey, SigningKeys } from '@svc/api/info'
import { toHex } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { issuerKeyId } from '@svc/protocol/ids'
import { isKeyOfTime } from '@svc/protocol/keys'
import { SIGNING_KEYS_SCHEMA } from '@svc/protocol/names'
import { type Context, unixNow } from '../context.ts'
import { activateSigningKey, allSigningKeys } from './store.ts'

const USES: SigningKey['use'][] = ['receipt', 'attestation', 'evidence-envelope']

/** At start: the configured key becomes the active one, and the one before it is kept as retired (ADD-07). */
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

/** The keys that may have signed at a time, in hex (ADD-07). */
export async function signingKeysAt({ database }: Pick<Context, 'database'>, unixSeconds: number): Promise<string[]> {
  const keys = (await allSigningKeys(database.db)).map(({ public_key_hex, valid_from, valid_to }) => ({
    public_key_hex,
    validFrom: unixSecondsOf(valid_from),
    validTo: valid_to === null ? null : unixSecondsOf(valid_to),
  }))
  return keys.filter((key) => isKeyOfTime(key, keys, unixSeconds)).map(({ public_key_hex }) => public_key_hex)
}

function unixSecondsOf(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000)
}
