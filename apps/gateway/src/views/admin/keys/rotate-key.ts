import { toHex } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Endorsement, endorsementMessage, namedKey, signedChange } from '@svc/protocol/key-changes'
import { KEY_ENDORSEMENT_SCHEMA } from '@svc/protocol/names'
import { type Context, unixNow } from '../../../context.ts'
import { type KeySigner, trySigner } from '../../../keys/signers/signer.ts'
import { allSigningKeys, announcedKeys, deleteAnnouncedKey, handOver, insertEndorsement } from '../../../keys/store.ts'
import type { Actor } from '../actors.ts'
import { appendAudit } from '../audit.ts'

interface Rotation {
  reason: string
  /** Rotate before the announced time. */
  early: boolean
  /** Rotate without an endorsement by the previous key, because that key is lost. */
  unendorsed: boolean
}

/**
 * Makes the announced key the current one, in all replicas from their next signature on. The previous key endorses it,
 * so that clients that pinned the previous key can verify the change (ADD-37).
 */
export async function rotateKey(context: Context, actor: Actor, { reason, early, unendorsed }: Rotation) {
  const { db } = context.database
  const active = (await allSigningKeys(db)).find(({ valid_to }) => valid_to === null)
  const [next] = await announcedKeys(db)
  if (!active) throw new Error('there is no current key: start the gateway first')
  if (!next) throw new Error('no key is announced: run svc-gateway keys new --out FILE')
  const at = isoSeconds(unixNow(context))
  if (at < next.valid_from && !early)
    throw new Error(`this key was announced for ${next.valid_from}: wait, or use --early`)
  const [from, to] = [namedKey(active.public_key_hex), namedKey(next.public_key_hex)]
  await requireSigner(
    context,
    to.public_key_hex,
    `set STATEMENT_KEY_NEXT_FILE to the file of ${to.key_id}, here and at all replicas`,
  )
  const endorsement = unendorsed ? null : await endorse(context, from.public_key_hex, to.public_key_hex, at)
  await context.continuity.changeAccess(async (tx, record) => {
    const isMine = await handOver(tx, { from: from.public_key_hex, to: to.public_key_hex, at })
    if (!isMine || !(await deleteAnnouncedKey(tx, to.public_key_hex))) {
      throw new Error('the keys have changed meanwhile: see svc-gateway keys list')
    }
    if (endorsement) await insertEndorsement(tx, endorsement)
    await record({ what: 'rotation', from: from.public_key_hex, to: to.public_key_hex, at, endorsement })
    await appendAudit(context, tx, {
      actor: actor.identity,
      action: 'rotate_key',
      target: to.key_id,
      reason,
      details: { from: from.key_id, to: to.key_id, valid_from: at, endorsed: endorsement !== null },
    })
  })
  return { from, to, valid_from: at, endorsed: endorsement !== null }
}

async function endorse(context: Context, fromHex: string, toHex: string, at: string): Promise<Endorsement> {
  const advice = 'run this with the settings of the gateway, or with --unendorsed if the key is permanently lost'
  const key = await requireSigner(context, fromHex, advice)
  return endorsementBy(context, key, toHex, { from: at, at })
}

/** By the previous key, or by the recovery key, which may also endorse the current key. */
export async function endorsementBy(
  { config }: Context,
  endorser: KeySigner,
  endorsedHex: string,
  { from, at }: { from: string; at: string },
): Promise<Endorsement> {
  const body = {
    schema: KEY_ENDORSEMENT_SCHEMA,
    purpose: 'statement',
    audience: config.http.baseUrl,
    endorser: namedKey(toHex(endorser.publicKey)),
    endorsed: namedKey(endorsedHex),
    valid_from: from,
    issued_at: at,
  } as const
  return signedChange(body, await endorser.sign(endorsementMessage(body)))
}

async function requireSigner(context: Context, publicKeyHex: string, advice: string): Promise<KeySigner> {
  const signer = context.statementKeys.signerOf(publicKeyHex)
  if (!signer) throw new Error(`the private key of ${namedKey(publicKeyHex).key_id} is not on this machine: ${advice}`)
  await trySigner(signer)
  return signer
}
