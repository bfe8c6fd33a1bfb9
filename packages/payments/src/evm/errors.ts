// Interprets failed requests to the EVM chain.

import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  ExecutionRevertedError,
  type Hex,
  isHex,
  RpcRequestError,
} from 'viem'
import { NodeProblem } from '../nodes/node-pool.ts'

/** The chain could not be used or read at the moment. */
export class EvmError extends Error {
  override name = 'EvmError'
  readonly why: 'unavailable' | 'unfunded'

  constructor(why: 'unavailable' | 'unfunded', problem: string) {
    super(problem)
    this.why = why
  }
}

/** The contract rejects the call, which is an answer. */
export class Reverted extends Error {
  override name = 'Reverted'
  /** The contract's return data, if the node forwards it. */
  readonly data: Hex | null

  constructor(data: Hex | null) {
    super('the contract rejects the call')
    this.data = data
  }
}

export function rejectAsEvmError(error: unknown): never {
  throw toEvmError(error)
}

export function toEvmError(error: unknown): EvmError | Reverted {
  if (error instanceof EvmError || error instanceof Reverted) return error
  return isRevert(error) ? new Reverted(revertData(error)) : new EvmError('unavailable', problemOf(error))
}

/** Why a node rejects a transaction; empty when it did not answer. */
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

/** viem's short messages only: its long ones quote the node's address, which may hold a key. */
function problemOf(error: unknown): string {
  const problem = error instanceof NodeProblem ? error : causeIn(error, NodeProblem)
  if (problem) return problem.message
  return error instanceof BaseError ? error.shortMessage : 'a node of the EVM chain does not respond'
}

function causeIn<T extends Error>(error: unknown, kind: abstract new (...args: never[]) => T): T | null {
  const cause = error instanceof BaseError ? error.walk((one) => one instanceof kind) : null
  return cause instanceof kind ? cause : null
}
