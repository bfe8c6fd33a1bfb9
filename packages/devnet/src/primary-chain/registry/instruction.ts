// An instruction to the registry: reading its parameters and checking its accounts.

import { type Address, createDecoder, type Decoder, getArrayDecoder, getU32Decoder } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { REGISTRY } from './accounts.ts'
import { type FailureName, ProgramFailure } from './failure.ts'
import type { Code } from './program/assembler.ts'
import type { ProgramAccount } from './program/memory.ts'

interface RegistryInstruction {
  readonly accounts: readonly ProgramAccount[]
  /** The instruction's data after the byte with its number. */
  readonly parameters: Uint8Array
}

export interface Environment {
  /** The chain's clock in Unix seconds. */
  readonly now: bigint
  rentFor(space: number): bigint
}

/** Returns what the registry does with an instruction, as code; throws a ProgramFailure when it refuses. */
export type Rule = (instruction: RegistryInstruction, environment: Environment) => Code

/** Ignores extra bytes, as the program does. */
export function readParameters<T>(decoder: Decoder<T>, parameters: Uint8Array): T {
  try {
    return decoder.decode(parameters)
  } catch (cause) {
    throw new ProgramFailure('InvalidInstructionData', `the instruction's data cannot be read: ${String(cause)}`)
  }
}

/** kit reads a missing list as an empty one; the program does not. */
export function listDecoder<T>(item: Decoder<T>): Decoder<T[]> {
  return createDecoder({
    read(bytes, offset) {
      const [size, start] = getU32Decoder().read(bytes, offset)
      return getArrayDecoder(item, { size }).read(bytes, start)
    },
  })
}

export function nameAccounts<N extends string>(accounts: readonly ProgramAccount[], ...names: readonly N[]) {
  if (accounts.length !== names.length)
    throw new ProgramFailure('NotEnoughAccountKeys', `takes ${names.length} accounts, not ${accounts.length}`)
  return Object.fromEntries(names.map((name, index) => [name, accounts[index]])) as Record<N, ProgramAccount>
}

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

/** The account must not exist yet. */
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
