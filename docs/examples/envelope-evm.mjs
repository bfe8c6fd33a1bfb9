// Signs a request to a storage gateway as the owner of an EVM wallet, with viem. The example of docs/http.md.

import { createHash } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'

const account = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
const body = '{"receipt_id":"rcpt_test_0001","tags":[]}'

// The keys are in alphabetical order, so that JSON.stringify writes the canonical text.
const envelope = JSON.stringify({
  body_sha256: createHash('sha256').update(body).digest('hex'),
  exp: 1781222460,
  iat: 1781222400,
  locker_id: 'locker_14fa9d190572',
  method: 'POST',
  nonce: 'e0e1e2e3e4e5e6e7e8e9eaebecedeeef',
  ops: ['locker:provision'],
  path: '/v1/storage/signed_provision',
  receipt_id: 'rcpt_test_0001',
  sig_alg: 'secp256k1',
  v: 1,
})
console.log(`X-Svc-Envelope: ${Buffer.from(envelope).toString('base64url')}`)
console.log(`X-Svc-Signature: ${await account.signMessage({ message: envelope })}`)
