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

/** What `anchor.sas` says about the account. */
interface RegistryPlace {
  credential: string
  schema: string
  nonce: string
  attestation: string
  mode: 'latest' | 'per_snapshot'
}

/**
 * Whether the account in the registry holds this statement (SAS-09). In mode `latest` a newer statement of the same proof
 * replaces an older one, as intended: the older record can no longer be seen, so the fact is `not_checked`. An older
 * statement in its place, or none, is `failed`.
 */
export async function registryMatches(rpc: Rpc, anchor: JsonObject, envelope: EvidenceEnvelope | null): Promise<Fact> {
  if (anchor.type !== 'chain_sas_v1') return notChecked('the anchor is not in the registry')
  if (!envelope) return failed('the bundle has no statement that could be in the registry')
  const place = registryPlace(anchor)
  if (!place) return failed('anchor.sas does not say where the record is')
  if (!isPlaceOf(place, envelope)) return failed('anchor.sas does not follow from the statement')
  const answer = await askAccount(rpc, place.attestation)
  if ('unavailable' in answer) return unavailable(answer.unavailable)
  if (!answer.found) return failed('the account is closed, or never was')
  if (answer.found.owner !== REGISTRY_PROGRAM) return failed('the account is not of the registry program')
  const account = readRegistryAccount(answer.found.data)
  if (!account) return failed('the account holds no record')
  if (!isAccountOf(account, place, anchor)) return failed('the account is of another signer, credential or schema')
  return compareRecords(account.record, registryRecord(envelope), place.mode)
}

function registryPlace({ sas }: JsonObject): RegistryPlace | null {
  if (!isObject(sas) || sas.program !== REGISTRY_PROGRAM) return null
  const { credential, schema, nonce, attestation, mode } = sas
  const addresses = [credential, schema, nonce, attestation]
  const areAddresses = addresses.every((text) => typeof text === 'string' && fromBase58(text, 32) !== null)
  if (!areAddresses || (mode !== 'latest' && mode !== 'per_snapshot')) return null
  return { credential, schema, nonce, attestation, mode } as RegistryPlace // each is a string that was checked
}

/** Computes the address, so that no other account can take its place. */
function isPlaceOf(place: RegistryPlace, { body }: EvidenceEnvelope): boolean {
  const nonce = registryNonce(body.proof_id, place.mode === 'per_snapshot' ? body.snapshot_id : undefined)
  return place.nonce === toBase58(nonce) && place.attestation === attestationAddress(place, nonce)
}

function isAccountOf(account: RegistryAccount, place: RegistryPlace, { signer }: JsonObject): boolean {
  const { nonce, credential, schema } = account
  const isInPlace = nonce === place.nonce && credential === place.credential && schema === place.schema
  return isInPlace && account.signer === signer
}

function compareRecords(found: RegistryRecord, expected: RegistryRecord, mode: RegistryPlace['mode']): Fact {
  const fields = Object.keys(expected) as (keyof RegistryRecord)[]
  if (fields.every((field) => found[field] === expected[field])) return PASSED
  const isOfSameProof = found.proof_id === expected.proof_id
  if (mode === 'latest' && isOfSameProof && found.sequence > expected.sequence) {
    return notChecked(`replaced by a newer snapshot, statement ${found.sequence}`)
  }
  return failed('the record is of another statement')
}
