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

/** Reads a receipt and verifies its signature and id. */
export async function receipt(
  context: Context,
  receipt_id: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<SignedReceipt> {
  const { body } = await call(context, readReceipt, { params: { receipt_id }, signal })
  requireSameReceipt(body, receipt_id)
  await checkReceipt(context, body)
  return body
}

function requireSameReceipt(receipt: SignedReceipt, asked: string): void {
  if (receipt.receipt_id !== asked) throw new UntrueAnswer('the gateway answered with another receipt')
}

/** Reads the attestation of a receipt. The client itself verifies a signed statement. */
export async function verify(
  context: Context,
  receipt_id: string,
  { sequence, signal }: StatementOptions = {},
): Promise<VerifyAnswer> {
  const query = { receipt_id, ...(sequence !== undefined && { sequence }) }
  const { body } = await call(context, verifyEndpoint, { query, signal })
  requireSameReceipt(body.receipt, receipt_id)
  await checkReceipt(context, body.receipt)
  if (body.attestation?.envelope) {
    await checkAttestation(context, receipt_id, body.attestation)
    requireSameProof(body.receipt, body.attestation.envelope)
  }
  return body
}

/**
 * Streams the evidence bundle, which contains everything that an offline verifier needs. It also contains the receipt
 * id, which gives access to every file by the public link until the link is closed or rotated. `redactedBundle` gives
 * no access.
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
  /** The files to show, at most a hundred. Without it, the bundle has no names. */
  filenames?: readonly string[]
}

/**
 * Streams a bundle without the receipt id: with the given files and their proofs, or with the hashes of all files and
 * no names. It gives access to no file.
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

/** Passes bytes on, and fails if they contain this text. */
function withoutText(text: string): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder('latin1')
  let end = ''
  return new TransformStream({
    transform(chunk, controller) {
      const decoded = end + decoder.decode(chunk)
      if (decoded.includes(text)) throw new UntrueAnswer('the redacted bundle contains the receipt id')
      end = decoded.slice(-text.length)
      controller.enqueue(chunk)
    },
  })
}

export interface StatementOptions {
  /** The sequence number of the statement. By default the newest. */
  sequence?: number
  signal?: AbortSignal | undefined
}

export interface StatedProof extends InclusionProof {
  /** The signed statement that includes the file. Null if there is only a record from the oracle era. */
  statement: EvidenceEnvelope | null
  /** `unknown` without a statement or a pinned key: then the proof only shows that the gateway is consistent. */
  signer: 'pinned' | 'unknown'
}

/** Reads the Merkle proof that a file is in the attested list, and verifies it with the signed statement. */
export async function proof(
  context: Context,
  receipt_id: string,
  filename: string,
  { sequence, signal }: StatementOptions = {},
): Promise<StatedProof> {
  const statement = await signedStatement(context, receipt_id, { ...(sequence !== undefined && { sequence }), signal })
  // Name the sequence, because there may be a newer statement by now.
  const of = statement?.body.sequence ?? sequence
  const query = { receipt_id, filename, ...(of !== undefined && { sequence: of }) }
  const { body } = await call(context, merkleProof, { query, signal })
  checkProof(body, filename, statement)
  const isPinned = statement !== null && context.pinnedKeys.length > 0
  return { ...body, statement, signer: isPinned ? 'pinned' : 'unknown' }
}

/**
 * A statement of the receipt, signed by a trusted key. Null if there is none, or the gateway is too old to return it.
 */
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

/** Makes the gateway compare a receipt with its payment on chain. The client cannot verify the answer. */
export async function checkPayment(context: Context, receipt_id: string, signal?: AbortSignal): Promise<PaymentCheck> {
  const { body } = await call(context, verifyPayment, { params: { receipt_id }, signal })
  const names = (isWanted: boolean) =>
    Object.entries(body.matches).flatMap(([name, holds]) => (holds === isWanted ? [name] : []))
  return { verified: body.verified, matching: names(true), differing: names(false) }
}
