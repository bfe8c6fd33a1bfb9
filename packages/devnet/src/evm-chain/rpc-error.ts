import { decodeErrorResult, type Hex } from 'viem'

export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603
const METHOD_NOT_SUPPORTED = -32004
const EXECUTION_REVERTED = 3

export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export type EngineError = { code: number; message: string; data?: { reason?: object; data?: Hex } | null }

/** The engine words a revert its own way; public nodes answer code 3 with the bare return data, and clients look for that. */
export function fromEngineError({ code, message, data }: EngineError): RpcError {
  if (!data?.reason || !('Revert' in data.reason)) return new RpcError(code, message)
  const reason = revertReason(data.data)
  return new RpcError(EXECUTION_REVERTED, reason ? `execution reverted: ${reason}` : 'execution reverted', data.data)
}

export function methodNotSupported(method: string, instead: string): RpcError {
  return new RpcError(METHOD_NOT_SUPPORTED, `Method ${method} is not supported here: ${instead}`)
}

function revertReason(data: Hex | undefined): string | undefined {
  if (!data?.startsWith('0x08c379a0')) return undefined
  try {
    return String(decodeErrorResult({ data, abi: [] }).args[0])
  } catch {
    return undefined // A contract may revert with bytes that only begin like Error(string).
  }
}
