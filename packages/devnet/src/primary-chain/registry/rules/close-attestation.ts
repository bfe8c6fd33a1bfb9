import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { attestations, credentials, NO_TOKEN_ACCOUNT } from '../accounts.ts'
import { REGISTRY } from '../derived-address.ts'
import { EVENT_AUTHORITY, tellOfClosed } from '../events.ts'
import { ProgramFailure } from '../failure.ts'
import { nameAccounts, type Rule } from '../instruction.ts'
import { closeAccount } from '../program/effects.ts'
import {
  requireAddress,
  requireAuthorized,
  requireOwned,
  requireProgram,
  requireSigner,
  requireWritable,
} from './checks.ts'

const ACCOUNTS = ['payer', 'authority', 'credential', 'attestation', 'eventAuthority', 'system', 'registry'] as const

/** Any signer of the credential may close what another one attested, and have the rent go anywhere. */
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
  return [...closeAccount(attestation, payer), ...tellOfClosed(eventAuthority, schema, data)]
}
