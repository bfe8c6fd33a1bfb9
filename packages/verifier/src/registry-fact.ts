import { fromBase58, toBase58 } from '@svc/protocol/bytes'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import {
  attestationAddress,
  REGISTRY_PROGRAM,
  type RegistryAccount,
  type RegistryRecord,
  readRegistryAccount,
  registryNonce,
  registryRecord,
} from '@svc/protocol/registry'
import { type Fact, failed, notChecked, PASSED, unavailable } from './facts.ts'
import { askAccount, type Rpc } from './rpc.ts'
import { isObject, type JsonObject } from './untrusted.ts'

/** The account of `anchor.sas`. */
interface RegistryLocation {
  credential: string
  schema: string
  nonce: string
  attestation: string
  mode: 'latest' | 'per_snapshot'
}

/**
 * Whether the account in the registry contains this statement (SAS-09). In mode `latest` a newer statement of the same
 * proof replaces an older one as intended. The older record can no longer be read, so the fact is `not_checked`. An
 * older statement, or none, is `failed`.
 */
export async function registryMatches(rpc: Rpc, anchor: JsonObject, envelope: EvidenceEnvelope | null): Promise<Fact> {
  if (anchor.type !== 'chain_sas_v1') return notChecked('the anchor is not in the registry')
  if (!envelope) return failed('the bundle has no statement that can be in the registry')
  const location = registryLocation(anchor)
  if (!location) return failed('anchor.sas does not name the account of the record')
  if (!isLocationOf(location, envelope)) return failed('the account in anchor.sas does not match the statement')
  const answer = await askAccount(rpc, location.attestation)
  if ('unavailable' in answer) return unavailable(answer.unavailable)
  if (!answer.found) return failed('the account is closed or never existed')
  if (answer.found.owner !== REGISTRY_PROGRAM) return failed('the account does not belong to the registry program')
  const account = readRegistryAccount(answer.found.data)
  if (!account) return failed('the account contains no record')
  if (!isAccountOf(account, location, anchor)) return failed('the account has another signer, credential or schema')
  return compareRecords(account.record, registryRecord(envelope), location.mode)
}

function registryLocation({ sas }: JsonObject): RegistryLocation | null {
  if (!isObject(sas) || sas.program !== REGISTRY_PROGRAM) return null
  const { credential, schema, nonce, attestation, mode } = sas
  const addresses = [credential, schema, nonce, attestation]
  const areAddresses = addresses.every((text) => typeof text === 'string' && fromBase58(text, 32) !== null)
  if (!areAddresses || (mode !== 'latest' && mode !== 'per_snapshot')) return null
  return { credential, schema, nonce, attestation, mode } as RegistryLocation // each is a string that was checked
}

/** Computes the address, so that no other account can be substituted. */
function isLocationOf(location: RegistryLocation, { body }: EvidenceEnvelope): boolean {
  const nonce = registryNonce(body.proof_id, location.mode === 'per_snapshot' ? body.snapshot_id : undefined)
  return location.nonce === toBase58(nonce) && location.attestation === attestationAddress(location, nonce)
}

function isAccountOf(account: RegistryAccount, location: RegistryLocation, { signer }: JsonObject): boolean {
  const { nonce, credential, schema } = account
  const isSameAccount = nonce === location.nonce && credential === location.credential && schema === location.schema
  return isSameAccount && account.signer === signer
}

function compareRecords(found: RegistryRecord, expected: RegistryRecord, mode: RegistryLocation['mode']): Fact {
  const fields = Object.keys(expected) as (keyof RegistryRecord)[]
  if (fields.every((field) => found[field] === expected[field])) return PASSED
  const isOfSameProof = found.proof_id === expected.proof_id
  if (mode === 'latest' && isOfSameProof && found.sequence > expected.sequence) {
    return notChecked(`the record was replaced by a newer statement, number ${found.sequence}`)
  }
  return failed('the record is for another statement')
}
