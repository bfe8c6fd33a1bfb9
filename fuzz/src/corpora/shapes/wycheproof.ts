// Wycheproof's groups of tests for Ed25519, and for ECDSA on secp256k1 with SHA-256.

import { toHex } from '@svc/protocol/bytes'
import type { Corpora } from '../cases.ts'
import { type CorpusFile, type Fields, hex } from './file.ts'
import { built } from './lists.ts'

export function addWycheproof({ name, unread }: CorpusFile, { algorithm, testGroups }: Fields, corpora: Corpora): void {
  const others = new Map<string, number>()
  for (const group of (testGroups as unknown[]).map((one) => Object(one) as Fields)) {
    const tests: unknown[] = Array.isArray(group.tests) ? group.tests : []
    const left = tests.filter((test) => !addTest(name, group, Object(test), corpora)).length
    const { curve } = keyOf(group)
    const kind = `${String(algorithm)} on ${String(curve)}`
    others.set(kind, (others.get(kind) ?? 0) + left)
  }
  for (const [kind, count] of others) if (count > 0) unread(`${count} tests of ${kind}, which no code here verifies`)
}

function keyOf({ publicKey, key }: Fields): Fields {
  return Object(publicKey ?? key) as Fields
}

/** Returns whether the test was added: tests of algorithms that are not used here are not. */
function addTest(path: string, group: Fields, { tcId, msg, sig, result }: Fields, corpora: Corpora): boolean {
  const { curve, pk, uncompressed } = keyOf(group)
  const name = `${path} ${String(tcId)}`
  const isValid = result === 'valid' ? true : result === 'invalid' ? false : null
  if (curve === 'edwards25519') {
    const made = built(name, { publicKey: hex(pk), message: hex(msg), signature: hex(sig) }, isValid)
    if (made) corpora.ed25519.push(made)
    return made !== null
  }
  if (curve !== 'secp256k1' || group.sha !== 'SHA-256') return false
  const [publicKey, message, signature] = [uncompressed, msg, sig].map(hex)
  if (publicKey?.length !== 65 || !message || !signature) return false
  const form = group.type === 'EcdsaP1363Verify' ? 'P1363' : 'DER'
  const parts = { publicKey: toHex(publicKey), message: toHex(message), signature: toHex(signature) }
  corpora.secp256k1.push({ name, ...parts, form, isValid })
  return true
}
