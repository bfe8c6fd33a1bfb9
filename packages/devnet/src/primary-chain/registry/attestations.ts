// The rules of the registry's instructions about attestations, and the event when one is closed.

import { type Address, getAddressDecoder, getI64Decoder, getStructDecoder, type ReadonlyUint8Array } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import {
  addressBytes,
  attestations,
  credentials,
  deriveAddress,
  makeAccount,
  NO_TOKEN_ACCOUNT,
  REGISTRY,
  schemas,
  sizedBytes,
} from './accounts.ts'
import { requireLayout } from './data-layout.ts'
import { ProgramFailure } from './failure.ts'
import {
  nameAccounts,
  type Rule,
  readParameters,
  requireAddress,
  requireAuthorized,
  requireOwned,
  requireProgram,
  requireSigner,
  requireWritable,
} from './instruction.ts'
import { type Code, exit, ifByte, ifBytes } from './program/assembler.ts'
import { closeAccount } from './program/effects.ts'
import { invoke } from './program/invoke.ts'
import { FIELDS, FIRST_ACCOUNT, type ProgramAccount } from './program/memory.ts'

/** Only the registry can sign for this address. */
const EVENT_AUTHORITY = deriveAddress('__event_authority')
const EVENT_TAG = Buffer.from('e445a52e51cb9a1d', 'hex')
const ATTESTATION_CLOSED = 0

const parametersDecoder = getStructDecoder([
  ['nonce', getAddressDecoder()],
  ['data', sizedBytes()],
  ['expiry', getI64Decoder()],
])

export const createAttestation: Rule = ({ accounts, parameters }, { now, rentFor }) => {
  const { nonce, data, expiry } = readParameters(parametersDecoder, parameters)
  const named = nameAccounts(accounts, 'payer', 'authority', 'credential', 'schema', 'attestation', 'system')
  const { payer, authority, credential, schema, attestation, system } = named
  requireSigner(authority)
  requireProgram(system, SYSTEM_PROGRAM_ADDRESS)
  requireOwned(credential)
  requireOwned(schema)
  requireAuthorized(authority, credentials.decode(credential).authorizedSigners)
  const { isPaused, credential: issuer, layout } = schemas.decode(schema)
  if (isPaused) throw new ProgramFailure('SchemaPaused', `${schema.address} is paused`)
  if (issuer !== credential.address)
    throw new ProgramFailure('InvalidCredential', `${schema.address} belongs to another credential`)
  if (expiry !== 0n && expiry < now)
    throw new ProgramFailure('InvalidAttestationData', `expired at ${expiry}, it is ${now}`)
  const seeds = [credential.address, schema.address, nonce].map(addressBytes)
  const derived = deriveAddress('attestation', ...seeds)
  requireAddress(attestation, derived.address, 'InvalidAttestation')
  requireLayout(data, layout)
  const account = attestations.encode({
    nonce,
    credential: credential.address,
    schema: schema.address,
    data,
    signer: authority.address,
    expiry,
    tokenAccount: NO_TOKEN_ACCOUNT,
  })
  return makeAccount(payer, attestation, derived, account, rentFor)
}

const ACCOUNTS = ['payer', 'authority', 'credential', 'attestation', 'eventAuthority', 'system', 'registry'] as const

/** Any signer of the credential may close any of its attestations and send the rent anywhere. */
export const closeAttestation: Rule = ({ accounts }) => {
  const named = nameAccounts(accounts, ...ACCOUNTS)
  const { payer, authority, credential, attestation, eventAuthority, system, registry } = named
  requireSigner(authority)
  requireProgram(system, SYSTEM_PROGRAM_ADDRESS)
  requireProgram(registry, REGISTRY)
  requireOwned(credential)
  requireOwned(attestation)
  requireWritable(attestation)
  requireAuthorized(authority, credentials.decode(credential).authorizedSigners)
  const { tokenAccount, credential: issuer, schema, data } = attestations.decode(attestation)
  if (tokenAccount !== NO_TOKEN_ACCOUNT)
    throw new ProgramFailure('InvalidTokenAccount', `${attestation.address} has a token`)
  if (issuer !== credential.address)
    throw new ProgramFailure('InvalidCredential', `${attestation.address} belongs to another credential`)
  requireAddress(eventAuthority, EVENT_AUTHORITY.address, 'InvalidEventAuthority')
  return [...closeAccount(attestation, payer), ...emitClosed(eventAuthority, schema, data)]
}

/** The registry calls itself with the event, so that it stays readable in the transaction. */
function emitClosed(eventAuthority: ProgramAccount, schema: Address, data: ReadonlyUint8Array): Code {
  const event = [EVENT_TAG, Uint8Array.of(ATTESTATION_CLOSED), addressBytes(schema), sizedBytes().encode(data)]
  return invoke({
    program: REGISTRY,
    accounts: [{ account: eventAuthority, signer: true, writable: false }],
    data: Buffer.concat(event.map((part) => Uint8Array.from(part))),
    seeds: EVENT_AUTHORITY.seeds,
  })
}

/** How the registry handles its own call: it only checks who signed. */
export function acceptOwnEvent(): Code {
  const [key, signer] = [FIRST_ACCOUNT + FIELDS.address, FIRST_ACCOUNT + FIELDS.signer]
  return ifBytes(key, addressBytes(EVENT_AUTHORITY.address), ifByte(signer, exit(0n)))
}
