import { toHex } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { namedKey, type Revocation, revocationMessage, signedChange } from '@svc/protocol/key-changes'
import { KEY_REVOCATION_SCHEMA } from '@svc/protocol/names'
import { type Context, unixNow } from '../../../context.ts'
import type { KeySigner } from '../../../keys/signers/signer.ts'
import { allKeyChanges, allSigningKeys, recordTheft } from '../../../keys/store.ts'
import type { Actor } from '../actors.ts'
import { appendAudit } from '../audit.ts'
import { endorsementBy } from './rotate-key.ts'

interface Order {
  keyId: string
  /** Unix seconds: from then on a thief may have had the key. */
  since: number
  reason: string
  /** The recovery key, if available: it also endorses the current key. */
  recovery: KeySigner | null
}

/**
 * Publishes that a key was stolen (ADD-39), signed by the current key and, if available, the recovery key. A revocation
 * is final; a second one may name an earlier time.
 */
export async function revokeKey(context: Context, actor: Actor, { keyId, since, reason, recovery }: Order) {
  const { db } = context.database
  const { statementKeys, config } = context
  const keys = await allSigningKeys(db)
  const active = keys.find(({ valid_to }) => valid_to === null)
  const revoked = keys.find(({ public_key_hex }) => namedKey(public_key_hex).key_id === keyId)
  if (!revoked) throw new Error(`there is no key ${keyId}: see svc-gateway keys list`)
  if (!active || revoked === active)
    throw new Error(`${keyId} is the current key: rotate to another key first, then revoke it`)
  if (since > unixNow(context)) throw new Error('--since is in the future')
  const isKnownRecovery = !recovery || toHex(recovery.publicKey) === config.keys.recovery
  if (!isKnownRecovery) throw new Error('this key does not match RECOVERY_PUBLIC_KEY, which clients have pinned')
  const signer = statementKeys.signerOf(active.public_key_hex)
  if (!signer)
    throw new Error(
      `the private key of ${namedKey(active.public_key_hex).key_id}, the current key, is not on this machine`,
    )
  const at = isoSeconds(unixNow(context))
  const earliest = isoSeconds(
    Math.min(since, ...(revoked.revoked_since ? [Date.parse(revoked.revoked_since) / 1000] : [])),
  )
  const revocations = [
    ...(await signedBy(context, signer, [{ hex: revoked.public_key_hex, since: earliest }], at)),
    // Revocations signed by the stolen key no longer count, so they are signed again.
    ...(await signedBy(context, signer, await revokedBy(context, revoked.public_key_hex), at)),
    ...(recovery ? await signedBy(context, recovery, [{ hex: revoked.public_key_hex, since: earliest }], at) : []),
  ]
  const endorsement =
    recovery && (await endorsementBy(context, recovery, active.public_key_hex, { from: active.valid_from, at }))
  await context.continuity.changeAccess(async (tx, record) => {
    const theft = { key: revoked.public_key_hex, since: earliest, revocations, endorsement }
    await recordTheft(tx, theft)
    await record({ what: 'signing_key', ...theft })
    await appendAudit(context, tx, {
      actor: actor.identity,
      action: 'revoke_key',
      target: keyId,
      reason,
      details: { since: earliest, signed_by: revocations.map(({ body }) => body.revoked_by.key_id) },
    })
  })
  return {
    key_id: keyId,
    since: earliest,
    signed_by: [...new Set(revocations.map(({ body }) => body.revoked_by.key_id))],
  }
}

interface Revoked {
  hex: string
  since: string
}

async function revokedBy(context: Context, hex: string): Promise<Revoked[]> {
  const { revocations } = await allKeyChanges(context.database.db)
  return revocations
    .filter(({ body }) => body.revoked_by.public_key_hex === hex)
    .map(({ body }) => ({ hex: body.revoked.public_key_hex, since: body.since }))
}

async function signedBy(
  { config }: Context,
  signer: KeySigner,
  revoked: readonly Revoked[],
  at: string,
): Promise<Revocation[]> {
  return Promise.all(
    revoked.map(async ({ hex, since }) => {
      const body = {
        schema: KEY_REVOCATION_SCHEMA,
        purpose: 'statement',
        audience: config.http.baseUrl,
        revoked: namedKey(hex),
        revoked_by: namedKey(toHex(signer.publicKey)),
        since,
        issued_at: at,
      } as const
      return signedChange(body, await signer.sign(revocationMessage(body)))
    }),
  )
}
