// Bundles as a gateway makes them. All other bundles are changed copies of these.

import type { PackFile } from './formats.ts'
import {
  canonical,
  inOrder,
  isoSeconds,
  type Json,
  type JsonObject,
  leavesOf,
  manifestDigest,
  merkleRoot,
  proofOf,
  sha256,
} from './formats.ts'
import { OWN_KEYS, type PackKey, STATEMENT_KEY } from './keys.ts'

export const DOMAIN_TAG = 'SVCGW_CONTENT_ENVELOPE_V2'
export const PROOF_ID = '000102030405060708090a0b0c0d0e0f'
export const ISSUED_AT = 1781222400

export const CONTENTS: Record<string, string> = {
  'readme.txt': 'hello\n',
  'docs/report final.csv': 'a,b\n1,2\n',
  '～.txt': 'fullwidth tilde\n',
  '😀.png': 'not really a picture\n',
}

export function filesOf(contents: Record<string, string | Uint8Array>): PackFile[] {
  return inOrder(
    Object.entries(contents).map(([filename, content]) => {
      return { filename, size_bytes: Buffer.from(content).length, content_hash: sha256(content) }
    }),
  )
}

export const FILES = filesOf(CONTENTS)

export interface Order {
  files?: readonly PackFile[]
  key?: PackKey
  sequence?: number
  previous?: string | null
  proofId?: string
  issuedAt?: number
  domainTag?: string
  anchor?: JsonObject | null
  /** Changes the body before it is signed. */
  alter?: (body: JsonObject) => void
}

/** A version-2 bundle. */
export function bundleOf(order: Order = {}): JsonObject {
  const { files = FILES, proofId = PROOF_ID, issuedAt = ISSUED_AT, anchor = null } = order
  const envelope = envelopeOf(order)
  const { merkle_root, file_count, manifest_file_count, total_bytes, check_mode } = bodyOf(order)
  return {
    schema: 'svc/evidence-bundle/v2',
    bundle_version: 2,
    receipt_id: 'rcpt_test_0001',
    proof_id: proofId,
    network: 'primary-mainnet',
    algorithms: { merkle: 'svc-merkle-v1', envelope: 'svc/evidence/v2' },
    commitment: {
      merkle_root,
      file_count,
      manifest_file_count,
      total_bytes,
      check_mode,
      attested_at: isoSeconds(issuedAt),
    } as JsonObject,
    files: files.map((file) => ({ ...file })),
    envelope,
    v1_signature: null,
    anchor,
    signing_keys: structuredClone(OWN_KEYS),
    how_to_verify: ['Hash the files.', 'Hash the statement.', 'Verify the signature.', 'Compare.', 'Ask a node.'],
  }
}

export function envelopeOf(order: Order = {}): JsonObject {
  const { key = STATEMENT_KEY, domainTag = DOMAIN_TAG } = order
  const body = bodyOf(order)
  order.alter?.(body)
  const statement_digest = sha256(canonical(body))
  const message = Buffer.concat([Buffer.from(`${domainTag}\0`), Buffer.from(statement_digest, 'hex')])
  return { body, statement_digest, signature: key.sign(message), issuer_pubkey: key.hex, sig_alg: 'ed25519' }
}

function bodyOf(order: Order): JsonObject {
  const { files = FILES, key = STATEMENT_KEY, sequence = 1, previous = null, proofId = PROOF_ID } = order
  const { issuedAt = ISSUED_AT } = order
  const root = merkleRoot(files)
  const manifest = manifestDigest(files)
  const about = { proof_id: proofId, merkle_root: root, manifest_digest: manifest, file_count: files.length }
  return {
    schema: 'svc/evidence/v2',
    policy_version: 1,
    proof_id: proofId,
    snapshot_id: snapshotOf(about),
    sequence,
    prev_statement_digest: previous,
    merkle_algorithm: 'svc-merkle-v1',
    merkle_root: `sha256:${root}`,
    file_count: files.length,
    manifest_file_count: files.length,
    total_bytes: String(files.reduce((sum, { size_bytes }) => sum + size_bytes, 0)),
    manifest_digest: manifest,
    check_mode: 'recorded_hashes',
    issued_at: isoSeconds(issuedAt),
    issued_at_unix: issuedAt,
    issuer_key_id: key.id,
    nonce: '101112131415161718191a1b1c1d1e1f',
  }
}

/** The snapshot id of a statement about this. */
export function snapshotOf({ proof_id, merkle_root, manifest_digest, file_count }: JsonObject): string {
  const bare = (digest: Json | undefined) => String(digest).replace('sha256:', '')
  const [root, manifest] = [bare(merkle_root), bare(manifest_digest)]
  const snapshot = { domain: 'svc/snapshot/v2', proof_id, merkle_root: root, manifest_digest: manifest, file_count }
  return sha256(canonical(snapshot as JsonObject))
}

/** A bundle of the oracle era: the root itself is signed. */
export function bundleV1(files: readonly PackFile[] = FILES): JsonObject {
  const bundle = bundleOf({ files })
  const root = merkleRoot(files)
  return {
    ...bundle,
    bundle_version: 1,
    proof_id: null,
    algorithms: { merkle: 'svc-merkle-v1', envelope: null },
    commitment: { ...(bundle.commitment as JsonObject), check_mode: null },
    envelope: null,
    v1_signature: {
      manifest_signature: STATEMENT_KEY.sign(Buffer.from(root)),
      signed_message: root,
      result_hash: `sha256:${sha256('not looked at')}`,
    },
  }
}

/** A redacted bundle: the files with these names, or the leaves of all. */
export function redactedOf(names: readonly string[] | null, order: Order = {}): JsonObject {
  const { files = FILES, anchor = null } = order
  const shown = files.flatMap((file, i): JsonObject[] =>
    names?.includes(file.filename) ? [{ ...file, leaf_index: i, proof: proofOf(files, i) }] : [],
  )
  return {
    schema: 'svc/redacted-evidence-bundle/v1',
    redaction: names ? 'chosen_files' : 'no_names',
    algorithms: { merkle: 'svc-merkle-v1', envelope: 'svc/evidence/v2' },
    envelope: envelopeOf(order),
    anchor,
    how_to_verify: [
      'Fold the proofs.',
      'Hash the statement.',
      'Verify the signature.',
      'Mind the rest.',
      'Ask a node.',
    ],
    ...(names ? { files: shown } : { leaf_hashes: leavesOf(files) }),
  }
}

/** The value at a dotted path. */
export function at(document: JsonObject, path: string): Json {
  return path.split('.').reduce((node, key) => (node as JsonObject)[key] as Json, document as Json)
}

/** A copy with the value at a dotted path replaced; `undefined` removes it. */
export function changed(document: JsonObject, path: string, value: Json | undefined): JsonObject {
  const copy = structuredClone(document)
  const keys = path.split('.')
  const last = keys.pop() as string
  const parent = keys.length === 0 ? copy : (at(copy, keys.join('.')) as JsonObject)
  if (value === undefined) delete parent[last]
  else parent[last] = value
  return copy
}
