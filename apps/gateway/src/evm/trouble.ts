// What a failed question to the EVM chain means.

import { NodeProblem } from '@svc/payments/ask-nodes'
import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  ExecutionRevertedError,
  type Hex,
  isHex,
  RpcRequestError,
} from 'viem'

/** Why nothing could be done, or learned, just now. */
export class EvmTrouble extends Error {
  override name = 'EvmTrouble'
  readonly why: 'unavailable' | 'unfunded'

  constructor(why: 'unavailable' | 'unfunded', problem: string) {
    super(problem)
    this.why = why
  }
}

/** A contract says no: an answer, and no trouble. */
export class Reverted extends Error {
  override name = 'Reverted'
  /** What it said, where the node passes that on. */
  readonly data: Hex | null

  constructor(data: Hex | null) {
    super('the contract refuses')
    this.data = data
  }
}

export function rejectAsTrouble(error: unknown): never {
  throw meaningOf(error)
}

export function meaningOf(error: unknown): EvmTrouble | Reverted {
  if (error instanceof EvmTrouble || error instanceof Reverted) return error
  return isRevert(error) ? new Reverted(revertData(error)) : new EvmTrouble('unavailable', problemOf(error))
}

/** What a node said against a transaction; nothing where it did not answer. */
export function answerOf(error: unknown): string {
  return causeIn(error, RpcRequestError)?.details ?? ''
}

const REVERTS = [ContractFunctionRevertedError, ContractFunctionZeroDataError, ExecutionRevertedError]

function isRevert(error: unknown): boolean {
  return REVERTS.some((kind) => causeIn(error, kind) !== null)
}

function revertData(error: unknown): Hex | null {
  const data = causeIn(error, RpcRequestError)?.data
  return isHex(data) ? data : null
}

/** viem's short messages alone: its long ones quote the node's address, which may hold a key. */
function problemOf(error: unknown): string {
  const problem = error instanceof NodeProblem ? error : causeIn(error, NodeProblem)
  if (problem) return problem.message
  return error instanceof BaseError ? error.shortMessage : 'a node of the EVM chain does not answer'
}

function causeIn<T extends Error>(error: unknown, kind: abstract new (...args: never[]) => T): T | null {
  const cause = error instanceof BaseError ? error.walk((one) => one instanceof kind) : null
  return cause instanceof kind ? cause : null
}
