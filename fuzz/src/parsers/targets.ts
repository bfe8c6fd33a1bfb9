// Every parser of bytes that strangers send: `npm run fuzz -- --only NAME`.

import type { FuzzTarget } from '../target.ts'
import { runInThread } from './engine/run-in-thread.ts'

/** The module of each exports `open`, which makes its `Parser`. */
export const PARSERS: Readonly<Record<string, URL>> = {
  'strict-json': new URL('./json/strict-json.ts', import.meta.url),
  'canonical-json': new URL('./json/canonical-json.ts', import.meta.url),
  encodings: new URL('./json/encodings.ts', import.meta.url),
  envelope: new URL('./auth/envelope.ts', import.meta.url),
  'short-urls': new URL('./auth/short-urls.ts', import.meta.url),
  'sealed-tokens': new URL('./auth/sealed-tokens.ts', import.meta.url),
  jwt: new URL('./auth/jwt.ts', import.meta.url),
  signatures: new URL('./auth/signatures.ts', import.meta.url),
  'key-files': new URL('./auth/key-files.ts', import.meta.url),
  range: new URL('./http/range.ts', import.meta.url),
  conditions: new URL('./http/conditions.ts', import.meta.url),
  dates: new URL('./http/dates.ts', import.meta.url),
  filenames: new URL('./http/filenames.ts', import.meta.url),
  'part-body': new URL('./http/part-body.ts', import.meta.url),
  'tus-headers': new URL('./http/tus-headers.ts', import.meta.url),
  's3-signature': new URL('./s3/signature.ts', import.meta.url),
  's3-chunks': new URL('./s3/chunks.ts', import.meta.url),
  's3-xml': new URL('./s3/xml.ts', import.meta.url),
  's3-object-headers': new URL('./s3/object-headers.ts', import.meta.url),
  bundles: new URL('./evidence/bundles.ts', import.meta.url),
  receipts: new URL('./evidence/receipts.ts', import.meta.url),
  dsse: new URL('./evidence/dsse.ts', import.meta.url),
  'key-lists': new URL('./evidence/key-lists.ts', import.meta.url),
  exports: new URL('./evidence/exports.ts', import.meta.url),
  notes: new URL('./log/notes.ts', import.meta.url),
  proofs: new URL('./log/proofs.ts', import.meta.url),
  policies: new URL('./log/policies.ts', import.meta.url),
  tiles: new URL('./log/tiles.ts', import.meta.url),
  'rpc-json': new URL('./payments/rpc-json.ts', import.meta.url),
  'solana-transactions': new URL('./payments/solana-transactions.ts', import.meta.url),
  'evm-transactions': new URL('./payments/evm-transactions.ts', import.meta.url),
  'solana-answers': new URL('./payments/solana-answers.ts', import.meta.url),
  'evm-answers': new URL('./payments/evm-answers.ts', import.meta.url),
  'solana-pay': new URL('./payments/solana-pay.ts', import.meta.url),
  mpp: new URL('./payments/mpp.ts', import.meta.url),
  x402: new URL('./payments/x402.ts', import.meta.url),
}

export const PARSER_TARGETS: FuzzTarget[] = Object.entries(PARSERS).map(([name, { href }]) => ({
  name,
  run: (options) => runInThread(href, options),
}))
