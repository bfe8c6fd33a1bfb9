// Statements in the formats of other people's verifiers, checked before they are handed on.

import { type DsseAnswer, type DsseFormat, dsse as dsseEndpoint } from '@svc/api/dsse'
import { fromUtf8 } from '@svc/protocol/bytes'
import { type DsseEnvelope, payloadSignedBy } from '@svc/protocol/dsse'
import { issuerKeyId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { EVIDENCE_PREDICATE_TYPE } from '@svc/protocol/names'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'
import type { StatementOptions } from './read.ts'
import { requireTrusted } from './trusted-keys.ts'

export interface DsseOptions extends StatementOptions {
  /** The one file to prove; all files by default, which only small lockers can have. */
  filename?: string
  /** A DSSE envelope by default. */
  format?: DsseFormat
}

/**
 * Reads a statement as a DSSE envelope or a Sigstore bundle. It is signed by a trusted key, is about the file that was
 * asked for, and does not name the receipt.
 */
export async function dsse(
  context: Context,
  receipt_id: string,
  { filename, format, sequence, signal }: DsseOptions = {},
): Promise<DsseAnswer> {
  const query = {
    receipt_id,
    ...(filename !== undefined && { filename }),
    ...(format && { format }),
    ...(sequence !== undefined && { sequence }),
  }
  const { body } = await call(context, dsseEndpoint, { query, signal })
  const payload = await signedPayload(context, 'dsseEnvelope' in body ? body.dsseEnvelope : body)
  if (payload.includes(receipt_id)) throw new UntrueAnswer('the statement names the receipt')
  const { predicateType, subject } = JSON.parse(payload)
  const isAsked = filename === undefined || (subject.length === 1 && subject[0].name === filename)
  if (predicateType !== EVIDENCE_PREDICATE_TYPE || !isAsked)
    throw new UntrueAnswer('the statement is not the one that was asked for')
  return body
}

/** A key id is too short to be believed: of the keys that the service shows, one must have signed and be trusted. */
async function signedPayload(context: Context, envelope: DsseEnvelope): Promise<string> {
  const { keys } = await context.service.readKeys(context)
  const keyid = envelope.signatures[0]?.keyid
  for (const hex of new Set(keys.map(({ publicKeyHex }) => publicKeyHex))) {
    const key = issuerKeyId(hex) === keyid ? ed25519PublicKeyFromHex(hex) : null
    const payload = key && payloadSignedBy(key, envelope)
    if (!payload) continue
    await requireTrusted(context, hex, 'the DSSE envelope')
    return fromUtf8(payload) ?? ''
  }
  throw new UntrueAnswer('the signature of the DSSE envelope does not hold')
}
