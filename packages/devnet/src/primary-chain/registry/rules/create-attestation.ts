import { getAddressDecoder, getI64Decoder, getStructDecoder } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { attestations, credentials, NO_TOKEN_ACCOUNT, schemas, sizedBytes } from '../accounts.ts'
import { addressBytes, deriveAddress } from '../derived-address.ts'
import { ProgramFailure } from '../failure.ts'
import { nameAccounts, type Rule, readParameters } from '../instruction.ts'
import { requireAddress, requireAuthorized, requireOwned, requireProgram, requireSigner } from './checks.ts'
import { requireLayout } from './data-layout.ts'
import { makeAccount } from './make-account.ts'

const parametersDecoder = getStructDecoder([
  ['nonce', getAddressDecoder()],
  ['data', sizedBytes()],
  ['expiry', getI64Decoder()],
])

export const createAttestation: Rule = ({ accounts, parameters }, surroundings) => {
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
  if (expiry !== 0n && expiry < surroundings.now)
    throw new ProgramFailure('InvalidAttestationData', `expired at ${expiry}, it is ${surroundings.now}`)
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
  return makeAccount(payer, attestation, derived, account, surroundings)
}
