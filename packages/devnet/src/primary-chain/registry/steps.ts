import { takeOwnEvent } from './events.ts'
import { ProgramFailure } from './failure.ts'
import { type Code, call, ifResultIs } from './program/assembler.ts'
import { fail } from './program/effects.ts'
import { elfOf } from './program/elf.ts'
import { HEAP } from './program/memory.ts'

/** What the registry does as the instruction at `index` of a transaction. The code ends by itself. */
export interface Step {
  readonly index: number
  readonly code: Code
}

const UNFORESEEN = new ProgramFailure('NotInStandIn', 'the local registry did not foresee this instruction')
const TOP_LEVEL = 1
const FOUND = 1

/** A program for one transaction alone. Whatever comes that is not among the steps, it refuses. */
export function programOf(steps: readonly Step[]): Uint8Array {
  const latestFirst = steps.toReversed().flatMap(ifReached)
  return elfOf([
    ...takeOwnEvent(),
    ...call('sol_get_stack_height'),
    ...ifResultIs(TOP_LEVEL, latestFirst),
    ...fail(UNFORESEEN),
  ])
}

/** A program cannot ask which instruction it is, but whether so many have run before. */
function ifReached({ index, code }: Step): Code {
  if (index === 0) return code
  const answers = [0x0n, 0x40n, 0x1000n, 0x2000n].map((offset) => HEAP + offset)
  return [...call('sol_get_processed_sibling_instruction', BigInt(index - 1), ...answers), ...ifResultIs(FOUND, code)]
}
