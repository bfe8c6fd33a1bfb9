// Statements in the formats of third-party verifiers, which are verified before they are returned.

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
  /** The file to prove. By default all files, which is possible only for small lockers. */
  filename?: string
  /** By default a DSSE envelope. */
  format?: DsseFormat
}

/**
 * Reads a statement as a DSSE envelope or a Sigstore bundle. Requires that it is signed by a trusted key, is about the
 * requested file, and does not contain the receipt id.
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
  if (payload.includes(receipt_id)) throw new UntrueAnswer('the statement contains the receipt id')
  const { predicateType, subject } = JSON.parse(payload)
  const isAsked = filename === undefined || (subject.length === 1 && subject[0].name === filename)
  if (predicateType !== EVIDENCE_PREDICATE_TYPE || !isAsked)
    throw new UntrueAnswer('the statement is not the requested one')
  return body
}

/** A key id is too short to identify a key, so a listed key with this id must verify the signature and be trusted. */
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
  throw new UntrueAnswer('the signature of the DSSE envelope is invalid')
}
