import type { Address } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { REGISTRY } from '../derived-address.ts'
import { type FailureName, ProgramFailure } from '../failure.ts'
import type { ProgramAccount } from '../program/memory.ts'

export function requireSigner({ address, signer }: ProgramAccount) {
  if (!signer) throw new ProgramFailure('MissingRequiredSignature', `${address} has not signed`)
}

export function requireProgram({ address }: ProgramAccount, expected: Address) {
  if (address !== expected) throw new ProgramFailure('IncorrectProgramId', `${address} is not the program ${expected}`)
}

export function requireOwned({ address, owner }: ProgramAccount) {
  if (owner !== REGISTRY) throw new ProgramFailure('InvalidAccountOwner', `${address} does not belong to the registry`)
}

export function requireWritable({ address, writable }: ProgramAccount) {
  if (!writable) throw new ProgramFailure('InvalidAccountData', `${address} is not writable`)
}

/** An account that is still to be made. */
export function requireVacant(account: ProgramAccount) {
  const { address, owner } = account
  if (owner !== SYSTEM_PROGRAM_ADDRESS) throw new ProgramFailure('InvalidAccountOwner', `${address} is taken`)
  requireWritable(account)
}

export function requireAddress({ address }: ProgramAccount, expected: Address, failure: FailureName) {
  if (address !== expected) throw new ProgramFailure(failure, `${address} should be ${expected}`)
}

export function requireAuthority({ address }: ProgramAccount, authority: Address) {
  if (address !== authority) throw new ProgramFailure('IncorrectAuthority', `${address} is not the authority`)
}

export function requireAuthorized({ address }: ProgramAccount, signers: readonly Address[]) {
  if (!signers.includes(address)) throw new ProgramFailure('SignerNotAuthorized', `${address} may not attest`)
}
