// The attestation registry on the local chain: its real program if a file provides it, otherwise a stand-in.
//
// Before a transaction runs, the stand-in applies the registry's rules to each instruction for it. The result becomes a
// small program, which is put at the registry's address and runs with the rest of the transaction. So the runtime itself
// guarantees atomicity, balances, rent and logs.

import { readFileSync } from 'node:fs'
import { type Address, getCompiledTransactionMessageEncoder } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { FailedTransactionMetadata, type LiteSVM } from 'litesvm'
import type { AccountKey } from '../transactions/accounts.ts'
import { type GetAccount, liveAccount } from '../transactions/accounts.ts'
import { dryRun, type WithRegistry } from '../transactions/execute.ts'
import { accountKeys, loadAddresses, type WireTransaction } from '../transactions/wire-transaction.ts'
import { REGISTRY } from './accounts.ts'
import { acceptOwnEvent, closeAttestation, createAttestation } from './attestations.ts'
import { changeAuthorizedSigners, createCredential } from './credentials.ts'
import { ProgramFailure } from './failure.ts'
import type { Environment, Rule } from './instruction.ts'
import { type Code, call, exit, ifResultIs } from './program/assembler.ts'
import { fail } from './program/effects.ts'
import { elfOf } from './program/elf.ts'
import { HEAP, type ProgramAccount, placeAccounts } from './program/memory.ts'
import { changeSchemaStatus, createSchema } from './schemas.ts'

export function installRegistry(svm: LiteSVM, programFile: string | undefined): WithRegistry {
  if (programFile === undefined) return standIn(svm)
  try {
    svm.addProgram(REGISTRY, readFileSync(programFile))
  } catch (cause) {
    throw new Error(`the registry program ${programFile} cannot be loaded: ${String(cause)}`, { cause })
  }
  return (_wire, run) => run()
}

function standIn(svm: LiteSVM): WithRegistry {
  const idle = programOf([])
  svm.addProgram(REGISTRY, idle)
  return (wire, run) => {
    if (!wire.message.staticAccounts.includes(REGISTRY)) return run()
    try {
      svm.addProgram(REGISTRY, programOf(planSteps(svm, wire)))
      return run()
    } finally {
      svm.addProgram(REGISTRY, idle)
    }
  }
}

/** What the registry does in this transaction, up to its first refusal. */
function planSteps(svm: LiteSVM, wire: WireTransaction): Step[] {
  const { message } = wire
  const keys = accountKeys(
    message,
    loadAddresses(message, (address) => liveAccount(svm, address)),
  )
  const environment: Environment = {
    now: svm.getClock().unixTimestamp,
    rentFor: (space) => svm.minimumBalanceForRentExemption(BigInt(space)),
  }
  const steps: Step[] = []
  for (const [index, instruction] of message.instructions.entries()) {
    if (message.staticAccounts[instruction.programAddressIndex] !== REGISTRY) continue
    const getAccount = accountsBefore(svm, wire, index, steps)
    const named = instruction.accountIndices?.map((position) => keys[position]) ?? []
    // If an earlier instruction fails or a lookup table is missing, the transaction does not get this far.
    if (getAccount === null || !named.every((key) => key !== undefined)) break
    const accounts = placeAccounts(named.map((key) => readAccount(key, getAccount)))
    const { code, accepted } = processInstruction(accounts, Uint8Array.from(instruction.data ?? []), environment)
    steps.push({ index, code })
    if (!accepted) break
  }
  return steps
}

/** The accounts as an instruction finds them; null when an earlier instruction fails. */
function accountsBefore(svm: LiteSVM, wire: WireTransaction, index: number, steps: readonly Step[]): GetAccount | null {
  const live = (address: Address) => liveAccount(svm, address)
  if (index === 0) return live
  const message = { ...wire.message, instructions: wire.message.instructions.slice(0, index) }
  const messageBytes = getCompiledTransactionMessageEncoder().encode(message) as typeof wire.transaction.messageBytes
  svm.addProgram(REGISTRY, programOf(steps))
  const result = dryRun(svm, { ...wire.transaction, messageBytes }, false)
  if (result instanceof FailedTransactionMetadata) return null
  const after = new Map(result.postAccounts().map((account) => [account.address, account]))
  return (address) => after.get(address) ?? live(address)
}

function readAccount({ address, signer, writable }: AccountKey, getAccount: GetAccount) {
  const { lamports = 0n, programAddress = SYSTEM_PROGRAM_ADDRESS, data = new Uint8Array() } = getAccount(address) ?? {}
  return { address, signer, writable, lamports, owner: programAddress, data: Uint8Array.from(data) }
}

const RULES: Readonly<Record<number, Rule>> = {
  0: createCredential,
  1: createSchema,
  2: changeSchemaStatus,
  3: changeAuthorizedSigners,
  6: createAttestation,
  7: closeAttestation,
}

/** The code for one instruction, and whether the registry accepts it. */
function processInstruction(
  accounts: readonly ProgramAccount[],
  data: Uint8Array,
  environment: Environment,
): { code: Code; accepted: boolean } {
  try {
    const [number, ...parameters] = data
    if (number === undefined) throw new ProgramFailure('InvalidInstructionData', 'the instruction is empty')
    const rule = RULES[number]
    if (!rule) throw new ProgramFailure('NotInStandIn', `the local registry does not know instruction ${number}`)
    const code = rule({ accounts, parameters: Uint8Array.from(parameters) }, environment)
    return { code: [...code, ...exit(0n)], accepted: true }
  } catch (failure) {
    if (!(failure instanceof ProgramFailure)) throw failure
    return { code: fail(failure), accepted: false }
  }
}

/** What the registry does as the instruction at `index` of a transaction. The code ends with an exit. */
interface Step {
  readonly index: number
  readonly code: Code
}

const UNPLANNED = new ProgramFailure('NotInStandIn', 'the local registry did not foresee this instruction')
const TOP_LEVEL = 1
const FOUND = 1

/** A program for one transaction. It refuses every instruction that is not among the steps. */
function programOf(steps: readonly Step[]): Uint8Array {
  const latestFirst = steps.toReversed().flatMap(ifReached)
  return elfOf([
    ...acceptOwnEvent(),
    ...call('sol_get_stack_height'),
    ...ifResultIs(TOP_LEVEL, latestFirst),
    ...fail(UNPLANNED),
  ])
}

/** A program cannot ask for its instruction's index, but it can ask whether this many siblings have run before. */
function ifReached({ index, code }: Step): Code {
  if (index === 0) return code
  const answers = [0x0n, 0x40n, 0x1000n, 0x2000n].map((offset) => HEAP + offset)
  return [...call('sol_get_processed_sibling_instruction', BigInt(index - 1), ...answers), ...ifResultIs(FOUND, code)]
}
