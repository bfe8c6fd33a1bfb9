// Reads public evidence: receipts, attestations, bundles and proofs.

import { MAX_SEQUENCE, statements, type VerifyAnswer, verify as verifyEndpoint } from '@svc/api/evidence'
import { evidenceBundle, type InclusionProof, merkleProof, redactedBundle as redactedEndpoint } from '@svc/api/proofs'
import { readReceipt, verifyPayment } from '@svc/api/receipts'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { call, open } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { NoAnswer, UntrueAnswer } from '../errors.ts'
import { checkAttestation, checkProof, checkReceipt, checkStatement, requireSameProof } from './checks.ts'

/** Reads a receipt and checks its signature and id. */
export async function receipt(
  context: Context,
  receipt_id: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<SignedReceipt> {
  const { body } = await call(context, readReceipt, { params: { receipt_id }, signal })
  requireAsked(body, receipt_id)
  await checkReceipt(context, body)
  return body
}

function requireAsked(receipt: SignedReceipt, asked: string): void {
  if (receipt.receipt_id !== asked) throw new UntrueAnswer('the receipt is another one')
}

/** Reads the attestation of a receipt. The client checks a signed statement itself. */
export async function verify(
  context: Context,
  receipt_id: string,
  { sequence, signal }: StatementOptions = {},
): Promise<VerifyAnswer> {
  const query = { receipt_id, ...(sequence !== undefined && { sequence }) }
  const { body } = await call(context, verifyEndpoint, { query, signal })
  requireAsked(body.receipt, receipt_id)
  await checkReceipt(context, body.receipt)
  if (body.attestation?.envelope) {
    await checkAttestation(context, receipt_id, body.attestation)
    requireSameProof(body.receipt, body.attestation.envelope)
  }
  return body
}

/**
 * Streams the evidence bundle, which holds everything an offline verifier needs. It names the receipt, which opens every
 * file by the public link until that is closed or rotated: `redactedBundle` proves without opening.
 */
export async function bundle(
  context: Context,
  receipt_id: string,
  target: WritableStream<Uint8Array>,
  { sequence, signal }: StatementOptions = {},
): Promise<void> {
  const query = { receipt_id, ...(sequence !== undefined && { sequence }) }
  const body = bodyOf(await open(context, evidenceBundle, { query, signal }))
  await body.pipeTo(target, signal && { signal })
}

export interface RedactedBundleOptions extends StatementOptions {
  /** The files to show, at most a hundred. Without it, no name is shown. */
  filenames?: readonly string[]
}

/**
 * Streams a bundle that does not name the receipt: with the given files and their proofs, or with the hashes of all
 * files and no name. Nobody can open a file by it.
 */
export async function redactedBundle(
  context: Context,
  receipt_id: string,
  target: WritableStream<Uint8Array>,
  { filenames, sequence, signal }: RedactedBundleOptions = {},
): Promise<void> {
  const query = {
    receipt_id,
    ...(filenames && { filename: [...filenames] }),
    ...(sequence !== undefined && { sequence }),
  }
  const body = bodyOf(await open(context, redactedEndpoint, { query, signal }))
  await body.pipeThrough(withoutText(receipt_id)).pipeTo(target, signal && { signal })
}

function bodyOf({ body }: Response): ReadableStream<Uint8Array> {
  if (!body) throw new NoAnswer('the bundle is empty')
  return body
}

/** Passes bytes on, and fails when they spell this text. */
function withoutText(text: string): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder('latin1')
  let end = ''
  return new TransformStream({
    transform(chunk, controller) {
      const seen = end + decoder.decode(chunk)
      if (seen.includes(text)) throw new UntrueAnswer('the redacted bundle names the receipt')
      end = seen.slice(-text.length)
      controller.enqueue(chunk)
    },
  })
}

export interface StatementOptions {
  /** The sequence number of the statement; the newest by default. */
  sequence?: number
  signal?: AbortSignal | undefined
}

export interface StatedProof extends InclusionProof {
  /** The signed statement that counts the file; null where there is only a record of the oracle era. */
  statement: EvidenceEnvelope | null
  /** `unknown` without a statement, and where no key is pinned: then the gateway agrees with itself, and no more is shown. */
  signer: 'pinned' | 'unknown'
}

/** Reads the Merkle proof that a file is in the attested list, and holds it against the signed statement. */
export async function proof(
  context: Context,
  receipt_id: string,
  filename: string,
  { sequence, signal }: StatementOptions = {},
): Promise<StatedProof> {
  const statement = await signedStatement(context, receipt_id, { ...(sequence !== undefined && { sequence }), signal })
  // The newest statement may be another one by now.
  const of = statement?.body.sequence ?? sequence
  const query = { receipt_id, filename, ...(of !== undefined && { sequence: of }) }
  const { body } = await call(context, merkleProof, { query, signal })
  checkProof(body, filename, statement)
  const isPinned = statement !== null && context.pinnedKeys.length > 0
  return { ...body, statement, signer: isPinned ? 'pinned' : 'unknown' }
}

/** A statement of the receipt that a trusted key signed. Null if there is none, or the gateway is too old to show it. */
async function signedStatement(
  context: Context,
  receipt_id: string,
  { sequence, signal }: StatementOptions,
): Promise<EvidenceEnvelope | null> {
  if (sequence === 0) return null
  const which = sequence === undefined ? { before: MAX_SEQUENCE } : { from: sequence }
  const query = { receipt_id, ...which, limit: 1, envelopes: true }
  const { body } = await call(context, statements, { query, signal })
  const envelope = body.statements[0]?.envelope
  if (!envelope || (sequence !== undefined && envelope.body.sequence !== sequence)) return null
  await checkStatement(context, envelope)
  requireSameProof(await receipt(context, receipt_id, signal && { signal }), envelope)
  return envelope
}

export interface PaymentCheck {
  verified: boolean
  matching: string[]
  differing: string[]
}

/** Has the gateway compare a receipt with its payment on chain. The client cannot check the answer. */
export async function checkPayment(context: Context, receipt_id: string, signal?: AbortSignal): Promise<PaymentCheck> {
  const { body } = await call(context, verifyPayment, { params: { receipt_id }, signal })
  const names = (isWanted: boolean) =>
    Object.entries(body.matches).flatMap(([name, holds]) => (holds === isWanted ? [name] : []))
  return { verified: body.verified, matching: names(true), differing: names(false) }
}
