// Selects the statement key that signs now. Every replica may hold the current key and the next one; the database
// records which one is active, so that a rotation needs no restart and applies to all replicas at once (T-40).

import { refreshing } from '@svc/concurrency/caches'
import type { Database } from '@svc/database/open'
import { toHex } from '@svc/protocol/bytes'
import { unixSeconds } from '@svc/protocol/evidence'
import { HANDOVER_SECONDS } from '@svc/protocol/keys'
import { ServiceError } from '@svc/service/service-error'
import type { Schema } from '../db/schema.ts'
import { signingKeysAt } from './key-periods.ts'
import type { KeySecrets } from './settings.ts'
import { type KeySigner, openSigner, trySigner } from './signers/signer.ts'
import { allSigningKeys } from './store.ts'

export interface StatementKeys {
  /** The key of STATEMENT_KEY. */
  configured: KeySigner
  /** The signer of a key that this process can sign with; null for any other key. */
  signerOf(publicKeyHex: string): KeySigner | null
  /** The key that signed at a time, in Unix seconds; null if this process does not have it or it is revoked. */
  signerAt(unixSeconds: number): Promise<KeySigner | null>
  /** Throws `signing_key_unavailable` if this process has no key that may sign now. */
  current(): Promise<KeySigner>
  health(): Promise<'ok' | 'failing'>
}

interface Parts {
  secrets: KeySecrets
  database: Database<Schema>
  /** Unix milliseconds. */
  now: () => number
}

const CHECK_FRESH_MS = 10_000
const CHECK_WAIT_MS = 6_000

export function createStatementKeys({ secrets, database, now }: Parts): StatementKeys {
  const { statementKey, nextStatementKey } = secrets
  const configured = openSigner(statementKey)
  const signers = [configured, ...(nextStatementKey ? [openSigner(nextStatementKey)] : [])]
  const byHex = new Map(signers.map((signer) => [toHex(signer.publicKey), signer]))

  async function current(): Promise<KeySigner> {
    const earliestEnd = Math.floor(now() / 1000) - HANDOVER_SECONDS
    // The active key comes first. A key replaced moments ago serves replicas that do not have its successor yet.
    const usable = (await allSigningKeys(database.db)).find(({ public_key_hex, valid_to, revoked_since }) => {
      const isOfTime = valid_to === null || (unixSeconds(valid_to) ?? 0) >= earliestEnd
      return byHex.has(public_key_hex) && isOfTime && revoked_since === null
    })
    const signer = usable && byHex.get(usable.public_key_hex)
    if (signer) return signer
    throw new ServiceError('signing_key_unavailable', 'this gateway does not have the current signing key', {
      hint: "nothing was changed: send the same request again; the gateway's admin has to restart this gateway with the new key",
      headers: { 'retry-after': '60' },
    })
  }

  const check = refreshing({
    load: () =>
      current()
        .then(trySigner)
        .then(
          () => true,
          () => false,
        ),
    freshMs: () => CHECK_FRESH_MS,
    waitMs: CHECK_WAIT_MS,
    now,
  })

  return {
    configured,
    signerOf: (publicKeyHex) => byHex.get(publicKeyHex) ?? null,
    async signerAt(unixSeconds) {
      const keys = await signingKeysAt(database.db, unixSeconds)
      const usable = keys.find(({ hex, revokedSince }) => byHex.has(hex) && revokedSince === null)
      return (usable && byHex.get(usable.hex)) ?? null
    },
    current,
    health: async () => ((await check()) === false ? 'failing' : 'ok'),
  }
}
