/** A JSON-RPC error; the chains' fronts write `code`, `message` and `data` unchanged. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  // Agave's own (rpc-client-api, custom_error.rs).
  blockCleanedUp: -32001,
  preflightFailure: -32002,
  signatureVerificationFailure: -32003,
  blockNotAvailable: -32004,
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
  // Of EVM nodes (EIP-1474, EIP-4444, geth).
  limitExceeded: -32005,
  prunedHistory: 4444,
  methodNotSupported: -32004,
  executionReverted: 3,
} as const

export function invalidParams(message: string): RpcError {
  return new RpcError(RPC_CODES.invalidParams, message)
}
