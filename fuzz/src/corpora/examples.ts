import { readFileSync } from 'node:fs'
import { toHex } from '@svc/protocol/bytes'
import { issuerKeyId } from '@svc/protocol/ids'
import { ed25519Signer } from '@svc/protocol/keys'
import { SIGNING_KEYS_SCHEMA } from '@svc/protocol/names'
import type { Examples } from './readers.ts'

/** Valid documents, to which a case is added. */
export function examples(): Examples {
  const public_key_hex = toHex(ed25519Signer(new Uint8Array(32).fill(7)).publicKey)
  const key = { key_id: issuerKeyId(public_key_hex), alg: 'ed25519', public_key_hex, use: 'receipt', status: 'active' }
  const texts = ['receipt_id', 'pay_req_id', 'tx_hash', 'receipt_sig', 'receipt_signer_pubkey']
  return {
    bundle: JSON.stringify(
      JSON.parse(readFileSync(new URL('../../../vectors/bundles/chain-1.json', import.meta.url), 'utf8')),
    ),
    receipt: JSON.stringify(Object.fromEntries(texts.map((field) => [field, 'text']))),
    keys: JSON.stringify({ schema: SIGNING_KEYS_SCHEMA, keys: [key] }),
    dsse: JSON.stringify({ payload: '', payloadType: '', signatures: [] }),
  }
}
