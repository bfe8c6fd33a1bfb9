// Bundles whose anchor also wrote an account of the attestation registry.

import { ANCHORED, anchorOf, GIVEN, memo } from './anchor-parts.ts'
import { bundleOf, changed, envelopeOf } from './bundles.ts'
import type { Case, Facts, RpcAnswer } from './case.ts'
import type { Json, JsonObject } from './formats.ts'
import { OTHER_PUBLICATION_KEY, PUBLICATION_KEY } from './keys.ts'
import { account, accountBytes, REGISTRY, sasOf, schema } from './registry-accounts.ts'
import { accountAnswer, known, transactionOf } from './transactions.ts'

const envelope = envelopeOf()

/** As in the real transaction: the memo, and a create instruction of the registry, whose content is in the account. */
const transaction = transactionOf({ instructions: [memo(), { program: REGISTRY, data: Uint8Array.of(6) }] })

function registered(sas: JsonObject): JsonObject {
  return bundleOf({ anchor: { ...anchorOf(transaction.id), type: 'chain_sas_v1', sas } })
}

function atNode(name: string, what: string, value: Json, registry_matches: Facts['registry_matches']): Case {
  const rpc = [...known(transaction), accountAnswer(String(sasOf('latest').attestation), value)]
  return {
    name: `registry-${name}`,
    of: 'registry-latest',
    what,
    given: GIVEN,
    rpc,
    expect: { ...ANCHORED, registry_matches } as Facts,
  }
}

function place(name: string, what: string, change: JsonObject): Case {
  const sas = { ...sasOf('latest'), ...change }
  return fails(name, what, registered(sas), [accountAnswer(String(sas.attestation), account(accountBytes({ sas })))])
}

function fails(name: string, what: string, document: JsonObject, answers: RpcAnswer[]): Case {
  const rpc = [...known(transaction), ...answers]
  return {
    name: `registry-${name}`,
    what,
    document,
    given: GIVEN,
    rpc,
    expect: { ...ANCHORED, registry_matches: 'failed' },
  }
}

const perSnapshot = sasOf('per_snapshot')
const newer = envelopeOf({ sequence: 2, previous: envelope.statement_digest as string })
const older = envelopeOf({ alter: (of) => Object.assign(of, { snapshot_id: '0f'.repeat(32) }) })
const otherProof = envelopeOf({ proofId: '0f'.repeat(16), sequence: 9, previous: '0f'.repeat(32) })
const elsewhere = sasOf('per_snapshot').attestation as string

export const REGISTERED: Case[] = [
  {
    name: 'registry-latest',
    what: 'a record of the public registry program',
    document: registered(sasOf('latest')),
    given: GIVEN,
    rpc: [...known(transaction), accountAnswer(String(sasOf('latest').attestation), account(accountBytes({})))],
    expect: { ...ANCHORED, registry_matches: 'passed' },
  },
  {
    name: 'registry-per-snapshot',
    what: 'an account of this snapshot alone',
    document: registered(perSnapshot),
    given: GIVEN,
    rpc: [
      ...known(transaction),
      accountAnswer(String(perSnapshot.attestation), account(accountBytes({ sas: perSnapshot }))),
    ],
    expect: { ...ANCHORED, registry_matches: 'passed' },
  },
  atNode('no-trailing-bytes', 'an account that ends with its expiry', account(accountBytes({ trailing: 0 })), 'passed'),
  atNode(
    'replaced',
    'a newer statement has taken its place',
    account(accountBytes({ statement: newer })),
    'not_checked',
  ),
  atNode('older', 'another statement that is not newer', account(accountBytes({ statement: older })), 'failed'),
  atNode('other-proof', 'a record of another proof', account(accountBytes({ statement: otherProof })), 'failed'),
  atNode('closed', 'the account is closed', null, 'failed'),
  atNode(
    'wrong-owner',
    'an account of another program',
    account(accountBytes({}), '11111111111111111111111111111111'),
    'failed',
  ),
  atNode(
    'other-signer',
    'a record that another key wrote',
    account(accountBytes({ signer: OTHER_PUBLICATION_KEY.base58 })),
    'failed',
  ),
  atNode(
    'other-credential',
    'a record under another credential',
    account(accountBytes({ sas: { ...sasOf('latest'), credential: schema } })),
    'failed',
  ),
  atNode('cut-short', 'a record cut short', account(accountBytes({}).subarray(0, 200)), 'failed'),
  atNode(
    'other-kind',
    'an account of another kind',
    account(Buffer.concat([Uint8Array.of(1), accountBytes({}).subarray(1)])),
    'failed',
  ),
  atNode('empty', 'an account without data', account(Buffer.alloc(0)), 'failed'),
  atNode('nonsense', 'a number instead of an account', 7, 'unavailable'),
  {
    name: 'registry-down',
    of: 'registry-latest',
    what: 'no answer about the account',
    given: GIVEN,
    rpc: known(transaction),
    expect: { ...ANCHORED, registry_matches: 'unavailable' },
  },
  {
    name: 'registry-replaced-per-snapshot',
    of: 'registry-per-snapshot',
    what: 'another statement in an account that is for one snapshot',
    given: GIVEN,
    rpc: [
      ...known(transaction),
      accountAnswer(String(perSnapshot.attestation), account(accountBytes({ sas: perSnapshot, statement: newer }))),
    ],
    expect: { ...ANCHORED, registry_matches: 'failed' },
  },
  place('other-program', 'a registry of somebody else', { program: PUBLICATION_KEY.base58 }),
  place('other-nonce', 'a nonce that does not follow from the proof', { nonce: OTHER_PUBLICATION_KEY.base58 }),
  place('other-address', 'an address that does not follow from the nonce', { attestation: elsewhere }),
  place('other-mode', 'a mode that does not exist', { mode: 'newest' }),
  place('address-garbage', 'an invalid address', { attestation: 'not base58!' }),
  fails('no-place', 'nothing says where the record is', changed(registered({}), 'anchor.sas', null), []),
]
