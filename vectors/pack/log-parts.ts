// Shared by the cases about logs.

import { GIVEN, memo } from './anchor-parts.ts'
import { bundleOf, changed, envelopeOf } from './bundles.ts'
import { type Case, type Facts, type FactValue, type GivenInPack, PINNED, type RpcAnswer } from './case.ts'
import { canonical, type Json, type JsonObject, sha256 } from './formats.ts'
import { PUBLICATION_KEY } from './keys.ts'
import {
  cosignedBy,
  type Hash,
  headOf,
  type NoteKey,
  noteKey,
  noteOf,
  pathOf,
  proofText,
  rootOf,
  signedBy,
} from './log.ts'
import { BLOCK_TIME, CHAIN, known, SLOT, transactionOf } from './transactions.ts'

export const ORIGIN = 'gateway.example/log'
export const COSIGNED_AT = 1_781_222_401
export const INDEX = 4
export const LOG = noteKey(ORIGIN, 'log')
export const IMPOSTOR = noteKey(ORIGIN, 'log', 'impostor')
export const WITNESSES = ['w1', 'w2', 'w3'].map((name) => noteKey(`${name}.example/witness`, 'cosigner'))
export const [W1, W2] = WITNESSES as [NoteKey, NoteKey]

export const POLICY = [
  `log ${LOG.vkey} https://gateway.example/log/`,
  ...WITNESSES.map(({ vkey }, i) => `witness w${i + 1} ${vkey}`),
  'group two-of-three 2 w1 w2 w3',
  'quorum two-of-three',
  '',
].join('\n')

export const digest = Buffer.from(envelopeOf().statement_digest as string, 'hex')

/** A log of `size` entries with the statement at `index`. */
export function entriesOf(size: number, index = INDEX): Buffer[] {
  return Array.from({ length: size }, (_, i) => (i === index ? digest : Buffer.from(sha256(`entry ${i}`), 'hex')))
}

export const ENTRIES = entriesOf(7)
export const HEAD = headOf(ORIGIN, ENTRIES)
export const PATH = pathOf(INDEX, ENTRIES)
export const cosigned = (text: string) => [W1, W2].map((key) => cosignedBy(key, text, COSIGNED_AT))

/** Signed by the log and two witnesses. */
export function whole(text: string): string {
  return noteOf(text, signedBy(LOG, text), ...cosigned(text))
}

export const PROOF = proofText(INDEX, PATH, whole(HEAD))

export function payloadOf(size: number, root: Hash): JsonObject {
  return { s: 'svc/log-anchor/v1', o: ORIGIN, n: size, root: root.toString('hex') }
}

const PAYLOAD = payloadOf(ENTRIES.length, rootOf(ENTRIES))
export const published = transactionOf({ instructions: [memo(canonical(PAYLOAD))] })

export const LOG_ANCHOR: JsonObject = {
  chain: CHAIN,
  tx: published.id,
  slot: SLOT,
  block_time: BLOCK_TIME,
  signer: PUBLICATION_KEY.base58,
  payload: PAYLOAD,
  commitment: 'finalized',
  finalized: true,
}

export const PROVEN: JsonObject = { proof: PROOF, anchor: LOG_ANCHOR }
export const LOG_NODE = known(published)
const withLog = (log: Json): JsonObject => ({ ...bundleOf(), log })
export const WHOLE = withLog(PROVEN)

export const LOG_PASSED: Facts = { log_included: 'passed', log_cosigned: 'passed', log_anchored: 'passed' }
export const OFFLINE: Facts = { ...LOG_PASSED, log_anchored: 'not_checked' }
export const OPEN: Facts = { log_included: 'not_checked', log_cosigned: 'not_checked', log_anchored: 'not_checked' }
export const BROKEN: Facts = { log_included: 'failed', log_cosigned: 'failed', log_anchored: 'failed' }
export const NOT_INCLUDED: Facts = { ...OFFLINE, log_included: 'failed' }
export const NOT_COSIGNED: Facts = { ...OFFLINE, log_cosigned: 'failed' }
export const WITH_POLICY: GivenInPack = { ...GIVEN, policy: POLICY }

export function proof(name: string, what: string, text: Json, expect: Facts): Case {
  return {
    name: `log-${name}`,
    what,
    document: withLog({ proof: text, anchor: null }),
    given: { ...PINNED, policy: POLICY },
    expect,
  }
}

/** The same proof under another checkpoint. */
export function checkpoint(name: string, what: string, note: string, expect: Facts): Case {
  return proof(name, what, proofText(INDEX, PATH, note), expect)
}

export function given(name: string, what: string, more: GivenInPack, expect: Facts): Case {
  return { name: `log-${name}`, of: 'log', what, given: { ...GIVEN, ...more }, expect }
}

export function log(name: string, what: string, value: Json, expect: Facts): Case {
  return { name: `log-${name}`, what, document: withLog(value), given: WITH_POLICY, expect }
}

/** The whole bundle before another node. */
export function node(name: string, what: string, rpc: RpcAnswer[], log_anchored: FactValue): Case {
  return { name: `log-node-${name}`, of: 'log', what, given: WITH_POLICY, rpc, expect: { ...LOG_PASSED, log_anchored } }
}

/** The anchor of the log with a value changed, and the right node. */
export function anchor(name: string, what: string, path: string, value: Json, log_anchored: FactValue): Case {
  const document = changed(WHOLE, `log.anchor.${path}`, value)
  const expect = { ...LOG_PASSED, log_anchored }
  return { name: `log-anchor-${name}`, what, document, given: WITH_POLICY, rpc: LOG_NODE, expect }
}
