// Identifiers derived from other values.

import { keccak_256 } from '@noble/hashes/sha3.js'
import { sha256Bytes, sha256Hex, sha256Stream } from '#crypto'
import { bare, toBase58, toHex, utf8, withPrefix } from './bytes.ts'
import { canonicalJson } from './canonical.ts'
import type { FileEntry } from './merkle.ts'
import { PAYMENT_REFERENCE_PREFIX, RECEIPT_ID_PREFIX, SNAPSHOT_DOMAIN, SOLANA_PAY_PREFIX } from './names.ts'

/** The canonical text of a transaction id: an EVM hash in lower case, a primary-chain signature unchanged. */
export function canonicalTx(tx: string): string {
  return /^0x/i.test(tx) ? tx.toLowerCase() : tx
}

/** Deterministic, so that a repeated confirmation finds the same receipt (PAY-52). */
export function receiptId(payReqId: string, tx: string): string {
  return `rcpt_${sha256Hex(`${RECEIPT_ID_PREFIX}${payReqId}|${canonicalTx(tx)}`).slice(0, 32)}`
}

/**
 * The name of a quote in its payment on chain (ADD-03). It must not reveal `pay_req_id`: with the transaction, that
 * gives the receipt id.
 */
export function paymentReference(payReqId: string): string {
  return `ref_${sha256Hex(`${PAYMENT_REFERENCE_PREFIX}${payReqId}`).slice(0, 32)}`
}

/**
 * The `reference` of a quote's Solana Pay code: an address without a key that wallets add to the payment, so that a
 * caller who knows the quote can find the payment on chain.
 */
export function solanaPayReference(payReqId: string): string {
  return toBase58(sha256Bytes(utf8(`${SOLANA_PAY_PREFIX}${payReqId}`)))
}

export function lockerId(receiptId: string): string {
  return `locker_${sha256Hex(receiptId).slice(0, 12)}`
}

/** Hashes rows in code-point order of filenames. Accepts any iterable, so that a million rows need not be in memory. */
export function manifestDigest(sortedFiles: Iterable<FileEntry>): string {
  const hash = sha256Stream()
  let separator = '['
  for (const file of sortedFiles) {
    const row = {
      filename: file.filename,
      size_bytes: String(file.size_bytes),
      content_hash: bare(file.content_hash),
    }
    hash.update(separator + canonicalJson(row))
    separator = ','
  }
  hash.update(separator === '[' ? '[]' : ']')
  return withPrefix(hash.hex())
}

export function snapshotId(of: {
  proof_id: string
  merkle_root: string
  manifest_digest: string
  file_count: number
}): string {
  return sha256Hex(
    canonicalJson({
      domain: SNAPSHOT_DOMAIN,
      proof_id: of.proof_id,
      merkle_root: bare(of.merkle_root),
      manifest_digest: bare(of.manifest_digest),
      file_count: of.file_count,
    }),
  )
}

export const UNSIGNED_KEY_ID = 'unsigned'

export function issuerKeyId(publicKeyHex: string | null): string {
  return publicKeyHex === null ? UNSIGNED_KEY_ID : `ed25519:${publicKeyHex.slice(0, 16)}`
}

/** A number for display, not for verification: 48 bits of `result_hash` modulo a billion (Merkle rule 10). */
export function attCode(resultHash: string): number {
  return Number.parseInt(bare(resultHash).slice(0, 12), 16) % 1_000_000_000
}

export function paymentAttCode(payment: {
  network: string
  tx_hash: string
  paid_raw: string
  pay_asset: string
}): number {
  return attCode(sha256Hex(`${payment.network}:${payment.tx_hash}:${payment.paid_raw}:${payment.pay_asset}`))
}

/** The key of a receipt in the EVM registry, `0x` and 16 bytes (ANCH-12). */
export function evmRegistryKey(receiptId: string): string {
  return `0x${toHex(keccak_256(utf8(receiptId)).subarray(0, 16))}`
}
