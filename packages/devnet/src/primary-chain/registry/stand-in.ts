// The registry on a chain that has not got its program. Before a transaction runs, the registry's rules say what each
// instruction for it would do; that becomes a small program of its own, which is put at the registry's address and runs
// with the rest of the transaction. So the runtime keeps its own promises: all or nothing, balances, rent, logs.

import { type Address, getCompiledTransactionMessageEncoder } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { FailedTransactionMetadata, type LiteSVM } from 'litesvm'
import { dryRun } from '../dry-run.ts'
import { type GetAccount, liveAccount } from '../live-account.ts'
import { type AccountKey, accountKeys, loadAddresses, type WireTransaction } from '../wire-transaction.ts'
import { REGISTRY } from './derived-address.ts'
import type { Surroundings } from './instruction.ts'
import { processInstruction } from './process-instruction.ts'
import { placeAccounts } from './program/memory.ts'
import { programOf, type Step } from './steps.ts'

/** Runs a transaction in the presence of the registry's program. */
export type WithRegistry = <T>(wire: WireTransaction, run: () => T) => T

export function standIn(svm: LiteSVM): WithRegistry {
  const resting = programOf([])
  svm.addProgram(REGISTRY, resting)
  return (wire, run) => {
    if (!wire.message.staticAccounts.includes(REGISTRY)) return run()
    try {
      svm.addProgram(REGISTRY, programOf(foresee(svm, wire)))
      return run()
    } finally {
      svm.addProgram(REGISTRY, resting)
    }
  }
}

/** What the registry does in this transaction, up to its first refusal. */
function foresee(svm: LiteSVM, wire: WireTransaction): Step[] {
  const { message } = wire
  const keys = accountKeys(
    message,
    loadAddresses(message, (address) => liveAccount(svm, address)),
  )
  const surroundings: Surroundings = {
    now: svm.getClock().unixTimestamp,
    rentFor: (space) => svm.minimumBalanceForRentExemption(BigInt(space)),
  }
  const steps: Step[] = []
  for (const [index, instruction] of message.instructions.entries()) {
    if (message.staticAccounts[instruction.programAddressIndex] !== REGISTRY) continue
    const getAccount = accountsBefore(svm, wire, index, steps)
    const named = instruction.accountIndices?.map((position) => keys[position]) ?? []
    // Where an earlier instruction fails, or a lookup table is not there, the transaction will not get this far.
    if (getAccount === null || !named.every((key) => key !== undefined)) break
    const accounts = placeAccounts(named.map((key) => readAccount(key, getAccount)))
    const { code, accepted } = processInstruction(accounts, Uint8Array.from(instruction.data ?? []), surroundings)
    steps.push({ index, code })
    if (!accepted) break
  }
  return steps
}

/** The accounts as an instruction finds them; null when those before it do not go through. */
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
