// For tests: a bundle of the pack under made-up histories of keys: lists that pin some of them, endorsements and
// revocations, most of them well formed, in any order.

import { createHash } from 'node:crypto'
import type { Random } from '@svc/devnet/properties/random'
import { fromHex, toHex, utf8 } from '@svc/protocol/bytes'
import { canonicalBytes, type Json } from '@svc/protocol/canonical'
import { type Ed25519Signer, ed25519Signer } from '@svc/protocol/keys'
import vectors from '../../../../vectors/protocol.json' with { type: 'json' }
import type { Mutant, Original } from './mutants.ts'

type Document = { [name: string]: Json }

/** The first is the one that signs the statements of the pack. */
const SIGNERS = ['statement_signing', 'publication', 'short_url', 'owner_ed25519', 'operator_ed25519'].map((name) => {
  const { seed_hex } = vectors.keys[name as 'publication']
  return ed25519Signer(fromHex(seed_hex) as Uint8Array)
})
/** Around the time of the statement, 2026-06-12, with times that are ten minutes and a second apart. */
const TIMES = [
  ...['2026-05-01T00:00:00Z', '2026-06-01T00:00:00Z', '2026-06-11T23:49:59Z', '2026-06-11T23:50:00Z'],
  ...['2026-06-11T23:50:00.5Z', '2026-06-12T00:00:00Z', '2026-06-12T00:00:03Z', '2026-06-12T00:10:00Z'],
  ...['2026-06-12T00:10:01Z', '2026-07-01T00:00:00Z'],
]
const CASES = ['v2', 'v1', 'anchor-memo', 'log', 'redacted-chosen', 'v2-no-issuer-pubkey']

export function mutantOf(random: Random, originals: readonly Original[]): Mutant {
  const name = random.pick(CASES)
  const { document, given, answers } = originals.find((original) => original.name === name) as Original
  const time = () => random.pick(TIMES)
  const change = () => changeOf(random, time)
  const keys = Array.from({ length: 1 + random.below(3) }, () => ({
    ...named(random.pick(SIGNERS)),
    alg: 'ed25519',
    use: random.pick(['receipt', 'attestation', 'evidence-envelope', 'evidence-envelope', 'publication']),
    status: random.pick(['active', 'retired']),
    ...(random.oneIn(2) && { valid_from: time() }),
    ...(random.oneIn(3) && { valid_to: time() }),
  }))
  const list = {
    schema: 'svc/signing-keys/v1',
    keys,
    ...(random.oneIn(3) && { recovery: named(random.pick(SIGNERS)) }),
    ...(random.oneIn(2) && { endorsements: repeated(random, () => change().endorsement) }),
    ...(random.oneIn(3) && { revocations: repeated(random, () => change().revocation) }),
  }
  const pinned_keys = random.oneIn(3)
    ? [toHex(random.pick(SIGNERS).publicKey), toHex(random.pick(SIGNERS).publicKey)]
    : list
  const signing_keys = {
    ...(document as { signing_keys?: Document }).signing_keys,
    endorsements: repeated(random, () => change().endorsement),
    revocations: repeated(random, () => change().revocation),
  }
  const text = JSON.stringify({ ...(document as Document), signing_keys })
  return { what: name, text, given: { ...given, pinned_keys }, answers }
}

function repeated<T>(random: Random, make: () => T): T[] {
  return Array.from({ length: random.below(4) }, make)
}

function named({ publicKey }: Ed25519Signer) {
  const hex = toHex(publicKey)
  return { key_id: `ed25519:${hex.slice(0, 16)}`, public_key_hex: hex }
}

function changeOf(random: Random, time: () => string): { endorsement: Json; revocation: Json } {
  const [by, of] = [random.pick(SIGNERS), random.pick(SIGNERS)]
  const issued = time()
  const begins = random.oneIn(4) ? time() : issued
  const common = { purpose: random.oneIn(20) ? 'receipt' : 'statement', audience: 'https://gateway.example' }
  const signed = (tag: string, body: Document) => {
    const digest = createHash('sha256').update(canonicalBytes(body)).digest()
    const signer = random.oneIn(20) ? random.pick(SIGNERS) : by
    return { body, signature: toHex(signer.sign(new Uint8Array([...utf8(`${tag}\0`), ...digest]))) }
  }
  return {
    endorsement: signed('SVC_KEY_ENDORSEMENT_V1', {
      schema: 'svc/key-endorsement/v1',
      ...common,
      endorser: named(by),
      endorsed: named(of),
      valid_from: begins,
      issued_at: issued,
    }),
    revocation: signed('SVC_KEY_REVOCATION_V1', {
      schema: 'svc/key-revocation/v1',
      ...common,
      revoked: named(of),
      revoked_by: named(by),
      since: begins,
      issued_at: issued,
    }),
  }
}
