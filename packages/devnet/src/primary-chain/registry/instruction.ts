import { createDecoder, type Decoder, getArrayDecoder, getU32Decoder } from '@solana/kit'
import { ProgramFailure } from './failure.ts'
import type { Code } from './program/assembler.ts'
import type { ProgramAccount } from './program/memory.ts'

interface RegistryInstruction {
  readonly accounts: readonly ProgramAccount[]
  /** The instruction's data after the byte that says which it is. */
  readonly parameters: Uint8Array
}

export interface Surroundings {
  /** The chain's clock in Unix seconds. */
  readonly now: bigint
  rentFor(space: number): bigint
}

/** What the registry does with an instruction, as code; throws a ProgramFailure where it refuses. */
export type Rule = (instruction: RegistryInstruction, surroundings: Surroundings) => Code

/** Bytes to spare are ignored, as the program does. */
export function readParameters<T>(decoder: Decoder<T>, parameters: Uint8Array): T {
  try {
    return decoder.decode(parameters)
  } catch (cause) {
    throw new ProgramFailure('InvalidInstructionData', `the instruction's data cannot be read: ${String(cause)}`)
  }
}

/** kit takes a list that is not there for an empty one; the program does not. */
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
