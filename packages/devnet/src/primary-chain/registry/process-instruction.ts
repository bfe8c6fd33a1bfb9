import { ProgramFailure } from './failure.ts'
import type { Rule, Surroundings } from './instruction.ts'
import { type Code, exit } from './program/assembler.ts'
import { fail } from './program/effects.ts'
import type { ProgramAccount } from './program/memory.ts'
import { changeAuthorizedSigners } from './rules/change-authorized-signers.ts'
import { changeSchemaStatus } from './rules/change-schema-status.ts'
import { closeAttestation } from './rules/close-attestation.ts'
import { createAttestation } from './rules/create-attestation.ts'
import { createCredential } from './rules/create-credential.ts'
import { createSchema } from './rules/create-schema.ts'

const RULES: Readonly<Record<number, Rule>> = {
  0: createCredential,
  1: createSchema,
  2: changeSchemaStatus,
  3: changeAuthorizedSigners,
  6: createAttestation,
  7: closeAttestation,
}

/** All that the registry does with an instruction, to the end; and whether it takes it at all. */
export function processInstruction(
  accounts: readonly ProgramAccount[],
  data: Uint8Array,
  surroundings: Surroundings,
): { code: Code; accepted: boolean } {
  try {
    const [number, ...parameters] = data
    if (number === undefined) throw new ProgramFailure('InvalidInstructionData', 'the instruction is empty')
    const rule = RULES[number]
    if (!rule) throw new ProgramFailure('NotInStandIn', `the local registry does not know instruction ${number}`)
    const code = rule({ accounts, parameters: Uint8Array.from(parameters) }, surroundings)
    return { code: [...code, ...exit(0n)], accepted: true }
  } catch (failure) {
    if (!(failure instanceof ProgramFailure)) throw failure
    return { code: fail(failure), accepted: false }
  }
}
