import { type Address, getAddressDecoder, getBase58Decoder, getBase64Decoder, type Transaction } from '@solana/kit'
import { FailedTransactionMetadata, type LiteSVM, type TransactionMetadata } from 'litesvm'
import type { Account } from './accounts.ts'
import { type TransactionError, transactionError } from './errors.ts'
import type { WireTransaction } from './wire-transaction.ts'

export interface CompiledInstruction {
  readonly programIdIndex: number
  readonly accounts: readonly number[]
  readonly data: string
  readonly stackHeight: number
}

export interface Outcome {
  readonly err: TransactionError | null
  readonly logs: readonly string[]
  readonly unitsConsumed: number
  readonly innerInstructions: readonly {
    readonly index: number
    readonly instructions: readonly CompiledInstruction[]
  }[]
  readonly returnData: { readonly programId: Address; readonly data: readonly [string, 'base64'] } | null
}

/** Runs a transaction while the registry's program is in place. */
export type WithRegistry = <T>(wire: WireTransaction, run: () => T) => T

export interface Machine {
  readonly svm: LiteSVM
  readonly withRegistry: WithRegistry
}

/** The only place where a transaction changes the chain. */
export function execute({ svm, withRegistry }: Machine, wire: WireTransaction): Outcome {
  if (!isSigned(wire)) return refused('SignatureFailure')
  const result = withRegistry(wire, () => svm.sendTransaction(wire.transaction))
  return result instanceof FailedTransactionMetadata
    ? outcome(result.meta(), transactionError(result))
    : outcome(result, null)
}

export interface Simulation extends Outcome {
  accountsAfter(): ReadonlyMap<Address, Account>
}

export function simulate({ svm, withRegistry }: Machine, wire: WireTransaction, verifySignatures: boolean): Simulation {
  if (verifySignatures && !isSigned(wire)) return { ...refused('SignatureFailure'), accountsAfter: () => new Map() }
  const result = withRegistry(wire, () => dryRun(svm, wire.transaction, verifySignatures))
  if (result instanceof FailedTransactionMetadata)
    return { ...outcome(result.meta(), transactionError(result)), accountsAfter: () => new Map() }
  const accountsAfter = () => new Map(result.postAccounts().map((account) => [account.address, account] as const))
  return { ...outcome(result.meta(), null), accountsAfter }
}

// litesvm throws at a missing signature, but returns an error for a wrong one.
function isSigned(wire: WireTransaction): boolean {
  return Object.values(wire.transaction.signatures).every((signature) => signature !== null)
}

function refused(err: TransactionError): Outcome {
  return { err, logs: [], unitsConsumed: 0, innerInstructions: [], returnData: null }
}

function outcome(meta: TransactionMetadata, err: TransactionError | null): Outcome {
  const innerInstructions = meta.innerInstructions().map((inner, index) => ({
    index,
    instructions: inner.map((item) => {
      const instruction = item.instruction()
      return {
        programIdIndex: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: getBase58Decoder().decode(instruction.data()),
        stackHeight: item.stackHeight(),
      }
    }),
  }))
  const returnData = meta.returnData()
  return {
    err,
    logs: meta.logs(),
    unitsConsumed: Number(meta.computeUnitsConsumed()),
    innerInstructions: innerInstructions.filter(({ instructions }) => instructions.length > 0),
    returnData:
      returnData.data().length === 0
        ? null
        : {
            programId: getAddressDecoder().decode(returnData.programId()),
            data: [getBase64Decoder().decode(returnData.data()), 'base64'],
          },
  }
}

/** Runs a transaction without changing the chain. */
export function dryRun(svm: LiteSVM, transaction: Transaction, verifySignatures: boolean) {
  svm.withSigverify(verifySignatures)
  try {
    return svm.simulateTransaction(transaction)
  } finally {
    svm.withSigverify(true)
  }
}
